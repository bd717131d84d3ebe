"""Edges as canonical pairs: what is parallel is one pair, what is a loop is a number.

Invariants
- A pair runs from its lower node to its higher; an edge against it is read through the inverse.
- A loop adds its factor of the identity to the log evidence and touches nothing else.
- Structure depends on the ends alone, values on the factors; the sum of a pair is taken in the order of its edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Group, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """E edges as P pairs.

    low, high : (P,) nodes.   slot : (E,) the pair of an edge, -1 for a loop.   is_flipped : (E,) runs from high to low.
    order, starts : the edges that are no loops, by pair, and where each pair begins among them.
    """

    n_edges: int
    low: Indices
    high: Indices
    slot: Indices
    is_loop: Booleans
    is_flipped: Booleans
    order: Indices
    starts: Indices

    @property
    def n_pairs(self) -> int:
        return len(self.low)

    @property
    def counts(self) -> Indices:
        """(P,) how many edges each pair has."""
        return np.diff(np.append(self.starts, len(self.order)))


def merge(n: int, *, src: Indices, dst: Indices) -> Pairs:
    """The pairs of the edges, ascending by (low, high)."""
    is_loop = src == dst
    codes = np.minimum(src, dst) * n + np.maximum(src, dst)
    codes[is_loop] = -1
    order = np.argsort(codes, kind="stable")[int(is_loop.sum()) :]
    ordered = codes[order]
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_first)
    slot = np.full(len(src), -1, dtype=np.intp)
    slot[order] = np.cumsum(is_first) - 1
    low, high = np.divmod(ordered[starts], n)
    return Pairs(len(src), low, high, slot, is_loop, src > dst, order, starts)


def pair_columns(group: Group, *, pairs: Pairs, log_factors: Floats) -> Floats:
    """The summed factors of the pairs as columns, (S, k, 2P + 1): as they run, reversed, and one column of zeros.

    log_factors : (S, E, k).
    """
    n_pairs = pairs.n_pairs
    columns = np.zeros((len(log_factors), group.k, 2 * n_pairs + 1))
    if n_pairs:
        chosen = log_factors[:, pairs.order]
        flipped = pairs.is_flipped[pairs.order]
        if flipped.any():
            chosen[:, flipped] = chosen[:, flipped][..., group.inv]
        if len(pairs.order) != n_pairs:
            chosen = np.add.reduceat(chosen, pairs.starts, axis=1)
        forward = chosen.transpose(0, 2, 1)
        columns[:, :, :n_pairs] = forward
        columns[:, :, n_pairs:-1] = forward[:, group.inv]
    return columns


def loop_constant(group: Group, *, pairs: Pairs, log_factors: Floats) -> Floats:
    """What the loops add to the log evidence, (S,)."""
    if not pairs.is_loop.any():
        return np.zeros(len(log_factors))
    total: Floats = log_factors[:, pairs.is_loop, group.identity].sum(axis=1)
    return total
