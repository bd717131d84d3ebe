"""The neighbourhood of seeds, found breadth first over any store that can name the edges that touch some nodes.

Invariants
- One call of `touching` for each hop, however large the store; edges between two nodes at the last hop belong to the
  answer like all others.
- Deduplication precedes reachability: the store deduplicates over the whole namespace and relation type.
- `recent` takes edges newest first until the limit and skips those whose new nodes find no room; the other policies
  find the nodes first, in information order, one at a time, and then choose among all edges between them.
- Once no node finds room, `recent` goes on with the edges between the nodes it has: around a hub nearly all others
  would be read to be skipped.

Source: posterior-memory-harness 0.9.0, its in-memory store.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memory.beliefs.kernel.questions import Policy
from memory.beliefs.kernel.retrieval import (
    LightEdge,
    Retrieved,
    as_used,
    by_information,
    deduplicated,
    newest_first,
    selected,
    structure,
)

Order = Literal["newest", "information"]


class Touching(Protocol):
    """Active, independent, deduplicated edges of one namespace and relation type at one point in time.

    The store deduplicates over all of them, whatever is asked. Answers may be iterators; they are read once and, with
    order `newest`, perhaps not to the end.
    """

    def touching(self, frontier: Sequence[Hashable], *, order: Order) -> Iterable[LightEdge]:
        """Every edge with an end in the frontier, once: `newest` is (observed_at descending, id ascending),
        `information` is (score descending, observed_at descending, id ascending)."""

    def between(self, nodes: Sequence[Hashable]) -> Iterable[LightEdge]:
        """Every edge with both ends among the nodes, once, in any order."""

    def n_touching(self, nodes: Sequence[Hashable]) -> int:
        """How many edges have an end among the nodes; asked at most once, if a limit left some out."""


@dataclass(slots=True)
class _Found:
    """What the search has so far. `frontier` and `nodes` keep the order of discovery."""

    nodes: dict[Hashable, None]
    frontier: list[Hashable]
    max_nodes: int
    scanned: list[Hashable] = field(default_factory=list)
    used: dict[Hashable, LightEdge] = field(default_factory=dict)
    hops_explored: int = 0
    node_limit_hit: bool = False
    observation_limit_hit: bool = False


def retrieve_around(
    store: Touching,
    *,
    seeds: Sequence[Hashable],
    root: Hashable,
    max_hops: int,
    max_nodes: int,
    limit: int,
    policy: Policy,
    is_counted: bool = True,
) -> Retrieved:
    """Retrieval around seeds, at most `max_hops` away, `max_nodes` in all and `limit` edges.

    is_counted : whether what a limit left out is worth a count, which reads all that was touched.
    """
    found = _Found(dict.fromkeys(seeds), list(seeds), max_nodes)
    n_dropped: int | None = 0
    if policy == "recent":
        _search_recent(store, found, max_hops, limit)
        used = as_used(found.used.values())
        if found.node_limit_hit or found.observation_limit_hit:
            n_dropped = store.n_touching(found.scanned) - len(used) if is_counted else None
    else:
        _search_nodes(store, found, max_hops)
        nodes = list(found.nodes)
        eligible = list(store.between(nodes))
        used = as_used(selected(eligible, nodes=nodes, root=root, limit=limit, policy=policy))
        n_dropped = len(eligible) - len(used)
        found.observation_limit_hit = n_dropped > 0
    return Retrieved(
        mode="neighborhood",
        nodes=tuple(found.nodes),
        edges=used,
        structure=structure(used, nodes=list(found.nodes), root=root),
        policy=policy,
        hops_explored=found.hops_explored,
        node_limit_hit=found.node_limit_hit,
        observation_limit_hit=found.observation_limit_hit,
        dropped_observation_count=n_dropped,
    )


class EdgesInMemory:
    """The store's side of the search over a list of active, independent edges, not yet deduplicated."""

    def __init__(self, edges: Iterable[LightEdge]) -> None:
        self._edges = deduplicated(edges)
        self._around: dict[Hashable, list[LightEdge]] = {}
        for edge in self._edges:
            for node in {edge.source, edge.target}:
                self._around.setdefault(node, []).append(edge)

    def touching(self, frontier: Sequence[Hashable], *, order: Order) -> list[LightEdge]:
        return (newest_first if order == "newest" else by_information)(self._at(frontier))

    def between(self, nodes: Sequence[Hashable]) -> list[LightEdge]:
        known = set(nodes)
        return [edge for edge in self._at(nodes) if edge.source in known and edge.target in known]

    def n_touching(self, nodes: Sequence[Hashable]) -> int:
        return len(self._at(nodes))

    def _at(self, nodes: Sequence[Hashable]) -> list[LightEdge]:
        return list({edge.observation_id: edge for node in nodes for edge in self._around.get(node, ())}.values())


def _search_recent(store: Touching, found: _Found, max_hops: int, limit: int) -> None:
    for hop in range(1, max_hops + 1):
        if not _scan_recent(store, found, limit):
            return
        found.hops_explored = hop
        if found.observation_limit_hit or not found.frontier:
            return


def _scan_recent(store: Touching, found: _Found, limit: int) -> bool:
    """One hop; whether any edge was new. Moves the frontier on."""
    frontier, found.frontier = found.frontier, []
    found.scanned += frontier
    touching = iter(store.touching(frontier, order="newest"))
    is_touched = False
    for edge in touching:
        if edge.observation_id in found.used:
            continue
        is_touched = True
        if len(found.used) >= limit:
            found.observation_limit_hit = True
            break
        if _takes(found, edge):
            continue
        found.node_limit_hit = True
        if len(found.nodes) >= found.max_nodes:
            _take_between(store, found, limit, frontier=set(frontier), after=edge, touching=touching)
            break
    return is_touched


def _takes(found: _Found, edge: LightEdge) -> bool:
    """Whether there is room for the nodes of the edge; then it is used."""
    fresh = [node for node in dict.fromkeys((edge.source, edge.target)) if node not in found.nodes]
    if len(found.nodes) + len(fresh) > found.max_nodes:
        return False
    found.used[edge.observation_id] = edge
    found.nodes.update(dict.fromkeys(fresh))
    found.frontier += fresh
    return True


def _take_between(
    store: Touching, found: _Found, limit: int, *, frontier: set[Hashable], after: LightEdge,
    touching: Iterator[LightEdge],
) -> None:  # fmt: skip
    """Use what of a hop is left between the nodes, all of which are found. `touching` : the hop beyond `after`."""
    left = newest_first(
        edge
        for edge in store.between(list(found.nodes))
        if (edge.source in frontier or edge.target in frontier)
        and edge.observation_id not in found.used
        and _recency(edge) > _recency(after)
    )
    room = limit - len(found.used)
    found.used.update((edge.observation_id, edge) for edge in left[:room])
    if len(left) > room:
        found.observation_limit_hit = True
    elif len(left) == room:
        # Whether one more would have been touched, only the rest of the hop can tell.
        last = _recency(left[-1])
        found.observation_limit_hit = any(_recency(edge) > last for edge in touching)


def _recency(edge: LightEdge) -> tuple[float, Any]:
    """Ascending from the newest on."""
    return -edge.observed_at, edge.observation_id


def _search_nodes(store: Touching, found: _Found, max_hops: int) -> None:
    for hop in range(1, max_hops + 1):
        frontier: list[Hashable] = []
        is_touched = False
        for edge in store.touching(found.frontier, order="information"):
            is_touched = True
            for node in (edge.source, edge.target):
                if node in found.nodes:
                    continue
                if len(found.nodes) >= found.max_nodes:
                    found.node_limit_hit = True
                    continue
                found.nodes[node] = None
                frontier.append(node)
        if not is_touched:
            return
        found.hops_explored = hop
        found.frontier = frontier
        if not frontier:
            return
