"""Which pairs the proposal keeps where not all of them fit the budget.

Invariants
- A spanning forest of the most informative pairs is always kept; then the strongest of the others as long as the plan
  stays admissible.
- The choice depends on the values and the structure alone; equals are taken by number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memory.beliefs.kernel.groups import Booleans, Floats, Indices
from memory.beliefs.kernel.planning import Refused, Structure, made
from memory.beliefs.kernel.terms import Budget, WidthExceeded

# After so many single pairs that do not fit, the rest is not tried.
MOST_FAILURES = 24
# The first attempt adds this part of what is left at once.
FIRST_PART = 8


def kept_pairs(structure: Structure, *, information: Floats, budget: Budget) -> Booleans:
    """(P,) which pairs are kept; the edges of the structure are the pairs.

    Raises WidthExceeded where even a forest is over the budget.
    """
    order = np.argsort(-information, kind="stable")
    forest, rest = _forest(structure, order)
    kept = _sorted(forest)
    plan = made(_only(structure, kept), budget=budget, tries_others=False)
    if isinstance(plan, Refused):
        raise WidthExceeded(plan.cost.width, plan.cost.largest_entries, plan.cost.total_entries)
    step, begin, n_failures = max(1, len(rest) // FIRST_PART), 0, 0
    while begin < len(rest) and n_failures < MOST_FAILURES:
        more = _sorted([*kept.tolist(), *rest[begin : begin + step]])
        attempt = made(_only(structure, more), budget=budget, tries_others=False)
        if not isinstance(attempt, Refused):
            kept, begin = more, begin + step
        elif step > 1:
            step //= 2
        else:
            begin, n_failures = begin + 1, n_failures + 1
    is_kept = np.zeros(len(structure.src), dtype=bool)
    is_kept[kept] = True
    return is_kept


def _forest(structure: Structure, order: Indices) -> tuple[list[int], list[int]]:
    above = list(range(structure.n))

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    forest, rest = [], []
    for pair in order.tolist():
        one, other = top(int(structure.src[pair])), top(int(structure.dst[pair]))
        if one == other:
            rest.append(pair)
        else:
            above[one] = other
            forest.append(pair)
    return forest, rest


def _only(structure: Structure, kept: Indices) -> Structure:
    return replace(structure, src=structure.src[kept], dst=structure.dst[kept])


def _sorted(members: list[int]) -> Indices:
    return np.array(sorted(members), dtype=np.intp)
