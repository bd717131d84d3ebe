"""What the others say of each edge: posterior, cavity, leave-one-out evidence, conflict.

Invariants
- All edges are answered from one run: P(r | all but e) is proportional to P(r | all) / f_e(r). Where the quotient loses
  its digits (hard zeros, factors below the range of a float) the edge is deleted and the run repeated.
- conflict = log Z without e + log mean f_e - log Z: the log Bayes factor of "unrelated" against "holds". At a bridge it
  is exactly 0.
- A loop is certain of its relation, the identity, and has a conflict like the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Group, Indices
from memory.beliefs.kernel.passes import Beliefs
from memory.beliefs.kernel.planning import Ends, Plan

# A linear posterior below it may have lost digits to underflow.
LEAST_POSTERIOR = 1e-200
# What such an entry may hide, relative to what is seen, before the edge is deleted instead.
HIDDEN_NATS = math.log(1e-17)

# Indices of edges -> (log Z without each, posterior of its relation without it).
Rerun = Callable[[Indices], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True, eq=False)
class EdgeBeliefs:
    """posterior, cavity : (E, k).   loo_log_z, conflict_nats : (E,) nats."""

    posterior: Floats
    cavity: Floats
    loo_log_z: Floats
    conflict_nats: Floats


def relations(plan: Plan, *, beliefs: Beliefs) -> Floats:
    """P(relation of e | all) for each run, (S, E, k)."""
    group, pairs = plan.group, plan.pairs
    n_runs = len(beliefs.rows)
    # By pair and orientation: as it runs, reversed.
    found = np.empty((2, n_runs, group.k, pairs.n_pairs))
    outer, inner = plan.placed.outer, plan.placed.inner
    _place(found, beliefs.rows[..., outer.at], outer, group)
    labels = np.arange(group.k)[:, None]
    # Column r: the sum over a of the belief in (a, a * r).
    moved = beliefs.columns[..., inner.at][:, labels, group.table]
    _place(found, np.add.reduce(moved, axis=1), inner, group)
    result = np.empty((n_runs, pairs.n_edges, group.k))
    result[:] = found[pairs.is_flipped.astype(np.intp), :, :, pairs.slot].transpose(1, 0, 2) if pairs.n_pairs else 0.0
    if pairs.is_loop.any():
        result[:, pairs.is_loop] = 0.0
        result[:, pairs.is_loop, group.identity] = 1.0
    return result


def _place(found: Floats, values: Floats, ends: Ends, group: Group) -> None:
    reverse = values[:, group.inv]
    found[0][..., ends.pairs] = np.where(ends.flips, reverse, values)
    found[1][..., ends.pairs] = np.where(ends.flips, values, reverse)


def edge_beliefs(
    posterior: Floats, *, log_factors: Floats, log_z: float, is_bridge: Booleans, rerun: Rerun | None
) -> EdgeBeliefs:
    """Leave every edge out. posterior : (E, k) with all of them, rows sum to one.

    Without `rerun` it is an estimate, and what it has not met is taken for impossible.
    """
    if not len(posterior):
        return EdgeBeliefs(posterior, posterior.copy(), np.empty(0), np.empty(0))
    np.minimum(posterior, 1.0, out=posterior)
    any_lost = bool(np.minimum.reduce(posterior, axis=None) < LEAST_POSTERIOR)
    is_lost = posterior < LEAST_POSTERIOR if any_lost else None
    logs = np.log(posterior if is_lost is None else np.where(is_lost, 1.0, posterior))
    if is_lost is not None:
        logs[is_lost] = -np.inf
        # Where it is lost the quotient is left out, whatever the factor.
        logs -= np.where(is_lost, 0.0, log_factors)
    else:
        logs -= log_factors
    peak = np.maximum.reduce(logs, axis=1)
    logs -= peak[:, None]
    cavity = np.exp(logs, out=logs)
    total = np.add.reduce(cavity, axis=1)
    cavity /= total[:, None]
    ratio = np.log(total, out=total)
    ratio += peak
    loo = log_z + ratio
    if is_lost is not None and rerun is not None:
        hidden = np.where(is_lost, math.log(LEAST_POSTERIOR) - log_factors, -np.inf).max(axis=1)
        deleted = np.flatnonzero(hidden > ratio + HIDDEN_NATS)
        if len(deleted):
            loo[deleted], cavity[deleted] = rerun(deleted)
    conflict = loo + log_mean(log_factors) - log_z
    conflict[is_bridge] = 0.0
    return EdgeBeliefs(posterior, cavity, loo, conflict)


def log_mean(log_factors: Floats) -> Floats:
    """Log of the mean of each factor over the relations, (E,)."""
    peak = np.maximum.reduce(log_factors, axis=1)
    found: Floats = np.log(np.add.reduce(np.exp(log_factors - peak[:, None]), axis=1)) + peak
    return found - math.log(log_factors.shape[1])
