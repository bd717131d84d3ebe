"""What chance alone does to the accuracy of a bin: the band in which calibrated forecasts stay."""

from __future__ import annotations

import math

import numpy as np


def consistency_band(n: int, confidence: float, *, share: float = 0.9) -> tuple[float, float]:
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
