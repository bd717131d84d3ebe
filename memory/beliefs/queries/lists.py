"""Observations in pages, the newest entry first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf

_ROWS = """
SELECT s.doc, s.id, n.text, t.text, a.text, b.text, s.observed_at, s.trust, s.is_independent, s.seq,
    s.erased_seq IS NOT NULL,
    EXISTS (SELECT 1 FROM memory_observationreach r WHERE r.namespace_id = s.namespace_id AND r.observation = s.id
        AND r.seq <= %s AND r.at <= %s)
FROM memory_observationstate s
LEFT JOIN memory_name n ON n.namespace_id = s.namespace_id AND n.id = s.name
LEFT JOIN memory_name t ON t.namespace_id = s.namespace_id AND t.id = s.relation_type
LEFT JOIN memory_name a ON a.namespace_id = s.namespace_id AND a.id = s.source
LEFT JOIN memory_name b ON b.namespace_id = s.namespace_id AND b.id = s.target
WHERE {where} ORDER BY s.doc DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An observation as lists show it; a name that is erased reads "". Instants are claimed seconds."""

    doc: int
    id: UUID
    observation_id: str
    relation_type: str
    source: str
    target: str
    observed_at: float
    trust: float
    is_independent: bool
    seq: int
    is_erased: bool
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class ObservationPage:
    """A page, how many there are in all, and the doc to go on after."""

    items: tuple[ObservationRow, ...]
    total: int
    next: int | None


def observations(
    at: AsOf, *, relation_type: UUID | None = None, node: UUID | None = None, after: int | None = None, limit: int = 50
) -> ObservationPage:  # fmt: skip
    """What was observed by the point, newest first: all, of one relation type, at one node (source or target)."""
    where, values = _where(at, relation_type, node)
    total = sql.fetch(f"SELECT COUNT(*) FROM memory_observationstate s WHERE {where}", values)[0][0]
    paged, more = (where, values) if after is None else (f"{where} AND s.doc < %s", [*values, after])
    reach = [at.seq, at.valid_at.timestamp()]
    rows = sql.fetch(_ROWS.format(where=paged), [*reach, *more, limit + 1])
    items = tuple(_row(row) for row in rows[:limit])
    return ObservationPage(items, total, items[-1].doc if len(rows) > limit else None)


def _where(at: AsOf, relation_type: UUID | None, node: UUID | None) -> tuple[str, list[Any]]:
    where = ["s.namespace_id = %s", "s.seq <= %s"]
    values: list[Any] = [at.namespace, at.seq]
    if relation_type is not None:
        where.append("s.relation_type = %s")
        values.append(relation_type)
    if node is not None:
        where.append("(s.source = %s OR s.target = %s)")
        values += [node, node]
    return " AND ".join(where), values


def _row(row: Sequence[Any]) -> ObservationRow:
    doc, id, name, kind, source, target, observed_at, trust, independent, seq, erased, revoked = row
    return ObservationRow(
        doc, sql.as_id(id), name or "", kind or "", source or "", target or "", observed_at, trust, bool(independent),
        seq, bool(erased), bool(revoked),
    )  # fmt: skip
