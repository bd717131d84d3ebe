"""Layers of a directed acyclic graph: who stands left of whom, and the bends of edges that span several layers.

Vertices are numbered 0 … n-1; an edge (source, target) runs from left to right. Bends get the numbers from n on, one
for each layer that a long edge passes, so that every segment joins neighbouring layers.

Invariants
- Every edge goes to a higher layer. A cycle is reported with its vertices, never broken in silence.
- Equal input gives equal output; ties go to the lower number.

Source: Sugiyama, Tagawa, Toda 1981, steps 1 and 2; layers by longest path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

type Edge = tuple[int, int]

TIGHTENING_PASSES = 4


class GraphCycle(Exception):
    """The graph has a cycle; ``vertices`` are those on it, in the order of its edges."""

    def __init__(self, vertices: Sequence[int]) -> None:
        self.vertices = tuple(vertices)
        super().__init__(f"cycle of {len(self.vertices)} vertices: {', '.join(map(str, self.vertices))}")


@dataclass(frozen=True, slots=True)
class Layered:
    """A proper layered graph. ``chains[i]`` lists the vertices of edge i from source over its bends to target.

    ``rows`` are the wanted places inside the layers, in units of one node; an edge without a chain (empty list) is
    not part of the picture that is arranged.
    """

    n_vertices: int
    layers: list[int]
    chains: list[list[int]]
    rows: list[float] = field(default_factory=list)

    @property
    def segments(self) -> list[Edge]:
        return [pair for chain in self.chains for pair in pairwise(chain)]


def topological_order(n_vertices: int, *, edges: Sequence[Edge]) -> list[int]:
    """The vertices, each after all its sources. Raises GraphCycle."""
    targets: list[list[int]] = [[] for _ in range(n_vertices)]
    n_waiting = [0] * n_vertices
    for source, target in edges:
        targets[source].append(target)
        n_waiting[target] += 1
    order = [vertex for vertex in range(n_vertices) if n_waiting[vertex] == 0]
    for vertex in order:
        for target in targets[vertex]:
            n_waiting[target] -= 1
            if n_waiting[target] == 0:
                order.append(target)
    if len(order) < n_vertices:
        raise GraphCycle(_cycle(edges, left=set(range(n_vertices)) - set(order)))
    return order


def short_layers(n_vertices: int, *, edges: Sequence[Edge]) -> list[int]:
    """Layer of each vertex, 0 at the left: longest paths first, then each vertex moves towards its majority.

    A vertex with more targets than sources moves right up to its nearest target, one with fewer moves left; that
    shortens the edges in sum, so fewer bends are needed. Raises GraphCycle.
    """
    sources: list[list[int]] = [[] for _ in range(n_vertices)]
    targets: list[list[int]] = [[] for _ in range(n_vertices)]
    for source, target in edges:
        targets[source].append(target)
        sources[target].append(source)
    order = topological_order(n_vertices, edges=edges)
    layers = [0] * n_vertices
    for vertex in order:
        layers[vertex] = max((layers[source] + 1 for source in sources[vertex]), default=0)
    for _ in range(TIGHTENING_PASSES):
        for vertex in reversed(order):
            if len(targets[vertex]) > len(sources[vertex]):
                layers[vertex] = min(layers[target] for target in targets[vertex]) - 1
        for vertex in order:
            if len(sources[vertex]) > len(targets[vertex]):
                layers[vertex] = max(layers[source] for source in sources[vertex]) + 1
    least = min(layers, default=0)
    return [layer - least for layer in layers]


def with_bends(layers: Sequence[int], *, edges: Sequence[Edge], skipped: frozenset[int] = frozenset()) -> Layered:
    """The proper layered graph; edges whose index is in ``skipped`` get no chain."""
    all_layers = list(layers)
    chains: list[list[int]] = []
    for index, (source, target) in enumerate(edges):
        if index in skipped:
            chains.append([])
            continue
        bends = range(len(all_layers), len(all_layers) + layers[target] - layers[source] - 1)
        all_layers.extend(range(layers[source] + 1, layers[target]))
        chains.append([source, *bends, target])
    return Layered(n_vertices=len(layers), layers=all_layers, chains=chains)


def components(n_vertices: int, *, edges: Sequence[Edge]) -> list[list[int]]:
    """The weakly connected parts, each in ascending order, the part of vertex 0 first."""
    root = list(range(n_vertices))

    def find(vertex: int) -> int:
        while root[vertex] != vertex:
            root[vertex] = root[root[vertex]]
            vertex = root[vertex]
        return vertex

    for source, target in edges:
        left, right = sorted((find(source), find(target)))
        root[right] = left
    parts: dict[int, list[int]] = {}
    for vertex in range(n_vertices):
        parts.setdefault(find(vertex), []).append(vertex)
    return list(parts.values())


def _cycle(edges: Sequence[Edge], *, left: set[int]) -> list[int]:
    """A cycle among ``left``, each of which has a source in it."""
    source_of = {target: source for source, target in reversed(edges) if source in left and target in left}
    vertex, seen = min(left), dict[int, int]()
    while vertex not in seen:
        seen[vertex] = len(seen)
        vertex = source_of[vertex]
    walked = list(seen)[seen[vertex] :]
    return walked[::-1]
