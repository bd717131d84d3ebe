"""Orders of elimination for one block, and which of them is kept.

Invariants
- Vertices of degree at most two go first: they cost no width. Then the rule of the order decides.
- What is eliminated in one round is pairwise not adjacent, so that the cliques of a round do not read each other.
- Everything is deterministic: equals are taken by number, or by a permutation whose seed is fixed.

Source: Koller and Friedman 2009, 9.4.3 (min-fill, min-degree); George 1973 (nested dissection).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

Neighbours = dict[int, set[int]]
Elimination = list[tuple[int, frozenset[int]]]
Rule = Callable[[int, Neighbours], tuple[int, ...]]

# From this many labels on a clique of three nodes is kept as two matrices.
FACTORED_FROM = 8
N_RANDOM_ORDERS = 8
BEYOND = 1 << 60


@dataclass(frozen=True, slots=True)
class Graph:
    """A block without its gauge vertex. `held` is never eliminated: the cut vertex, where it is a variable.

    most : the largest degree that the budget admits; an elimination stops at the first vertex beyond it.
    """

    neighbours: Neighbours
    held: int | None
    k: int
    most: int

    def vertices(self) -> list[int]:
        return sorted(vertex for vertex in self.neighbours if vertex != self.held)

    def copied(self) -> Neighbours:
        return {vertex: set(near) for vertex, near in self.neighbours.items()}


def orders(graph: Graph) -> Iterator[Elimination]:
    """Eliminations to choose from, the usual one first."""
    yield usual(graph)
    yield _greedy(graph, _degree)
    yield _greedy(graph, _weight)
    yield _fixed(graph, _dissected(graph.vertices(), graph=graph))
    yield _fixed(graph, _rows(graph.vertices(), graph=graph))
    yield _fixed(graph, graph.vertices())
    for seed in range(N_RANDOM_ORDERS):
        vertices = graph.vertices()
        shuffled = np.random.default_rng(seed).permutation(len(vertices)).tolist()
        yield _greedy(graph, _fill, ranks=dict(zip(vertices, shuffled, strict=True)))


def is_hopeless(graph: Graph) -> bool:
    """Whether no order can do: a part remains in which every vertex has too many neighbours."""
    near = graph.copied()
    light = [vertex for vertex, around in near.items() if len(around) <= graph.most]
    while light:
        vertex = light.pop()
        for other in near.pop(vertex, ()):
            near[other].discard(vertex)
            if len(near[other]) == graph.most:
                light.append(other)
    return bool(near)


def usual(graph: Graph) -> Elimination:
    """Min-fill."""
    return _greedy(graph, _fill)


def _fill(vertex: int, near: Neighbours) -> tuple[int, ...]:
    around = near[vertex]
    # Every missing pair is counted from both of its ends.
    missing = sum(len(around) - 1 - len(around & near[other]) for other in around)
    return missing, len(around)


def _degree(vertex: int, near: Neighbours) -> tuple[int, ...]:
    return (len(near[vertex]),)


def _weight(vertex: int, near: Neighbours) -> tuple[int, ...]:
    missing, degree = _fill(vertex, near)
    return degree, missing


def _greedy(graph: Graph, rule: Rule, *, ranks: dict[int, int] | None = None) -> Elimination:
    """Eliminate in rounds: what is free of cost first, then what the rule puts lowest."""
    near = graph.copied()
    live = set(graph.vertices())
    rank = (lambda vertex: vertex) if ranks is None else ranks.__getitem__
    touched: Collection[int] = live
    scores: dict[int, tuple[int, ...]] = {}
    done: Elimination = []
    free: set[int] = set()
    while live:
        free = {vertex for vertex in free.union(touched) if vertex in live and len(near[vertex]) <= 2}
        for vertex in touched:
            scores.pop(vertex, None)
        chosen = _free_round(free, near, k=graph.k) or _ruled_round(
            live, near, rule=lambda vertex: _capped(vertex, near, rule=rule, most=graph.most), scores=scores, rank=rank
        )
        if len(near[chosen[0]]) > graph.most:
            done.append((chosen[0], frozenset(near[chosen[0]])))
            break
        touched = set()
        for vertex in chosen:
            touched |= _eliminate(vertex, near, done)
        live.difference_update(chosen)
        touched &= live
    return done


def _capped(vertex: int, near: Neighbours, *, rule: Rule, most: int) -> tuple[int, ...]:
    """The score of a vertex; one that cannot be eliminated within the budget comes last, and costs nothing to score."""
    degree = len(near[vertex])
    return rule(vertex, near) if degree <= most else (BEYOND, degree)


def _free_round(free: set[int], near: Neighbours, *, k: int) -> list[int]:
    """An independent set of vertices that cost no width; where tables are dear, those of degree two wait."""
    if not free:
        return []
    allowed = 2
    if k >= FACTORED_FROM and any(len(near[vertex]) < 2 for vertex in free):
        allowed = 1
    return _independent((vertex for vertex in sorted(free) if len(near[vertex]) <= allowed), near)


def _ruled_round(
    live: set[int],
    near: Neighbours,
    *,
    rule: Callable[[int], tuple[int, ...]],
    scores: dict[int, tuple[int, ...]],
    rank: Callable[[int], int],
) -> list[int]:
    for vertex in live:
        if vertex not in scores:
            scores[vertex] = rule(vertex)
    best = min(scores[vertex] for vertex in live)
    return _independent(sorted((vertex for vertex in live if scores[vertex] == best), key=rank), near)


def _independent(candidates: Iterator[int] | list[int], near: Neighbours) -> list[int]:
    taken: list[int] = []
    barred: set[int] = set()
    for vertex in candidates:
        if vertex not in barred:
            taken.append(vertex)
            barred |= near[vertex]
    return taken


def _eliminate(vertex: int, near: Neighbours, done: Elimination) -> set[int]:
    """Join the neighbours of the vertex; returns whose degree or fill may have changed."""
    around = near.pop(vertex)
    changed = set(around)
    for other in around:
        own = near[other]
        own.discard(vertex)
        if not around - {other} <= own:
            own |= around
            own.discard(other)
        if len(around) > 1:
            changed |= own
    done.append((vertex, frozenset(around)))
    return changed


def _fixed(graph: Graph, sequence: list[int]) -> Elimination:
    near = graph.copied()
    done: Elimination = []
    for vertex in sequence:
        if len(near[vertex]) > graph.most:
            done.append((vertex, frozenset(near[vertex])))
            break
        _eliminate(vertex, near, done)
    return done


def _layers(vertices: list[int], *, graph: Graph) -> list[list[int]]:
    """Breadth-first layers within the vertices, from one that lies far out, component after component."""
    inside = set(vertices)
    layers: list[list[int]] = []
    while inside:
        start = min(inside)
        found = _spread(start, inside, graph=graph)
        start = min(found[-1], key=lambda vertex: (len(graph.neighbours[vertex]), vertex))
        found = _spread(start, inside, graph=graph)
        layers += found
        inside.difference_update(*found)
    return layers


def _spread(start: int, inside: set[int], *, graph: Graph) -> list[list[int]]:
    seen, layers = {start}, [[start]]
    while True:
        reached = {other for vertex in layers[-1] for other in graph.neighbours[vertex]}
        fresh = sorted((reached & inside) - seen)
        if not fresh:
            return layers
        seen.update(fresh)
        layers.append(fresh)


def _rows(vertices: list[int], *, graph: Graph) -> list[int]:
    return [vertex for layer in _layers(vertices, graph=graph) for vertex in layer]


def _dissected(vertices: list[int], *, graph: Graph) -> list[int]:
    """Both halves first, then the layer between them."""
    pending: list[tuple[list[int], bool]] = [(vertices, False)]
    reverse: list[int] = []
    while pending:
        part, is_separator = pending.pop()
        layers = [part] if is_separator else _layers(part, graph=graph)
        if is_separator or len(layers) < 3:
            reverse += [vertex for layer in reversed(layers) for vertex in reversed(layer)]
            continue
        sizes = np.cumsum([len(layer) for layer in layers])
        middle = min(max(int(np.searchsorted(sizes, sizes[-1] / 2)), 1), len(layers) - 2)
        before = [vertex for layer in layers[:middle] for vertex in layer]
        after = [vertex for layer in layers[middle + 1 :] for vertex in layer]
        # The last of the list is written down first, and what is written down first is eliminated last.
        pending += [(before, False), (after, False), (layers[middle], True)]
    reverse.reverse()
    return reverse
