"""Records as other pages need them: by their first lines, and those recorded before an instant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memory.base.asof import AsOf
from memory.records.models import RecordState, RecordStateQuerySet

CHUNK = 400


def first_lines(at: AsOf, records: Sequence[UUID]) -> dict[UUID, str]:
    """{record: its first line} of those that stand by the point; an erased one has none. A query for each CHUNK."""
    found: dict[UUID, str] = {}
    for start in range(0, len(records), CHUNK):
        rows = RecordState.objects.filter(namespace=at.namespace, id__in=records[start : start + CHUNK])
        found.update(rows.filter(seq__lte=at.seq).values_list("id", "first_line"))
    return found


def count_recorded_before(at: AsOf, *, instant: datetime) -> int:
    """How many records that were recorded before the instant still have their text."""
    return _before(at, instant).count()


def recorded_before(at: AsOf, *, instant: datetime, limit: int) -> list[UUID]:
    """The oldest of these."""
    return list(_before(at, instant).order_by("doc").values_list("id", flat=True)[:limit])


def _before(at: AsOf, instant: datetime) -> RecordStateQuerySet:
    rows = RecordState.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    return rows.filter(recorded_at__lt=instant, erased_seq__isnull=True)
