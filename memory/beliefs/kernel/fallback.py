"""Beyond the budget: exact draws from a part of the graph, weighted by what was left out.

Invariants
- A weight is bounded by what the factors left out can reach, so the intervals hold whatever the draws have missed.
- The label says what the answer is worth: `certified` needs every interval narrow and enough effective draws,
  `uncertified` has the draws only, `unreliable` not even those.
- The same question with the same seed gives the same answer.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from memory.beliefs.kernel.contradictions import minimal_contradiction
from memory.beliefs.kernel.decoding import normalised
from memory.beliefs.kernel.draws import drawn
from memory.beliefs.kernel.edges import EdgeBeliefs, edge_beliefs
from memory.beliefs.kernel.evidence import Evidence, climbed, information, log_sums, scored
from memory.beliefs.kernel.groups import Booleans, Floats, Indices
from memory.beliefs.kernel.intervals import Bounds, Weighted, bounds
from memory.beliefs.kernel.merging import Pairs, merge, pair_columns
from memory.beliefs.kernel.planning import Plan, Structure, made
from memory.beliefs.kernel.selection import kept_pairs
from memory.beliefs.kernel.terms import Budget, Certainty, Contradiction, Inference, Wants, no_edges

# exp of more than this leaves the range of a float.
MOST_NATS = 700.0
# The proposal is made in many attempts and read once: it may take this part of the entries of an exact answer.
PROPOSAL_SHARE = 4


def sampled(evidence: Evidence, *, is_bridge: Booleans, budget: Budget, seed: int, wants: Wants) -> Inference:
    """The labelled answer by weighted draws. Raises Contradiction where the part that is kept has no assignment, and
    WidthExceeded where not even a forest fits the budget."""
    structure, log_factors = evidence.structure, evidence.log_factors
    group = structure.group
    pairs = merge(structure.n, src=structure.src, dst=structure.dst)
    values = pair_columns(group, pairs=pairs, log_factors=log_factors[None])[0, :, : pairs.n_pairs].T
    plan, is_kept = _proposal(structure, pairs=pairs, values=values, budget=budget)
    is_dropped = np.append(~is_kept, False)[pairs.slot]
    kept = evidence.only(~is_dropped)
    left_out = Evidence(replace(structure, src=pairs.low[~is_kept], dst=pairs.high[~is_kept]), values[~is_kept], {})
    up, proposal = log_sums(plan, log_factors=kept.log_factors[None], log_priors=kept.log_priors)
    if proposal[0] == -np.inf:
        inner = minimal_contradiction(plan, up=up, evidence=kept)
        named = np.flatnonzero(~is_dropped)[list(inner.edges)]
        raise Contradiction(tuple(named.tolist()), is_minimal=inner.is_minimal)
    states = drawn(plan, up=up, size=budget.samples, generator=np.random.default_rng(seed))
    found = _weighted(states, left_out=left_out)
    ranges = bounds(found, k=group.k, delta=budget.delta)
    total = float(found.weights.mean())
    marginals = normalised(ranges.means / total if total > 0 else np.full_like(ranges.means, 1.0 / group.k))
    for rows in (marginals, ranges.lower, ranges.upper):
        rows[structure.root] = np.arange(group.k) == group.identity
    with np.errstate(divide="ignore"):
        log_z, least, most = (np.log((total, *ranges.total)) + found.peak + proposal[0]).tolist()
    # No draw can weigh less than what the factors left out say at worst.
    least = max(least, float(proposal[0] + left_out.log_factors.min(axis=1).sum()))
    if total == 0:
        log_z = most
    best, score, arrays = np.empty(0, dtype=np.intp), float("nan"), no_edges(group.k)
    if wants == "full":
        best, score = climbed(evidence, start=states[:, int(scored(evidence, states=states).argmax())])
        edges = _edges(found, evidence, log_z=log_z, is_bridge=is_bridge)
        arrays = (edges.posterior, edges.cavity, edges.loo_log_z, edges.conflict_nats)
    return Inference(
        log_z, marginals, best, score, *arrays, is_bridge, "subgraph", _label(found, ranges, budget=budget),
        plan.cost.width, plan.cost.total_entries, ranges.lower, ranges.upper, found.effective, budget.samples,
        (least, most), tuple(np.flatnonzero(is_dropped).tolist()),
    )  # fmt: skip


def _proposal(structure: Structure, *, pairs: Pairs, values: Floats, budget: Budget) -> tuple[Plan, Booleans]:
    """The plan over the edges of the kept pairs, and (P,) which pairs those are."""
    merged = replace(structure, src=pairs.low, dst=pairs.high)
    limits = replace(budget, total_entries=max(1, budget.total_entries // PROPOSAL_SHARE))
    is_kept = kept_pairs(merged, information=information(values), budget=limits)
    within = np.append(is_kept, True)[pairs.slot]
    plan = made(replace(structure, src=structure.src[within], dst=structure.dst[within]), budget=budget)
    assert isinstance(plan, Plan), "parallel edges do not change what a plan costs"
    return plan, is_kept


def _weighted(states: Indices, *, left_out: Evidence) -> Weighted:
    """The draws with what the edges left out say of them."""
    logs = scored(left_out, states=states)
    peak, most = float(logs.max()), float(left_out.log_factors.max(axis=1).sum())
    if peak == -np.inf:
        return Weighted(states, np.zeros(len(logs)), 0.0, math.exp(min(most, MOST_NATS)))
    return Weighted(states, np.exp(logs - peak), peak, math.exp(min(most - peak, MOST_NATS)))


def _edges(found: Weighted, evidence: Evidence, *, log_z: float, is_bridge: Booleans) -> EdgeBeliefs:
    """What the shares of the draws say of each edge; nothing where no draw is possible."""
    asked = evidence.structure
    group, total = asked.group, found.weights.sum()
    posterior = np.full((len(asked.src), group.k), 1.0 / group.k)
    if total == 0:
        nothing = np.zeros(len(posterior))
        return EdgeBeliefs(posterior, posterior.copy(), nothing + log_z, nothing)
    shares = found.weights / total
    for edge, (source, target) in enumerate(zip(asked.src.tolist(), asked.dst.tolist(), strict=True)):
        relations = group.relative[found.states[source], found.states[target]]
        posterior[edge] = np.bincount(relations, shares, minlength=group.k)
    return edge_beliefs(posterior, log_factors=evidence.log_factors, log_z=log_z, is_bridge=is_bridge, rerun=None)


def _label(found: Weighted, ranges: Bounds, *, budget: Budget) -> Certainty:
    if found.effective < budget.least_effective_samples:
        return "unreliable"
    widest = float((ranges.upper - ranges.lower).max())
    return "certified" if widest <= budget.certified_width else "uncertified"
