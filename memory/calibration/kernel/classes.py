"""Calibration of each label's own probability, which the most probable label alone does not show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory.calibration.kernel.metrics import Labels
from memory.calibration.kernel.sums import Floats


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One label: its mean forecast, its share of the truth, and the binned error of its probability."""

    index: int
    mean_forecast: float
    frequency: float
    ece: float


def classwise(forecasts: Floats, truth: Labels, *, n_bins: int) -> list[ClassScore]:
    """One score for each label. forecasts : (n, S), n > 0; truth : (n,). Source: Kull et al. 2019, classwise ECE."""
    n, size = forecasts.shape
    hit = (truth[:, None] == np.arange(size)).astype(np.float64)
    cell = np.minimum((forecasts * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.zeros((size, n_bins))
    np.add.at(gaps, (np.arange(size)[None, :].repeat(n, axis=0), cell), hit - forecasts)
    errors = np.abs(gaps).sum(axis=1) / n
    return [
        ClassScore(index, float(forecasts[:, index].mean()), float(hit[:, index].mean()), float(errors[index]))
        for index in range(size)
    ]
