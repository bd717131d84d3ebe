"""Bounds on what weighted draws estimate.

Invariants
- Each weight lies in [0, bound], whatever was drawn: the bounds hold for any number of draws.
- All bounds of one answer hold together with the probability 1 - delta.

Source: Maurer and Pontil 2009, theorem 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from memory.beliefs.kernel.groups import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """m draws. states : (n, m) labels.   weights : (m,), relative to exp(peak), none above `bound`."""

    states: Indices
    weights: Floats
    peak: float
    bound: float

    @property
    def effective(self) -> float:
        """How many independent draws of the target they are worth (Kong 1992)."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """means, lower, upper : (n, k): the mean weight with each label, and the share it is of all, from below and above.
    total : mean of all weights, from below and above."""

    means: Floats
    lower: Floats
    upper: Floats
    total: tuple[float, float]


def bounds(drawn: Weighted, *, k: int, delta: float) -> Bounds:
    """The shares of the labels, with what each is compared to bounded apart: its own weight and that of the rest."""
    n, size = drawn.states.shape
    means, squares = np.empty((n, k)), np.empty((n, k))
    second = drawn.weights**2
    for node, labels in enumerate(drawn.states):
        means[node] = np.bincount(labels, drawn.weights, minlength=k) / size
        squares[node] = np.bincount(labels, second, minlength=k) / size
    whole = (float(drawn.weights.mean()), float(second.mean()))
    log_term = math.log(4.0 * (2 * n * k + 1) / delta)
    own = _interval(means, squares, bound=drawn.bound, size=size, log_term=log_term)
    rest = _interval(whole[0] - means, whole[1] - squares, bound=drawn.bound, size=size, log_term=log_term)
    total = _interval(np.array(whole[0]), np.array(whole[1]), bound=drawn.bound, size=size, log_term=log_term)
    return Bounds(
        means,
        own[0] / (own[0] + rest[1]),
        own[1] / (own[1] + rest[0]),
        (float(total[0]), float(total[1])),
    )


def _interval(means: Floats, squares: Floats, *, bound: float, size: int, log_term: float) -> tuple[Floats, Floats]:
    """(lower, upper) of an expectation in [0, bound], from the mean and the mean square of draws."""
    variance = np.maximum(squares - means**2, 0.0) * (size / (size - 1))
    reach = np.sqrt(2.0 * variance * log_term / size) + 7.0 * bound * log_term / (3.0 * (size - 1))
    return np.maximum(means - reach, 0.0), np.minimum(means + reach, bound)
