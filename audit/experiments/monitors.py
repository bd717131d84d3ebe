"""What a monitor's alarms are worth: how often it cries wolf, and how soon it sees a change.

Invariants
- Streams are looked at after every label, as a page would; a false alarm is one on forecasts that are calibrated.
- What is promised stands beside what was counted: over all time for the e-process; for the change detector labels over
  its mean run length, which bounds the share of streams that ever alarm (Doob's inequality); nothing for fixed guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit.experiments.scoring import wilson
from audit.experiments.size import Size
from audit.experiments.tables import Cell, Column, Table, share
from memory.calibration.kernel.processes import level_of
from memory.calibration.kernel.simulation import CALIBRATED, DRIFTS, Row, simulate
from memory.calibration.kernel.watching import ALPHA, RUN_LENGTH

FALSE_ALARMS = (
    Column("streams", "forecasts"), Column("instrument", "instrument"), share("alarmed", "streams with an alarm, %"),
    share("interval", "95 %"), share("promised", "promised at most, %"),
)  # fmt: skip
POWER = (
    Column("change", "change"), Column("instrument", "instrument"), share("early", "alarm before it, %"),
    share("found", "of the others found, %"), share("interval", "95 %"),
    Column("median_delay", "median delay, labels"),
)  # fmt: skip


def false_alarms(size: Size) -> tuple[Table, ...]:
    """Calibrated streams: plain, claims, labels that come late and share a shock, several segments."""
    rows = simulate(CALIBRATED, n_streams=size.n_streams, n_labels=size.n_labels)
    told: list[tuple[Cell, ...]] = [
        (row.world, row.instrument, row.early, wilson(row.early, row.n_streams), promised(row)) for row in rows
    ]
    caption = f"False alarms on {_streams(size)}, looked at after every label:"
    return (Table("false alarms", caption, FALSE_ALARMS, tuple(told)),)


def drift_power(size: Size) -> tuple[Table, ...]:
    """Streams that change after two fifths of their labels."""
    rows = simulate(DRIFTS, n_streams=size.n_streams, n_labels=size.n_labels)
    caption = f"What is found of a change after {size.n_labels * 2 // 5} labels, {_streams(size)}:"
    return (Table("drift power", caption, POWER, tuple(_power(rows))),)


def promised(row: Row) -> float | None:
    """The share of calibrated streams that may ever alarm within a run."""
    if row.instrument == "e-process":
        return level_of(ALPHA, 1)
    return row.n_labels / RUN_LENGTH if row.instrument == "change detector" else None


def _power(rows: Sequence[Row]) -> Iterator[tuple[Cell, ...]]:
    for row in rows:
        n_left = round(row.n_streams * (1 - row.early))
        interval = None if row.found is None else wilson(row.found, n_left)
        yield (row.world, row.instrument, row.early, row.found, interval, row.median_delay)


def _streams(size: Size) -> str:
    return f"{size.n_streams} streams of {size.n_labels:,} labels"
