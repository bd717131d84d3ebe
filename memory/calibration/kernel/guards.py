"""The peer's fixed guards, asked after every label of many streams at once; a baseline for the simulations alone.

The reference is the first labels, the current window the last of the rest, the limits are the defaults.

Source: posterior-memory-harness 0.9.0, CalibrationDriftMonitor with its default configuration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.calibration.kernel.metrics import Labels, statistics
from memory.calibration.kernel.sums import Floats

_CHUNK = 500


def guard_alarms(forecasts: Floats, truth: Labels, *, config: MonitorConfig | None = None) -> Labels:
    """(n_streams,) labels before the first alert of each stream; the number of labels without one.

    forecasts : (n_streams, n_labels, S).   truth : (n_streams, n_labels).
    """
    config = config or MonitorConfig()
    return np.array([_first(*stream, config) for stream in zip(forecasts, truth, strict=True)], np.int64)


def _first(forecasts: Floats, truth: Labels, config: MonitorConfig) -> int:
    bins, size = config.ece_bins, forecasts.shape[1]
    rows = statistics(forecasts, truth, n_bins=bins)
    rows = np.concatenate([rows[:, : 7 + 5 * bins], rows[:, -size:]], axis=1)
    running = np.concatenate([np.zeros((1, rows.shape[1])), rows.cumsum(axis=0)])
    reference = running[min(config.reference_size, len(rows))]
    reference = reference / max(reference[0], 1)
    for start in range(config.reference_size + config.min_current_size, len(rows) + 1, _CHUNK):
        ends = np.arange(start, min(start + _CHUNK, len(rows) + 1))
        window = running[ends] - running[np.maximum(ends - config.current_size, config.reference_size)]
        over = _is_over(window / window[:, :1], reference, config)
        if over.any():
            return int(ends[over.argmax()]) - 1
    return len(rows)


def _is_over(current: Floats, reference: Floats, config: MonitorConfig) -> NDArray[np.bool_]:
    bins = config.ece_bins
    binned = current[:, 7 : 7 + 5 * bins].reshape(len(current), bins, 5)
    ece = np.abs(binned[:, :, 2] - binned[:, :, 1]).sum(axis=1)
    now, before = current[:, 7 + 5 * bins :], reference[7 + 5 * bins :]
    middle = 0.5 * (now + before)
    js = 0.5 * ((now * np.log(now / middle)).sum(axis=1) + (before * np.log(before / middle)).sum(axis=1))
    over: NDArray[np.bool_] = (
        (current[:, 2] - reference[2] > config.max_nll_increase)
        | (current[:, 3] - reference[3] > config.max_brier_increase)
        | (ece > config.max_ece)
        | (js > config.max_prediction_js)
    )
    return over
