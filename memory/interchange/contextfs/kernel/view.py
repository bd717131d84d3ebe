"""What every rule asks of a surveyed store: which record has this identifier, and when does the source say it was.

Source: laws of the store 5.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memory.interchange.contextfs.kernel.clocks import (
    ClaimedInstant,
    OffsetSupport,
    agreed_offset,
    claimed_instant,
    inferred_offset,
    offset_support,
)
from memory.interchange.contextfs.kernel.resolution import NameIndex
from memory.interchange.contextfs.kernel.rows import MemoryRow, Survey

_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoreView:
    """records, recorded, inferred : by identifier. `recorded` is the creation as the source claims it."""

    records: Mapping[str, MemoryRow]
    index: NameIndex
    recorded: Mapping[str, ClaimedInstant]
    inferred: Mapping[str, timedelta]
    support: tuple[OffsetSupport, ...]
    agreed: timedelta | None

    def age_key(self, identifier: str) -> tuple[datetime, str]:
        """Ascending from the oldest record; one without an instant counts as younger than all others."""
        recorded_at = self.recorded[identifier].at or self.records[identifier].claims.newest_at
        return (recorded_at or _LATEST, identifier)

    def edge_instant(self, text: str, *, derived_id: str | None) -> ClaimedInstant:
        """The creation of an edge. derived_id : the record whose derivation wrote it, whose offset it shares."""
        inferred = None if derived_id is None else self.inferred.get(derived_id)
        return claimed_instant(text, inferred=inferred, agreed=self.agreed)


def view_of(surveyed: Survey) -> StoreView:
    """Index the records and read their clocks."""
    records = {row.id: row for row in surveyed.memories}
    inferred = {}
    for row in surveyed.memories:
        offset = inferred_offset(row.created_text, claimed_at=row.claims.newest_at)
        if offset is not None:
            inferred[row.id] = offset
    support = offset_support(inferred.values())
    agreed = agreed_offset(support)
    return StoreView(
        records=records,
        index=NameIndex({row.id: row.namespace for row in surveyed.memories}),
        recorded={
            row.id: claimed_instant(row.created_text, inferred=inferred.get(row.id), agreed=agreed)
            for row in surveyed.memories
        },
        inferred=inferred,
        support=support,
        agreed=agreed,
    )
