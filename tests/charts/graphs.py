"""Random graphs and slices for the tests of drawings, and what every layout must keep."""

import re
from itertools import pairwise

from hypothesis import strategies as st

from audit.charts.arranging import BEND_GAP, MIXED_GAP, NODE_GAP
from audit.charts.layering import Edge
from audit.charts.layout import Layout
from audit.charts.lineage_values import Graph, Link, Node

KINDS = ("record", "fact", "action", "rule", "claim", "tombstone", "run", "something new")
STATES = ("current", "held", "superseded", "erased", "conflict", "unknown")
RELATIONS = ("derived", "supersedes", "conflicts", "verifies", "refers")
ROUNDING = 1e-3


@st.composite
def acyclic_graphs(draw: st.DrawFn, *, most: int = 14) -> tuple[int, list[Edge]]:
    """Numbers of vertices and edges whose direction follows a hidden order, given in any order."""
    n_vertices = draw(st.integers(1, most))
    names = draw(st.permutations(range(n_vertices)))
    pairs = [(names[i], names[j]) for i in range(n_vertices) for j in range(i + 1, n_vertices)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * most)) if pairs else []
    return n_vertices, edges


@st.composite
def slices(draw: st.DrawFn, *, most: int = 8) -> Graph:
    """A slice with any labels, kinds, states and relations; directed links make no circle."""
    n_nodes, edges = draw(acyclic_graphs(most=most))
    ids = [f"id{index}" for index in range(n_nodes)]
    nodes = tuple(
        Node(
            id=name,
            label=draw(st.text(max_size=40)),
            kind=draw(st.sampled_from(KINDS)),
            state=draw(st.sampled_from(STATES)),
            url=f"/records/{name}",
            is_focus=index == 0,
        )
        for index, name in enumerate(ids)
    )
    links = tuple(Link(ids[a], ids[b], draw(st.sampled_from(RELATIONS))) for a, b in edges)
    return Graph(nodes=nodes, links=links, n_nodes_total=n_nodes, n_links_total=len(links))


def chain(n_nodes: int, *, relation: str = "derived") -> Graph:
    nodes = tuple(node(f"r{index:04}", depth=index, is_focus=index == 0) for index in range(n_nodes))
    links = tuple(Link(f"r{index:04}", f"r{index + 1:04}", relation) for index in range(n_nodes - 1))
    return Graph(nodes=nodes, links=links, n_nodes_total=n_nodes, n_links_total=len(links))


def node(
    name: str,
    *,
    label: str = "",
    kind: str = "record",
    state: str = "current",
    depth: int = 0,
    is_focus: bool = False,
) -> Node:
    url = f"/records/{name}"
    return Node(id=name, label=label or name, kind=kind, state=state, url=url, depth=depth, is_focus=is_focus)


def assert_valid(layout: Layout, *, n_vertices: int, edges: list[Edge]) -> None:
    """Every edge goes right by way of each column between; neighbours in a column keep their gap."""
    assert len(layout.columns) == len(layout.rows) == n_vertices
    assert min(layout.columns) == 0
    assert min(layout.rows) >= 0
    columns: dict[int, list[tuple[float, bool]]] = {}
    for column, row in zip(layout.columns, layout.rows, strict=True):
        columns.setdefault(column, []).append((row, True))
    for (source, target), bends, lane in zip(edges, layout.bends, layout.lanes, strict=True):
        between = list(range(layout.columns[source] + 1, layout.columns[target]))
        assert layout.columns[source] < layout.columns[target]
        assert [column for column, _ in bends] == (between if lane is None else [])
        for column, row in bends:
            columns.setdefault(column, []).append((row, False))
    gaps = {2: NODE_GAP, 1: MIXED_GAP, 0: BEND_GAP}
    for places in columns.values():
        places.sort()
        for (row, is_node), (next_row, next_is_node) in pairwise(places):
            assert next_row - row >= gaps[is_node + next_is_node] - ROUNDING


def line_points(path: str) -> list[tuple[float, float]]:
    """Points on the line of an SVG path of M, H, V and C commands; curves are sampled."""
    points: list[tuple[float, float]] = []
    for command, arguments in re.findall(r"([MHVC])([^MHVC]*)", path):
        values = [float(value) for value in arguments.split()]
        if command == "M":
            points.append((values[0], values[1]))
            continue
        x, y = points[-1]
        if command == "C":
            points += [_on_curve((x, y), values, step / 16) for step in range(1, 17)]
        else:
            end = (values[0], y) if command == "H" else (x, values[0])
            points += [(x + (end[0] - x) * step / 16, y + (end[1] - y) * step / 16) for step in range(1, 17)]
    return points


def _on_curve(start: tuple[float, float], values: list[float], t: float) -> tuple[float, float]:
    xs, ys = (start[0], *values[0::2]), (start[1], *values[1::2])
    weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
    return (
        sum(weight * x for weight, x in zip(weights, xs, strict=True)),
        sum(weight * y for weight, y in zip(weights, ys, strict=True)),
    )
