"""Of assignments that are equally good, the lexicographically first in the order of the nodes.

Invariants
- Nodes are settled one by one, each at the smallest label with which the best score is still reached.
- A settled node is one with the root: its edges become edges of the root, shifted. A cut vertex may become a variable
  by that, and the step k times as large as the plan; beyond the usual budget it is left out, and the label stays.
- What nothing ties to settled nodes or priors may be multiplied from the left: its first node takes the first label.
"""

from __future__ import annotations

import numpy as np

from memory.beliefs.kernel.decoding import decoded
from memory.beliefs.kernel.evidence import Evidence, stacked
from memory.beliefs.kernel.groups import Booleans, Indices
from memory.beliefs.kernel.merging import loop_constant
from memory.beliefs.kernel.passes import loaded, upward
from memory.beliefs.kernel.planning import Plan, Refused, Structure, made
from memory.beliefs.kernel.terms import Budget


def first_of_equals(plan: Plan, *, states: Indices, evidence: Evidence, tolerance: float) -> Indices:
    """(n,) labels: as good as `states` within the tolerance, and first among such."""
    logs = evidence.log_factors
    # What is the same for every relation ties nothing together.
    settling = _Settling(evidence.only(logs.max(axis=1) > logs.min(axis=1)), tolerance)
    usual, cost = Budget(), plan.cost
    limits = Budget(
        max(cost.largest_entries, min(usual.largest_entries, cost.largest_entries * plan.group.k)),
        max(cost.total_entries, min(usual.total_entries, cost.total_entries * plan.group.k)),
    )
    found = states.copy()
    is_settled = np.zeros(plan.n, dtype=bool)
    is_settled[plan.root] = True
    for node in range(plan.n):
        if not is_settled[node]:
            settling.settle(node, found, is_settled, limits=limits)
            is_settled[node] = True
    return found


class _Settling:
    """The edges that say anything, and the settling of one node by them."""

    def __init__(self, evidence: Evidence, tolerance: float) -> None:
        asked = evidence.structure
        self._group = asked.group
        self._src, self._dst = asked.src, asked.dst
        self._log_factors = evidence.log_factors
        self._priors = evidence.priors
        self._tolerance = tolerance
        self._near: dict[int, list[int]] = {}
        for one, other in zip(asked.src.tolist(), asked.dst.tolist(), strict=True):
            self._near.setdefault(one, []).append(other)
            self._near.setdefault(other, []).append(one)

    def settle(self, node: int, states: Indices, is_settled: Booleans, *, limits: Budget) -> None:
        """Give the node its smallest label; the others of its part, not settled yet, follow."""
        part, is_tied_down = self._part(node, is_settled)
        group = self._group
        if not is_tied_down:
            shift = group.table[0, group.inv[states[node]]]
            states[part] = group.table[shift, states[part]]
        elif states[node]:
            self._lower(node, part, states, limits=limits)

    def _part(self, node: int, is_settled: Booleans) -> tuple[Indices, bool]:
        """What hangs together with the node without the settled ones, and whether those or a prior tie it down."""
        met, pending, is_tied_down = {node}, [node], False
        while pending:
            one = pending.pop()
            is_tied_down = is_tied_down or one in self._priors
            for other in self._near.get(one, ()):
                if is_settled[other]:
                    is_tied_down = True
                elif other not in met:
                    met.add(other)
                    pending.append(other)
        return np.array(sorted(met), dtype=np.intp), is_tied_down

    def _lower(self, node: int, part: Indices, states: Indices, *, limits: Budget) -> None:
        """Try the labels below the present one, side by side."""
        group = self._group
        touches = np.isin(self._src, part) | np.isin(self._dst, part)
        src, dst, factors = self._src[touches], self._dst[touches], self._log_factors[touches]
        inner = {int(one): self._priors[int(one)] for one in part if int(one) in self._priors}
        best = factors[np.arange(len(src)), group.relative[states[src], states[dst]]].sum() + sum(
            values[states[one]] for one, values in inner.items()
        )
        labels = np.arange(states[node])
        shifts = np.repeat(states[None], len(labels), axis=0)
        shifts[:, node] = labels
        is_open = np.zeros(len(states), dtype=bool)
        is_open[part] = True
        is_open[node] = False
        shifts[:, is_open] = group.identity
        # Past its end stand the open nodes, in order; everything settled is node 0.
        number = np.cumsum(is_open) * is_open
        relations = group.relative[shifts[:, src]]
        relations = group.table[relations, shifts[:, dst][..., None]]
        runs = np.take_along_axis(np.repeat(factors[None], len(labels), axis=0), relations, axis=2)
        own = inner.pop(node, np.zeros(group.k))
        near = {int(number[one]): values for one, values in inner.items()}
        structure = Structure(group, int(is_open.sum()) + 1, 0, number[src], number[dst], tuple(near))
        plan = made(structure, budget=limits)
        if isinstance(plan, Refused):
            return
        rows, columns = loaded(plan, log_factors=runs, log_priors=stacked(near, k=group.k))
        up = upward(plan, rows=rows, columns=columns, n_sums=0)
        scores = up.scores + loop_constant(group, pairs=plan.pairs, log_factors=runs) + own[labels]
        equals = np.flatnonzero(scores >= best - self._tolerance)
        if len(equals):
            chosen = int(equals[0])
            following, _ = decoded(plan, up=up, tolerance=self._tolerance, run=chosen)
            states[node] = labels[chosen]
            states[is_open] = following[1:]
