"""One run of a plan: the exact answer by junction tree.

Invariants
- The sum and the maximum go up together; edges are answered from the way down.
- Deletions that the quotient cannot answer are run side by side on the same plan.
"""

from __future__ import annotations

import numpy as np

from memory.beliefs.kernel.contradictions import minimal_contradiction
from memory.beliefs.kernel.decoding import absolute, decoded, tie_tolerance
from memory.beliefs.kernel.edges import edge_beliefs, relations
from memory.beliefs.kernel.evidence import Evidence, log_sums
from memory.beliefs.kernel.groups import Floats, Indices
from memory.beliefs.kernel.merging import loop_constant
from memory.beliefs.kernel.passes import downward, loaded, upward
from memory.beliefs.kernel.planning import Plan
from memory.beliefs.kernel.terms import Contradiction, Inference, Wants, no_edges
from memory.beliefs.kernel.ties import first_of_equals

# Deletions are run together as long as their tables stay within it.
TOGETHER_ENTRIES = 1 << 18


def ran(plan: Plan, *, evidence: Evidence, wants: Wants) -> Inference:
    """The exact answer. Raises Contradiction."""
    log_factors, log_priors = evidence.log_factors, evidence.log_priors
    group = plan.group
    is_full = wants == "full"
    tolerance = tie_tolerance(log_factors, log_priors=log_priors) if is_full else 0.0
    rows, columns = loaded(plan, log_factors=log_factors[None], log_priors=log_priors)
    if is_full:
        rows, columns = np.concatenate((rows, rows)), np.concatenate((columns, columns))
    up = upward(plan, rows=rows, columns=columns, n_sums=1)
    constant = float(loop_constant(group, pairs=plan.pairs, log_factors=log_factors[None])[0])
    free = len(plan.free_roots) * float(np.log(group.k))
    log_z = float(up.log_z[0]) + constant + free
    if log_z == -np.inf:
        found = minimal_contradiction(plan, up=up, evidence=evidence)
        raise Contradiction(found.edges, is_minimal=found.is_minimal)
    states, score = np.empty(0, dtype=np.intp), float("nan")
    if is_full:
        states, is_tied = decoded(plan, up=up, tolerance=tolerance)
        score = float(up.scores[0]) + constant
        if is_tied:
            states = first_of_equals(plan, states=states, evidence=evidence, tolerance=tolerance)
    below = downward(plan, up=up, n_sums=1)
    marginals = absolute(plan, rows=below.rows[0])
    arrays = no_edges(group.k)
    if is_full:

        def rerun(deleted: Indices) -> tuple[Floats, Floats]:
            return _without(plan, deleted, log_factors=log_factors, log_priors=log_priors)

        posterior = relations(plan, beliefs=below)[0]
        edges = edge_beliefs(posterior, log_factors=log_factors, log_z=log_z, is_bridge=plan.is_bridge, rerun=rerun)
        arrays = (edges.posterior, edges.cavity, edges.loo_log_z, edges.conflict_nats)
    return Inference(
        log_z, marginals, states, score, *arrays, plan.is_bridge, "junction_tree", "exact",
        plan.cost.width, plan.cost.total_entries,
    )  # fmt: skip


def _without(plan: Plan, deleted: Indices, *, log_factors: Floats, log_priors: Floats) -> tuple[Floats, Floats]:
    """(log Z, posterior of the relation) without each of the edges in turn."""
    log_z, posterior = np.empty(len(deleted)), np.empty((len(deleted), plan.group.k))
    step = max(1, TOGETHER_ENTRIES // max(1, plan.cost.total_entries))
    for begin in range(0, len(deleted), step):
        members = deleted[begin : begin + step]
        at = np.arange(len(members))
        runs = np.repeat(log_factors[None], len(members), axis=0)
        runs[at, members] = 0.0
        up, log_z[begin : begin + step] = log_sums(plan, log_factors=runs, log_priors=log_priors)
        below = downward(plan, up=up, n_sums=len(members))
        posterior[begin : begin + step] = relations(plan, beliefs=below)[at, members]
    return log_z, posterior
