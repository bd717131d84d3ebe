"""A slice of the lineage around one record: what a drawing shows, and how much it leaves out.

Invariants
- A link leads from the older record to the newer one that rests on it (`parent_of` from the parent to the child).
- Levels walk along derivations and supersessions alone; other links are shown where they begin, and lead no further.
- Nothing is cut silently: hidden neighbours are counted for each node and side, totals for the whole, and the cap that
  cut the slice is named. Newer neighbours are kept before older ones.
- Nodes and links stand in one order whatever the database; the number of queries grows with levels, never with rows.

Source: laws of the store, section 3; the caps of the drawing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.lineage.kernel import way_between
from memory.lineage.models import ANCESTRY, STORED, SYMMETRIC
from memory.lineage.queries.standing import standing, standing_values, unclaimed
from memory.records.models import RecordState
from memory.records.queries.detail import NO_SOURCE_TIME, state_of, states_at

MOST_NODES = 500
MOST_LINKS = 1_500
MOST_DEPTH = 300
MOST_OPEN = 60
MOST_COUNTED = 20_000

Side = Literal["up", "down"]
Cut = Literal["", "nodes", "links", "depth"]

WALKED = (*ANCESTRY, "supersedes")
TURNED = ("parent_of",)
GROUPS: dict[str, tuple[str, ...]] = {
    "derived": ANCESTRY,
    "supersedes": ("supersedes",),
    "conflicts": ("contradicts",),
    "refers": tuple(name for name in STORED if name not in (*WALKED, "contradicts")),
}
GROUP_OF = {relation: group for group, relations in GROUPS.items() for relation in relations}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A record of the slice. `depth` counts levels from the focus, negative for what it rests on.

    `states_also` has its word at each of the other points that were asked about, "" where it did not stand.
    """

    id: UUID
    label: str
    state: str
    recorded_at: datetime
    depth: int
    n_hidden_up: int
    n_hidden_down: int
    states_also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphLink:
    """`newer` rests on `older` by the stored `relation`, from entry `seq` on; `group` is the word of the filter."""

    older: UUID
    newer: UUID
    relation: str
    group: str
    seq: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """The slice and what it was cut from.

    `n_nodes` and `n_links` count all that is shown or reached along derivations and supersessions of the filter;
    `is_capped` says that they are lower bounds. `groups` counts, for each word of the filter, links at shown nodes;
    `between` those that join two shown nodes, one for each pair, whatever the filter.
    """

    focus: UUID
    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    n_nodes: int
    n_links: int
    n_ancestors: int
    n_descendants: int
    is_capped: bool
    cut_by: Cut
    groups: Mapping[str, int] = field(default_factory=dict)
    between: Mapping[str, int] = field(default_factory=dict)
    path: tuple[UUID, ...] = ()
    hidden: Mapping[str, int] = field(default_factory=dict)

    @property
    def path_pairs(self) -> frozenset[frozenset[UUID]]:
        """The two ends of each link on the path."""
        return frozenset(frozenset(pair) for pair in pairwise(self.path))


def graph(
    at: AsOf, *, focus: UUID, up: int = 1, down: int = 1, opened: Collection[tuple[UUID, Side]] = (),
    groups: Collection[str] = (), to: UUID | None = None, also: Sequence[AsOf] = (),
) -> Slice:  # fmt: skip
    """The focus with `up` and `down` levels, one level more at each opened side, along the groups (none means all).

    The way to `to`, where the lineage has one, is shown whatever the levels. `also`: other points to tell states at.
    Raises NotFound (no such record at the point), Invalid (levels, groups, too many opened sides).
    """
    relations = _relations(groups)
    if not (0 <= up <= MOST_DEPTH and 0 <= down <= MOST_DEPTH):
        raise Invalid.at("up" if not 0 <= up <= MOST_DEPTH else "down", expected=f"0 to {MOST_DEPTH} levels")
    if len(opened) > MOST_OPEN:
        raise Invalid.at("open", expected=f"at most {MOST_OPEN} opened sides", got=len(opened))
    growth = _Growth(at, focus, relations)
    whole = _whole(at, focus, relations)
    path = () if to is None else tuple(way_between(focus, to, [(link.older, link.newer) for link in whole.links]))
    growth.follow(path, whole.links)
    growth.grow({"up": up, "down": down}, opened)
    inner, counts = _around(at, list(growth.depths))
    states = _states(at, growth.depths, also)
    if focus not in states:
        raise NotFound(f"There is no record {focus} {at.words}.", id=str(focus))
    found = _sliced(growth, whole, inner, counts, states, also)
    return replace(found, path=path, hidden=_left_out(at, focus, relations))


def _left_out(at: AsOf, focus: UUID, relations: Sequence[str]) -> dict[str, int]:
    """By a source's instants: how many records of the whole lineage have none."""
    if at.source_at is None:
        return {}
    links = _whole(replace(at, source_at=None), focus, relations).links
    n_left_out = unclaimed(at, {end for link in links for end in (link.older, link.newer)})
    return {NO_SOURCE_TIME: n_left_out} if n_left_out else {}


def whole_lineage(at: AsOf, *, focus: UUID, groups: Collection[str] = ()) -> list[GraphLink]:
    """Every link reached from the focus along derivations and supersessions, at most 20,000, in one order."""
    return _whole(at, focus, _relations(groups)).links


def _relations(groups: Collection[str]) -> tuple[str, ...]:
    unknown = sorted(set(groups) - GROUPS.keys())
    if unknown:
        raise Invalid.at("relations", expected=" or ".join(GROUPS), got=unknown[0])
    return tuple(relation for group, names in GROUPS.items() if not groups or group in groups for relation in names)


def _link(source: Any, relation: str, target: Any, seq: int) -> GraphLink:
    ends = sql.as_id(source), sql.as_id(target)
    older, newer = ends if relation in TURNED else (ends[1], ends[0])
    return GraphLink(older, newer, relation, GROUP_OF[relation], seq)


@dataclass(slots=True)
class _Growth:
    """The slice while it grows, level by level: one query for each level, whatever its width."""

    at: AsOf
    focus: UUID
    relations: tuple[str, ...]
    depths: dict[UUID, int] = field(default_factory=dict)
    links: dict[GraphLink, None] = field(default_factory=dict)
    cut_by: Cut = ""

    def follow(self, path: Sequence[UUID], links: Iterable[GraphLink]) -> None:
        """Take the way in first, with the links along it; what does not fit under the cap is left out of it."""
        self.depths[self.focus] = 0
        ends = {frozenset(pair) for pair in pairwise(path)}
        along = {frozenset((link.older, link.newer)): link for link in links}
        for near, far in pairwise(path[:MOST_NODES]):
            link = along[frozenset((near, far))]
            self.depths.setdefault(far, self.depths[near] + (-1 if link.older == far else 1))
        self.links.update((link, None) for link in links if frozenset((link.older, link.newer)) in ends)
        self.links = {link: None for link in self.links if link.older in self.depths and link.newer in self.depths}
        if len(path) > MOST_NODES:
            self.cut_by = "nodes"

    def grow(self, levels: Mapping[Side, int], opened: Collection[tuple[UUID, Side]]) -> None:
        self.depths[self.focus] = 0
        front: dict[Side, list[UUID]] = {"up": [self.focus], "down": [self.focus]}
        walked: dict[Side, set[UUID]] = {"up": {self.focus}, "down": {self.focus}}
        left = sorted(set(opened), key=lambda pair: (pair[0].bytes, pair[1]))
        level = 0
        while True:
            level += 1
            asked: dict[Side, list[UUID]] = {side: front[side] if level <= levels[side] else [] for side in front}
            ready = [(node, side) for node, side in left if node in self.depths]
            left = [pair for pair in left if pair not in ready]
            if not any(asked.values()) and not ready:
                break
            found = self._neighbours({side: [*asked[side], *(n for n, s in ready if s == side)] for side in asked})
            front = {side: self._add(found[side], side, set(asked[side]), walked[side]) for side in asked}

    def _neighbours(self, near: Mapping[Side, Sequence[UUID]]) -> dict[Side, list[GraphLink]]:
        """Links up from the nodes of `up` and down from those of `down`, newest first; neither crowds out the other."""
        parts: list[str] = []
        values: list[Any] = []
        for side, nodes in near.items():
            if nodes and (found := self._ends(side, list(dict.fromkeys(nodes)))):
                parts.append(f"SELECT * FROM ({found[0]}) AS {side}")
                values += found[1]
        links: dict[Side, list[GraphLink]] = {"up": [], "down": []}
        for side, *edge in sql.fetch(" UNION ALL ".join(parts), values) if parts else ():
            links[side].append(_link(*edge))
        return links

    def _ends(self, side: Side, nodes: Sequence[UUID]) -> tuple[str, list[Any]] | None:
        """The statement of one side: straight links by the end that looks there, turned ones by the other."""
        by_column: dict[str, list[str]] = {
            column: [name for name in self.relations if side == _side(column, name)] for column in ("source", "target")
        }
        ends = [
            (f"{column} IN ({_marks(nodes)}) AND relation IN ({_marks(names)})", [*nodes, *names])
            for column, names in by_column.items()
            if names
        ]
        if not ends:
            return None
        point = standing(self.at)
        # One part for each end: no index serves a choice between the two columns.
        parts = (f"SELECT source, relation, target, seq, item FROM memory_edge WHERE {point} AND {e}" for e, _ in ends)
        statement = (
            f"SELECT '{side}', source, relation, target, seq FROM ({' UNION '.join(parts)}) AS found"
            f" ORDER BY seq DESC, item DESC LIMIT {MOST_LINKS + 1}"
        )
        return statement, [value for _, given in ends for value in (*standing_values(self.at), *given)]

    def _add(self, links: Sequence[GraphLink], side: Side, front: Collection[UUID], walked: set[UUID]) -> list[UUID]:
        """Take the far ends in; answers those from which the next level walks on, shown before or not."""
        onward: dict[UUID, None] = {}
        for link in links:
            near, far = (link.newer, link.older) if side == "up" else (link.older, link.newer)
            if near not in self.depths:
                near, far = far, near
            if far not in self.depths:
                if len(self.depths) == MOST_NODES:
                    self.cut_by = "nodes"
                    continue
                self.depths[far] = self.depths[near] + (-1 if side == "up" else 1)
            if near in front and link.relation in WALKED and far not in walked:
                walked.add(far)
                onward[far] = None
            self.links[link] = None
        return list(onward)


@dataclass(frozen=True, slots=True)
class _Whole:
    links: list[GraphLink]
    n_ancestors: int
    n_descendants: int
    is_capped: bool


def _whole(at: AsOf, focus: UUID, relations: Sequence[str]) -> _Whole:
    """All that is reached up and down along what is walked. One recursive query; it ends on cycles."""
    walked = [name for name in relations if name in WALKED]
    if not walked:
        return _Whole([], 0, 0, is_capped=False)
    filters = f"e.relation IN ({_marks(walked)}) AND {standing(at, edges='e')}"
    first = "SELECT %s::uuid" if connection.vendor == "postgresql" else "SELECT %s"
    edges = "SELECT e.source, e.relation, e.target, e.seq FROM"
    asked = [*walked, *standing_values(at)]
    rows = sql.fetch(
        f"WITH RECURSIVE above(id) AS ({first} UNION"
        f" SELECT e.target FROM memory_edge e JOIN above ON e.source = above.id WHERE {filters}),"
        f" below(id) AS ({first} UNION"
        f" SELECT e.source FROM memory_edge e JOIN below ON e.target = below.id WHERE {filters})"
        f" {edges} above JOIN memory_edge e ON e.source = above.id WHERE {filters}"
        f" UNION {edges} below JOIN memory_edge e ON e.target = below.id WHERE {filters} LIMIT %s",
        [focus, *asked, focus, *asked, *asked, *asked, MOST_COUNTED + 1],
    )
    links = sorted((_link(*row) for row in rows), key=order_of_links)
    ups, downs = defaultdict[UUID, list[UUID]](list), defaultdict[UUID, list[UUID]](list)
    for link in links:
        ups[link.newer].append(link.older)
        downs[link.older].append(link.newer)
    above, below = _reached(focus, ups), _reached(focus, downs)
    return _Whole(links, len(above), len(below), is_capped=len(rows) > MOST_COUNTED)


def _reached(start: UUID, onwards: Mapping[UUID, Sequence[UUID]]) -> set[UUID]:
    seen, ahead = {start}, [start]
    while ahead:
        for node in onwards.get(ahead.pop(), ()):
            if node not in seen:
                seen.add(node)
                ahead.append(node)
    return seen - {start}


def _around(at: AsOf, nodes: Sequence[UUID]) -> tuple[list[GraphLink], list[tuple[UUID, str, str, int]]]:
    """(links with both ends among the nodes, [(node, column it stands in, relation, how many links)])."""
    marks, point = _marks(nodes), standing(at)
    asked = [*standing_values(at), *nodes]
    rows = sql.fetch(
        f"SELECT 'inner', source, relation, target, 1, seq FROM memory_edge"
        f" WHERE {point} AND source IN ({marks}) AND target IN ({marks})"
        f" UNION ALL SELECT 'source', source, relation, source, count(*), 0 FROM memory_edge"
        f" WHERE {point} AND source IN ({marks}) GROUP BY source, relation"
        f" UNION ALL SELECT 'target', target, relation, target, count(*), 0 FROM memory_edge"
        f" WHERE {point} AND target IN ({marks}) GROUP BY target, relation",
        [*asked, *nodes, *asked, *asked],
    )
    inner = [_link(row[1], row[2], row[3], row[5]) for row in rows if row[0] == "inner"]
    return inner, [(sql.as_id(row[1]), row[0], row[2], row[4]) for row in rows if row[0] != "inner"]


def _states(at: AsOf, nodes: Iterable[UUID], also: Sequence[AsOf]) -> dict[UUID, RecordState]:
    rows = RecordState.objects.known(at).seen_from(*also)
    return {state.id: state for state in rows.filter(id__in=list(nodes))}


def _sliced(
    growth: _Growth, whole: _Whole, inner: Sequence[GraphLink], counts: Sequence[tuple[UUID, str, str, int]],
    states: Mapping[UUID, RecordState], also: Sequence[AsOf],
) -> Slice:  # fmt: skip
    """Put the slice together. What the source did not claim yet at a source's instant is left out with its links."""
    known = [*growth.links, *(link for link in sorted(inner, key=order_of_links) if link.relation in growth.relations)]
    links = [link for link in dict.fromkeys(known) if link.older in states and link.newer in states]
    shown = sorted(links[:MOST_LINKS], key=order_of_links)
    hidden = _hidden(shown, counts, growth.relations)
    nodes = [_node(states[node], depth, hidden, also) for node, depth in growth.depths.items() if node in states]
    is_deep = any(
        (node.depth == -MOST_DEPTH and node.n_hidden_up) or (node.depth == MOST_DEPTH and node.n_hidden_down)
        for node in nodes
    )
    cut_by: Cut = growth.cut_by or ("links" if len(links) > MOST_LINKS else "depth" if is_deep else "")
    reached = {end for link in whole.links for end in (link.older, link.newer)} | states.keys()
    return Slice(
        focus=growth.focus, nodes=tuple(sorted(nodes, key=lambda node: (node.depth, node.recorded_at, node.id))),
        links=tuple(shown), n_nodes=len(reached), n_links=len({*whole.links, *links}),
        n_ancestors=whole.n_ancestors, n_descendants=whole.n_descendants, is_capped=whole.is_capped, cut_by=cut_by,
        groups=_group_counts(inner, counts), between=_pair_counts(inner, states),
    )  # fmt: skip


def _node(state: RecordState, depth: int, hidden: Mapping[tuple[UUID, Side], int], also: Sequence[AsOf]) -> GraphNode:
    up, down = hidden.get((state.id, "up"), 0), hidden.get((state.id, "down"), 0)
    words = states_at(state, *also)
    return GraphNode(state.id, state.first_line, state_of(state), state.recorded_at, depth, up, down, words)


def _side(column: str, relation: str) -> Side:
    """On which side of a node a link stands whose stored `column` names the node. Symmetric ones stand below both."""
    if relation in SYMMETRIC:
        return "down"
    return "up" if (column == "source") != (relation in TURNED) else "down"


def _marks(values: Collection[Any]) -> str:
    return ", ".join(["%s"] * len(values))


def _hidden(
    shown: Iterable[GraphLink], counts: Iterable[tuple[UUID, str, str, int]], relations: Collection[str]
) -> Counter[tuple[UUID, Side]]:
    """{(node, side): links of the filter that are not shown}."""
    hidden = Counter[tuple[UUID, Side]]()
    for node, column, relation, n in counts:
        if relation in relations:
            hidden[node, _side(column, relation)] += n
    for link in shown:
        hidden[link.newer, "down" if link.relation in SYMMETRIC else "up"] -= 1
        hidden[link.older, "down"] -= 1
    return +hidden


def _group_counts(inner: Iterable[GraphLink], counts: Iterable[tuple[UUID, str, str, int]]) -> dict[str, int]:
    """Links at shown nodes for each group, each once, whatever the filter."""
    found = Counter[str]()
    for _, _, relation, n in counts:
        found[GROUP_OF[relation]] += n
    for link in inner:
        found[link.group] -= 1
    return {group: found[group] for group in GROUPS if found[group] > 0}


def _pair_counts(inner: Iterable[GraphLink], states: Collection[UUID]) -> dict[str, int]:
    """Pairs of known nodes that each group joins, whatever the filter."""
    joined = {(link.older, link.newer, link.group) for link in inner if link.older in states and link.newer in states}
    return Counter(group for *_, group in joined)


def order_of_links(link: GraphLink) -> tuple[Any, ...]:
    """The one order of links."""
    return link.older.bytes, link.newer.bytes, link.relation
