"""From a posterior, its prior and a trust to the log factor of an edge.

Invariants
- Compatible factors never hold a hard zero: each is floored at 1e-12 before it is tempered.
- Strict factors keep the zeros of a posterior; where nothing is known of a relation they say nothing of it.
- A trust of 0 is exactly uniform.

Source: posterior-memory-harness 0.9.0 for the compatible rule.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.terms import InvalidInput

FLOOR = 1e-12
POINT_MASS_ERROR = 1e-6


def compat_log_factors(
    q: ArrayLike, *, mu: ArrayLike, trust: ArrayLike, hard_top1: bool, point_mass_error: float = POINT_MASS_ERROR
) -> Floats:
    """Log factors under the floor rule, (E, k) float64, finite.

    q, mu : (E, k) posterior and prior of each edge, >= 0, of any scale.   trust : (E,) in [0, 1].
    hard_top1 : the label of the largest q (the first of equals) takes all but `point_mass_error`.
    """
    posterior, prior = floored(q), floored(mu)
    n_edges, k = posterior.shape
    if hard_top1 and k > 1:
        likelihood = np.full((n_edges, k), point_mass_error / (k - 1))
        likelihood[np.arange(n_edges), posterior.argmax(axis=1)] = 1.0 - point_mass_error
    elif hard_top1:
        likelihood = np.ones((n_edges, k))
    else:
        likelihood = floored(posterior / np.maximum(prior, FLOOR))
    logs: Floats = np.asarray(trust, dtype=np.float64)[:, None] * np.log(np.maximum(likelihood, FLOOR))
    return logs


def strict_log_factors(
    q: ArrayLike,
    *,
    mu: ArrayLike,
    trust: ArrayLike,
    eps: float = 0.0,
    outside: Literal["reject", "flag"] = "reject",
) -> Floats:
    """Log factors that keep zeros, (E, k) float64: log of (1 - eps) * q / mu + eps, tempered.

    q, mu, trust : as above; rows are scaled to sum to one, a row of zeros says nothing.
    eps : mass kept for every relation; 0 lets a zero stand as -inf, for any trust above 0.
    outside : what to do with mass where the prior has none: refuse it, or divide by the floor as the compatible rule.
    Raises InvalidInput naming the edge.
    """
    posterior, prior = _scaled(q), _scaled(mu)
    is_outside = (posterior > 0) & (prior == 0)
    if outside == "reject" and is_outside.any():
        edge = int(np.flatnonzero(is_outside.any(axis=1))[0])
        raise InvalidInput(f"the posterior of edge {edge} puts mass where its prior has none", edge=edge)
    ratio = np.where((posterior == 0) & (prior == 0), 1.0, posterior / np.where(prior == 0, FLOOR, prior))
    with np.errstate(divide="ignore"):
        logs: Floats = np.log((1.0 - eps) * ratio + eps)
    tempered = np.asarray(trust, dtype=np.float64)[:, None]
    # 0 * -inf is not a number.
    return np.where(tempered == 0, 0.0, np.where(tempered == 0, 1.0, tempered) * logs)


def log_prior(values: ArrayLike) -> Floats:
    """The log prior of a node, (k,): floored at 1e-12 and scaled to sum to one."""
    logs: Floats = np.log(floored(np.asarray(values, dtype=np.float64)[None])[0])
    return logs


def floored(values: ArrayLike) -> Floats:
    """Rows floored at 1e-12, then scaled to sum to one: a row of zeros becomes uniform."""
    raised = np.maximum(np.asarray(values, dtype=np.float64), FLOOR)
    scaled: Floats = raised / np.add.reduce(raised, axis=1, keepdims=True)
    return scaled


def _scaled(values: ArrayLike) -> Floats:
    rows = np.asarray(values, dtype=np.float64)
    sums = np.add.reduce(rows, axis=1, keepdims=True)
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[1])
