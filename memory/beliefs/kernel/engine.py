"""The entry point of inference: exact wherever the budget allows, labelled otherwise.

Invariants
- The answer depends on the arguments only; equal arguments give equal answers, in any process.
- A refusal names what was refused: the edge of a bad factor, the edges of a contradiction, the width over the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from numpy.typing import ArrayLike

from memory.beliefs.kernel.checking import factors_of, has_hard_zeros, priors_of, structure_of
from memory.beliefs.kernel.contradictions import minimal_opposition
from memory.beliefs.kernel.enumeration import MOST_STATES, enumerated, is_small
from memory.beliefs.kernel.evidence import Evidence
from memory.beliefs.kernel.fallback import sampled
from memory.beliefs.kernel.groups import Group
from memory.beliefs.kernel.planning import Plan, Refused, planned
from memory.beliefs.kernel.running import ran
from memory.beliefs.kernel.terms import (
    Budget,
    Certainty,
    Conflicting,
    Contradiction,
    Inference,
    InvalidInput,
    Method,
    Mode,
    Predicted,
    Wants,
    WidthExceeded,
)

__all__ = [
    "Budget", "Certainty", "Conflicting", "Contradiction", "Group", "Inference", "InvalidInput", "Method", "Mode",
    "Predicted", "Wants", "WidthExceeded", "conflicting_set", "infer", "predicted",
]  # fmt: skip

NO_PRIORS: Mapping[int, ArrayLike] = MappingProxyType({})
DEFAULT_BUDGET = Budget()


def infer(
    group: Group,
    *,
    n: int,
    root: int,
    src: ArrayLike,
    dst: ArrayLike,
    log_factors: ArrayLike,
    priors: Mapping[int, ArrayLike] = NO_PRIORS,
    budget: Budget = DEFAULT_BUDGET,
    mode: Mode = "auto",
    seed: int = 0,
    wants: Wants = "full",
) -> Inference:
    """What the edges say of the nodes, seen from the root.

    src, dst : (E,) node indices; the factor of an edge is read at inverse[z_src] * z_dst.
    log_factors : (E, k) logs, -inf allowed.   priors : node -> (k,) logs; none on the root.
    seed : of the draws beyond the budget, which mode "auto" turns to and mode "exact" refuses.
    Raises InvalidInput, Contradiction, WidthExceeded.
    """
    structure = structure_of(group, n=n, root=root, src=src, dst=dst, prior_nodes=tuple(priors))
    factors = factors_of(log_factors, n_edges=len(structure.src), k=group.k)
    known = priors_of(priors, k=group.k)
    evidence = Evidence(structure, factors, known)
    if is_small(group, n=n, most=min(MOST_STATES, budget.largest_entries)) and not has_hard_zeros(
        factors, priors=known
    ):
        return enumerated(evidence, wants=wants)
    plan = planned(structure, budget=budget)
    if isinstance(plan, Plan):
        return ran(plan, evidence=evidence, wants=wants)
    if mode == "exact":
        raise WidthExceeded(plan.cost.width, plan.cost.largest_entries, plan.cost.total_entries)
    return sampled(evidence, is_bridge=plan.is_bridge, budget=budget, seed=seed, wants=wants)


def predicted(
    group: Group,
    *,
    n: int,
    root: int,
    src: ArrayLike,
    dst: ArrayLike,
    prior_nodes: tuple[int, ...] = (),
    budget: Budget = DEFAULT_BUDGET,
) -> Predicted:
    """The cost of the exact answer, before it is asked for. Raises InvalidInput."""
    structure = structure_of(group, n=n, root=root, src=src, dst=dst, prior_nodes=prior_nodes)
    return planned(structure, budget=budget).cost


def conflicting_set(
    group: Group,
    *,
    n: int,
    root: int,
    src: ArrayLike,
    dst: ArrayLike,
    log_factors: ArrayLike,
    edge: int,
    priors: Mapping[int, ArrayLike] = NO_PRIORS,
    threshold_nats: float = 20.0,
    budget: Budget = DEFAULT_BUDGET,
) -> Conflicting:
    """The edge and others that speak against it by more than the threshold, none if they do not."""
    structure = structure_of(group, n=n, root=root, src=src, dst=dst, prior_nodes=tuple(priors))
    factors = factors_of(log_factors, n_edges=len(structure.src), k=group.k)
    if not 0 <= edge < len(factors):
        raise InvalidInput(f"edge {edge} of {len(factors)} is none")
    plan = planned(structure, budget=budget)
    if isinstance(plan, Refused):
        raise WidthExceeded(plan.cost.width, plan.cost.largest_entries, plan.cost.total_entries)
    evidence = Evidence(structure, factors, priors_of(priors, k=group.k))
    return minimal_opposition(plan, edge=edge, threshold_nats=threshold_nats, evidence=evidence)
