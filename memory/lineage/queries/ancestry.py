"""Ancestors and descendants: whole, each node once, whatever the number of paths.

One recursive query on the id alone (UNION ends on cycles and on shared ancestors); depth is worked out afterwards.
Traps: with depth inside the UNION a dense graph costs several times as much; statistics on the edge table make SQLite
read all edges for each call (lineage.maintenance keeps it free of them); without them SQLite takes a bound on `seq` for
the better way in and reads all edges for each node, so a plus keeps that bound out of the choice of an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.lineage.kernel import Reached, Step, walked
from memory.lineage.models import ANCESTRY
from memory.records.models import Record

LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Walk:
    """All nodes reached from one record, nearest first, and the edges between them."""

    record: UUID
    digest: bytes
    items: tuple[Reached, ...]
    total: int
    truncated: bool


def ancestry(at: AsOf, *, record: UUID, limit: int = LIMIT) -> Walk:
    """Everything the record came from. Stable: a committed record's ancestry never changes. Raises NotFound."""
    row = _record(at, record)
    return _walk(row, steps_up(at, record), limit)


def descendants(at: AsOf, *, record: UUID, limit: int = LIMIT) -> Walk:
    """Everything that came from the record by the point. It may grow. Raises NotFound."""
    row = _record(at, record)
    return _walk(row, steps_down(at, record), limit)


def steps_up(at: AsOf, record: UUID) -> list[Step]:
    """All ancestry edges above the record, each once."""
    return _steps(at, record, near="source", far="target")


def steps_down(at: AsOf, record: UUID) -> list[Step]:
    """All ancestry edges below the record by the point, turned round: from the older to the newer."""
    return _steps(at, record, near="target", far="source")


def _walk(row: Record, steps: Sequence[Step], limit: int) -> Walk:
    reached = walked(row.id, steps)
    return Walk(row.id, bytes(row.ancestry_digest), tuple(reached[:limit]), len(reached), len(reached) > limit)


def _record(at: AsOf, record: UUID) -> Record:
    row = Record.objects.filter(namespace=at.namespace, id=record, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"There is no record {record} as of entry {at.seq}.", id=str(record))
    return row


def _steps(at: AsOf, record: UUID, *, near: str, far: str) -> list[Step]:
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    filters = f"e.namespace_id = %s AND e.relation IN ({labels}) AND +e.seq <= %s"
    start: Any = record if connection.vendor == "postgresql" else record.hex
    first = "SELECT %s::uuid" if connection.vendor == "postgresql" else "SELECT %s"
    sql = (
        f"WITH RECURSIVE reached(id) AS ({first} UNION"
        f" SELECT e.{far} FROM memory_edge e JOIN reached ON e.{near} = reached.id WHERE {filters})"
        f" SELECT e.{near}, e.relation, e.{far} FROM reached"
        f" JOIN memory_edge e ON e.{near} = reached.id WHERE {filters}"
    )
    point = [at.namespace, at.seq]
    with connection.cursor() as cursor:
        cursor.execute(sql, [start, *point, *point])
        rows = cursor.fetchall()
    ids = {value: _uuid(value) for row in rows for value in (row[0], row[2])}
    return [Step(ids[near_id], relation, ids[far_id]) for near_id, relation, far_id in rows]


def _uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(int=int(value, 16))
