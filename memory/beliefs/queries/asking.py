"""A question about beliefs, answered at a point: what may speak, what is chosen, what it comes to.

An answer depends on the point, the question and nothing else: the same are the same bytes, for ever where both clocks
are given. `as_of` of the question is its `valid_at`, in claimed seconds with closed ends.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any
from uuid import UUID

import numpy as np

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.beliefs.kernel.answering import DEFAULT_SETTINGS, Answer, Used, answer
from memory.beliefs.kernel.capsule import capsule
from memory.beliefs.kernel.discovery import retrieve_around
from memory.beliefs.kernel.engine import DEFAULT_BUDGET
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.questions import InferenceSettings, QueryDocument
from memory.beliefs.kernel.retrieval import Retrieved, retrieve_listed
from memory.beliefs.kernel.terms import Budget
from memory.beliefs.profiles import Profile
from memory.beliefs.queries.evidence import Evidence, Listed, Moment, listed, node_keys
from memory.beliefs.relations import Relation, no_law, relations
from memory.beliefs.states import packed_rows
from memory.ledger.queries.contents import name_ids, names_of

CHUNK = 400
NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """An answer with what it was found by. `ids` are the stored ids of observations by the ids that clients know,
    `ends` the two nodes of each that lies between the nodes of the answer."""

    at: AsOf
    as_of: float
    relation: Relation | None
    answer: Answer
    retrieved: Retrieved
    hidden: Mapping[str, str]
    ids: Mapping[str, UUID]
    ends: Mapping[str, tuple[str, str]]

    def capsule(self, *, profile: Profile, top_k: int | None = None) -> dict[str, Any]:
        """The peer's document; natively with `audit`, which tells the point and what was hidden and why."""
        told: dict[str, Any] = capsule(self.answer, retrieved=self.retrieved, profile=profile, top_k=top_k)
        if profile == "native":
            told["audit"] |= {
                "seq": self.at.seq, "provisional": self.at.provisional, "as_of": self.as_of,
                "hidden": self.hidden_counts,
            }  # fmt: skip
        inference = self.answer.inference
        # Whatever is exact is finite, and nearly everything is exact.
        whole: dict[str, Any] = told if inference is None or inference.is_exact else finite(told)
        return whole

    @property
    def hidden_counts(self) -> dict[str, int]:
        """{reason: how many} of the observations between the nodes that were not used."""
        counts: dict[str, int] = {}
        for reason in self.hidden.values():
            counts[reason] = counts.get(reason, 0) + 1
        return dict(sorted(counts.items()))


def ask(
    at: AsOf, *, query: QueryDocument, profile: Profile, law: Law | None = None,
    settings: InferenceSettings = DEFAULT_SETTINGS, budget: Budget = DEFAULT_BUDGET,
) -> Asking:  # fmt: skip
    """The answer at the point.

    law : what to read an unbound relation type by, about which nothing can be known.
    Raises NotFound (no law), Erased (its law is), Invalid (two instants, a prior of another length, an exact answer
    over the budget), Conflict (no assignment is possible).
    """
    as_of = _instant(at, query)
    relation = relations(at.namespace, seq=at.seq, texts=[query.relation_type]).get(query.relation_type)
    standing = law if relation is None else relation.standing_law
    if standing is None:
        raise no_law(query.relation_type)
    moment = Moment(at.namespace, NOBODY if relation is None else relation.name, at.seq, as_of, query.tags)
    names = name_ids(at.namespace, query.nodes)
    asked = node_keys(names, query.nodes)
    retrieved, between, ids = _retrieve(moment, query, asked, asked[query.nodes.index(query.root)], profile)
    nodes = _texts(at.namespace, retrieved.nodes, dict(zip(asked, query.nodes, strict=True)))
    used = _used(at.namespace, retrieved, ids, nodes, standing)
    found = answer(
        query, law=standing, nodes=list(nodes.values()), used=used, settings=settings, budget=budget,
        has_zero_floor=relation is not None and relation.has_zero_floor,
    )  # fmt: skip
    hidden = {known_as(key): reason for key, reason in between.hidden.items()}
    hidden |= {known_as(key): reason for key, reason in _left_out(moment, retrieved, between, relation).items()}
    ends = {known_as(key): (nodes[source], nodes[target]) for key, (source, target) in between.ends.items()}
    known = {known_as(key): sql.as_id(id) for key, id in ids.items()}
    return Asking(at, as_of, relation, found, retrieved, hidden, known, ends)


def _instant(at: AsOf, query: QueryDocument) -> float:
    if at.source_at is not None:
        expected = "an instant or seq:N; observations claim their instants themselves, see as_of"
        raise Invalid.at("known_at", expected=expected, got="source:…")
    told = at.valid_at.timestamp()
    if query.as_of is not None and at.valid_pinned and query.as_of != told:
        raise Invalid.at("as_of", expected=f"the instant of valid_at, {told!r}", got=repr(query.as_of))
    return told if query.as_of is None else query.as_of


def _retrieve(
    moment: Moment, query: QueryDocument, nodes: Sequence[Hashable], root: Hashable, profile: Profile
) -> tuple[Retrieved, Listed, dict[Hashable, Any]]:
    """What is used, what else lies between the nodes, and the stored ids of all."""
    limit, policy = query.max_observations, query.retrieval_policy
    if query.is_discovery:
        store = Evidence(moment)
        found = retrieve_around(
            store, seeds=nodes, root=root, max_hops=query.max_hops, max_nodes=query.max_nodes, limit=limit,
            policy=policy, is_counted=profile == "native",
        )  # fmt: skip
        between = listed(moment, found.nodes)
        return found, between, {**between.ids, **store.ids}
    between = listed(moment, nodes)
    found = retrieve_listed(between.edges, nodes=nodes, root=root, limit=limit, policy=policy, profile=profile)
    return found, between, dict(between.ids)


def _left_out(
    moment: Moment, retrieved: Retrieved, between: Listed, relation: Relation | None
) -> dict[Hashable, str]:  # fmt: skip
    """Why what may speak between the nodes is not used. A search counts lineages over all nodes, so that a newer one of
    a lineage may lie elsewhere; and it may end before it meets an edge between nodes of its last hop."""
    chosen = {edge.observation_id for edge in retrieved.edges}
    left = [edge.observation_id for edge in between.edges if edge.observation_id not in chosen]
    if not left or retrieved.mode == "explicit":
        return dict.fromkeys(left, "limit")
    is_limited = retrieved.node_limit_hit or retrieved.observation_limit_hit
    reasons: dict[Hashable, str] = dict.fromkeys(left, "limit" if is_limited else "beyond")
    if relation is not None and relation.lineage_key == "global":
        newest = {edge.observation_id for edge in Evidence(moment).between(retrieved.nodes)}
        reasons |= {key: "lineage" for key in left if key not in newest}
    return reasons


def _texts(namespace: int, nodes: Sequence[Hashable], known: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """What the nodes are called; one whose name is erased goes by its id."""
    ids: dict[Hashable, UUID] = {
        node: UUID(bytes=node) for node in nodes if node not in known and isinstance(node, bytes)
    }
    found = names_of(namespace, ids.values()) if ids else {}
    return {node: known[node] if node in known else found.get(ids[node], f"erased {ids[node]}") for node in nodes}


def _used(
    namespace: int, retrieved: Retrieved, ids: Mapping[Hashable, Any], nodes: Mapping[Hashable, str], law: Law
) -> Used:
    """The vectors of what is used, in its order."""
    wanted = [ids[edge.observation_id] for edge in retrieved.edges]
    rows: dict[Any, tuple[Any, Any, float]] = {}
    for chunk in batched(wanted, CHUNK):
        found = sql.fetch(
            "SELECT id, posterior, prior, trust FROM memory_observationstate"
            f" WHERE namespace_id = %s AND id IN ({', '.join(['%s'] * len(chunk))})",
            [namespace, *chunk],
        )
        rows.update({id: told for id, *told in found})
    place = {node: index for index, node in enumerate(nodes)}
    vectors = [rows[id] for id in wanted]
    return Used(
        ids=tuple(known_as(edge.observation_id) for edge in retrieved.edges),
        source=np.array([place[edge.source] for edge in retrieved.edges], dtype=np.intp),
        target=np.array([place[edge.target] for edge in retrieved.edges], dtype=np.intp),
        posterior=packed_rows([posterior for posterior, _, _ in vectors], size=law.size),
        prior=packed_rows([prior for _, prior, _ in vectors], size=law.size),
        trust=np.array([trust for _, _, trust in vectors], dtype=np.float64),
    )  # fmt: skip


def known_as(key: Hashable) -> str:
    """The id by which a client knows the observation; one whose own name is erased goes by its stored id."""
    assert isinstance(key, bytes)
    return f"erased {UUID(bytes=key[1:])}" if key.startswith(b"\0") else key.decode()


def finite(value: Any) -> Any:
    """The value as JSON has it: what is infinite beyond the budget, a bound of log evidence, is null.

    >>> finite({"log_evidence_interval": [-math.inf, 0.5]})
    {'log_evidence_interval': [None, 0.5]}
    """
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
