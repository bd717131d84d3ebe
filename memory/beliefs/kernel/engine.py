"""The entry point of inference: exact wherever the budget allows, labelled otherwise.

Invariants
- The answer depends on the arguments only; equal arguments give equal answers, in any process.
- A refusal names what was refused: the edge of a bad factor, the edges of a contradiction, the width over the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from numpy.typing import ArrayLike

from memory.beliefs.kernel.groups import Group
from memory.beliefs.kernel.terms import (
    Budget,
    Certainty,
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
    "Budget", "Certainty", "Contradiction", "Group", "Inference", "InvalidInput", "Method", "Mode", "Predicted",
    "Wants", "WidthExceeded", "conflicting_set", "infer", "predicted",
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
    raise NotImplementedError


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
    raise NotImplementedError


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
) -> tuple[int, ...]:
    """The edge and an inclusion-minimal set of others that speak against it by more than the threshold; () if none."""
    raise NotImplementedError
