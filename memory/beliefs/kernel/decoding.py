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
    with np.errstate(invalid="ignore"):
        sizes = np.abs(log_factors)
    largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=-1, initial=0.0).sum()
    return TIE_NATS + ROUNDING * float(largest + np.abs(log_priors[np.isfinite(log_priors)]).sum())


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


def decoded(plan: Plan, *, up: Upward, run: int = 0) -> tuple[Indices, bool]:
    """The labels of a best assignment, (n,), of one run of the maxima, and whether another is as good."""
    group = plan.group
    chosen = np.zeros(len(plan.placed.nodes), dtype=np.intp)
    is_tied = False
    for number in range(len(plan.batches) - 1, -1, -1):
        batch = plan.batches[number]
        at = np.arange(batch.size)
        state = np.zeros(batch.size, dtype=np.intp)
        for rows in batch.scope:
            state = state * group.k + chosen[rows]
        chosen[batch.start : batch.stop] = up.choices[number][run, state, at]
        is_tied = is_tied or bool(up.near[number][run, state, at].any())
    return composed(plan, labels=chosen[:, None])[:, 0], is_tied


def composed(plan: Plan, *, labels: Indices, free: Indices | int = 0) -> Indices:
    """(n, m) absolute labels from (R, m) labels of the variables and those of the free roots."""
    found = np.zeros((plan.n, labels.shape[1]), dtype=np.intp)
    found[plan.placed.nodes] = labels
    found[plan.free_roots] = free
    found[plan.root] = plan.group.identity
    for targets, sources in plan.rounds:
        found[targets] = plan.group.table[found[sources], found[targets]]
    return found
