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

    def touching(self, frontier: Sequence[Hashable], *, order: Order) -> Iterable[LightEdge]:
        self.n_asked += 1
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


EVENTS = st.fixed_dictionaries(
    {
        "ends": st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)),
        "vector": st.sampled_from(VECTORS),
        "observed_at": st.integers(0, 5).map(float),
        "lineage_root_id": st.none() | st.sampled_from(["R", "S", "F3"]),
        "source_event_id": st.none() | st.sampled_from(["R", "E"]),
        "independent_evidence": st.sampled_from([True, True, True, False]),
        "trust": st.sampled_from([1.0, 0.5, 0.0]),
        "valid_from": st.none() | st.sampled_from([2.0, 5.0]),
        "valid_until": st.none() | st.sampled_from([5.0, 6.0]),
        "revoked_at": st.none() | st.sampled_from([5.0, 6.0]),
        "tags": st.sampled_from([[], ["x"], ["x", "y"]]),
    }
)
QUERIES = st.fixed_dictionaries(
    {
        "nodes": st.lists(st.sampled_from(NODES), min_size=1, max_size=6, unique=True),
        "is_discovery": st.booleans(),
        "as_of": st.sampled_from([4.0, 5.0, 5.5, 9.0]),
        "tags": st.sampled_from([(), (), ("x",), ("x", "y")]),
        "policy": st.sampled_from(POLICIES),
        "limit": st.sampled_from([1, 2, 4, 512]),
        "max_hops": st.integers(1, 3),
        "room": st.integers(0, 4),
    }
)


@given(st.lists(EVENTS, max_size=14), QUERIES)
def test_a_small_store_is_retrieved_as_the_peer_does(events: list[dict[str, Any]], asked: dict[str, Any]) -> None:
    peer, told, revocations = InMemoryMemoryStore(), [], []
    for index, event in enumerate(events):
        rest = {key: value for key, value in event.items() if key not in ("ends", "vector", "revoked_at")}
        (source, target), revoked_at = event["ends"], event["revoked_at"]
        payload = observation(
            **rest, observation_id=f"o{index}", source=source, target=target, posterior=event["vector"],
            evidence_family=f"F{index % 5}",
        )  # fmt: skip
        told.append(payload)
        fields = {key: value for key, value in payload.items() if key != "schema_version"}
        peer.append(MemoryObservation(**fields | {"prior": (1 / 3,) * 3, "tags": tuple(payload["tags"])}))
        if revoked_at is not None:
            revocations.append((f"o{index}", revoked_at))
            peer.revoke(f"o{index}", revoked_at)
    nodes = tuple(asked["nodes"])
    shared = {
        "namespace": "ns", "relation_type": "rel", "root": nodes[0], "as_of": asked["as_of"], "tags": asked["tags"],
        "max_observations": asked["limit"], "retrieval_policy": asked["policy"],
    }  # fmt: skip
    reach = {"max_hops": asked["max_hops"], "max_nodes": len(nodes) + asked["room"]} if asked["is_discovery"] else {}
    where = {"seeds" if asked["is_discovery"] else "nodes": list(nodes)}
    query = query_document({"schema_version": 2, **shared, **where, **reach, "tags": list(asked["tags"])})
    found = SmallStore(law_of("cyclic:3"), told, revocations=revocations).retrieved(query, profile="compat")
    if asked["is_discovery"]:
        expected = peer.retrieve_neighborhood(MemoryNeighborhoodQuery(seeds=nodes, **shared, **reach))
        assert found.nodes == expected.nodes
        assert (found.hops_explored, found.node_limit_hit, found.observation_limit_hit) == (
            expected.hops_explored, expected.node_limit_hit, expected.observation_limit_hit,
        )  # fmt: skip
        used = expected.observations
    else:
        used = tuple(peer.retrieve(MemoryQuery(nodes=nodes, **shared)))
    by_age = sorted(used, key=lambda one: (one.observed_at, one.observation_id))
    assert ids(found) == [one.observation_id for one in by_age]
    summary = structural_summary(tuple(found.nodes), used, root=nodes[0])
    for name in type(found.structure).__slots__:
        assert getattr(found.structure, name) == pytest.approx(getattr(summary, name), abs=1e-12), name
