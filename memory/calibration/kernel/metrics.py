"""Scores of forecasts against labels, all functions of additive statistics.

- A row of statistics belongs to one forecast and its label; a window is the sum of its rows.
- The predicted label is the first of the most probable; bins are of its probability, the confidence.
- Binned calibration error is a display: a calibrated model scores `ece_null` on average, and only the excess means
  something.

Row: n, correct, nll, brier, top-2, confidence, entropy; for each bin n, confidence, correct, confidence * correct,
confidence squared; for each cell of the fine grid the residual; the forecast.

Source: Murphy 1973 and Stephenson, Coelho, Jolliffe 2008 (Brier); Kumar, Liang, Ma 2019 (debiased); posterior-memory-
harness 0.9.0 (the seven metrics and the drift).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.calibration.kernel.sums import ExactSums, Floats

Labels = NDArray[np.int64]

FLOOR = 1e-12
CELLS = 128
"""Cells of the fine grid of confidence that smooth calibration error reads."""

_TOTALS = 7
_PER_BIN = 5


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the peer reports of one window; nll and entropy in nats, brier in 0..2, the rest shares."""

    accuracy: float
    nll: float
    brier: float
    ece: float
    top2_coverage: float
    mean_confidence: float
    mean_entropy: float


@dataclass(frozen=True, slots=True)
class BrierParts:
    """Brier score of "the predicted label is true": reliability - resolution + uncertainty, exactly.

    Resolution counts what confidences tell inside a bin as well, so that the identity holds for any bins.
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Binned calibration error beside what chance alone makes of it."""

    ece: float
    ece_null: float
    ece_excess: float
    rms_debiased: float


@dataclass(frozen=True, slots=True)
class Bins:
    """n, confidence and accuracy of each bin (0 where it is empty) and the variance of its calibrated accuracy."""

    n: Floats
    confidence: Floats
    accuracy: Floats
    variance: Floats


def statistics(forecasts: Floats, truth: Labels, *, n_bins: int) -> Floats:
    """One row for each forecast.

    forecasts : (n, S) float64, rows of probabilities.   truth : (n,) int64 in 0..S-1.
    Answers (n, 7 + 5 * n_bins + CELLS + S) float64.
    """
    n, size = forecasts.shape
    rows = np.zeros((n, _TOTALS + _PER_BIN * n_bins + CELLS + size))
    each = np.arange(n)
    predicted = forecasts.argmax(axis=1)
    confidence = forecasts[each, predicted]
    correct = (predicted == truth).astype(np.float64)
    true_mass = forecasts[each, truth]
    before = (forecasts > true_mass[:, None]) | ((forecasts == true_mass[:, None]) & (np.arange(size) < truth[:, None]))
    rows[:, 0] = 1
    rows[:, 1] = correct
    rows[:, 2] = -np.log(np.maximum(true_mass, FLOOR))
    rows[:, 3] = (forecasts * forecasts).sum(axis=1) - 2 * true_mass + 1
    rows[:, 4] = before.sum(axis=1) < 2
    rows[:, 5] = confidence
    rows[:, 6] = -(forecasts * np.log(np.maximum(forecasts, FLOOR))).sum(axis=1)
    start = _TOTALS + _PER_BIN * np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    for offset, column in enumerate((np.ones(n), confidence, correct, confidence * correct, confidence * confidence)):
        rows[each, start + offset] = column
    _spread(rows[:, _TOTALS + _PER_BIN * n_bins :][:, :CELLS], confidence, correct - confidence)
    rows[:, -size:] = forecasts
    return rows


def _spread(cells: Floats, confidence: Floats, residual: Floats) -> None:
    """Share each residual between the two cells whose middles its confidence lies between."""
    at = np.clip(confidence * CELLS - 0.5, 0, CELLS - 1)
    left = np.minimum(at.astype(np.int64), CELLS - 2)
    each = np.arange(len(confidence))
    cells[each, left] = residual * (1 - (at - left))
    cells[each, left + 1] = residual * (at - left)


def width(*, n_bins: int, n_labels: int) -> int:
    """How many statistics a row has."""
    return _TOTALS + _PER_BIN * n_bins + CELLS + n_labels


def summed(forecasts: Floats, truth: Labels, *, n_bins: int) -> ExactSums:
    """The exact sums of a window."""
    return ExactSums.of(statistics(forecasts, truth, n_bins=n_bins))


def n_rows(sums: ExactSums) -> int:
    """How many forecasts a window holds."""
    return round(float(sums.values[0]))


def bins_of(sums: ExactSums, *, n_bins: int) -> Bins:
    """The reliability diagram: bin i holds confidences in [i / n_bins, (i + 1) / n_bins), the last 1.0 too."""
    n, confidence, correct, _, squares = _binned(sums, n_bins)
    members = np.maximum(n, 1)
    return Bins(n, confidence / members, correct / members, np.maximum(confidence - squares, 0) / members)


def metrics(sums: ExactSums, *, n_bins: int) -> Metrics:
    """The seven metrics of a window that is not empty."""
    values = sums.values
    n = values[0]
    _, correct, nll, brier, top2, confidence, entropy = values[:_TOTALS] / n
    return Metrics(
        accuracy=float(correct), nll=float(nll), brier=float(brier), ece=calibration(sums, n_bins=n_bins).ece,
        top2_coverage=float(top2), mean_confidence=float(confidence), mean_entropy=float(entropy),
    )  # fmt: skip


def calibration(sums: ExactSums, *, n_bins: int) -> Calibration:
    """Binned calibration error of a window that is not empty.

    ece_null : its mean for a calibrated model of these confidences, by the normal limit of each bin.
    rms_debiased : root of the unbiased squared error over bins of two or more, clipped at 0 after summing.
    """
    total = sums.values[0]
    n, confidence, correct, both, squares = _binned(sums, n_bins)
    gap = correct - confidence
    ece = float(np.abs(gap).sum() / total)
    null = float(math.sqrt(2 / math.pi) * np.sqrt(np.maximum(confidence - squares, 0)).sum() / total)
    several = n > 1.5
    members = np.where(several, n, 2)
    spread = (correct - 2 * both + squares - gap**2 / members) / (members - 1)
    squared = float(np.where(several, gap**2 / members - spread, 0).sum() / total)
    return Calibration(ece, null, max(ece - null, 0.0), math.sqrt(max(squared, 0.0)))


def brier_parts(sums: ExactSums, *, n_bins: int) -> BrierParts:
    """The Brier score of the predicted label in its three parts, for a window that is not empty."""
    total = sums.values[0]
    n, confidence, correct, both, squares = _binned(sums, n_bins)
    members = np.maximum(n, 1)
    base = float(correct.sum() / total)
    brier = float((squares - 2 * both + correct).sum() / total)
    reliability = float(((correct - confidence) ** 2 / members).sum() / total)
    inside = (squares - confidence**2 / members) - 2 * (both - confidence * correct / members)
    resolution = float(((correct / members - base) ** 2 * n - inside).sum() / total)
    return BrierParts(brier, reliability, resolution, base * (1 - base))


def residual_cells(rows: Floats, *, n_bins: int) -> Floats:
    """(n, CELLS) the residual of each row of statistics on the fine grid."""
    start = _TOTALS + _PER_BIN * n_bins
    return rows[:, start : start + CELLS]


def residuals(sums: ExactSums, *, n_bins: int) -> Floats:
    """(CELLS,) residual mass of each cell of the fine grid, as a share of the window."""
    start = _TOTALS + _PER_BIN * n_bins
    values = sums.values
    shares: Floats = values[start : start + CELLS] / values[0]
    return shares


def mean_forecast(sums: ExactSums, *, n_bins: int) -> Floats:
    """(S,) the mean forecast of a window that is not empty."""
    values = sums.values
    mean: Floats = values[_TOTALS + _PER_BIN * n_bins + CELLS :] / values[0]
    return mean


def jensen_shannon(one: Floats, other: Floats) -> float:
    """The divergence of two distributions over the same labels, in nats, 0..ln 2."""
    middle = 0.5 * (one + other)
    return 0.5 * (_divergence(one, middle) + _divergence(other, middle))


def _divergence(one: Floats, other: Floats) -> float:
    held = one > 0
    return float((one[held] * np.log(one[held] / other[held])).sum())


def _binned(sums: ExactSums, n_bins: int) -> Floats:
    """(5, n_bins): n, confidence, correct, confidence * correct, confidence squared."""
    return sums.values[_TOTALS : _TOTALS + _PER_BIN * n_bins].reshape(n_bins, _PER_BIN).T
