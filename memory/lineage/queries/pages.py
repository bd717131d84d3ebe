"""The whole lineage of a record in pages: what a drawing cannot hold is read here, each record once.

Order: ancestors nearest first, then descendants nearest first. Every link of the whole stands on exactly one page, that
of whichever of its ends comes later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.lineage.kernel import Reached, Step, walked
from memory.lineage.queries.graph import MOST_COUNTED, GraphLink, whole_lineage
from memory.records.models import RecordState
from memory.records.queries.detail import RecordRow, rows_by_id


@dataclass(frozen=True, slots=True)
class Placed:
    """A record of the whole: how many levels above (negative) or below, by which group of relations, and its row."""

    depth: int
    group: str
    row: RecordRow


@dataclass(frozen=True, slots=True)
class LineagePage:
    """One page. `next` is the number of records before the page that follows, None at the end."""

    items: tuple[Placed, ...]
    links: tuple[GraphLink, ...]
    total: int
    is_capped: bool
    next: int | None


def lineage_page(at: AsOf, *, focus: UUID, groups: Collection[str] = (), after: int = 0, limit: int) -> LineagePage:
    """`limit` records of the whole lineage after the first `after`; the focus is none of them. Raises Invalid."""
    if after < 0:
        raise Invalid.at("after", expected="a whole number", got=after)
    links = whole_lineage(at, focus=focus, groups=groups)
    reached = _reached(focus, links)
    rank = {focus: -1, **{one.id: index for index, (_, one) in enumerate(reached)}}
    shown = reached[after : after + limit]
    rows = rows_by_id(at, [one.id for _, one in shown])
    end = after + len(shown)
    return LineagePage(
        items=tuple(Placed(sign * one.depth, one.relation, rows[one.id]) for sign, one in shown if one.id in rows),
        links=tuple(link for link in links if after <= _later(rank, link) < end),
        total=len(reached), is_capped=len(links) > MOST_COUNTED, next=end if end < len(reached) else None,
    )  # fmt: skip


def first_lines(at: AsOf, *, focus: UUID, groups: Collection[str] = ()) -> list[tuple[UUID, str]]:
    """(record, its first line) of the whole lineage but the focus, nearest first; what is erased has none."""
    ids = [one.id for _, one in _reached(focus, whole_lineage(at, focus=focus, groups=groups))]
    lines = dict(RecordState.objects.known(at).filter(id__in=ids).values_list("id", "first_line"))
    return [(id, lines[id]) for id in ids if lines.get(id)]


def _later(rank: Mapping[UUID, int], link: GraphLink) -> int:
    """The place of the later end. What a cap cut off from the focus has none, and comes first."""
    return max(0, rank.get(link.older, 0), rank.get(link.newer, 0))


def _reached(focus: UUID, links: Sequence[GraphLink]) -> list[tuple[int, Reached]]:
    """(-1 above or 1 below, record), each record once."""
    above = walked(focus, [Step(link.newer, link.group, link.older) for link in links])
    seen = {one.id for one in above}
    below = walked(focus, [Step(link.older, link.group, link.newer) for link in links])
    return [*((-1, one) for one in above), *((1, one) for one in below if one.id not in seen)]
