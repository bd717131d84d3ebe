"""From the passes to labels: absolute marginals, the best assignment, and which of equals it is.

Invariants
- Labels relative to a cut vertex are composed from the left: the law of a product is the convolution of the laws.
- Of assignments whose scores are equal, or differ by rounding, the lexicographically first in the order of the nodes is
  taken; it is looked for only where the maximum met a tie.
"""

from __future__ import annotations

import numpy as np

from memory.beliefs.kernel.groups import Floats, Indices
from memory.beliefs.kernel.passes import Upward
from memory.beliefs.kernel.planning import Plan

TIE_NATS = 1e-12
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def tie_tolerance(log_factors: Floats, *, log_priors: Floats) -> float:
    """How far apart the scores of equals may lie, nats: the rule's 1e-12 and what summing the logs can lose."""
    return TIE_NATS + ROUNDING * (_reach(log_factors) + _reach(log_priors))


def _reach(logs: Floats) -> float:
    sizes = np.abs(logs)
    if not np.isfinite(np.maximum.reduce(sizes, axis=None, initial=0.0)):
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    return float(np.add.reduce(np.maximum.reduce(sizes, axis=1)))


def absolute(plan: Plan, *, rows: Floats) -> Floats:
    """Marginals of the nodes, (n, k): rows (k, R) brought to the frame of the root, clamped and scaled."""
    group = plan.group
    found = np.zeros((group.k, plan.n))
    found[:, plan.placed.nodes] = rows
    found[:, plan.free_roots] = 1.0 / group.k
    for targets, sources in plan.rounds:
        moved = found[:, targets][group.relative]
        moved *= found[:, None, sources]
        found[:, targets] = np.add.reduce(moved, axis=0)
    found[group.identity, plan.root] = 1.0
    marginals = np.ascontiguousarray(found.T)
    return normalised(marginals)


def normalised(marginals: Floats) -> Floats:
    """Rows in [0, 1] that sum to one."""
    np.clip(marginals, 0.0, None, out=marginals)
    marginals /= np.add.reduce(marginals, axis=1, keepdims=True)
    return np.minimum(marginals, 1.0, out=marginals)


def decoded(plan: Plan, *, up: Upward, tolerance: float, run: int = 0) -> tuple[Indices, bool]:
    """The labels of a best assignment, (n,), of one run of the maxima, and whether another is as good."""
    k = plan.group.k
    chosen = np.zeros(len(plan.placed.nodes), dtype=np.intp)
    # The scores of the labels of each variable, with the best of what is eliminated before it and above it.
    open_ = np.empty((k, len(chosen)))
    for number in range(len(plan.batches) - 1, -1, -1):
        batch, tables = plan.batches[number], up.choices[number]
        own, at = slice(batch.start, batch.stop), np.arange(batch.size)
        if batch.n_scope == 0:
            found = tables[0][run]
        elif batch.is_factored:
            found = sum(table[run][:, chosen[rows], at] for table, rows in zip(tables, batch.scope, strict=True))
        else:
            found = tables[0][run][(slice(None), *(chosen[rows] for rows in batch.scope), at)]
        open_[:, own] = found
        chosen[own] = np.argmax(found, axis=0)
    near = np.add.reduce(open_ >= np.maximum.reduce(open_, axis=0, initial=-np.inf) - tolerance, axis=0)
    return composed(plan, labels=chosen[:, None])[:, 0], bool((near > 1).any())


def composed(plan: Plan, *, labels: Indices, free: Indices | int = 0) -> Indices:
    """(n, m) absolute labels from (R, m) labels of the variables and those of the free roots."""
    found = np.zeros((plan.n, labels.shape[1]), dtype=np.intp)
    found[plan.placed.nodes] = labels
    found[plan.free_roots] = free
    found[plan.root] = plan.group.identity
    for targets, sources in plan.rounds:
        found[targets] = plan.group.table[found[sources], found[targets]]
    return found
