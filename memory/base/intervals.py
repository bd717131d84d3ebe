"""Half-open intervals of instants: when something is true.

Invariants
- `[start, end)` holds its start and not its end; `None` is an open side. No interval is empty.
- Instants are aware and in UTC, so that text, order and equality of two instants agree.
- Intersection and hull are commutative, associative and idempotent. Two intervals without a common instant have no
  intersection; intervals of which each two overlap always have one.
- *V-all*: an instant of the intersection is an instant of every source, and no larger interval has that property.
- *V-some*: an instant of some source is an instant of the hull, and no smaller interval has that property. Over a
  gap the hull also holds instants at which no source holds.

Source: laws of the store, valid time of a merge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce


class NotUtc(ValueError):
    """An end of the interval is naive or in another zone than UTC."""


class EmptyInterval(ValueError):
    """The end is not after the start, so no instant lies between them."""

    def __init__(self, start: datetime, end: datetime) -> None:
        self.start = start
        self.end = end
        super().__init__(f"the interval is empty: expected an end after {_shown(start)}, got {_shown(end)}")


class DisjointIntervals(ValueError):
    """The intervals have no common instant, so they have no intersection."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        self.intervals = tuple(intervals)
        super().__init__(f"no instant lies in all of {', '.join(str(interval) for interval in self.intervals)}")


@dataclass(frozen=True, slots=True)
class Interval:
    """The instants from `start` up to, and without, `end`; None is open.

    Raises NotUtc, EmptyInterval.
    """

    start: datetime | None
    end: datetime | None

    def __post_init__(self) -> None:
        for side in (self.start, self.end):
            if side is not None and side.utcoffset() != timedelta(0):
                raise NotUtc(f"expected an aware instant in UTC, got {side.isoformat()}")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise EmptyInterval(self.start, self.end)

    def __str__(self) -> str:
        start = "(open" if self.start is None else f"[{_shown(self.start)}"
        return f"{start}, {'open' if self.end is None else _shown(self.end)})"

    def contains(self, at: datetime) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def covers(self, other: Interval) -> bool:
        """Whether every instant of `other` is one of this interval."""
        return self.hull(other) == self

    def overlaps(self, other: Interval) -> bool:
        """Whether some instant lies in both; intervals that only touch have none."""
        return _is_before(self.start, other.end) and _is_before(other.start, self.end)

    def intersection(self, other: Interval) -> Interval:
        """The instants of both.   Raises DisjointIntervals."""
        if not self.overlaps(other):
            raise DisjointIntervals((self, other))
        return Interval(_latest_start(self.start, other.start), _earliest_end(self.end, other.end))

    def hull(self, other: Interval) -> Interval:
        """The least interval that holds both."""
        start = None if self.start is None or other.start is None else min(self.start, other.start)
        end = None if self.end is None or other.end is None else max(self.end, other.end)
        return Interval(start, end)


ALWAYS = Interval(None, None)


def intersection_of(intervals: Iterable[Interval]) -> Interval:
    """The instants of all intervals; ALWAYS for none.   Raises DisjointIntervals, which lists them all."""
    sources = tuple(intervals)
    try:
        return reduce(Interval.intersection, sources, ALWAYS)
    except DisjointIntervals as error:
        raise DisjointIntervals(sources) from error


def hull_of(intervals: Iterable[Interval]) -> Interval:
    """The least interval that holds all intervals.   Raises ValueError for none, which would be the empty one."""
    sources = tuple(intervals)
    if not sources:
        raise ValueError("expected one interval or more, got none")
    return reduce(Interval.hull, sources)


def _is_before(start: datetime | None, end: datetime | None) -> bool:
    return start is None or end is None or start < end


def _latest_start(first: datetime | None, second: datetime | None) -> datetime | None:
    if first is None or second is None:
        return second if first is None else first
    return max(first, second)


def _earliest_end(first: datetime | None, second: datetime | None) -> datetime | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _shown(instant: datetime) -> str:
    return f"{instant.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
