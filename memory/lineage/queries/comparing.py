"""The lineage of one record at two points, told apart: what was added, what was removed, what was kept.

Invariants
- The reading goes from `against` to `at`: added stands at `at` alone, removed at `against` alone.
- One slice is taken at a point that holds all that stands at either, and each of its records and links is judged by
  itself, so that no cap makes a difference where there is none. It costs the queries of one slice.
- A record counts at a point where it stands there and hangs on the focus by links of the slice that do; where the focus
  itself did not stand at the other point, each record counts there that did.
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
from memory.lineage.queries.graph import GraphLink, Side, Slice, graph

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
    both = _both(at, against)
    found = graph(both, focus=focus, up=up, down=down, opened=opened, groups=groups, to=to, also=(at, against))
    words = {node.id: node.states_also for node in found.nodes}
    if not words[focus][0]:
        raise NotFound(f"There is no record {focus} {at.words}.", id=str(focus))
    stands = [{node for node, said in words.items() if said[index]} for index in (0, 1)]
    links = [_standing(point, found.links, nodes) for point, nodes in zip((at, against), stands, strict=True)]
    held = [_hanging(focus, one, nodes) for one, nodes in zip(links, stands, strict=True)]
    changes = {id: _change(id in held[0], id in held[1]) for id in words if id in held[0] or id in held[1]}
    told = {
        link: _change(link in links[0], link in links[1])
        for link in found.links
        if link.older in changes and link.newer in changes and (link in links[0] or link in links[1])
    }
    nodes = tuple(replace(node, state=words[node.id][0] or node.state) for node in found.nodes if node.id in changes)
    state_against = {id: said[1] for id, said in words.items() if said[1] and id in changes}
    return Comparison(replace(found, nodes=nodes, links=tuple(told)), changes, told, state_against)


def other_point(at: AsOf, known_at: str) -> AsOf:
    """The point to compare with: another recorded time, the same true-on.   Raises Invalid (no point).

    A seq is read without a query, and without its instant.
    """
    seq = asof.named_seq(known_at)
    if seq is not None and seq <= at.head:
        return replace(at, seq=seq, known_at=None, source_at=None, provisional=False, pinned=True)
    try:
        found = asof.resolve(at.namespace, known_at=known_at)
    except Invalid as error:
        raise Invalid.at("against", expected=error.errors[0].expected, got=known_at) from error
    return replace(found, valid_at=at.valid_at)


def _both(at: AsOf, against: AsOf) -> AsOf:
    """A point that holds all that stands at either: the later of two of one kind, else all that is recorded."""
    if at.source_at is not None and against.source_at is not None:
        return replace(at, source_at=max(at.source_at, against.source_at))
    if at.source_at is None and against.source_at is None:
        return max(at, against, key=lambda point: point.seq)
    return replace(at, seq=max(at.head, against.head), head=max(at.head, against.head), source_at=None)


def _standing(at: AsOf, links: Iterable[GraphLink], nodes: Collection[UUID]) -> set[GraphLink]:
    """The links that stand at the point; by a source's instants, where both ends do."""
    if at.source_at is None:
        return {link for link in links if link.seq <= at.seq}
    return {link for link in links if link.older in nodes and link.newer in nodes}


def _hanging(focus: UUID, links: Iterable[GraphLink], nodes: Collection[UUID]) -> set[UUID]:
    """The records that hang on the focus by links of which both ends stand; all that stand where the focus does not."""
    if focus not in nodes:
        return set(nodes)
    beside: dict[UUID, set[UUID]] = {}
    for link in links:
        if link.older in nodes and link.newer in nodes:
            beside.setdefault(link.older, set()).add(link.newer)
            beside.setdefault(link.newer, set()).add(link.older)
    found, ahead = {focus}, [focus]
    while ahead:
        for other in beside.get(ahead.pop(), ()):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found


def _change(is_here: bool, is_there: bool) -> Change:
    return "kept" if is_here and is_there else "added" if is_here else "removed"
