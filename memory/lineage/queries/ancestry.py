"""Ancestors and descendants: whole, each node once, whatever the number of paths.

One recursive query on the id alone (UNION ends on cycles and on shared ancestors); depth is worked out afterwards.
Traps: with depth inside the UNION a dense graph costs several times as much; statistics on the edge table make SQLite
read all edges for each call (lineage.maintenance keeps it free of them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.lineage.kernel import Reached, Step, walked
from memory.lineage.models import ANCESTRY
from memory.lineage.queries.standing import standing, standing_values, unclaimed
from memory.records.models import Record
from memory.records.queries.detail import NO_SOURCE_TIME

LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Walk:
    """All nodes reached from one record, nearest first. `hidden` counts what the reading leaves out, by why."""

    record: UUID
    digest: bytes
    items: tuple[Reached, ...]
    total: int
    truncated: bool
    hidden: Mapping[str, int] = field(default_factory=dict)


def ancestry(at: AsOf, *, record: UUID, limit: int = LIMIT) -> Walk:
    """Everything the record came from. Stable: a committed record's ancestry never changes. Raises NotFound."""
    return _walk(at, record, steps_up, limit)


def descendants(at: AsOf, *, record: UUID, limit: int = LIMIT) -> Walk:
    """Everything that came from the record by the point. It may grow. Raises NotFound."""
    return _walk(at, record, steps_down, limit)


def steps_up(at: AsOf, record: UUID) -> list[Step]:
    """All ancestry edges above the record, each once."""
    return _steps(at, record, near="source", far="target")


def steps_down(at: AsOf, record: UUID) -> list[Step]:
    """All ancestry edges below the record by the point, turned round: from the older to the newer."""
    return _steps(at, record, near="target", far="source")


def _walk(at: AsOf, record: UUID, steps: Callable[[AsOf, UUID], list[Step]], limit: int) -> Walk:
    row = _record(at, record)
    reached = walked(record, steps(at, record))
    digest, total = bytes(row.ancestry_digest), len(reached)
    return Walk(record, digest, tuple(reached[:limit]), total, total > limit, _left_out(at, record, steps))


def _left_out(at: AsOf, record: UUID, steps: Callable[[AsOf, UUID], list[Step]]) -> dict[str, int]:
    """By a source's instants: how many records of the whole walk have none."""
    if at.source_at is None:
        return {}
    everything = walked(record, steps(replace(at, source_at=None), record))
    n_left_out = unclaimed(at, [one.id for one in everything])
    return {NO_SOURCE_TIME: n_left_out} if n_left_out else {}


def _record(at: AsOf, record: UUID) -> Record:
    rows = Record.objects.filter(namespace=at.namespace, id=record, seq__lte=at.seq)
    row = (rows if at.source_at is None else rows.filter(source_recorded_at__lte=at.source_at)).first()
    if row is None:
        raise NotFound(f"There is no record {record} {at.words}.", id=str(record))
    return row


def _steps(at: AsOf, record: UUID, *, near: str, far: str) -> list[Step]:
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    filters = f"e.relation IN ({labels}) AND {standing(at, edges='e')}"
    first = "SELECT %s::uuid" if connection.vendor == "postgresql" else "SELECT %s"
    statement = (
        f"WITH RECURSIVE reached(id) AS ({first} UNION"
        f" SELECT e.{far} FROM memory_edge e JOIN reached ON e.{near} = reached.id WHERE {filters})"
        f" SELECT e.{near}, e.relation, e.{far} FROM reached"
        f" JOIN memory_edge e ON e.{near} = reached.id WHERE {filters}"
    )
    values = standing_values(at)
    with connection.cursor() as cursor:
        cursor.execute(statement, sql.adapted([record, *values, *values]))
        rows = cursor.fetchall()
    ids = {value: _uuid(value) for row in rows for value in (row[0], row[2])}
    return [Step(ids[near_id], relation, ids[far_id]) for near_id, relation, far_id in rows]


def _uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(int=int(value, 16))
