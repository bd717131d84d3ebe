"""Instants of a source that writes some of its clocks without an offset.

Invariants
- An instant is aware and in UTC, or it is unknown; the text it was read from is kept either way.
- `how` says on what the instant rests: `aware` (the text has an offset), `inferred` (the offset follows from the same
  record), `assumed` (every inferred offset of the store is this one), `unknown`.
- No time zone of this machine enters.

Source: laws of the store 5.6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

type How = Literal["aware", "inferred", "assumed", "unknown"]

_QUARTER_HOUR = timedelta(minutes=15)
# Both clocks are read within one call of the source; a larger rest is a sign of two unrelated instants.
_LARGEST_REST = timedelta(minutes=5)
_LARGEST_OFFSET = timedelta(hours=14)
_DATE_AND_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")


@dataclass(frozen=True, slots=True)
class ClaimedInstant:
    """An instant as the source says it. `offset_seconds` is the inferred or assumed offset east of UTC."""

    text: str
    at: datetime | None
    how: How
    offset_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class OffsetSupport:
    """How many records of the store gave one inferred offset."""

    offset_seconds: int
    n_records: int


def parsed(text: str | None) -> datetime | None:
    """A date with a time of day, aware or naive as the text is; None if it is neither."""
    if text is None or not _DATE_AND_TIME.match(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def aware_instant(text: str | None) -> datetime | None:
    """The instant in UTC if the text carries an offset; None otherwise."""
    instant = parsed(text)
    return None if instant is None or instant.utcoffset() is None else _in_utc(instant)


def inferred_offset(created_text: str, *, claimed_at: datetime | None) -> timedelta | None:
    """The offset of the clock that wrote a derived record, rounded to a quarter of an hour.

    It is the naive creation minus the aware instant of the derivation. None if the text is aware or unreadable, or if
    the rest or the offset is larger than clocks explain.

    >>> str(inferred_offset("2026-03-02T09:45:04", claimed_at=datetime(2026, 3, 2, 15, 45, 3, tzinfo=UTC)))
    '-1 day, 18:00:00'
    """
    created = parsed(created_text)
    if created is None or created.utcoffset() is not None or claimed_at is None:
        return None
    difference = created - claimed_at.astimezone(UTC).replace(tzinfo=None)
    offset = round(difference / _QUARTER_HOUR) * _QUARTER_HOUR
    if abs(offset) > _LARGEST_OFFSET or abs(difference - offset) > _LARGEST_REST:
        return None
    return offset


def agreed_offset(support: Iterable[OffsetSupport]) -> timedelta | None:
    """The offset of the whole store: the only one inferred, or None if there are none or several."""
    offsets = list(support)
    return timedelta(seconds=offsets[0].offset_seconds) if len(offsets) == 1 else None


def offset_support(offsets: Iterable[timedelta]) -> tuple[OffsetSupport, ...]:
    """The inferred offsets with the number of records behind each, in ascending order."""
    counted = Counter(round(offset.total_seconds()) for offset in offsets)
    return tuple(OffsetSupport(seconds, counted[seconds]) for seconds in sorted(counted))


def claimed_instant(text: str, *, inferred: timedelta | None = None, agreed: timedelta | None = None) -> ClaimedInstant:
    """Read a clock of the source.

    inferred : offset of the record it belongs to.   agreed : offset of the store, used only where nothing is inferred.
    """
    instant = parsed(text)
    if instant is None:
        return ClaimedInstant(text, None, "unknown")
    if instant.utcoffset() is not None:
        at = _in_utc(instant)
        return ClaimedInstant(text, at, "unknown" if at is None else "aware")
    offset, how = (agreed, "assumed") if inferred is None else (inferred, "inferred")
    at = None if offset is None else _shifted(instant, offset)
    if offset is None or at is None:
        return ClaimedInstant(text, None, "unknown")
    how_known: How = "assumed" if how == "assumed" else "inferred"
    return ClaimedInstant(text, at, how_known, round(offset.total_seconds()))


def _in_utc(instant: datetime) -> datetime | None:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        return None


def _shifted(instant: datetime, offset: timedelta) -> datetime | None:
    try:
        return (instant - offset).replace(tzinfo=UTC)
    except OverflowError:
        return None
