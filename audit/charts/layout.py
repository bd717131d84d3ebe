"""Places for the nodes of a directed acyclic graph in columns, and the way of each edge between them.

Columns run from left to right along the edges. A row is a real number in units of one node. An edge that passes a
column does so through a bend of its own, which keeps its distance from every node there; the longest edges of a graph
with too many bends take a lane above the drawing instead, which needs none.

Invariants
- Two nodes in one column are at least ``NODE_GAP`` apart, a node and a bend ``MIXED_GAP``: with either engine.
- Every edge ends in a higher column than it starts.
- Equal input gives equal output with the same engine, in every process.

Decisions
- ``fast_sugiyama`` arranges parts of moderate size where it can be imported: up to a quarter fewer crossings. Only its
  order inside the columns is taken. It stops the whole process on a cycle or an edge from a vertex to itself, so both
  are refused before it is asked; it gets whole numbers only, since with text its answer depends on the hash seed.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.charts.arranging import arrange, place
from audit.charts.layering import Edge, Layered, components, short_layers, with_bends

try:
    import fast_sugiyama
except ImportError:
    fast_sugiyama = None  # type: ignore[assignment]

# It tells each of its steps at level INFO, some fifty lines for one drawing.
for _told_by in ("rust-sugiyama", "connected_components"):
    logging.getLogger(_told_by).setLevel(logging.WARNING)

type Engine = Callable[[int, Sequence[Edge]], Layered]
type Place = tuple[int, float]

MOST_BENDS = 3_000
"""Above this many bends the longest edges take lanes."""

MOST_EDGES_FOR_FAST_ENGINE = 400
"""Its time grows steeply: 0.06 s at this size, 7 s for 1 400 edges in 25 columns, where the own engine needs 0.06 s."""

GAP_BETWEEN_PARTS = 1.25


@dataclass(frozen=True, slots=True)
class Layout:
    """``columns`` and ``rows`` by vertex; ``bends`` and ``lanes`` by edge.

    ``bends[i]`` are the places that edge i passes between its ends. ``lanes[i]`` is the number of the lane, counted
    upwards from the drawing, that edge i takes, or None. Rows start at 0.
    """

    columns: tuple[int, ...]
    rows: tuple[float, ...]
    bends: tuple[tuple[Place, ...], ...]
    lanes: tuple[int | None, ...]

    @property
    def n_columns(self) -> int:
        return max(self.columns, default=-1) + 1

    @property
    def n_lanes(self) -> int:
        return max((lane + 1 for lane in self.lanes if lane is not None), default=0)


def has_fast_engine() -> bool:
    return fast_sugiyama is not None


def layered_layout(n_vertices: int, *, edges: Sequence[Edge], engine: Engine | None = None) -> Layout:
    """Places for ``n_vertices`` vertices and their edges (pairs of vertex numbers, none twice).

    Raises GraphCycle, also for an edge from a vertex to itself; ValueError for an edge that is given twice or leads
    to no vertex.
    """
    _check(n_vertices, edges)
    layers = short_layers(n_vertices, edges=edges)
    in_lanes = _edges_for_lanes(layers, edges)
    if in_lanes:
        graph = place(arrange(with_bends(layers, edges=edges, skipped=in_lanes)))
    else:
        graph = _in_parts(n_vertices, edges, engine or chosen_engine)
    return _finished(graph, edges=edges, in_lanes=in_lanes)


def chosen_engine(n_vertices: int, edges: Sequence[Edge]) -> Layered:
    """The compiled engine where it is here and in good time, else the project's own."""
    is_fast_enough = has_fast_engine() and len(edges) <= MOST_EDGES_FOR_FAST_ENGINE
    return fast_engine(n_vertices, edges) if is_fast_enough else own_engine(n_vertices, edges)


def own_engine(n_vertices: int, edges: Sequence[Edge]) -> Layered:
    """Arrange in plain Python."""
    return arrange(with_bends(short_layers(n_vertices, edges=edges), edges=edges))


def fast_engine(n_vertices: int, edges: Sequence[Edge]) -> Layered:
    """Arrange by fast_sugiyama. The graph is acyclic and connected, and has an edge."""
    if fast_sugiyama is None:
        raise ImportError("fast_sugiyama cannot be imported here")
    parts = fast_sugiyama.from_edges(
        list(edges), vertex_spacing=1.0, dummy_size=0.5, dummy_vertices=True, check_layout=False
    )
    assert len(parts) == 1, "the engine answers once for each connected part"
    positions, _, _, segments = parts[0]
    bends = sorted(int(vertex) for vertex, _ in positions if int(vertex) >= n_vertices)
    numbers = {vertex: vertex for vertex in range(n_vertices)} | {bend: n_vertices + i for i, bend in enumerate(bends)}
    placed = {numbers[int(vertex)]: at for vertex, at in positions}
    layer_of = {height: layer for layer, height in enumerate(sorted({at[1] for at in placed.values()}, reverse=True))}
    onward: dict[int, list[int]] = {}
    for source, target in segments or ():
        onward.setdefault(numbers[int(source)], []).append(numbers[int(target)])
    ordered = [placed[vertex] for vertex in range(len(placed))]
    return Layered(
        n_vertices=n_vertices,
        layers=[layer_of[height] for _, height in ordered],
        chains=[_chain(edge, onward=onward, n_vertices=n_vertices) for edge in edges],
        rows=[row for row, _ in ordered],
    )


def _chain(edge: Edge, *, onward: dict[int, list[int]], n_vertices: int) -> list[int]:
    """The way of one edge over its bends; a bend leads on to one place only."""
    source, target = edge
    for first in onward[source]:
        way = [source, first]
        while way[-1] >= n_vertices:
            way.append(onward[way[-1]][0])
        if way[-1] == target:
            return way
    raise AssertionError(f"the engine lost the edge {edge}")


def _check(n_vertices: int, edges: Sequence[Edge]) -> None:
    if len(set(edges)) < len(edges):
        raise ValueError("an edge is given twice")
    if any(not 0 <= vertex < n_vertices for edge in edges for vertex in edge):
        raise ValueError(f"an edge leads to a vertex outside 0 … {n_vertices - 1}")


def _edges_for_lanes(layers: Sequence[int], edges: Sequence[Edge]) -> frozenset[int]:
    """Indices of the longest edges, as many as must go for the bends of the others to stay within bounds."""
    lengths = [layers[target] - layers[source] - 1 for source, target in edges]
    n_bends = sum(lengths)
    taken: set[int] = set()
    for index in sorted(range(len(edges)), key=lambda index: (-lengths[index], index)):
        if n_bends <= MOST_BENDS:
            break
        taken.add(index)
        n_bends -= lengths[index]
    return frozenset(taken)


def _in_parts(n_vertices: int, edges: Sequence[Edge], engine: Engine) -> Layered:
    """Arrange each connected part on its own and set the parts one below the other."""
    whole = Layered(n_vertices=n_vertices, layers=[0] * n_vertices, chains=[[]] * len(edges), rows=[0.0] * n_vertices)
    top = 0.0
    for part in components(n_vertices, edges=edges):
        number = {vertex: index for index, vertex in enumerate(part)}
        inside = [index for index, edge in enumerate(edges) if edge[0] in number]
        if inside:
            graph = place(engine(len(part), [(number[edges[i][0]], number[edges[i][1]]) for i in inside]))
        else:
            graph = Layered(n_vertices=1, layers=[0], chains=[], rows=[0.0])
        shift = top - min(graph.rows)
        top = max(graph.rows) + shift + GAP_BETWEEN_PARTS
        first_bend = len(whole.layers) - len(part)
        renamed = [part[v] if v < len(part) else v + first_bend for v in range(len(graph.layers))]
        whole.layers.extend(graph.layers[len(part) :])
        whole.rows.extend(row + shift for row in graph.rows[len(part) :])
        for vertex in range(len(part)):
            whole.layers[part[vertex]] = graph.layers[vertex]
            whole.rows[part[vertex]] = graph.rows[vertex] + shift
        for index, chain in zip(inside, graph.chains, strict=True):
            whole.chains[index] = [renamed[vertex] for vertex in chain]
    return whole


def _finished(graph: Layered, *, edges: Sequence[Edge], in_lanes: frozenset[int]) -> Layout:
    least = min(graph.rows, default=0.0)
    places = [(layer, round(row - least, 4)) for layer, row in zip(graph.layers, graph.rows, strict=True)]
    return Layout(
        columns=tuple(graph.layers[: graph.n_vertices]),
        rows=tuple(row for _, row in places[: graph.n_vertices]),
        bends=tuple(tuple(places[vertex] for vertex in chain[1:-1]) for chain in graph.chains),
        lanes=_lanes(graph.layers, edges=edges, in_lanes=in_lanes),
    )


def _lanes(layers: Sequence[int], *, edges: Sequence[Edge], in_lanes: frozenset[int]) -> tuple[int | None, ...]:
    """The lowest lane that is free over the whole way, short ways first."""
    lanes: list[int | None] = [None] * len(edges)
    taken: list[list[tuple[int, int]]] = []
    for index in sorted(in_lanes, key=lambda i: (layers[edges[i][1]] - layers[edges[i][0]], layers[edges[i][0]], i)):
        start, end = layers[edges[index][0]], layers[edges[index][1]]
        free = (lane for lane, ways in enumerate(taken) if all(end <= a or b <= start for a, b in ways))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((start, end))
        lanes[index] = lane
    return tuple(lanes)
