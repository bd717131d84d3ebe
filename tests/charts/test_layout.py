"""Layered layout: with either engine nothing overlaps, every edge goes right, and equal input gives equal output."""

import json
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import example, given

from audit.charts import layout as layout_module
from audit.charts.arranging import arrange, count_crossings, isotonic, place
from audit.charts.layering import Edge, GraphCycle, Layered, components, short_layers, topological_order, with_bends
from audit.charts.layout import MOST_BENDS, chosen_engine, fast_engine, has_fast_engine, layered_layout, own_engine
from tests.architecture.sources import ROOT
from tests.charts.graphs import acyclic_graphs, assert_valid

ENGINES = pytest.mark.parametrize("engine", [own_engine, fast_engine], ids=["own", "compiled"])
LONG_CHAIN_WITH_FAN = (100, [(index, index + 1) for index in range(99)] + [(0, index) for index in range(2, 100)])


def test_the_compiled_engine_is_at_hand_so_that_both_are_tested() -> None:
    assert has_fast_engine()


@ENGINES
@given(graph=acyclic_graphs())
@example(graph=(1, []))
@example(graph=(5, []))
@example(graph=(4, [(3, 0), (3, 1), (0, 2), (1, 2), (3, 2)]))
def test_nothing_overlaps_and_every_edge_goes_right(
    engine: layout_module.Engine, graph: tuple[int, list[Edge]]
) -> None:
    n_vertices, edges = graph
    assert_valid(layered_layout(n_vertices, edges=edges, engine=engine), n_vertices=n_vertices, edges=edges)


@ENGINES
@given(graph=acyclic_graphs())
def test_equal_input_gives_an_equal_layout(engine: layout_module.Engine, graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    assert layered_layout(n_vertices, edges=edges, engine=engine) == layered_layout(
        n_vertices, edges=list(edges), engine=engine
    )


@ENGINES
def test_another_hash_seed_gives_the_same_layout(engine: layout_module.Engine) -> None:
    code = (
        "import json, sys; from audit.charts import layout as l; n = 90; "
        "edges = sorted({((i * 7) % i, i) for i in range(2, n)} | {(i - 1, i) for i in range(1, n)}); "
        f"print(json.dumps(l.layered_layout(n, edges=edges, engine=l.{engine.__name__}).rows))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1
    assert len(json.loads(answers.pop())) == 90


def test_parts_that_are_not_joined_stand_below_each_other() -> None:
    layout = layered_layout(6, edges=[(0, 1), (2, 3), (2, 4)])
    assert max(layout.rows[0], layout.rows[1]) < min(layout.rows[2:5])
    assert max(layout.rows[2:5]) < layout.rows[5]


def test_without_the_compiled_engine_the_own_one_lays_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "fast_sugiyama", None)
    assert not has_fast_engine()
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]
    assert layered_layout(4, edges=edges) == layered_layout(4, edges=edges, engine=own_engine)
    with pytest.raises(ImportError):
        fast_engine(4, edges)


def test_the_compiled_engine_is_not_asked_for_large_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(n_vertices: int, edges: object) -> Layered:
        raise AssertionError("the compiled engine was asked")

    monkeypatch.setattr(layout_module, "fast_engine", refuse)
    edges = [(a, 30 + b) for a in range(30) for b in range(30)][:500]
    assert chosen_engine(60, edges).n_vertices == 60
    with pytest.raises(AssertionError, match="was asked"):
        chosen_engine(60, edges[:20])


@pytest.mark.parametrize("edges", [[(0, 1), (0, 1)], [(0, 2)], [(-1, 0)]], ids=["twice", "beyond", "below"])
def test_an_edge_given_twice_or_leading_nowhere_is_refused(edges: list[Edge]) -> None:
    with pytest.raises(ValueError, match="edge"):
        layered_layout(2, edges=edges)


@ENGINES
@pytest.mark.parametrize(
    ("n_vertices", "edges", "cycle"),
    [
        (1, [(0, 0)], {0}),
        (3, [(0, 1), (1, 2), (2, 0)], {0, 1, 2}),
        (5, [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4)], {1, 2}),
    ],
    ids=["self", "circle", "circle inside a line"],
)
def test_a_cycle_is_reported_with_its_vertices(
    engine: layout_module.Engine, n_vertices: int, edges: list[Edge], cycle: set[int]
) -> None:
    with pytest.raises(GraphCycle) as caught:
        layered_layout(n_vertices, edges=edges, engine=engine)
    around = caught.value.vertices
    assert set(around) == cycle
    assert all(edge in edges for edge in zip(around, (*around[1:], around[0]), strict=True))


@given(graph=acyclic_graphs())
def test_the_order_puts_every_source_before_its_targets(graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    rank = {vertex: index for index, vertex in enumerate(topological_order(n_vertices, edges=edges))}
    assert sorted(rank) == list(range(n_vertices))
    assert all(rank[source] < rank[target] for source, target in edges)


@given(graph=acyclic_graphs())
def test_layers_rise_along_edges_and_are_as_few_as_the_longest_path(graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    layers = short_layers(n_vertices, edges=edges)
    oracle = nx.DiGraph(edges)
    assert all(layers[source] < layers[target] for source, target in edges)
    assert max(layers) <= nx.dag_longest_path_length(oracle)
    assert min(layers) == 0


@given(graph=acyclic_graphs())
def test_parts_are_those_of_an_independent_library(graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    oracle = nx.Graph(edges)
    oracle.add_nodes_from(range(n_vertices))
    assert sorted(components(n_vertices, edges=edges)) == sorted(map(sorted, nx.connected_components(oracle)))


@given(graph=acyclic_graphs(most=9))
def test_arranging_never_adds_crossings(graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    plain = with_bends(short_layers(n_vertices, edges=edges), edges=edges)
    plain.rows.extend(map(float, range(len(plain.layers))))
    assert count_crossings(arrange(plain)) <= count_crossings(plain)
    assert count_crossings(place(arrange(plain))) == count_crossings(arrange(plain))


@given(graph=acyclic_graphs(most=8))
def test_crossings_are_counted_as_by_comparing_all_pairs(graph: tuple[int, list[Edge]]) -> None:
    n_vertices, edges = graph
    plain = with_bends(short_layers(n_vertices, edges=edges), edges=edges)
    plain.rows.extend(map(float, range(len(plain.layers))))
    rows, layers, segments = plain.rows, plain.layers, plain.segments
    crossings = sum(
        layers[a] == layers[c] and (rows[a] - rows[c]) * (rows[b] - rows[d]) < 0
        for index, (a, b) in enumerate(segments)
        for c, d in segments[:index]
    )
    assert count_crossings(plain) == crossings


def test_a_crossing_that_can_be_undone_is_undone() -> None:
    assert count_crossings(place(own_engine(4, [(0, 3), (1, 2)]))) == 0


@pytest.mark.parametrize(
    ("values", "fitted"),
    [
        ([], []),
        ([1.0, 2.0], [1.0, 2.0]),
        ([3.0, 1.0], [2.0, 2.0]),
        ([1.0, 3.0, 2.0, 2.0, 5.0], [1.0, 7 / 3, 7 / 3, 7 / 3, 5.0]),
    ],
    ids=["empty", "rising", "falling", "pooled"],
)
def test_isotonic_regression_pools_what_falls(values: list[float], fitted: list[float]) -> None:
    assert isotonic(values) == pytest.approx(fitted)


def test_the_longest_edges_of_a_graph_with_too_many_bends_take_lanes_that_do_not_share_a_stretch() -> None:
    n_vertices, edges = LONG_CHAIN_WITH_FAN
    layout = layered_layout(n_vertices, edges=edges)
    assert_valid(layout, n_vertices=n_vertices, edges=edges)
    assert sum(map(len, layout.bends)) <= MOST_BENDS
    assert layout.n_lanes > 0
    taken: dict[int, list[tuple[int, int]]] = {}
    for (source, target), lane in zip(edges, layout.lanes, strict=True):
        if lane is not None:
            taken.setdefault(lane, []).append((layout.columns[source], layout.columns[target]))
    for ways in taken.values():
        ways.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(ways))
    shortest_in_lane = min(end - start for ways in taken.values() for start, end in ways)
    longest_bent = max(len(bends) + 1 for bends in layout.bends)
    assert shortest_in_lane >= longest_bent
