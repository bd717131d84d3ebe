"""What records are called in a list of other things: their first lines, by one query for each CHUNK."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memory.base.asof import AsOf
from memory.records.models import RecordState

CHUNK = 400


def first_lines(at: AsOf, records: Sequence[UUID]) -> dict[UUID, str]:
    """{record: its first line} of those that stand by the point; an erased one has none."""
    found: dict[UUID, str] = {}
    for start in range(0, len(records), CHUNK):
        rows = RecordState.objects.filter(namespace=at.namespace, id__in=records[start : start + CHUNK])
        found.update(rows.filter(seq__lte=at.seq).values_list("id", "first_line"))
    return found
