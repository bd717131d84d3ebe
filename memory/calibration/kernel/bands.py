"""What chance alone does to the accuracy of a bin: the band in which calibrated forecasts stay."""

from __future__ import annotations

import math

import numpy as np

from memory.calibration.kernel.sums import Floats

CHANCE = 0.01
"""What calibrated forecasts are told to lie outside with, by one bin alone and by many together each."""

SHARE = 0.9
"""Of calibrated bins, how many lie in their bands."""


def consistency_band(n: int, confidence: float, *, share: float = SHARE) -> tuple[float, float]:
    """The accuracies between which `share` of calibrated bins of n forecasts of this confidence lie.

    n : at least 1.   confidence : mean probability, 0..1.   Answers (low, high), shares of n.
    Source: Brocker and Smith 2007, consistency bars, with the binomial law of the mean confidence.

    >>> consistency_band(1, 0.5)
    (0.0, 1.0)
    """
    if confidence <= 0 or confidence >= 1:
        return confidence, confidence
    hits = np.arange(n + 1)
    chosen = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)])
    law = np.exp(chosen + hits * math.log(confidence) + (n - hits) * math.log1p(-confidence)).cumsum()
    tail = (1 - share) / 2
    low, high = (min(int(np.searchsorted(law, at)), n) for at in (tail, 1 - tail))
    return low / n, high / n


def is_outside(n: Floats, confidence: Floats, accuracy: Floats) -> bool:
    """Whether a window lies outside its bands by more than chance: one bin far out, or too many out at all.

    n, confidence, accuracy : (n_bins,) of each bin; those without forecasts are left out.
    Calibrated forecasts are told to with a probability of about 2 CHANCE at most.

    >>> is_outside(np.array([50.0, 50.0]), np.array([0.55, 0.93]), np.array([0.6, 0.5]))
    True
    >>> is_outside(np.array([50.0, 50.0]), np.array([0.55, 0.93]), np.array([0.6, 0.92]))
    False
    """
    held = [(round(float(of)), float(p), float(a)) for of, p, a in zip(n, confidence, accuracy, strict=True) if of > 0]
    if not held:
        return False
    alone = 1 - CHANCE / len(held)
    if not all(_holds(*one, share=alone) for one in held):
        return True
    n_out = sum(not _holds(*one, share=SHARE) for one in held)
    return n_out > 0 and _tail(len(held), n_out) < CHANCE


def _holds(n: int, confidence: float, accuracy: float, *, share: float) -> bool:
    # A count over n and a share of n may differ in the last bit.
    low, high = consistency_band(n, confidence, share=share)
    return low - 1e-9 <= accuracy <= high + 1e-9


def _tail(n_bins: int, n_out: int) -> float:
    """The probability that so many or more of the bins lie outside by chance."""
    return sum(
        math.comb(n_bins, k) * (1 - SHARE) ** k * SHARE ** (n_bins - k) for k in range(n_out, n_bins + 1)
    )  # fmt: skip
