"""Test processes that may be looked at after every label, as steps on logarithms.

- Evidence: a mixture over bets and over the step from which on they bet. While the forecasts are calibrated, it reaches
  1 / alpha with probability at most alpha, over all time.
- Change: the Shiryaev-Roberts sum, whose mean run length to a false alarm is at least its threshold. That is no
  probability. It starts again after an alarm.
- Every array has the bets last; leading axes are streams, or whole simulated worlds, stepped together.

Source: Ville 1939; Ramdas et al. 2023, "Game-theoretic statistics and safe anytime-valid inference"; Shin, Ramdas,
Rinaldo 2024, "E-detectors".
"""

from __future__ import annotations

import numpy as np

from memory.calibration.kernel.metrics import Labels
from memory.calibration.kernel.sums import Floats

NEVER = -np.inf
"""The log of a wealth that was not begun."""


def log_sum(values: Floats, *, axis: int = -1) -> Floats:
    """log of the sum of exponentials along an axis that is not empty; NEVER where all are."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        summed: Floats = np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis)
    return summed


def step_evidence(wealth: Floats, log_bets: Floats, *, step: int) -> Floats:
    """The log wealth by bet after its `step`-th label, from 1. What starts at step t starts with 1 / (t (t + 1))."""
    begun: Floats = np.logaddexp(wealth, -np.log(step * (step + 1.0))) + log_bets
    return begun


def log_evidence(wealth: Floats, *, steps: int | Labels, shares: Floats) -> Floats:
    """(...) the log e-value after `steps` labels: what the bets hold, and what waits for later starts.

    shares : (bets,) log of the share of each bet; together 1.
    """
    unspent = -np.log(np.asarray(steps) + 1.0)
    return np.asarray(np.logaddexp(log_sum(wealth + shares), unspent))


def step_change(sums: Floats, log_bets: Floats) -> Floats:
    """The log Shiryaev-Roberts sum by bet after one more label."""
    stepped: Floats = np.logaddexp(sums, 0.0) + log_bets
    return stepped


def log_change(sums: Floats) -> Floats:
    """(...) the log of the mean over bets."""
    return log_sum(sums) - float(np.log(sums.shape[-1]))


def level_of(alpha: float, epoch: int) -> float:
    """The share of alpha of a process started for the `epoch`-th time, from 1: all shares together give alpha."""
    return alpha / (epoch * (epoch + 1.0))


def log_weight(stream: int) -> float:
    """The log weight of a stream, from 0. All weights together give 1, however many streams are opened."""
    return -float(np.log((stream + 1.0) * (stream + 2.0)))


def combined_evidence(values: Floats) -> Floats:
    """The weighted mean of streams' log e-values, those not opened yet counting 1. values : (..., n_streams)."""
    n = values.shape[-1]
    weights = np.array([log_weight(stream) for stream in range(n)])
    # The weights of all later streams sum to 1 / (n + 1).
    return np.asarray(np.logaddexp(log_sum(values + weights), -np.log(n + 1.0))) if n else np.zeros(values.shape[:-1])
