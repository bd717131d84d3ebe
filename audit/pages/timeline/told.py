"""What the page of a timeline shows, whatever it is a timeline of: versions, answers, what was left out.

The queries of records and of facts are turned into these values; the picture, the answer panel, the table and the files
are made from them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from audit.charts.bitemporal_values import Known, Learned, Picture, Point, Version, learned
from audit.navigation import Link

type Status = Literal["known", "unknown", "conflict"]


@dataclass(frozen=True, slots=True)
class Side:
    """One value of an answer, what it rests on, and why it counts."""

    value: str
    rests_on: tuple[Link, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What holds at the point, of one attribute or of a line; `why` says why nothing does, or what clashes."""

    group: str
    status: Status
    sides: tuple[Side, ...]
    why: str = ""
    way_on: Link | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A timeline up to its last drawn entry. `hidden` counts what is left out, by why; `n_total` all versions.

    `against` is the other recording with its instant. `first` and `last` are the recordings at which something begins
    to stand, for a point at which nothing does.
    """

    title: str
    kind: Literal["record", "subject"]
    url: str
    versions: tuple[Version, ...]
    answers: tuple[Answer, ...]
    n_total: int
    hidden: Mapping[str, int]
    point: Point
    against: Known | None = None
    attributes: tuple[tuple[str, int], ...] = ()
    is_claimed: bool = False

    @property
    def learned(self) -> tuple[Learned, ...]:
        """What changed between the two recordings; nothing where none is compared."""
        if self.against is None:
            return ()
        earlier, later = sorted((self.against, self.point.known))
        return tuple(one for one in learned(self.versions, earlier=earlier, later=later) if one.change != "kept")

    def picture(self, *, is_ordinal: bool) -> Picture:
        return Picture(self.versions, self.point, self.against, self.n_total, is_ordinal, self.is_claimed)


@dataclass(frozen=True, slots=True)
class Steps:
    """The next change points on either side of the point: instants of the world, and recordings."""

    left: datetime | None
    right: datetime | None
    down: Known | None
    up: Known | None


def steps(versions: Sequence[Version], point: Point) -> Steps:
    """Where the arrow keys lead. Below the first recording lies one at which nothing was recorded yet."""
    valids = sorted({end for one in versions for end in (one.valid_from, one.valid_to) if end is not None})
    knowns = sorted({known for one in versions for known in (one.known_from, one.known_to) if known is not None})
    lower = [known for known in knowns if known.at < point.known.at]
    down = lower[-1] if lower else None
    if down is None and knowns and knowns[0] == point.known and point.known.seq > 0:
        down = Known(point.known.at, point.known.seq - 1)
    return Steps(
        left=max((at for at in valids if at < point.valid_at), default=None),
        right=min((at for at in valids if at > point.valid_at), default=None),
        down=down,
        up=min((known for known in knowns if known.at > point.known.at), default=None),
    )


def stands_how(version: Version, point: Point) -> str:
    """How a version stands at the point, in words."""
    if version.stands(point):
        return f"stands here, {version.ended_by}" if version.ended_by else "stands here"
    if point.known.at < version.known_from.at:
        return "recorded later"
    if version.known_to is not None and version.known_to.at <= point.known.at:
        return version.ended_by or "ended by then"
    return "not true then"
