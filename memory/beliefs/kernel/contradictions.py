"""Which edges cannot all hold: sets from which nothing can be taken away.

Invariants
- What is searched is the part of the plan that failed. Blocks of edges are tried before their halves, in one order;
  hard zeros stay hard when others are taken away, so what is left is what trying one after the other would leave.
- Against one edge, where evidence is only nearly contradictory, the search is repeated until no single edge can go.
- A search computes no more than MOST_ENTRIES; one that ends before its time has a set that is enough, and says that it
  is perhaps not minimal.

Source: Bakker et al. 1993 (deletion filter); Junker 2004 (by halves).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memory.beliefs.kernel.edges import log_mean
from memory.beliefs.kernel.evidence import Evidence, information, log_sums, stacked
from memory.beliefs.kernel.groups import Booleans, Floats, Indices
from memory.beliefs.kernel.passes import Upward
from memory.beliefs.kernel.planning import Plan, Refused, Structure, made
from memory.beliefs.kernel.terms import Budget, Conflicting

MOST_ENTRIES = 1 << 27
"""Table entries of all runs of one search, some seconds' worth."""


def minimal_contradiction(plan: Plan, *, up: Upward, evidence: Evidence) -> Conflicting:
    """Edges that admit no assignment, each of them needed for that; `up` is the pass that failed."""
    loops = np.flatnonzero(plan.pairs.is_loop & (evidence.log_factors[:, plan.group.identity] == -np.inf))
    if len(loops):
        return Conflicting((int(loops[0]),))
    # Roots are the last rows.
    failed = len(plan.placed.nodes) - up.roots.shape[1] + int(np.flatnonzero(up.roots[0] == -np.inf)[0])
    members = np.flatnonzero(edges_of_root(plan, root=failed))
    asked = _Asked(plan, members, evidence=evidence)

    def fails(is_kept: Booleans) -> bool:
        return bool(asked.log_z(is_kept[None])[0] == -np.inf)

    return _minimal(fails, list(range(len(members) - 1, -1, -1)), asked)


def minimal_opposition(plan: Plan, *, edge: int, threshold_nats: float, evidence: Evidence) -> Conflicting:
    """The edge and others that by themselves speak against it by more than the threshold, each needed for that."""
    log_factors = evidence.log_factors
    own_mean = float(log_mean(log_factors[edge][None])[0])
    if plan.pairs.is_loop[edge]:
        speaks = own_mean - log_factors[edge, plan.group.identity] > threshold_nats
        return Conflicting((edge,) if speaks else ())
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
        return Conflicting(())
    # The weakest evidence is tried first, so that the strongest is left.
    order = [int(one) for one in np.argsort(information(log_factors[members]), kind="stable") if one != own]
    return _minimal(speaks_against, order, asked)


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
    """Log evidence of subsets of some edges, the others away. `members` : indices of the edges.

    n_left : entries that may still be computed.
    """

    def __init__(self, plan: Plan, members: Indices, *, evidence: Evidence) -> None:
        self.members = members
        self.n_left = MOST_ENTRIES
        self._whole, self._evidence = plan, evidence
        self.narrow(np.ones(len(members), dtype=bool))

    def narrow(self, is_kept: Booleans) -> None:
        """Plan for these of the members alone, since no others will be asked about: fewer edges cost less."""
        self._within = np.flatnonzero(is_kept)
        self._chosen = self.members[self._within]
        plan, asked = self._whole, self._evidence.structure
        src, dst = asked.src[self._chosen], asked.dst[self._chosen]
        touched = {*src.tolist(), *dst.tolist()}
        near = {node: values for node, values in self._evidence.priors.items() if node in touched}
        limits = Budget(plan.cost.largest_entries, plan.cost.total_entries)
        part = made(Structure(plan.group, plan.n, plan.root, src, dst, tuple(near)), budget=limits)
        self._is_part = not isinstance(part, Refused)
        self._plan = plan if isinstance(part, Refused) else part
        self._log_factors = self._evidence.log_factors[self._chosen]
        self._log_priors = stacked(near, k=plan.group.k) if self._is_part else self._evidence.log_priors

    @property
    def n_within(self) -> int:
        """How many members it plans for."""
        return len(self._within)

    def log_z(self, is_kept: Booleans) -> Floats:
        """(S,) for S subsets, (S, members), of those that it plans for."""
        runs = np.where(is_kept[:, self._within, None], self._log_factors, 0.0)
        self.n_left -= len(runs) * (self._plan.cost.total_entries + 2 * self._log_factors.size)
        if not self._is_part:
            whole = np.zeros((len(runs), len(self._evidence.log_factors), runs.shape[2]))
            whole[:, self._chosen] = runs
            runs = whole
        _, found = log_sums(self._plan, log_factors=runs, log_priors=self._log_priors)
        return found


def _minimal(is_enough: Callable[[Booleans], bool], order: list[int], asked: _Asked) -> Conflicting:
    """A subset of the members that is enough and of which no single one can go; the first are tried first."""
    kept = np.ones(len(asked.members), dtype=bool)
    blocks, has_changed = [order], True
    while has_changed:
        has_changed = False
        while blocks:
            if asked.n_left <= 0:
                return Conflicting(tuple(asked.members[kept].tolist()), is_minimal=False)
            block = blocks.pop()
            kept[block] = False
            if is_enough(kept):
                has_changed = True
                if 2 * int(kept.sum()) <= asked.n_within:
                    asked.narrow(kept)
                continue
            kept[block] = True
            half = len(block) // 2
            if half:
                blocks += [block[half:], block[:half]]
        order = [one for one in order if kept[one]]
        blocks = [[one] for one in reversed(order)]
    return Conflicting(tuple(asked.members[kept].tolist()))
