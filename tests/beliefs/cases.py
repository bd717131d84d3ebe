"""The peer's recorded cases, and a store of observations in memory that answers through the kernel as a slice would."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from memory.beliefs.kernel.answering import DEFAULT_SETTINGS, Answer, Used, answer, stacked
from memory.beliefs.kernel.capsule import capsule
from memory.beliefs.kernel.discovery import EdgesInMemory, retrieve_around
from memory.beliefs.kernel.documents import ObservationDocument, Profile, observation_document
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import Law, parse_law, read_law
from memory.beliefs.kernel.masses import vector
from memory.beliefs.kernel.questions import InferenceSettings, QueryDocument, query_document
from memory.beliefs.kernel.retrieval import (
    LightEdge,
    Retrieved,
    information_score,
    retrieve_listed,
)

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def recorded(name: str) -> Any:
    """The document of a fixture file."""
    plain = FIXTURES / f"{name}.json"
    text = plain.read_bytes() if plain.exists() else lzma.decompress((FIXTURES / f"{name}.json.xz").read_bytes())
    return json.loads(text)


@cache
def law_named(spec: str) -> Law:
    """The law of a case: a built-in, or one of the recorded laws by its name."""
    found = {row["name"]: row["law"] for row in recorded("laws")}
    return parse_law(found[spec]) if spec in found else read_law(spec)


def law_of(spec: str | dict[str, Any]) -> Law:
    return law_named(spec) if isinstance(spec, str) else parse_law(spec)


@dataclass(frozen=True)
class Stored:
    """An observation as a store holds it."""

    document: ObservationDocument
    posterior: Floats
    prior: Floats | None
    score: float
    revoked_at: float | None

    @property
    def id(self) -> str:
        assert self.document.observation_id is not None
        return self.document.observation_id


class SmallStore:
    """Observations of one law, in memory."""

    def __init__(
        self,
        law: Law,
        observations: Iterable[Mapping[str, Any]],
        *,
        revocations: Iterable[Sequence[Any]] = (),
        is_once_for_each_edge: bool = False,
    ) -> None:
        self.law, self.is_once_for_each_edge = law, is_once_for_each_edge
        revoked: dict[str | None, float] = {id: float(at) for id, at, *_ in revocations}
        documents = [observation_document(one, profile="compat") for one in observations]
        self.stored = {
            one.id: one
            for document in documents
            for one in [self._stored(document, revoked.get(document.observation_id))]
        }

    def _stored(self, document: ObservationDocument, revoked_at: float | None) -> Stored:
        posterior = vector(document.posterior, self.law, "posterior")
        prior = None if document.prior is None else vector(document.prior, self.law, "prior")
        score = information_score(posterior, prior, trust=document.trust)
        return Stored(document, posterior, prior, score, revoked_at)

    def edges(self, query: QueryDocument) -> list[LightEdge]:
        """What is active at the query's instant, both ends among its nodes if it lists them."""
        at = query.as_of
        assert at is not None
        return [
            self._edge(one)
            for one in self.stored.values()
            for document in [one.document]
            if (document.namespace, document.relation_type) == (query.namespace, query.relation_type)
            and document.independent_evidence
            and document.observed_at is not None
            and document.observed_at <= at
            and (document.valid_from is None or document.valid_from <= at)
            and (document.valid_until is None or document.valid_until >= at)
            and (one.revoked_at is None or one.revoked_at > at)
            and set(query.tags) <= set(document.tags)
            and (query.is_discovery or {document.source, document.target} <= set(query.nodes))
        ]

    def _edge(self, one: Stored) -> LightEdge:
        document = one.document
        assert document.observed_at is not None
        kind, key = document.lineage.kind, document.lineage.key
        ends = frozenset((document.source, document.target))
        lineage = (kind, key, ends) if self.is_once_for_each_edge else key
        return LightEdge(one.id, document.source, document.target, document.observed_at, one.score, lineage)

    def retrieved(self, query: QueryDocument, *, profile: Profile) -> Retrieved:
        edges = self.edges(query)
        if not query.is_discovery:
            return retrieve_listed(
                edges,
                nodes=query.nodes,
                root=query.root,
                limit=query.max_observations,
                policy=query.retrieval_policy,
                profile=profile,
            )
        return retrieve_around(
            EdgesInMemory(edges),
            seeds=query.nodes,
            root=query.root,
            max_hops=query.max_hops,
            max_nodes=query.max_nodes,
            limit=query.max_observations,
            policy=query.retrieval_policy,
        )

    def answered(self, query: QueryDocument, retrieved: Retrieved, **options: Any) -> Answer:
        nodes = [str(node) for node in retrieved.nodes]
        rows = [self.stored[edge.observation_id] for edge in retrieved.edges]
        used = Used(
            ids=tuple(row.id for row in rows),
            source=np.array([nodes.index(row.document.source) for row in rows], dtype=np.intp),
            target=np.array([nodes.index(row.document.target) for row in rows], dtype=np.intp),
            posterior=stacked([row.posterior for row in rows], size=self.law.size),
            prior=stacked([row.prior for row in rows], size=self.law.size),
            trust=np.array([row.document.trust for row in rows]),
        )
        return answer(query, law=self.law, nodes=nodes, used=used, **options)

    def capsule(
        self,
        payload: Mapping[str, Any],
        *,
        profile: Profile = "native",
        settings: InferenceSettings = DEFAULT_SETTINGS,
        top_k: int | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        query = query_document(payload)
        if query.as_of is None:
            query = replace(query, as_of=1e18)
        retrieved = self.retrieved(query, profile=profile)
        found = self.answered(query, retrieved, settings=settings, **options)
        return capsule(found, retrieved=retrieved, profile=profile, top_k=top_k)
