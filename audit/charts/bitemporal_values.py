"""What a bitemporal picture is made from: versions as rectangles over two clocks, and what can be asked of them.

Invariants
- Both intervals are half-open: a version holds its first instant and not its last one, on either clock. A version with
  no length on a clock stands at no point; it is still a version and is drawn as a tick.
- A point is an instant of the world and an instant of recording; which versions stand there is a function of these.
- Two versions say the same where their `key` is the same, whatever words they are shown in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

type Change = Literal["kept", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """One instant of recording, with the entry that has it; `seq` is 0 where a source claims the instant."""

    at: datetime
    seq: int = 0


BEGINNING = Known(datetime.min.replace(tzinfo=UTC))
"""Before the first recording: at this point nothing is known."""


@dataclass(frozen=True, slots=True)
class Version:
    """One rectangle: a value, when it is true, and from which to which recording it stands so.

    One record or fact may have several, which share its `id`. `None` is an open end. `state` is a wire word with a
    badge; `ended_by` says in words what closed it, "" where it is open. `claimed_at` is when the source says that it
    knew, where it says so. `group` names the attribute, where a picture shows several. `href` leads to what is told of.
    """

    id: str
    value: str
    valid_from: datetime | None
    valid_to: datetime | None
    known_from: Known
    known_to: Known | None = None
    key: str = ""
    state: str = "current"
    ended_by: str = ""
    source: str = ""
    actor: str = ""
    href: str = ""
    group: str = ""
    claimed_at: datetime | None = None

    @property
    def said(self) -> str:
        """What it says: equal for two versions that say the same."""
        return self.key or self.value

    def is_valid(self, at: datetime) -> bool:
        return (self.valid_from is None or self.valid_from <= at) and (self.valid_to is None or at < self.valid_to)

    def is_known(self, at: datetime) -> bool:
        return self.known_from.at <= at and (self.known_to is None or at < self.known_to.at)

    def stands(self, point: "Point") -> bool:
        """Whether the point lies in the rectangle."""
        return self.is_valid(point.valid_at) and self.is_known(point.known.at)

    @property
    def has_area(self) -> bool:
        """False where it has no length on one of the clocks: it is told of, and stands at no point."""
        is_long = self.valid_from is None or self.valid_to is None or self.valid_from < self.valid_to
        return is_long and (self.known_to is None or self.known_from.at < self.known_to.at)

    def shares_a_point(self, other: "Version") -> bool:
        """Whether some point lies in both rectangles; two that only touch share none."""
        return (
            self.has_area
            and other.has_area
            and _is_before(self.valid_from, other.valid_to)
            and _is_before(other.valid_from, self.valid_to)
            and _is_before(self.known_from.at, other.known_to.at if other.known_to else None)
            and _is_before(other.known_from.at, self.known_to.at if self.known_to else None)
        )


@dataclass(frozen=True, slots=True)
class Point:
    """An instant of the world, asked as recorded by an instant of recording."""

    valid_at: datetime
    known: Known


@dataclass(frozen=True, slots=True)
class Learned:
    """One stretch of valid time and what was said of it at two recordings, each set in the order of its keys."""

    group: str
    valid_from: datetime | None
    valid_to: datetime | None
    before: tuple[Version, ...]
    after: tuple[Version, ...]

    @property
    def change(self) -> Change:
        was, became = ({version.said for version in side} for side in (self.before, self.after))
        if was == became:
            return "kept"
        return "added" if not was else "removed" if not became else "changed"


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn: the versions, the point, and a second recording where two are compared.

    `n_total` counts the versions that there are, also those that were not given. `is_claimed`: the whole is told as a
    source says that it knew, which nothing here proves.
    """

    versions: tuple[Version, ...]
    point: Point
    against: Known | None = None
    n_total: int = 0
    is_ordinal: bool = False
    is_claimed: bool = False

    @property
    def n_versions(self) -> int:
        return max(self.n_total, len(self.versions))


def standing(versions: Iterable[Version], point: Point) -> tuple[Version, ...]:
    """The versions that stand at the point, in the order given."""
    return tuple(version for version in versions if version.stands(point))


def learned(versions: Sequence[Version], *, earlier: Known, later: Known) -> tuple[Learned, ...]:
    """What is said of all valid time at two recordings, group by group, in the order of valid time.

    The stretches of a group cover every instant once. Two neighbours differ in what was said before or after.
    """
    found: list[Learned] = []
    for group in sorted({version.group for version in versions}):
        own = [version for version in versions if version.group == group and version.has_area]
        sides = [[version for version in own if version.is_known(known.at)] for known in (earlier, later)]
        ends = {end for side in sides for one in side for end in (one.valid_from, one.valid_to) if end is not None}
        borders = [None, *sorted(ends), None]
        said = [_said_from(side, borders[:-1]) for side in sides]
        stretches = (
            Learned(group, start, end, before, after)
            for (start, end), before, after in zip(pairwise(borders), *said, strict=True)
        )
        found += _joined(stretches)
    return tuple(found)


def _said_from(side: Iterable[Version], borders: Sequence[datetime | None]) -> Iterator[tuple[Version, ...]]:
    """For each border one version for each thing that is said from it on; no version begins or ends between two."""
    starts: dict[datetime | None, list[Version]] = {}
    ends: dict[datetime, list[Version]] = {}
    for version in sorted(side, key=lambda one: (one.known_from, one.id)):
        starts.setdefault(version.valid_from, []).append(version)
        if version.valid_to is not None:
            ends.setdefault(version.valid_to, []).append(version)
    saying: dict[str, list[Version]] = {}
    told: tuple[Version, ...] = ()
    for border in borders:
        gone = ends.get(border, []) if border is not None else []
        for version in gone:
            saying[version.said].remove(version)
        for version in starts.get(border, []):
            saying.setdefault(version.said, []).append(version)
        if gone or border in starts:
            saying = {said: members for said, members in saying.items() if members}
            told = tuple(saying[said][0] for said in sorted(saying))
        yield told


def _joined(stretches: Iterable[Learned]) -> list[Learned]:
    """The same with neighbours of which the same was said put together."""
    found: list[Learned] = []
    for one in stretches:
        last = found[-1] if found else None
        if last is not None and (_keys(last.before), _keys(last.after)) == (_keys(one.before), _keys(one.after)):
            found[-1] = Learned(one.group, last.valid_from, one.valid_to, last.before, last.after)
        else:
            found.append(one)
    return found


def _keys(side: Iterable[Version]) -> tuple[str, ...]:
    return tuple(version.said for version in side)


def _is_before(start: datetime | None, end: datetime | None) -> bool:
    return start is None or end is None or start < end
