"""The two algorithms and the look-up under the reconciliation, against oracles and by their laws."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.interchange.contextfs.kernel import vocabulary as words
from memory.interchange.contextfs.kernel.graph import edges_on_cycles, parents_first
from memory.interchange.contextfs.kernel.resolution import NameIndex, Resolution

nodes = st.sampled_from([f"n{number}" for number in range(9)])
edge_sets = st.sets(st.tuples(nodes, nodes), max_size=30)


@given(edge_sets)
def test_edges_on_cycles_are_those_whose_ends_reach_one_another(edges: set[tuple[str, str]]) -> None:
    graph = nx.DiGraph(edges)
    expected = {(start, end) for start, end in edges if nx.has_path(graph, end, start)}
    assert edges_on_cycles(edges) == expected


@given(edge_sets, st.randoms(use_true_random=False))
def test_parents_come_first_in_an_order_that_does_not_depend_on_the_input(
    edges: set[tuple[str, str]], random: object
) -> None:
    acyclic = sorted((child, parent) for child, parent in edges if child > parent)
    names = sorted({name for edge in edges for name in edge})
    parents = {name: [parent for child, parent in acyclic if child == name] for name in names}
    order = parents_first(parents, sort_key=lambda name: (name,))
    assert sorted(order) == names
    assert all(order.index(parent) < order.index(child) for child, parent in acyclic)
    shuffled = list(parents.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert parents_first(dict(shuffled), sort_key=lambda name: (name,)) == order


def test_an_order_of_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="2 nodes on or behind a cycle"):
        parents_first({"a": ["b"], "b": ["a"], "c": []}, sort_key=lambda name: (name,))


def test_a_chain_of_any_length_is_walked_without_recursion() -> None:
    names = [f"{number:06d}" for number in range(50_000)]
    chain = list(zip(names[1:], names, strict=False))
    assert edges_on_cycles(chain) == set()
    assert edges_on_cycles([*chain, (names[0], names[-1])]) == {*chain, (names[0], names[-1])}
    parents = {name: [parent] for name, parent in chain} | {names[0]: []}
    assert parents_first(parents, sort_key=lambda name: (name,)) == tuple(names)


def test_the_22_relations_have_involutive_inverses() -> None:
    assert len(set(words.RELATIONS)) == len(words.RELATIONS) == 22
    for relation in words.RELATIONS:
        inverse = words.inverse_of(relation)
        if relation in words.RELATIONS_WITHOUT_INVERSE:
            assert inverse is None
        else:
            assert inverse is not None
            assert words.inverse_of(inverse) == relation
            assert (inverse == relation) == (relation in words.SYMMETRIC_RELATIONS)
    assert words.stored_direction("merged_into") == ("merged_from", True)
    assert words.stored_direction("merged_from") == ("merged_from", False)
    assert words.inverse_of("unheard_of") is None
    assert len(words.MEMORY_TYPES) == len(set(words.MEMORY_TYPES)) == 22


INDEX = NameIndex(
    {
        "dff87615-ce0": "app",
        "ticket-1": "app",
        "ticket-10": "app",
        "ticket-11": "app",
        "f492b28f-6bd": "app",
        "f492b28f": "other",
        "abcd1234-001": "other",
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dff87615-ce0", Resolution("found", "dff87615-ce0")),
        ("dff87615", Resolution("expanded", "dff87615-ce0", ("dff87615-ce0",))),
        ("dff8", Resolution("expanded", "dff87615-ce0", ("dff87615-ce0",))),
        ("dff", Resolution("missing", None)),
        ("", Resolution("missing", None)),
        ("%", Resolution("missing", None)),
        ("dff8____", Resolution("missing", None)),
        ("DFF87615", Resolution("missing", None)),
        ("ticket-1", Resolution("found", "ticket-1")),
        ("ticket-", Resolution("ambiguous", None, ("ticket-1", "ticket-10", "ticket-11"))),
        ("f492b28f", Resolution("captured", "f492b28f", ("f492b28f-6bd",))),
        ("abcd1234-001", Resolution("cross-namespace", "abcd1234-001")),
        ("abcd1234", Resolution("missing", None)),
    ],
)
def test_a_text_resolves_by_equality_then_by_a_unique_abbreviation(text: str, expected: Resolution) -> None:
    got = INDEX.resolve(text, namespace="app")
    assert (got.outcome, got.target) == (expected.outcome, expected.target)
    if expected.candidates:
        assert got.candidates == expected.candidates


def test_what_a_merge_wrote_is_never_taken_for_an_abbreviation() -> None:
    assert INDEX.resolve("dff87615", namespace="app", may_abbreviate=False).outcome == "missing"
    assert INDEX.resolve("f492b28f", namespace="app", may_abbreviate=False).outcome == "cross-namespace"


def test_a_record_is_no_expansion_of_what_it_mentions_itself() -> None:
    index = NameIndex({"abcd1234-new": "app", "abcd1234-old": "app"})
    assert index.resolve("abcd1234", namespace="app").outcome == "ambiguous"
    assert index.resolve("abcd1234", namespace="app", besides="abcd1234-new").target == "abcd1234-old"


names = st.text("ab", min_size=1, max_size=7)


@given(st.dictionaries(names, st.sampled_from(["app", "other"])), st.dictionaries(names, st.just("third")), names)
def test_records_of_other_namespaces_never_lead_to_another_record(
    own: dict[str, str], foreign: dict[str, str], text: str
) -> None:
    before = NameIndex(own).resolve(text, namespace="app")
    after = NameIndex({**foreign, **own}).resolve(text, namespace="app")
    assert after == before or after.outcome in {"cross-namespace", "captured"}
    if before.outcome == "found":
        assert after == before


def test_candidates_are_bounded_and_sorted() -> None:
    index = NameIndex({f"same-{number:05d}": "app" for number in range(5_000)})
    found = index.resolve("same-", namespace="app")
    assert found.outcome == "ambiguous"
    assert found.candidates == tuple(f"same-{number:05d}" for number in range(20))
