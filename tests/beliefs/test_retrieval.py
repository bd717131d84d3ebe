"""Retrieval: scores, lineages, policies and discovery, against the peer's own store on small random stores."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posterior_memory_harness.models import MemoryNeighborhoodQuery, MemoryObservation, MemoryQuery
from posterior_memory_harness.retrieval import structural_summary
from posterior_memory_harness.store import InMemoryMemoryStore

from memory.beliefs.kernel.discovery import EdgesInMemory, Order, retrieve_around
from memory.beliefs.kernel.questions import POLICIES, query_document
from memory.beliefs.kernel.retrieval import LightEdge, Retrieved, information_score, retrieve_listed
from tests.beliefs.cases import SmallStore, law_of, recorded

CASES = recorded("capsule_cases")
NODES = "abcdefg"
NODE = {"schema_version": 2, "namespace": "ns", "relation_type": "rel"}
# Information scores apart from each other, one of them zero.
VECTORS = (
    [0.7, 0.2, 0.1],
    [0.1, 0.8, 0.1],
    [0.05, 0.05, 0.9],
    [0.34, 0.33, 0.33],
    [1 / 3, 1 / 3, 1 / 3],
    [0.5, 0.5, 0],
)


def test_scores_are_those_recorded() -> None:
    for case in CASES:
        store = SmallStore(law_of(case["law"]), case["observations"])
        scores = {id: one.score for id, one in store.stored.items()}
        assert scores == pytest.approx(case["information_scores"], rel=0, abs=1e-12), case["id"]


def test_scores_of_closed_forms() -> None:
    half = information_score(np.array([1.0, 0.0]), np.array([0.5, 0.5]), trust=0.5)
    certain = 0.5 * (math.log(4 / 3) + 0.5 * math.log(2 / 3) + 0.5 * math.log(2))
    assert half == pytest.approx(0.5 * certain * 0.5, abs=1e-9)
    assert information_score(np.array([3.0]), None, trust=1.0) == 0.0
    assert information_score(np.array([0.2, 0.8]), np.array([1.0, 4.0]), trust=1.0) == 0.0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.randoms(use_true_random=False))
def test_equal_masses_in_another_order_tie_exactly(values: list[float], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    first, again = (information_score(np.array(one), None, trust=0.7) for one in (values, shuffled))
    assert first == again


def edge(id: str, source: str, target: str, *, at: float = 0.0, score: float = 1.0, lineage: str = "") -> LightEdge:
    return LightEdge(id, source, target, at, score, lineage or id)


def listed(edges: Iterable[LightEdge], **options: Any) -> Retrieved:
    given_ = {"nodes": "abcd", "root": "a", "limit": 9, "policy": "recent", "profile": "native"} | options
    return retrieve_listed(edges, **given_)


def ids(found: Retrieved) -> list[Any]:
    return [one.observation_id for one in found.edges]


def test_one_observation_speaks_for_a_lineage_and_ids_break_ties() -> None:
    same = [edge(id, "a", "b", at=at, lineage="R") for id, at in (("x", 2.0), ("z", 3.0), ("y", 3.0))]
    assert ids(listed(same)) == ["z"]
    assert listed(same).dropped_observation_count == 0


def test_b2_1_a_limit_that_was_hit_is_told_with_the_number_left_out_and_not_under_compat() -> None:
    ten = [edge(f"o{index}", "a", "b", at=index) for index in range(10)]
    native, compat = (listed(ten, limit=2, profile=profile) for profile in ("native", "compat"))
    assert ids(native) == ids(compat) == ["o8", "o9"]
    assert (native.observation_limit_hit, compat.observation_limit_hit) == (True, False)
    assert native.dropped_observation_count == compat.dropped_observation_count == 8
    assert not listed(ten, limit=10).observation_limit_hit


def test_loops_and_parallel_edges_count_in_the_cycle_rank() -> None:
    found = listed([edge("p", "a", "b", score=3.0), edge("q", "b", "a", score=2.0), edge("l", "c", "c", score=0.5)])
    assert (found.structure.connected_components, found.structure.cycle_rank) == (3, 2)
    assert found.structure.covered_node_fraction == 0.75
    assert (found.structure.factor_information_score, found.structure.cycle_information_score) == (5.5, 2.5)


def test_a_forest_is_written_out_breadth_first_from_the_root() -> None:
    tree = [("cd", 9.0), ("be", 8.0), ("ab", 2.0), ("ac", 1.0)]
    edges = [edge(ends, ends[0], ends[1], score=score) for ends, score in (*tree, ("bc", 0.5))]
    for limit, expected in ((1, {"ab"}), (2, {"ab", "ac"}), (3, {"ab", "ac", "be"}), (5, {"bc", *dict(tree)})):
        for policy in ("coverage", "cycle_aware"):
            found = listed(edges, nodes="dbcae", limit=limit, policy=policy)
            assert set(ids(found)) == expected


def observation(**change: Any) -> dict[str, Any]:
    base = {
        "schema_version": 2, "namespace": "ns", "relation_type": "rel", "source": "a", "target": "b",
        "posterior": [0.8, 0.1, 0.1], "evidence_family": "f", "observed_at": 0.0,
    }  # fmt: skip
    return base | change


def test_b3_1_one_event_on_two_edges_counts_on_both_under_the_rule_of_edges() -> None:
    told = [
        observation(observation_id="x", evidence_family="R"),
        observation(observation_id="y", source="b", target="c", lineage_root_id="R", observed_at=1.0),
        observation(observation_id="z", source="b", target="a", evidence_family="R", observed_at=2.0),
        observation(observation_id="w", source="a", target="b", source_event_id="R"),
    ]
    query = {"schema_version": 2, "namespace": "ns", "relation_type": "rel", "root": "a", "as_of": 9.0}
    for where in ({"nodes": ["a", "b", "c"]}, {"seeds": ["a"]}):
        asked = query_document(query | where)
        by_edge, by_key = (
            SmallStore(law_of("cyclic:3"), told, is_once_for_each_edge=rule).retrieved(asked, profile="native")
            for rule in (True, False)
        )
        # Both directions of an edge are one edge; a family and an event of one name are two lineages.
        assert ids(by_edge) == ["w", "y", "z"]
        assert ids(by_key) == ["z"]


class Counted:
    """A store that counts what it is asked and how much of the answers is read."""

    def __init__(self, edges: Iterable[LightEdge]) -> None:
        self.inner = EdgesInMemory(edges)
        self.n_asked = self.n_read = 0
        self.frontiers: list[Hashable] = []

    def touching(self, frontier: Sequence[Hashable], *, order: Order) -> Iterable[LightEdge]:
        self.n_asked += 1
        self.frontiers += frontier
        for one in self.inner.touching(frontier, order=order):
            self.n_read += 1
            yield one

    def between(self, nodes: Sequence[Hashable]) -> Iterable[LightEdge]:
        self.n_asked += 1
        return self.inner.between(nodes)

    def n_touching(self, nodes: Sequence[Hashable]) -> int:
        return self.inner.n_touching(nodes)


def around(store: Any, **options: Any) -> Retrieved:
    given_ = {"seeds": ["a"], "root": "a", "max_hops": 2, "max_nodes": 32, "limit": 512, "policy": "recent"} | options
    return retrieve_around(store, **given_)


def test_b2_2_edges_between_two_nodes_at_the_last_hop_belong_to_the_answer() -> None:
    star = [edge("ab", "a", "b", score=3.0), edge("ac", "a", "c", score=2.0), edge("bc", "b", "c", score=1.0)]
    for policy in ("coverage", "cycle_aware"):
        assert ids(around(EdgesInMemory(star), max_hops=1, policy=policy)) == ["ab", "ac", "bc"]
    assert ids(around(EdgesInMemory(star), max_hops=1)) == ["ab", "ac"]


def test_b2_3_discovery_asks_once_for_each_hop_and_reads_no_further_than_the_limit() -> None:
    far = [edge(f"x{index}", "y", "z", at=index) for index in range(500)]
    hub = [edge(f"h{index}", "a", f"n{index}", at=index) for index in range(1000)]
    store = Counted(hub + far)
    found = around(store, limit=3, max_nodes=256)
    assert ids(found) == ["h997", "h998", "h999"]
    assert (store.n_asked, store.n_read) == (1, 4)
    assert (found.observation_limit_hit, found.dropped_observation_count) == (True, 997)
    chain = Counted([edge(f"c{index}", chr(97 + index), chr(98 + index)) for index in range(20)] + far)
    assert len(around(chain, max_hops=8).edges) == 8
    assert chain.n_asked == 8
    structured = Counted(hub + far)
    assert around(structured, policy="coverage", max_nodes=4).dropped_observation_count == 0
    assert structured.n_asked == 3


def some_store(random: np.random.Generator) -> list[dict[str, Any]]:
    """Payloads with many ties: few nodes, few instants, few vectors; now and then all else that may keep one out."""

    def one_in(n: int, *choices: Any) -> Any:
        return choices[random.integers(len(choices))] if random.integers(n) == 0 else None

    nodes = NODES[: random.integers(2, len(NODES) + 1)]
    return [
        observation(
            observation_id=f"o{index}",
            source=str(random.choice(list(nodes))),
            target=str(random.choice(list(nodes))),
            posterior=VECTORS[random.integers(len(VECTORS))],
            evidence_family=f"F{one_in(6, 0, 1) or index}",
            observed_at=float(random.integers(4)),
            lineage_root_id=one_in(8, "R", "F3"),
            source_event_id=one_in(8, "R", "E"),
            independent_evidence=bool(random.integers(9) > 0),
            trust=one_in(4, 0.5, 0.0) or 1.0,
            valid_from=one_in(9, 2.0, 5.0),
            valid_until=one_in(9, 5.0, 6.0),
            tags=one_in(3, ["x"], ["x", "y"]) or [],
        )
        for index in range(random.integers(30))
    ]


def some_query(random: np.random.Generator) -> dict[str, Any]:
    nodes = [str(node) for node in random.permutation(list(NODES))[: random.integers(1, len(NODES) + 1)]]
    is_discovery = bool(random.integers(2))
    listed_, seeds = {"nodes": nodes}, {"seeds": nodes[: random.integers(1, 3)]}
    chosen: dict[str, Any] = seeds if is_discovery else listed_
    (among,) = chosen.values()
    reach = {"max_hops": int(random.integers(1, 4)), "max_nodes": len(among) + int(random.integers(6))}
    return NODE | chosen | (reach if is_discovery else {}) | {
        "root": str(random.choice(among)),
        "as_of": float(random.choice([1.0, 5.0, 5.5, 9.0])),
        "tags": ["x"] if random.integers(5) == 0 else [],
        "max_observations": int(random.integers(1, 13)),
    }  # fmt: skip


def test_small_stores_are_retrieved_as_the_peer_does() -> None:
    random = np.random.default_rng(20)
    for _ in range(100):
        told, peer = some_store(random), InMemoryMemoryStore()
        revocations = {one["observation_id"]: float(random.choice([5.0, 6.0])) for one in told[::7]}
        for payload in told:
            fields = {key: value for key, value in payload.items() if key != "schema_version"}
            fields |= {"prior": (1 / 3,) * 3, "tags": tuple(payload["tags"])}
            # Its own revocation normalises the masses again, and moves a score by a last digit.
            peer.append(MemoryObservation(**fields, revoked_at=revocations.get(payload["observation_id"])))
        store = SmallStore(law_of("cyclic:3"), told, revocations=revocations.items())
        for _ in range(3):
            asked = some_query(random)
            for policy in POLICIES:
                _same(store, peer, asked | {"retrieval_policy": policy})


def _same(store: SmallStore, peer: Any, asked: dict[str, Any]) -> None:
    found = store.retrieved(query_document(asked), profile="compat")
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in asked.items()}
    del fields["schema_version"]
    if "seeds" in fields:
        expected = peer.retrieve_neighborhood(MemoryNeighborhoodQuery(**fields))
        assert found.nodes == expected.nodes, asked
        assert (found.hops_explored, found.node_limit_hit, found.observation_limit_hit) == (
            expected.hops_explored, expected.node_limit_hit, expected.observation_limit_hit,
        ), asked  # fmt: skip
        used = expected.observations
    else:
        used = tuple(peer.retrieve(MemoryQuery(**fields)))
    by_age = sorted(used, key=lambda one: (one.observed_at, one.observation_id))
    assert ids(found) == [one.observation_id for one in by_age], asked
    summary = structural_summary(tuple(map(str, found.nodes)), used, root=asked["root"])
    for name in type(found.structure).__slots__:
        assert getattr(found.structure, name) == pytest.approx(getattr(summary, name), abs=1e-12), asked


def test_what_was_left_out_of_a_discovery_is_counted() -> None:
    random = np.random.default_rng(21)
    for _ in range(150):
        store, asked = SmallStore(law_of("cyclic:3"), some_store(random)), some_query(random)
        if "seeds" not in asked:
            continue
        query = query_document(asked | {"retrieval_policy": "recent"})
        counted = Counted(store.edges(query))
        found = around(
            counted, seeds=query.nodes, root=query.root, max_hops=query.max_hops, max_nodes=query.max_nodes,
            limit=query.max_observations,
        )  # fmt: skip
        used = {one.observation_id for one in found.edges}
        # Every edge at a node whose edges were asked for was touched; what of it is not used was left out.
        touched = {one.observation_id for one in counted.inner.touching(counted.frontiers, order="newest")}
        assert found.dropped_observation_count == len(touched - used)
