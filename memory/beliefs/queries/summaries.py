"""Saved questions with their answers, read all at once: what a list of them costs does not grow with it.

- An answer here is the one that `ask` gives at the same point, or there is none: a question that searches, or whose
  exact answer takes long, is answered when it is opened.
- The statement reads every observation between the listed nodes of all questions; which of them may speak is decided
  as for one question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any, Literal, cast
from uuid import UUID

import numpy as np

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Conflict, Invalid
from memory.beliefs.kernel.answering import Answer, Used, answer, stacked
from memory.beliefs.kernel.questions import QueryDocument, query_document
from memory.beliefs.kernel.retrieval import LightEdge, deduplicated, retrieve_listed
from memory.beliefs.kernel.terms import Budget
from memory.beliefs.models import ObservationTag
from memory.beliefs.queries.asking import known_as
from memory.beliefs.queries.evidence import light, reason_of
from memory.beliefs.queries.saved import SavedRow
from memory.beliefs.relations import Relation
from memory.beliefs.states import unpacked

CHUNK = 400

Kind = Literal["answered", "search", "wide", "contradiction", "erased", "invalid"]

LIST_BUDGET = Budget(largest_entries=1 << 16, total_entries=1 << 18)
"""An exact answer within it takes a few milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A saved question and what it comes to. `answer` stands where `kind` is `answered`; the others say why not.

    hidden : {reason: how many} of what lies between its nodes and does not speak.   last_seq : the newest entry of what
    does.   contradicting : the ids of observations that cannot all hold.
    """

    saved: SavedRow
    kind: Kind
    query: QueryDocument | None = None
    answer: Answer | None = None
    hidden: Mapping[str, int] | None = None
    last_seq: int | None = None
    contradicting: tuple[str, ...] = ()

    @property
    def strongest_nats(self) -> float | None:
        """The strongest conflict of what has a second path; None where nothing has."""
        inference = None if self.answer is None else self.answer.inference
        if inference is None or inference.is_bridge.all():
            return None
        return float(inference.conflict_nats[~inference.is_bridge].max())


@dataclass(frozen=True, slots=True)
class _Row:
    """An observation between nodes of some question, with all that decides whether it speaks there."""

    id: UUID
    edge: LightEdge
    relation_type: UUID
    source: str
    target: str
    seq: int
    stated: tuple[Any, ...]
    reached_at: float | None
    firmly_at: float | None
    vectors: tuple[Any, Any, float]


def summaries(at: AsOf, *, saved: Sequence[SavedRow], bound: Mapping[str, Relation]) -> list[Summary]:
    """The answer to each saved question at the point, in the order given.

    bound : the relation types known at the point, by their names.
    """
    asked = [_asked(row) for row in saved]
    listed = [query for query in asked if query is not None and not query.is_discovery]
    rows = _rows(at, listed, bound)
    tags = _tags(at.namespace, rows) if any(query.tags for query in listed) else {}
    return [_summary(at, row, query, bound, rows, tags) for row, query in zip(saved, asked, strict=True)]


def _asked(row: SavedRow) -> QueryDocument | None:
    if row.query is None:
        return None
    try:
        return query_document(dict(row.query))
    except Invalid:
        return None


def _rows(at: AsOf, queries: Sequence[QueryDocument], bound: Mapping[str, Relation]) -> list[_Row]:
    texts = sorted({node for query in queries for node in query.nodes})
    types = sorted({bound[query.relation_type].name for query in queries if query.relation_type in bound})
    if not texts or not types:
        return []
    marks, types_marks = (", ".join(["%s"] * len(values)) for values in (texts, types))
    found = sql.fetch(
        "SELECT s.id, s.tie_key, s.source, s.target, s.observed_at, s.score, s.lineage, s.relation_type, a.text,"
        " b.text, s.seq, s.is_independent, s.valid_from, s.valid_until, s.erased_seq IS NOT NULL,"
        f" {_REACHED.format(more='')}, {_REACHED.format(more=' AND NOT r.is_reexposing')},"
        " s.posterior, s.prior, s.trust FROM memory_observationstate s"
        " JOIN memory_name a ON a.namespace_id = s.namespace_id AND a.id = s.source"
        " JOIN memory_name b ON b.namespace_id = s.namespace_id AND b.id = s.target"
        f" WHERE s.namespace_id = %s AND s.relation_type IN ({types_marks}) AND a.text IN ({marks})"
        f" AND b.text IN ({marks}) AND s.seq <= %s",
        [at.seq, at.seq, at.namespace, *types, *texts, *texts, at.seq],
    )
    return [_row(row) for row in found]


_REACHED = (
    "(SELECT MIN(r.at) FROM memory_observationreach r WHERE r.namespace_id = s.namespace_id"
    " AND r.observation = s.id AND r.seq <= %s{more})"
)


def _row(row: Sequence[Any]) -> _Row:
    return _Row(
        sql.as_id(row[0]), light(row), sql.as_id(row[7]), row[8], row[9], row[10], tuple(row[11:15]), row[15], row[16],
        (row[17], row[18], row[19]),
    )  # fmt: skip


def _tags(namespace: int, rows: Sequence[_Row]) -> dict[UUID, set[str]]:
    found: dict[UUID, set[str]] = {}
    for chunk in batched([row.id for row in rows], CHUNK):
        told = ObservationTag.objects.filter(namespace=namespace, observation__in=chunk)
        for observation, tag in told.values_list("observation", "tag"):
            found.setdefault(observation, set()).add(tag)
    return found


def _summary(
    at: AsOf, saved: SavedRow, query: QueryDocument | None, bound: Mapping[str, Relation], rows: Sequence[_Row],
    tags: Mapping[UUID, set[str]],
) -> Summary:  # fmt: skip
    if query is None:
        return Summary(saved, "erased" if saved.query is None else "invalid")
    relation = bound.get(query.relation_type)
    if relation is None or relation.law is None:
        return Summary(saved, "erased", query)
    if query.is_discovery:
        return Summary(saved, "search", query)
    nodes = frozenset(query.nodes)
    here = [row for row in rows if row.relation_type == relation.name and {row.source, row.target} <= nodes]
    speaking, hidden = _speaking(here, query, at.valid_at.timestamp() if query.as_of is None else query.as_of, tags)
    try:
        found = _answer(query, relation, speaking)
    except Invalid as refusal:
        is_wide = any(place.code == "over_budget" for place in refusal.errors)
        return Summary(saved, "wide" if is_wide else "invalid", query, hidden=hidden)
    except Conflict as refusal:
        ids = cast(Sequence[str], refusal.extra.get("observation_ids", ()))
        return Summary(saved, "contradiction", query, hidden=hidden, contradicting=tuple(ids))
    if len(found.used.ids) < len(speaking):
        hidden["limit"] = len(speaking) - len(found.used.ids)
    return Summary(saved, "answered", query, found, hidden, max((row.seq for row in speaking), default=None))


def _speaking(
    rows: Sequence[_Row], query: QueryDocument, as_of: float, tags: Mapping[UUID, set[str]]
) -> tuple[list[_Row], dict[str, int]]:
    """The rows that may speak in the order given, and the others counted by their reason."""
    by_key = {row.edge.observation_id: row for row in rows}
    standing, holding = list[LightEdge](), list[LightEdge]()
    hidden = Counter[str]()
    for row in rows:
        is_reached = row.reached_at is not None and row.reached_at <= as_of
        is_firm = row.firmly_at is not None and row.firmly_at <= as_of
        is_tagged = set(query.tags) <= tags.get(row.id, set())
        reason, holds = reason_of(row.edge, (*row.stated, is_reached, is_firm, is_tagged), as_of)
        if holds:
            holding.append(row.edge)
        if reason:
            hidden[reason] += 1
        else:
            standing.append(row.edge)
    newest = {edge.observation_id for edge in deduplicated(holding)}
    kept = [by_key[edge.observation_id] for edge in standing if edge.observation_id in newest]
    hidden["lineage"] += len(standing) - len(kept)
    return kept, dict(sorted((+hidden).items()))


def _answer(query: QueryDocument, relation: Relation, speaking: Sequence[_Row]) -> Answer:
    names = {row.edge.source: row.source for row in speaking} | {row.edge.target: row.target for row in speaking}
    ids = {text: id for id, text in names.items()}
    asked: list[Hashable] = [ids.get(node, node) for node in query.nodes]
    retrieved = retrieve_listed(
        [row.edge for row in speaking], nodes=asked, root=ids.get(query.root, query.root),
        limit=query.max_observations, policy=query.retrieval_policy, profile="native",
    )  # fmt: skip
    rows = {row.edge.observation_id: row for row in speaking}
    used = [rows[edge.observation_id] for edge in retrieved.edges]
    place = {node: index for index, node in enumerate(query.nodes)}
    law = relation.standing_law
    vectors = Used(
        ids=tuple(known_as(row.edge.observation_id) for row in used),
        source=np.array([place[row.source] for row in used], dtype=np.intp),
        target=np.array([place[row.target] for row in used], dtype=np.intp),
        posterior=stacked([unpacked(row.vectors[0]) for row in used], size=law.size),
        prior=stacked([None if row.vectors[1] is None else unpacked(row.vectors[1]) for row in used], size=law.size),
        trust=np.array([row.vectors[2] for row in used], dtype=np.float64),
    )
    return answer(
        replace(query, inference="exact"), law=law, nodes=query.nodes, used=vectors, budget=LIST_BUDGET,
        has_zero_floor=relation.has_zero_floor,
    )  # fmt: skip
