"""Which edges cannot all hold: sets from which nothing can be taken away.

Invariants
- What is searched is the part of the plan that failed; each of its edges is tried once, and hard zeros stay hard when
  others are taken away, so what is left is inclusion-minimal.
- Against one edge, where evidence is only nearly contradictory, the search is repeated until no single edge can go.

Source: Bakker et al. 1993 (deletion filter).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory.beliefs.kernel.edges import log_mean
from memory.beliefs.kernel.evidence import Evidence, information, log_sums, stacked
from memory.beliefs.kernel.groups import Booleans, Floats, Indices
from memory.beliefs.kernel.passes import Upward
from memory.beliefs.kernel.planning import Plan, Refused, Structure, made
from memory.beliefs.kernel.terms import Budget


def minimal_contradiction(plan: Plan, *, up: Upward, evidence: Evidence) -> tuple[int, ...]:
    """Edges that admit no assignment, each of them needed for that; `up` is the pass that failed."""
    loops = np.flatnonzero(plan.pairs.is_loop & (evidence.log_factors[:, plan.group.identity] == -np.inf))
    if len(loops):
        return (int(loops[0]),)
    # Roots are the last rows.
    failed = len(plan.placed.nodes) - up.roots.shape[1] + int(np.flatnonzero(up.roots[0] == -np.inf)[0])
    members = np.flatnonzero(edges_of_root(plan, root=failed))
    asked = _Asked(plan, members, evidence=evidence)

    def fails(is_kept: Booleans) -> bool:
        return bool(asked.log_z(is_kept[None])[0] == -np.inf)

    kept = _minimal(fails, range(len(members) - 1, -1, -1), n=len(members))
    return tuple(members[kept].tolist())


def minimal_opposition(plan: Plan, *, edge: int, threshold_nats: float, evidence: Evidence) -> tuple[int, ...]:
    """The edge and others that by themselves speak against it by more than the threshold, each needed for that."""
    log_factors = evidence.log_factors
    own_mean = float(log_mean(log_factors[edge][None])[0])
    if plan.pairs.is_loop[edge]:
        return (edge,) if own_mean - log_factors[edge, plan.group.identity] > threshold_nats else ()
    at = plan.placed.pair_rows[plan.pairs.slot[edge]]
    members = np.flatnonzero(edges_of_root(plan, root=int(_roots(plan)[at])))
    asked = _Asked(plan, members, evidence=evidence)
    own = int(np.flatnonzero(members == edge)[0])

    def speaks_against(is_kept: Booleans) -> bool:
        both = np.stack((is_kept, is_kept))
        both[1, own] = False
        with_it, without = asked.log_z(both)
        return bool(without + own_mean - with_it > threshold_nats)

    everything = np.ones(len(members), dtype=bool)
    if not speaks_against(everything):
        return ()
    # The weakest evidence is tried first, so that the strongest is left.
    order = [int(one) for one in np.argsort(information(log_factors[members]), kind="stable") if one != own]
    kept = _minimal(speaks_against, order, n=len(members))
    return tuple(members[kept].tolist())


def edges_of_root(plan: Plan, *, root: int) -> Booleans:
    """(E,) which edges lie in the part of the plan that ends at this row."""
    within = np.append(_roots(plan)[plan.placed.pair_rows] == root, False)
    # A loop has slot -1.
    return within[plan.pairs.slot]


def _roots(plan: Plan) -> Indices:
    """(R,) the row in which the elimination of each row ends."""
    found = np.arange(len(plan.placed.parents))
    # A parent is eliminated after its children.
    for row in range(len(found) - 1, -1, -1):
        if plan.placed.parents[row] >= 0:
            found[row] = found[plan.placed.parents[row]]
    return found


class _Asked:
    """Log evidence of subsets of some edges, the others away."""

    def __init__(self, plan: Plan, members: Indices, *, evidence: Evidence) -> None:
        asked = evidence.structure
        src, dst = asked.src[members], asked.dst[members]
        touched = {*src.tolist(), *dst.tolist()}
        near = {node: values for node, values in evidence.priors.items() if node in touched}
        limits = Budget(plan.cost.largest_entries, plan.cost.total_entries)
        part = made(Structure(plan.group, plan.n, plan.root, src, dst, tuple(near)), budget=limits)
        self._is_part = not isinstance(part, Refused)
        self._plan = plan if isinstance(part, Refused) else part
        self._members = members
        self._log_factors = evidence.log_factors[members]
        self._n_edges = len(evidence.log_factors)
        self._log_priors = stacked(near, k=plan.group.k) if self._is_part else evidence.log_priors

    def log_z(self, is_kept: Booleans) -> Floats:
        """(S,) for S subsets, (S, members)."""
        runs = np.where(is_kept[..., None], self._log_factors, 0.0)
        if not self._is_part:
            whole = np.zeros((len(runs), self._n_edges, runs.shape[2]))
            whole[:, self._members] = runs
            runs = whole
        _, found = log_sums(self._plan, log_factors=runs, log_priors=self._log_priors)
        return found


def _minimal(is_enough: Callable[[Booleans], bool], order: Sequence[int], *, n: int) -> Booleans:
    """A subset of n that is enough and of which no single one can go; tried in the order, until nothing changes."""
    kept = np.ones(n, dtype=bool)
    has_changed = True
    while has_changed:
        has_changed = False
        for one in order:
            if kept[one]:
                kept[one] = False
                if is_enough(kept):
                    has_changed = True
                else:
                    kept[one] = True
        order = [one for one in order if kept[one]]
    return kept
