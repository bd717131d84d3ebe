"""Exact sums of statistics, so that what is added one by one equals what is summed at once, to the last bit.

- A statistic is held as a whole number of 2**-56, whose rounding lies below that of the double it came from.
- Two int64 halves keep a sum exact for 2**31 rows; adding, taking away and reordering lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LARGEST = 64.0
"""The absolute value that a statistic stays below."""

_SCALE = 2.0**56
_HALF = 32
_LOW = (1 << _HALF) - 1


@dataclass(frozen=True, slots=True)
class ExactSums:
    """Sums of d statistics. high, low : (d,) int64; the sum is (high * 2**32 + low) * 2**-56."""

    high: Whole
    low: Whole

    @classmethod
    def nothing(cls, width: int) -> ExactSums:
        """The sums of no row."""
        return cls(np.zeros(width, np.int64), np.zeros(width, np.int64))

    @classmethod
    def of(cls, rows: Floats) -> ExactSums:
        """The sums of rows. rows : (n, d), every value within LARGEST."""
        whole = np.rint(rows * _SCALE).astype(np.int64)
        return cls((whole >> _HALF).sum(axis=0), (whole & _LOW).sum(axis=0))

    @classmethod
    def unpacked(cls, packed: bytes) -> ExactSums:
        """The inverse of `packed`."""
        high, low = np.frombuffer(packed, np.int64).reshape(2, -1)
        return cls(high, low)

    @property
    def packed(self) -> bytes:
        """Both halves, one after the other."""
        return self.high.tobytes() + self.low.tobytes()

    @property
    def values(self) -> Floats:
        """(d,) float64, each rounded once."""
        carried = self.high + (self.low >> _HALF)
        return carried * (2.0**_HALF / _SCALE) + (self.low & _LOW) / _SCALE

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(self.high + other.high, self.low + other.low)

    def __sub__(self, other: ExactSums) -> ExactSums:
        return ExactSums(self.high - other.high, self.low - other.low)
