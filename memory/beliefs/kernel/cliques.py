"""Cliques of an elimination: who reads whom, and what it costs.

Invariants
- One clique for each variable: its table has the axes (variable, *scope), the scope in the order of elimination.
- The first of a scope is the parent; the rest of the scope is in the parent's own scope.
- A variable is the label of a node relative to the cut vertex of its block or, in an anchored part, the label itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from memory.beliefs.kernel.blocks import Block, Component
from memory.beliefs.kernel.merging import Pairs
from memory.beliefs.kernel.ordering import FACTORED_FROM, Elimination, Graph, is_hopeless, orders, usual
from memory.beliefs.kernel.terms import Budget, Predicted

# Measured: all that is asked of an entry, upwards, downwards and for the best assignment.
SECONDS_PER_ENTRY = 25e-9
# Beyond this size a block is given the best of its orders, below it the first that is admissible.
SMALL_GRAPH = 64


@dataclass(frozen=True, slots=True)
class Clique:
    """`unary` : (pair, is reversed) to the gauge vertex; `pairs` : the same for each of the scope, or None."""

    node: int
    scope: tuple[int, ...]
    unary: tuple[int, bool] | None
    pairs: tuple[tuple[int, bool] | None, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """Entries of the tables of a block or of many."""

    width: int = 0
    largest: int = 0
    total: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(max(self.width, other.width), max(self.largest, other.largest), self.total + other.total)

    def is_within(self, budget: Budget) -> bool:
        return self.largest <= budget.largest_entries and self.total <= budget.total_entries


@dataclass(frozen=True, slots=True)
class Solved:
    """A block with the elimination that was chosen for it."""

    block: Block
    graph: Graph
    elimination: Elimination = field(repr=False)
    cost: Cost


def predicted_of(cost: Cost, *, budget: Budget) -> Predicted:
    return Predicted(
        cost.width, cost.largest, cost.total, cost.total * SECONDS_PER_ENTRY, is_admissible=cost.is_within(budget)
    )


def solved(
    parts: Sequence[Component], *, root: int, pairs: Pairs, k: int, budget: Budget, tries_others: bool
) -> tuple[list[Solved], Cost]:
    """Every block of more than one variable with its elimination: the usual one, and others only where the budget would
    be exceeded; and the cost of all blocks."""
    chosen = []
    n_lone = 0
    most = _most_degree(k, budget=budget)
    for part in parts:
        for block in part.blocks:
            if is_lone(block, root=root):
                n_lone += 1
                continue
            graph = _graph(block, root=root, pairs=pairs, k=k, most=most)
            elimination = usual(graph)
            chosen.append(Solved(block, graph, elimination, _cost(elimination, k=k)))
    roots = sum(k for part in parts if part.is_anchored and part.root != root)
    base = Cost(1 if n_lone else 0, k if roots or n_lone else 0, roots + n_lone * k)
    cost = sum((one.cost for one in chosen), base)
    if cost.is_within(budget):
        return chosen, cost
    if not tries_others or any(is_hopeless(one.graph) for one in chosen if one.cost.largest > budget.largest_entries):
        return chosen, cost
    for index in sorted(range(len(chosen)), key=lambda index: -chosen[index].cost.total):
        chosen[index] = _better(chosen[index], k=k, budget=budget)
        cost = sum((one.cost for one in chosen), base)
        if cost.is_within(budget):
            break
    return chosen, cost


def cliques(chosen: Sequence[Solved], *, parts: Sequence[Component], root: int, pairs: Pairs) -> list[Clique]:
    """The cliques of all blocks, and one for the root of each anchored component without the root."""
    found = [Clique(part.root, (), None, ()) for part in parts if part.is_anchored and part.root != root]
    for part in parts:
        for block in part.blocks:
            if is_lone(block, root=root):
                node, pair = block.nodes[0], block.pairs[0]
                found.append(Clique(node, (), (pair, node < block.parent), ()))
    for one in chosen:
        found += _block_cliques(one, pairs=pairs)
    return found


def is_lone(block: Block, *, root: int) -> bool:
    """A bridge whose cut vertex is fixed: one variable that reads none."""
    return len(block.nodes) == 1 and (not block.is_anchored or block.parent == root)


def _better(one: Solved, *, k: int, budget: Budget) -> Solved:
    best = one
    for elimination in islice(orders(one.graph), 1, None):
        cost = _cost(elimination, k=k)
        # One that was broken off is counted up to there only.
        fits, fitted = cost.largest <= budget.largest_entries, best.cost.largest <= budget.largest_entries
        if (not fits, cost.total) < (not fitted, best.cost.total):
            best = replace(one, elimination=elimination, cost=cost)
        if best.cost.is_within(budget) and len(one.block.nodes) <= SMALL_GRAPH:
            break
    return best


def _graph(block: Block, *, root: int, pairs: Pairs, k: int, most: int) -> Graph:
    held = block.parent if block.is_anchored and block.parent != root else None
    near: dict[int, set[int]] = {node: set() for node in block.nodes}
    if held is not None:
        near[held] = set()
    for pair in block.pairs:
        low, high = int(pairs.low[pair]), int(pairs.high[pair])
        if low in near and high in near:
            near[low].add(high)
            near[high].add(low)
    return Graph(near, held, k, most)


def _most_degree(k: int, *, budget: Budget) -> int:
    """The largest scope whose table the budget admits."""
    if k == 1:
        return budget.total_entries
    degree, entries = 0, k
    while entries * k <= budget.largest_entries:
        degree, entries = degree + 1, entries * k
    return max(degree, 2) if k >= FACTORED_FROM and 3 * k * k <= budget.largest_entries else degree


def _cost(elimination: Elimination, *, k: int) -> Cost:
    width = largest = total = 0
    position = {node: index for index, (node, _) in enumerate(elimination)}
    receives_wide = set()
    for node, scope in elimination:
        degree = len(scope)
        if degree > 2:
            receives_wide.add(min(scope, key=lambda other: position.get(other, len(position))))
        # What sends to a clique was eliminated before it, so the set is complete here.
        is_factored = k >= FACTORED_FROM and degree == 2 and node not in receives_wide
        entries = 3 * k * k if is_factored else k ** (degree + 1)
        width, largest, total = max(width, degree), max(largest, entries), total + entries
    # A bridge alone has no scope, since its cut vertex is fixed, and yet joins two nodes.
    return Cost(max(width, 1), largest, total)


def _block_cliques(one: Solved, *, pairs: Pairs) -> list[Clique]:
    position = {node: index for index, (node, _) in enumerate(one.elimination)}
    if one.graph.held is not None:
        position[one.graph.held] = len(position)
    unary: dict[int, tuple[int, bool]] = {}
    inner: dict[tuple[int, int], tuple[int, bool]] = {}
    for pair in one.block.pairs:
        low, high = int(pairs.low[pair]), int(pairs.high[pair])
        if low not in position:
            unary[high] = (pair, False)
        elif high not in position:
            unary[low] = (pair, True)
        elif position[low] < position[high]:
            inner[low, high] = (pair, False)
        else:
            inner[high, low] = (pair, True)
    found = []
    for node, scope in one.elimination:
        ordered = tuple(sorted(scope, key=position.__getitem__))
        found.append(Clique(node, ordered, unary.get(node), tuple(inner.get((node, other)) for other in ordered)))
    return found
