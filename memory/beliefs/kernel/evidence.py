"""The edges with their values: log evidence of several runs on one plan, and log densities of assignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Indices
from memory.beliefs.kernel.merging import loop_constant
from memory.beliefs.kernel.passes import Upward, loaded, upward
from memory.beliefs.kernel.planning import Plan, Structure

# Less is rounding, and could go round for ever.
LEAST_GAIN_NATS = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A question with its values. log_factors : (E, k).   priors : node -> (k,), ascending by node."""

    structure: Structure
    log_factors: Floats
    priors: Mapping[int, Floats]

    @property
    def log_priors(self) -> Floats:
        """(n_priors, k), in the order of the nodes."""
        return stacked(self.priors, k=self.structure.group.k)

    def only(self, chosen: Booleans) -> Evidence:
        """The evidence of these edges alone."""
        asked = self.structure
        kept = Structure(asked.group, asked.n, asked.root, asked.src[chosen], asked.dst[chosen], asked.prior_nodes)
        return Evidence(kept, self.log_factors[chosen], self.priors)


def log_sums(plan: Plan, *, log_factors: Floats, log_priors: Floats) -> tuple[Upward, Floats]:
    """The upward pass of several runs, (S, E, k), and log Z of each, (S,)."""
    rows, columns = loaded(plan, log_factors=log_factors, log_priors=log_priors)
    up = upward(plan, rows=rows, columns=columns, n_sums=len(log_factors))
    constant = loop_constant(plan.group, pairs=plan.pairs, log_factors=log_factors)
    return up, up.log_z + constant + len(plan.free_roots) * np.log(plan.group.k)


def scored(evidence: Evidence, *, states: Indices) -> Floats:
    """Log density of assignments, not normalised: (m,) from states (n, m)."""
    asked = evidence.structure
    found = np.zeros(states.shape[1])
    for source, target, factor in zip(asked.src.tolist(), asked.dst.tolist(), evidence.log_factors, strict=True):
        found += factor[asked.group.relative[states[source], states[target]]]
    for node, values in evidence.priors.items():
        found += values[states[node]]
    return found


def stacked(priors: Mapping[int, Floats], *, k: int) -> Floats:
    """(n_priors, k), in the order of the mapping."""
    return np.array(list(priors.values())) if priors else np.empty((0, k))


def climbed(evidence: Evidence, *, start: Indices) -> tuple[Indices, float]:
    """An assignment that no single label betters, from (n,) a start, with its log density."""
    asked, log_factors = evidence.structure, evidence.log_factors
    group, src, dst = asked.group, asked.src, asked.dst
    states = start.copy()
    outgoing = [np.flatnonzero((src == node) & (dst != node)) for node in range(len(states))]
    incoming = [np.flatnonzero((dst == node) & (src != node)) for node in range(len(states))]
    labels = np.arange(group.k)[:, None]
    has_changed = True
    while has_changed:
        has_changed = False
        for node in range(len(states)):
            if node == asked.root:
                continue
            after, before = outgoing[node], incoming[node]
            totals = log_factors[after, group.relative[labels, states[dst[after]]]].sum(axis=1)
            totals += log_factors[before, group.relative[states[src[before]], labels]].sum(axis=1)
            totals += evidence.priors.get(node, 0.0)
            if totals.max() > totals[states[node]] + LEAST_GAIN_NATS:
                states[node] = int(totals.argmax())
                has_changed = True
    return states, float(scored(evidence, states=states[:, None])[0])


def information(log_factors: Floats) -> Floats:
    """How far each factor is from saying nothing, (E,) nats; what admits no relation at all says most."""
    peak = log_factors.max(axis=1, keepdims=True)
    is_possible = peak > -np.inf
    shares = np.exp(log_factors - np.where(is_possible, peak, 0.0))
    shares /= np.where(is_possible, shares.sum(axis=1, keepdims=True), 1.0)
    terms = shares * np.log(np.where(shares > 0, shares, 1.0))
    return np.where(is_possible[:, 0], terms.sum(axis=1) + np.log(log_factors.shape[1]), np.inf)
