"""Which edges stand at a point: one condition for every query that reads edges.

Invariants
- At a recorded time an edge stands from its entry on.
- By a source's own instants it stands once both of its ends do: links carry no instant of their own. An end without
  such an instant never does; it is left out and counted by `unclaimed`.

Traps: without statistics SQLite takes a bound on `seq` for the better way in and reads all edges of the namespace; the
plus keeps it out of the choice of an index.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.records.models import Record

CHUNK = 500


def standing(at: AsOf, *, edges: str = "memory_edge") -> str:
    """The condition on rows of `edges`, which is the table or its alias; its values come from `standing_values`."""
    condition = f"{edges}.namespace_id = %s AND +{edges}.seq <= %s"
    if at.source_at is None:
        return condition
    claimed = (
        f"EXISTS (SELECT 1 FROM memory_record c WHERE c.namespace_id = {edges}.namespace_id AND c.id = {edges}.{{end}}"
        " AND c.source_recorded_at <= %s)"
    )
    return " AND ".join([condition, claimed.format(end="source"), claimed.format(end="target")])


def standing_values(at: AsOf) -> list[Any]:
    """What the condition is asked with, in its order."""
    return [at.namespace, at.seq, *([at.source_at] * 2 if at.source_at is not None else [])]


def unclaimed(at: AsOf, records: Iterable[UUID]) -> int:
    """How many of the records have no instant of a source. One query for each 500."""
    wanted = sorted(records)
    return sum(
        Record.objects.filter(
            namespace=at.namespace, id__in=wanted[start : start + CHUNK], source_recorded_at__isnull=True
        ).count()
        for start in range(0, len(wanted), CHUNK)
    )
