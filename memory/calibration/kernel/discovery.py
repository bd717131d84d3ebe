"""One verdict and one list over many segments whose labels depend on each other.

Source: Vovk and Wang 2021 (the mean of e-values is one); Wang and Ramdas 2022 (e-BH).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean_evidence(log_values: Sequence[float]) -> float:
    """The log of the mean e-value, valid under any dependence; 0.0 without one."""
    if not log_values:
        return 0.0
    top = max(log_values)
    return top + math.log(sum(math.exp(value - top) for value in log_values) / len(log_values))


def discoveries(log_values: Sequence[float], *, rate: float) -> list[int]:
    """The positions that e-BH lists: the expected share of false ones among them is at most `rate`.

    log_values : log e-values, any dependence.   rate : in (0, 1).   Answers positions, strongest first.

    >>> discoveries([5.0, 0.0, 9.0], rate=0.1)
    [2, 0]
    """
    n = len(log_values)
    ranked = sorted(range(n), key=lambda position: (-log_values[position], position))
    held = [k for k, position in enumerate(ranked, start=1) if log_values[position] >= math.log(n / (rate * k))]
    return ranked[: max(held, default=0)]
