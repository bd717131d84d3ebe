"""Saved queries: the newest of each name, which is the one that is asked; an older one is found by its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound

_KNOWN = """
SELECT q.id, n.text, COALESCE(r.text, ''), c.payload, q.seq FROM memory_savedquery q
JOIN memory_name n ON n.namespace_id = q.namespace_id AND n.id = q.name
LEFT JOIN memory_name r ON r.namespace_id = q.namespace_id AND r.id = q.relation_type
LEFT JOIN memory_content c ON c.namespace_id = q.namespace_id AND c.seq = q.seq AND c.item = q.item AND c.part = 'value'
WHERE q.namespace_id = %s AND q.seq <= %s"""
_NEWEST = f"""{_KNOWN} AND NOT EXISTS (
    SELECT 1 FROM memory_savedquery o WHERE o.namespace_id = q.namespace_id AND o.name = q.name
    AND o.seq > q.seq AND o.seq <= %s)
"""


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A saved query; `query` is None once erased."""

    id: UUID
    name: str
    relation_type: str
    query: Mapping[str, Any] | None
    seq: int


def saved_queries(at: AsOf, *, name: str = "") -> list[SavedRow]:
    """The newest query of each name that is known by the point, by name; or that of one name."""
    only, values = (" AND n.text = %s", [name]) if name else ("", [])
    rows = sql.fetch(f"{_NEWEST}{only}", [at.namespace, at.seq, at.seq, *values])
    # Sorted here: the two databases do not collate alike.
    return sorted((_row(row) for row in rows), key=lambda row: row.name)


def saved_query(at: AsOf, *, name: str) -> SavedRow:
    """The newest query of that name.   Raises NotFound."""
    found = saved_queries(at, name=name)
    if not found:
        raise NotFound(f"There is no saved query {name[:60]}.", name=name[:200])
    return found[0]


def saved_version(at: AsOf, *, id: UUID) -> tuple[SavedRow, SavedRow]:
    """The query of that id, and the newest of its name by the point.   Raises NotFound."""
    rows = sql.fetch(f"{_KNOWN} AND q.id = %s", [at.namespace, at.seq, id])
    if not rows:
        raise NotFound(f"There is no saved query {id} {at.words}.", id=str(id))
    found = _row(rows[0])
    return found, saved_query(at, name=found.name)


def _row(row: tuple[Any, ...]) -> SavedRow:
    id, name, relation_type, payload, seq = row
    query: Any = None if payload is None else strict_loads(payload)
    return SavedRow(sql.as_id(id), name, relation_type, query, seq)
