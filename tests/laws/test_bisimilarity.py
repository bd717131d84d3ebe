"""Classes of records that differ only by what chance and clocks gave them: arithmetic on graphs."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.laws.bisimilarity.comparing import compare_records, compare_stores
from audit.laws.bisimilarity.refinement import refined
from audit.laws.bisimilarity.values import Observation, Side, digest
from tests.laws.bisimilar import Drawn, drawn, everything, naively_parted

IDS = "abcdefg"
TARGETS = st.sampled_from(IDS)
RECORDS = st.builds(
    lambda says, near, far: Observation({"content": digest(says)}, {"origin": near} if far else {}),
    st.sampled_from(["x", "y"]),
    st.lists(TARGETS, max_size=2).map(tuple),
    st.booleans(),
)
SIDES = st.builds(
    lambda records, edges: Side("drawn", records, edges),
    st.dictionaries(TARGETS, RECORDS, max_size=6),
    st.frozensets(st.tuples(TARGETS, st.sampled_from(["from", "into"]), TARGETS), max_size=9),
)


@given(st.lists(SIDES, min_size=1, max_size=2))
def test_classes_and_rounds_are_those_of_the_definition(sides: list[Side]) -> None:
    parted = naively_parted(sides)
    partition = refined(sides)
    for one, other in combinations(everything(sides), 2):
        assert (partition.classes[one] != partition.classes[other]) == ((one, other) in parted)
        assert refined(sides, watched=(one, other)).parted_at == parted.get((one, other))
    assert partition.n_rounds == max(parted.values(), default=0)
    assert partition.n_classes == len(set(partition.classes.values()))


@given(SIDES, st.permutations(IDS))
def test_other_identifiers_make_no_difference(side: Side, others: list[str]) -> None:
    named = dict(zip(IDS, (f"other {id}" for id in others), strict=True))
    twin = Side(
        "twin",
        {
            named[id]: Observation(
                seen.fields, {name: tuple(map(named.__getitem__, ids)) for name, ids in seen.mentions.items()}
            )
            for id, seen in side.records.items()
        },
        frozenset((named[source], relation, named[target]) for source, relation, target in side.edges),
    )
    partition = refined((side, twin))
    assert all(partition.classes[0, id] == partition.classes[1, named[id]] for _, id in everything((side,)))
    compared = compare_stores(side, twin)
    assert (compared.only_first, compared.only_second, compared.n_unequal) == ((), (), 0)


def upward(side: Side) -> Side:
    """The side without whatever could close a circle."""
    records = {
        id: Observation(
            seen.fields, {name: tuple(one for one in ids if id < one) for name, ids in seen.mentions.items()}
        )
        for id, seen in side.records.items()
    }
    return Side(side.name, records, frozenset(edge for edge in side.edges if edge[0] < edge[2]))


@given(SIDES.map(upward))
def test_in_an_acyclic_graph_a_class_is_the_tree_of_what_is_seen(side: Side) -> None:
    graph = nx.DiGraph([(source, target) for source, _, target in side.edges])
    graph.add_edges_from(
        (id, target) for id, seen in side.records.items() for ids in seen.mentions.values() for target in ids
    )
    graph.add_nodes_from(side.records)
    trees: dict[str, object] = {}
    for id in reversed(list(nx.topological_sort(graph))):
        seen = side.records.get(id)
        onward = {("edge", relation, trees[target]) for source, relation, target in side.edges if source == id}
        if seen is not None:
            onward |= {("field", name, trees[target]) for name, ids in seen.mentions.items() for target in ids}
        own = None if seen is None else (frozenset(seen.fields.items()), frozenset(seen.mentions))
        trees[id] = (own, frozenset(onward))
    classes = refined((side,)).classes
    for one, other in combinations(trees, 2):
        assert (classes[0, one] == classes[0, other]) == (trees[one] == trees[other])


def test_two_bisimilar_children_count_once() -> None:
    once: Drawn = {"old": ("x", [("into", "new")]), "new": ("y", [])}
    twice: Drawn = {"old": ("x", [("into", "new"), ("into", "again")]), "new": ("y", []), "again": ("y", [])}
    compared = compare_stores(drawn(once), drawn(twice))
    assert (compared.only_first, compared.only_second) == ((), ())
    assert compared.n_unequal == 1
    assert (compared.n_first, compared.n_second) == (2, 3)


def test_cycles_of_different_lengths_are_one_class_when_nothing_else_tells_them_apart() -> None:
    two: Drawn = {"a": ("x", [("next", "b")]), "b": ("x", [("next", "a")])}
    three: Drawn = {"a": ("x", [("next", "b")]), "b": ("x", [("next", "c")]), "c": ("x", [("next", "a")])}
    assert refined((drawn(two), drawn(three))).n_classes == 1
    told = {**three, "c": ("y", [("next", "a")])}
    assert refined((drawn(two), drawn(told))).n_classes == 4


@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 9), (0, 5), (7, 7)])
def test_two_records_of_a_chain_part_where_the_shorter_way_ends(one: int, other: int) -> None:
    n = 10
    chain: Drawn = {f"{i}": ("x", [("from", f"{i - 1}")] if i else []) for i in range(n)}
    side = drawn(chain)
    found = compare_records((side,), (0, f"{one}"), (0, f"{other}"))
    assert found.parted_at == (None if one == other else min(one, other) + 1)
    assert found.is_same_class == (one == other)
    assert found.n_rounds == n - 1


def test_a_long_chain_ends_and_needs_no_deep_stack() -> None:
    n = 5_000
    chain: Drawn = {f"{i:05}": ("x", [("from", f"{i - 1:05}")] if i else []) for i in range(n)}
    assert refined((drawn(chain),)).n_classes == n


def test_a_missing_record_is_told_from_an_empty_one_and_equals_another_missing_one() -> None:
    side = Side(
        "lab",
        {"empty": Observation({})} | {name: Observation({}) for name in "abc"},
        frozenset({("a", "from", "gone"), ("b", "from", "also gone"), ("c", "from", "empty")}),
    )
    classes = refined((side,)).classes
    assert classes[0, "a"] == classes[0, "b"] != classes[0, "c"]
    assert classes[0, "gone"] == classes[0, "also gone"] != classes[0, "empty"]


def test_what_differs_is_named_by_field_and_by_relation() -> None:
    side = Side(
        "lab",
        {
            "a": Observation({"content": digest("x"), "type": digest("note")}, {"merged_from": ("p", "q")}),
            "b": Observation({"content": digest("y"), "type": digest("note")}, {"merged_from": ("q", "p")}),
            "c": Observation({"content": digest("x"), "type": digest("note")}, {"merged_from": ("p",)}),
            "p": Observation({"content": digest("p")}),
            "q": Observation({"content": digest("q")}),
        },
        frozenset({("a", "cites", "p"), ("b", "cites", "p"), ("c", "cites", "q")}),
    )

    def told(one: str, other: str) -> list[tuple[str, str]]:
        return [(d.name, d.kind) for d in compare_records((side,), (0, one), (0, other)).differences]

    assert told("a", "b") == [("content", "value"), ("merged_from", "order")]
    assert told("a", "c") == [("merged_from", "targets"), ("cites", "targets")]
    assert told("a", "a") == []


def test_another_order_alone_parts_no_two_records() -> None:
    side = Side(
        "lab",
        {
            "a": Observation({}, {"merged_from": ("p", "q")}),
            "b": Observation({}, {"merged_from": ("q", "p")}),
            "p": Observation({"content": digest("p")}),
            "q": Observation({"content": digest("q")}),
        },
        frozenset(),
    )
    found = compare_records((side,), (0, "a"), (0, "b"))
    assert (found.is_same_class, found.parted_at) == (True, None)
    assert [one.kind for one in found.differences] == ["order"]


def test_stores_are_compared_by_class_largest_first() -> None:
    first: Drawn = {"a": ("x", []), "b": ("x", []), "c": ("only here", [])}
    second: Drawn = {"d": ("x", []), "e": ("only there", []), "f": ("only there", [])}
    compared = compare_stores(drawn(first), drawn(second))
    assert [one.first for one in compared.only_first] == [("c",)]
    assert [one.second for one in compared.only_second] == [("e", "f")]
    assert [(one.first, one.second) for one in compared.both] == [(("a", "b"), ("d",))]


def test_a_narrowed_side_shows_only_what_was_asked_for() -> None:
    side = Side(
        "lab",
        {"a": Observation({"content": digest("x"), "type": digest("note")}, {"origin": ("b",)})},
        frozenset({("a", "from", "b"), ("b", "into", "a")}),
    )
    narrow = side.narrowed(is_field=lambda name: name == "content", is_relation=lambda name: name == "from")
    assert narrow.records["a"] == Observation({"content": digest("x")}, {})
    assert narrow.edges == {("a", "from", "b")}
