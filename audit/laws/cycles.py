"""Cycles of ancestry: no clause forbids them, and nothing that walks ancestry should meet one.

Source: laws of the store, 1.4; Tarjan, "Depth-first search and linear graph algorithms" (1972), without recursion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from audit.laws.relations import ANCESTRY
from audit.laws.values import Aside, Snapshot, Witness

Graph = Mapping[str, Sequence[str]]


def ancestry_cycles(snapshot: Snapshot) -> Aside:
    """One counterexample for each set of records that are ancestors of each other."""
    graph: dict[str, list[str]] = defaultdict(list)
    for edge in snapshot.edges:
        if edge.relation in ANCESTRY:
            graph[edge.source].append(edge.target)
    witnesses = tuple(
        Witness("ancestry_cycle", members[0], facts={"members": members}) for members in components(graph)
    )
    return Aside("ancestry_cycle", len(witnesses), witnesses)


def components(graph: Graph) -> Iterator[list[str]]:
    """The strongly connected parts of two nodes or more, and nodes that point at themselves; members sorted."""
    walk = _Walk(graph)
    for start in sorted(graph):
        if start not in walk.number:
            yield from walk.parts_from(start)


class _Walk:
    """One depth-first walk: when each node was met, and the earliest node that it leads back to."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.number: dict[str, int] = {}
        self.lowest: dict[str, int] = {}
        self.open: dict[str, None] = {}
        self.path: list[tuple[str, Iterator[str]]] = []

    def parts_from(self, start: str) -> Iterator[list[str]]:
        self._enter(start)
        while self.path:
            node, onwards = self.path[-1]
            following = next(onwards, None)
            if following is None:
                yield from self._leave(node)
            elif following not in self.number:
                self._enter(following)
            elif following in self.open:
                self.lowest[node] = min(self.lowest[node], self.number[following])

    def _enter(self, node: str) -> None:
        self.number[node] = self.lowest[node] = len(self.number)
        self.open[node] = None
        self.path.append((node, iter(self.graph.get(node, ()))))

    def _leave(self, node: str) -> Iterator[list[str]]:
        """Go back up; a node that leads to none before it closes the part that it began."""
        self.path.pop()
        if self.path:
            above = self.path[-1][0]
            self.lowest[above] = min(self.lowest[above], self.lowest[node])
        if self.lowest[node] != self.number[node]:
            return
        members = []
        while node in self.open:
            members.append(self.open.popitem()[0])
        if len(members) > 1 or node in self.graph.get(node, ()):
            yield sorted(members)
