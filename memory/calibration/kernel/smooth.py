"""Smooth calibration error: free of bins, and with an interval.

- Residuals are spread over confidence by a Gaussian reflected at 0 and 1; the error at a width is the mass of what
  remains, and the smooth error is the width that equals its own error.
- Residual mass comes on a fine grid, so the cost does not depend on how many forecasts there are.

Source: Blasiok and Nakkiran 2023, "Smooth ECE: principled reliability diagrams via kernel smoothing".
"""

from __future__ import annotations

import numpy as np

from memory.calibration.kernel.sums import Floats

_HALVINGS = 22


def smooth_error(mass: Floats) -> Floats:
    """The fixed point sigma = error(sigma), for each row.

    mass : (..., cells) residual mass (sum of outcome - confidence, over the number of forecasts) by cell of [0, 1].
    Answers (...) float64 in 0..1.

    >>> float(smooth_error(np.zeros(128)))
    0.0
    """
    cells = mass.shape[-1]
    mirrored = np.concatenate([mass, mass[..., ::-1]], axis=-1)
    # A period of two unit intervals, one mirrored, is what reflection at both ends amounts to.
    transform = np.fft.rfft(mirrored)
    frequency = np.arange(transform.shape[-1]) / 2
    low, high = np.zeros(mass.shape[:-1]), np.ones(mass.shape[:-1])
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        gain = np.exp(-2 * (np.pi * middle[..., None] * frequency) ** 2)
        error = np.abs(np.fft.irfft(transform * gain, 2 * cells)[..., :cells]).sum(axis=-1)
        is_above = error < middle
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.where(np.abs(mass).sum(axis=-1) == 0, 0.0, 0.5 * (low + high))


def smooth_interval(
    rows: Floats, generator: np.random.Generator, *, share: float = 0.9, n_draws: int = 200
) -> tuple[float, float]:
    """An interval of the smooth error by resampling forecasts, basic bootstrap, cut at 0.

    rows : (n, cells) residual of each forecast on the grid, n > 0.   share : of resamples inside, in (0, 1).
    """
    n = len(rows)
    draws = generator.multinomial(n, np.full(n, 1 / n), size=n_draws) / n
    found = smooth_error(draws @ rows)
    point = float(smooth_error(rows.mean(axis=0)))
    low, high = np.quantile(found, [(1 - share) / 2, (1 + share) / 2])
    return max(0.0, 2 * point - float(high)), max(point, 2 * point - float(low))
