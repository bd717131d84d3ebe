"""Timing two things in turn, and what comes of it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WARM_UP = 1

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Timing:
    """Two works timed in turn: median seconds, the median of the ratios of all rounds, and its quartiles."""

    first_seconds: float
    second_seconds: float
    ratio: float
    low: float
    high: float
    n_rounds: int


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report. `bar` is what the ratio should keep to, empty for orientation."""

    benchmark: str
    what: str
    timing: Timing
    bar: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a run is: sizes are divided by `divisor`, rounds never fall below three."""

    divisor: int = 1

    def size(self, wanted: int, *, least: int = 1) -> int:
        return max(least, wanted // self.divisor)

    def bar(self, wanted: str) -> str:
        """A bar on something of that size; none where sizes are divided."""
        return wanted if self.divisor == 1 else ""

    def rounds(self, wanted: int) -> int:
        return max(3, wanted // self.divisor)


def side_by_side(first: Work, second: Work, *, rounds: int, warm_up: int = WARM_UP) -> Timing:
    """Time both in each round, in changing order, so that whatever else the machine does falls on both alike."""
    times: list[tuple[float, float]] = []
    with _collector_off():
        for number in range(warm_up + rounds):
            if number % 2:
                later = _timed(second)
                pair = (_timed(first), later)
            else:
                pair = (_timed(first), _timed(second))
            if number >= warm_up:
                times.append(pair)
    ratios = [left / right for left, right in times]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Timing(
        statistics.median(left for left, _ in times), statistics.median(right for _, right in times),
        statistics.median(ratios), low, high, len(times),
    )  # fmt: skip


def _timed(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def _collector_off() -> Iterator[None]:
    """A collection falls on whoever is running just then; here it falls on nobody."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
