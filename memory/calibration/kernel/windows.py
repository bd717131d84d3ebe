"""Which labels make the reference, and which the current window.

- `locked`: in the order of arrival. The reference is the first labels of all; later ones join the current side however
  old the instant that they claim, and a correction keeps the place of what it corrects.
- `sorted`: by the instant of labelling, then by arrival of what counts. A late label moves both windows.

Source: posterior-memory-harness 0.9.0, CalibrationDriftMonitor.report, for `sorted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rule = Literal["locked", "sorted"]


@dataclass(frozen=True, slots=True)
class Span:
    """Positions [start, end) of labels in the order of a rule."""

    start: int
    end: int

    @property
    def n(self) -> int:
        return self.end - self.start


def reference_span(n_labeled: int, *, reference_size: int) -> Span:
    """The first labels."""
    return Span(0, min(n_labeled, reference_size))


def current_span(n_labeled: int, *, reference_size: int, current_size: int) -> Span:
    """The last labels of those after the reference."""
    return Span(min(n_labeled, max(reference_size, n_labeled - current_size)), n_labeled)


def is_sufficient(n_labeled: int, *, reference_size: int, min_current_size: int) -> bool:
    """Whether both windows hold enough to be compared."""
    return n_labeled >= reference_size + min_current_size
