"""Where the rectangles of a bitemporal picture stand: two scales, lanes, boxes, the diagonal.

Invariants
- A scale never turns two instants around: the later one stands further along, or at the same place. Equal instants
  stand at one place, so a point on an edge that two rectangles share lies on the first edge of the later one.
- On the true scale distances are those of time; on the ordinal one neighbouring change points are equally far apart.
  What lies before the first and after the last change point stands in the zone in which open ends fade.
- Rectangles that share a point and say different things stand in different lanes; each lane has the same two scales.
- What is not laid out for want of room is counted: the versions at the point and the newest ones are kept.
- The order in which versions are given does not matter.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from audit.charts.bitemporal_values import BEGINNING, Known, Picture, Point, Version

MOST_VERSIONS = 90
MOST_LANES = 6

WIDTH = 1000.0
LEFT = 150.0
RIGHT = 974.0
TOP = 48.0
LANE_HEIGHTS = (360.0, 230.0, 170.0)
LANE_GAP = 34.0
UNDER = 44.0
OPEN_ZONE = 36.0
LEAST = 2.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Change points and their places. `low` is the place of an open start, `high` that of an open end.

    On the axis of recording `high` is the smaller number, since a picture counts its rows from above.
    """

    stops: tuple[datetime, ...]
    places: tuple[float, ...]
    low: float
    high: float

    def place(self, at: datetime) -> float:
        """Where the instant stands, between two change points in proportion."""
        if not self.stops or at < self.stops[0]:
            return self.before
        if at > self.stops[-1]:
            return self.after
        after = bisect_left(self.stops, at)
        if self.stops[after] == at:
            return self.places[after]
        share = (at - self.stops[after - 1]) / (self.stops[after] - self.stops[after - 1])
        return self.places[after - 1] + share * (self.places[after] - self.places[after - 1])

    @property
    def before(self) -> float:
        """Where everything earlier than the first change point stands."""
        return self.low + self._zone / 2

    @property
    def after(self) -> float:
        """Where everything later than the last change point stands."""
        return self.high - self._zone / 2

    @property
    def _zone(self) -> float:
        return OPEN_ZONE if self.low <= self.high else -OPEN_ZONE

    def shifted(self, by: float) -> "Scale":
        """The same scale in another lane."""
        return Scale(self.stops, tuple(place + by for place in self.places), self.low + by, self.high + by)


def scale(instants: Iterable[datetime], *, low: float, high: float, is_ordinal: bool) -> Scale:
    """The scale over all instants at which something changes; one alone stands in the middle."""
    stops = tuple(sorted(set(instants)))
    zone = OPEN_ZONE if low <= high else -OPEN_ZONE
    first, last = low + zone, high - zone
    if len(stops) < 2:
        return Scale(stops, ((first + last) / 2,) * len(stops), low, high)
    if is_ordinal:
        shares = [index / (len(stops) - 1) for index in range(len(stops))]
    else:
        span = stops[-1] - stops[0]
        shares = [(stop - stops[0]) / span for stop in stops]
    return Scale(stops, tuple(first + share * (last - first) for share in shares), low, high)


@dataclass(frozen=True, slots=True)
class Box:
    """A laid out version: its number among those shown, its lane, and its edges; `bottom` is the first recording.

    `claimed` is the place of the instant that a source claims, None where it claims none or a later one.
    """

    index: int
    version: Version
    lane: int
    left: float
    right: float
    bottom: float
    top: float
    claimed: float | None


@dataclass(frozen=True, slots=True)
class Lane:
    """One copy of both clocks. `group` is the attribute whose versions stand in it."""

    group: str
    top: float
    bottom: float
    known: Scale


@dataclass(frozen=True, slots=True)
class Layout:
    """All places. `diagonal` is the line "recorded when true" in the first lane, from the lower left end on."""

    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    valid: Scale
    diagonal: tuple[tuple[float, float], ...]
    height: float
    n_shown: int
    n_total: int

    @property
    def is_whole(self) -> bool:
        return self.n_shown >= self.n_total


def laid_out(picture: Picture) -> Layout:
    """The picture's places; a picture without versions has one empty lane."""
    kept = _kept(picture)
    placed, groups = _in_lanes(kept)
    shown = [(version, lane) for version, lane in zip(kept, placed, strict=True) if lane < MOST_LANES]
    versions = [version for version, _ in shown]
    groups = groups[:MOST_LANES] or [""]
    height = LANE_HEIGHTS[min(len(groups), len(LANE_HEIGHTS)) - 1]
    valid = scale(_valid_stops(versions), low=LEFT, high=RIGHT, is_ordinal=picture.is_ordinal)
    known = scale(_known_stops(picture, versions), low=TOP + height, high=TOP, is_ordinal=picture.is_ordinal)
    lanes = tuple(
        Lane(group, TOP + shift, TOP + height + shift, known.shifted(shift))
        for index, group in enumerate(groups)
        for shift in [index * (height + LANE_GAP)]
    )
    boxes = tuple(_box(index, version, lane, lanes[lane], valid) for index, (version, lane) in enumerate(shown))
    return Layout(
        lanes, boxes, valid, _diagonal(valid, known), lanes[-1].bottom + UNDER, len(shown), picture.n_versions
    )


def _kept(picture: Picture) -> list[Version]:
    """The versions that there is room for, in one order: at the point or the other recording first, then the newest."""

    points = [picture.point]
    if picture.against is not None:
        points.append(Point(picture.point.valid_at, picture.against))

    def rank(version: Version) -> tuple[bool, Known]:
        return any(version.stands(point) for point in points), version.known_from

    kept = sorted(sorted(picture.versions, key=_name), key=rank, reverse=True)[:MOST_VERSIONS]
    return sorted(kept, key=lambda one: (one.group, one.known_from, one.valid_from is not None, *_name(one)))


def _name(version: Version) -> tuple[str, str]:
    """What tells apart versions that begin alike."""
    ends = (version.valid_from, version.valid_to, version.known_to.at if version.known_to else None)
    return version.id, " ".join(end.isoformat() if end else "" for end in ends)


def _in_lanes(versions: Sequence[Version]) -> tuple[list[int], list[str]]:
    """(the lane of each version, the group of each lane): the first lane of its group that it contradicts nowhere."""
    lanes: list[list[Version]] = []
    groups: list[str] = []
    placed: list[int] = []
    for version in versions:
        found = next(
            (index for index, held in enumerate(lanes) if groups[index] == version.group and _fits(version, held)), None
        )
        if found is None:
            found = len(lanes)
            lanes.append([])
            groups.append(version.group)
        lanes[found].append(version)
        placed.append(found)
    return placed, groups


def _fits(version: Version, held: Iterable[Version]) -> bool:
    return not any(version.said != other.said and version.shares_a_point(other) for other in held)


def _valid_stops(versions: Iterable[Version]) -> list[datetime]:
    return [end for one in versions for end in (one.valid_from, one.valid_to) if end is not None]


def _known_stops(picture: Picture, versions: Iterable[Version]) -> list[datetime]:
    stops = [picture.against.at] if picture.against not in (None, BEGINNING) else []
    for one in versions:
        ends = (one.known_from.at, one.known_to.at if one.known_to else None, one.claimed_at)
        stops += [end for end in ends if end is not None]
    return stops


def _box(index: int, version: Version, lane: int, where: Lane, valid: Scale) -> Box:
    known = where.known
    left = valid.low if version.valid_from is None else valid.place(version.valid_from)
    right = valid.high if version.valid_to is None else valid.place(version.valid_to)
    bottom = known.place(version.known_from.at)
    top = known.high if version.known_to is None else known.place(version.known_to.at)
    is_earlier = version.claimed_at is not None and version.claimed_at < version.known_from.at
    claimed = known.place(version.claimed_at) if version.claimed_at is not None and is_earlier else None
    return Box(index, version, lane, left, right, bottom, top, claimed)


def _diagonal(valid: Scale, known: Scale) -> tuple[tuple[float, float], ...]:
    """Where both clocks show the same: straight between two stops of either, so these are all its corners."""
    stops = sorted({*valid.stops, *known.stops})
    if not stops:
        return ()
    corners = [(valid.before, known.before), *((valid.place(at), known.place(at)) for at in stops)]
    return tuple(dict.fromkeys([*corners, (valid.after, known.after)]))
