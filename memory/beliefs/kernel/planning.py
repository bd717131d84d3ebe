"""Plans: everything about a run that does not depend on the values of factors and priors.

Invariants
- A plan is a function of group, ends, root, nodes with a prior and budget; it is never changed and may be shared.
- The cache keeps the plans asked for last; it is safe to ask from several threads.
- `rounds` bring relative labels to absolute ones: in each, targets are composed with what stood at their sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memory.beliefs.kernel.batching import Batch, Layout, laid_out
from memory.beliefs.kernel.blocks import Component, bridges, components
from memory.beliefs.kernel.cliques import Clique, Cost, cliques, predicted_of, solved
from memory.beliefs.kernel.groups import Booleans, Group, Indices
from memory.beliefs.kernel.merging import Pairs, merge
from memory.beliefs.kernel.terms import Budget, Predicted

N_KEPT = 256
# Up to this many labels a round over all nodes costs less than one round more.
DOUBLING_UP_TO = 8

Round = tuple[Indices, Indices]


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What is asked, without values: E edges over n nodes."""

    group: Group
    n: int
    root: int
    src: Indices
    dst: Indices
    prior_nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where pairs of edges stand among rows or columns.

    sources : for each row or column which of the 2P + 1 pair columns enters it, the last where none does.
    pairs, at, flips : the pairs that do, where, and whether they are reversed there.
    """

    sources: Indices
    pairs: Indices
    at: Indices
    flips: Booleans


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """R rows (variables) and N columns (pairs within cliques).

    nodes : (R,) the node of a row.   row : (n,) the row of a node, -1 at a root without a variable.
    parents : (R,) the row of the parent clique, -1 at a root.   pair_rows : (P,) the row of the clique with the pair.
    outer : pairs with one end fixed, among rows.   inner : the others, among columns.
    """

    nodes: Indices
    row: Indices
    parents: Indices
    pair_rows: Indices
    outer: Ends
    inner: Ends


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An admissible way to the exact answer. free_roots : roots of components that nothing ties down."""

    group: Group
    n: int
    root: int
    pairs: Pairs
    prior_nodes: tuple[int, ...]
    batches: tuple[Batch, ...]
    placed: Placement
    free_roots: Indices
    rounds: tuple[Round, ...]
    is_bridge: Booleans
    cost: Predicted


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """The cheapest way that was found is over the budget; its cost is counted up to the first table that is."""

    is_bridge: Booleans
    cost: Predicted


def planned(structure: Structure, *, budget: Budget) -> Plan | Refused:
    """The plan of a question, kept for the next of the same structure."""
    asked = structure
    limits = (budget.largest_entries, budget.total_entries)
    return _kept(asked.group, asked.n, asked.root, asked.src.tobytes(), asked.dst.tobytes(), asked.prior_nodes, limits)


@lru_cache(maxsize=N_KEPT)
def _kept(
    group: Group, n: int, root: int, src: bytes, dst: bytes, prior_nodes: tuple[int, ...], limits: tuple[int, int]
) -> Plan | Refused:
    ends = (np.frombuffer(src, dtype=np.intp), np.frombuffer(dst, dtype=np.intp))
    return made(Structure(group, n, root, *ends, prior_nodes), budget=Budget(*limits))


def made(structure: Structure, *, budget: Budget, tries_others: bool = True) -> Plan | Refused:
    """The plan of a question, made anew; several orders are tried where the usual one is over the budget."""
    group, root = structure.group, structure.root
    pairs = merge(structure.n, src=structure.src, dst=structure.dst)
    parts = components(structure.n, root=root, pairs=pairs, prior_nodes=structure.prior_nodes)
    is_bridge = bridges(parts, pairs=pairs)
    chosen, cost = solved(parts, root=root, pairs=pairs, k=group.k, budget=budget, tries_others=tries_others)
    if not cost.is_within(budget):
        return Refused(is_bridge, predicted_of(cost, budget=budget))
    found = cliques(chosen, parts=parts, root=root, pairs=pairs)
    layout = laid_out(found, k=group.k)
    placed = _placed([found[index] for index in layout.order], layout=layout, n_pairs=pairs.n_pairs, n=structure.n)
    free_roots = [part.root for part in parts if part.root != root and not part.is_anchored]
    return Plan(
        group,
        structure.n,
        root,
        pairs,
        structure.prior_nodes,
        layout.batches,
        placed,
        np.array(free_roots, dtype=np.intp),
        _rounds(structure, parts=parts),
        is_bridge,
        predicted_of(_exact_cost(cost, layout=layout, k=group.k), budget=budget),
    )


def _exact_cost(cost: Cost, *, layout: Layout, k: int) -> Cost:
    """The cost once it is known which cliques of an anchored part receive wide messages."""
    total = largest = 0
    for batch in layout.batches:
        entries = 3 * k * k if batch.is_factored else k ** (batch.n_scope + 1)
        largest, total = max(largest, entries), total + entries * batch.size
    return Cost(cost.width, largest, total)


def _placed(found: Sequence[Clique], *, layout: Layout, n_pairs: int, n: int) -> Placement:
    """Where rows, columns and pairs meet; the cliques in the order of the rows."""
    nodes = np.array([clique.node for clique in found], dtype=np.intp)
    row = np.full(n, -1, dtype=np.intp)
    row[nodes] = np.arange(len(nodes))
    outer: list[tuple[int, int, bool]] = []
    inner: list[tuple[int, int, bool]] = []
    pair_rows = np.full(n_pairs, -1, dtype=np.intp)
    for batch in layout.batches:
        for position in range(batch.size):
            at = batch.start + position
            for axis, entry in enumerate((found[at].unary, *found[at].pairs), -1):
                if entry is not None:
                    pair, is_flipped = entry
                    pair_rows[pair] = at
                    if axis < 0:
                        outer.append((pair, at, is_flipped))
                    else:
                        inner.append((pair, batch.columns[axis].start + position, is_flipped))
    parents = [row[clique.scope[0]] if clique.scope else -1 for clique in found]
    ends = (_ends(outer, size=len(found), n_pairs=n_pairs), _ends(inner, size=layout.n_columns, n_pairs=n_pairs))
    return Placement(nodes, row, np.array(parents, dtype=np.intp), pair_rows, *ends)


def _ends(entries: list[tuple[int, int, bool]], *, size: int, n_pairs: int) -> Ends:
    listed = np.array(entries, dtype=np.intp).reshape(-1, 3)
    pairs, at, flips = listed[:, 0].copy(), listed[:, 1].copy(), listed[:, 2].copy()
    sources = np.full(size, 2 * n_pairs, dtype=np.intp)
    sources[at] = pairs + n_pairs * flips
    return Ends(sources, pairs, at, flips.astype(bool))


def _rounds(structure: Structure, *, parts: Sequence[Component]) -> tuple[Round, ...]:
    """How labels relative to a cut vertex become absolute; what hangs on the root is so already."""
    above = np.full(structure.n, -1, dtype=np.intp)
    depth = np.zeros(structure.n, dtype=np.intp)
    for part in parts:
        for block in part.blocks:
            if not block.is_anchored and block.parent != structure.root:
                for node in block.nodes:
                    above[node] = block.parent
                    depth[node] = depth[block.parent] + 1
    if structure.group.k > DOUBLING_UP_TO:
        levels = range(1, int(depth.max(initial=0)) + 1)
        return tuple((nodes, above[nodes]) for nodes in (np.flatnonzero(depth == level) for level in levels))
    rounds: list[Round] = []
    while True:
        targets = np.flatnonzero(above >= 0)
        sources = above[targets]
        if not len(targets):
            return tuple(rounds)
        # Whose source is not absolute yet is composed with it and takes over its source; the others are done after.
        rounds.append((targets, sources))
        above[targets] = above[sources]
