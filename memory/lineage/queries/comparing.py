"""The lineage of one record at two points, told apart: what was added, what was removed, what was kept.

Invariants
- The reading goes from `against` to `at`: added stands at `at` alone, removed at `against` alone.
- A link is judged by whether it stands at each point, a record by whether it stands there and hangs on the focus by
  links of the slice: a cap that cut one of the two slices makes no difference of it.
- Compared with itself a lineage is kept whole; the other way round, added and removed change places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.ledger.queries import asof
from memory.lineage.queries.graph import (
    MOST_LINKS,
    MOST_NODES,
    GraphLink,
    GraphNode,
    Side,
    Slice,
    graph,
    links_among,
    order_of_links,
    whole_lineage,
)
from memory.records.models import RecordState
from memory.records.queries.detail import state_of

Change = Literal["added", "removed", "kept"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both slices as one. `state_against` has no word for a record that did not stand at the other point."""

    slice: Slice
    nodes: Mapping[UUID, Change]
    links: Mapping[GraphLink, Change]
    state_against: Mapping[UUID, str]

    def count(self, change: Change) -> tuple[int, int]:
        """(records, links) of the slice that changed so."""
        return sum(one == change for one in self.nodes.values()), sum(one == change for one in self.links.values())


def compared(
    at: AsOf, *, against: AsOf, focus: UUID, up: int = 1, down: int = 1,
    opened: Collection[tuple[UUID, Side]] = (), groups: Collection[str] = (), to: UUID | None = None,
) -> Comparison:  # fmt: skip
    """The slice of both points with what changed between them. Raises as `graph` does at `at`."""
    here = graph(at, focus=focus, up=up, down=down, opened=opened, groups=groups, to=to)
    there = _at_the_other(against, focus=focus, up=up, down=down, opened=opened, groups=groups)
    nodes, cut_by = _nodes(here, there)
    ids = list(nodes)
    links_here, links_there = (set(links_among(point, ids, groups=groups)) for point in (at, against))
    states_here, states_there = (_states(point, ids) for point in (at, against))
    held_here, held_there = _hanging(focus, links_here, states_here), _hanging(focus, links_there, states_there)
    shown = sorted(links_here | links_there, key=order_of_links)[:MOST_LINKS]
    if len(links_here | links_there) > MOST_LINKS:
        cut_by = cut_by or "links"
    changes = {id: _change(id in held_here, id in held_there) for id in ids if id in held_here or id in held_there}
    kept = tuple(node for id, node in nodes.items() if id in changes)
    shown = [link for link in shown if link.older in changes and link.newer in changes]
    return Comparison(
        replace(
            here, nodes=_in_order(kept), links=tuple(shown), cut_by=cut_by,
            **_totals(at, against, focus, groups, kept, shown),
        ),
        changes, {link: _change(link in links_here, link in links_there) for link in shown}, states_there,
    )  # fmt: skip


def other_point(at: AsOf, known_at: str) -> AsOf:
    """The point to compare with: another recorded time, the same true-on.   Raises Invalid (no point)."""
    try:
        found = asof.resolve(at.namespace, known_at=known_at)
    except Invalid as error:
        raise Invalid.at("against", expected=error.errors[0].expected, got=known_at) from error
    return replace(found, valid_at=at.valid_at)


def _at_the_other(against: AsOf, **asked: object) -> Slice | None:
    """The slice at the other point; None where the record did not stand there."""
    try:
        return graph(against, **asked)  # type: ignore[arg-type]
    except NotFound:
        return None


def _nodes(here: Slice, there: Slice | None) -> tuple[dict[UUID, GraphNode], Literal["", "nodes", "links", "depth"]]:
    """Records of both slices, those of `here` first; what does not fit under the cap is the farthest of `there`."""
    nodes = {node.id: node for node in here.nodes}
    others = [] if there is None else [node for node in there.nodes if node.id not in nodes]
    others.sort(key=lambda node: (abs(node.depth), node.id.bytes))
    room = MOST_NODES - len(nodes)
    nodes.update((node.id, node) for node in others[:room])
    return nodes, "nodes" if len(others) > room else here.cut_by or ("" if there is None else there.cut_by)


def _states(at: AsOf, ids: Collection[UUID]) -> dict[UUID, str]:
    return {state.id: state_of(state) for state in RecordState.objects.known(at).filter(id__in=list(ids))}


def _hanging(focus: UUID, links: Iterable[GraphLink], states: Collection[UUID]) -> set[UUID]:
    """The records that stand and hang on the focus by links that do."""
    beside: dict[UUID, set[UUID]] = {}
    for link in links:
        if link.older in states and link.newer in states:
            beside.setdefault(link.older, set()).add(link.newer)
            beside.setdefault(link.newer, set()).add(link.older)
    found, ahead = ({focus}, [focus]) if focus in states else (set[UUID](), list[UUID]())
    while ahead:
        for other in beside.get(ahead.pop(), ()):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found


def _totals(
    at: AsOf, against: AsOf, focus: UUID, groups: Collection[str], nodes: Iterable[GraphNode],
    shown: Iterable[GraphLink],
) -> dict[str, int]:  # fmt: skip
    """How much there is at the two points together."""
    links = {link for point in (at, against) for link in whole_lineage(point, focus=focus, groups=groups)}
    reached = {end for link in links for end in (link.older, link.newer)} | {node.id for node in nodes}
    return {"n_nodes": len(reached), "n_links": len(links | set(shown))}


def _change(is_here: bool, is_there: bool) -> Change:
    return "kept" if is_here and is_there else "added" if is_here else "removed"


def _in_order(nodes: Iterable[GraphNode]) -> tuple[GraphNode, ...]:
    return tuple(sorted(nodes, key=lambda node: (node.depth, node.recorded_at, node.id)))
