"""The watch over a family at a point: what its processes hold, their course, and how late labels come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory.base import sql
from memory.base.asof import AsOf
from memory.calibration.issuing import key_of
from memory.calibration.kernel import processes
from memory.calibration.kernel.watching import ALPHA, change_threshold
from memory.calibration.members import scope_of
from memory.calibration.models import EVERY_FAMILY, LabelState, ProcessRestart, SegmentState

POINTS = 2_000
RECENT = 1_000
BEYOND = 10.0
"""Lags of more than so many ninth deciles lie beyond what a figure of them shows."""

CLOSING = "closing"
SHARES = tuple(round(0.05 * step, 2) for step in range(1, 21))


@dataclass(frozen=True, slots=True)
class WatchRow:
    """Logs in nats after the last label; `log_change` is None before the first bet of an epoch.

    `n_bets` of this epoch; `bets_per_lane`: in the lane of a bet, in the mean. Forecasts that overlap share no lane.
    """

    epoch: int
    log_evidence: float
    evidence_threshold: float
    log_change: float | None
    change_threshold: float
    log_order: float
    n_bets: int = 0
    bets_per_lane: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """The processes after one label: its number in the family, the entry, and the logs."""

    n_labels: int
    seq: int
    log_evidence: float
    log_change: float | None
    log_order: float


@dataclass(frozen=True, slots=True)
class Restart:
    """The processes began again after this many labels, or a label was corrected after an alarm then.

    Evidence is held against the threshold from then on.
    """

    n_labels: int
    seq: int
    cause: str
    epoch: int
    evidence_threshold: float


@dataclass(frozen=True, slots=True)
class Course:
    """What the processes went through, thinned to POINTS: of each stretch the label with the most evidence stays."""

    points: list[Point]
    restarts: list[Restart]
    evidence_threshold: float
    change_threshold: float
    n_labels: int


@dataclass(frozen=True, slots=True)
class Lag:
    """Seconds from observation to label over the last labels. The curve has (seconds, share labelled by then).

    `n_beyond` lags are longer than `bound`, which a few claimed instants, however far, do not move.
    """

    n: int
    median: float
    ninth_decile: float
    curve: list[tuple[float, float]]
    bound: float = 0.0
    n_beyond: int = 0


def standing_watch(at: AsOf, segment: SegmentState) -> WatchRow:
    """The processes of a family at the point."""
    restarts = [row for row in _restarts(at, segment) if row.cause == CLOSING]
    last = _labels(at, segment).order_by("-place_in_family").first()
    epoch = restarts[-1].epoch if restarts else 1
    is_fresh = last is None or (bool(restarts) and (restarts[-1].seq, restarts[-1].item) > (last.seq, last.item))
    return WatchRow(
        epoch,
        0.0 if is_fresh or last is None else last.log_evidence or 0.0,
        evidence_threshold(epoch),
        None if is_fresh or last is None else last.log_change,
        change_threshold(_n_segments(at, segment)),
        0.0 if last is None else last.log_order or 0.0,
        0 if is_fresh or last is None else last.n_bets or 0,
        0.0 if is_fresh or last is None else last.bets_per_lane or 0.0,
    )


def course(at: AsOf, segment: SegmentState, *, n_points: int = POINTS) -> Course:
    """The course of the processes of a family up to the point."""
    columns = ("place_in_family", "seq", "log_evidence", "log_change", "log_order")
    rows = list(_labels(at, segment).order_by("place_in_family").values_list(*columns))
    stretch = max(1, -(-len(rows) // n_points))
    points = [
        Point(*max(rows[start : start + stretch], key=lambda row: row[2] or 0.0))
        for start in range(0, len(rows), stretch)
    ]
    if rows and points[-1].n_labels != rows[-1][0]:
        points.append(Point(*rows[-1]))
    places = np.array([row[1] for row in rows], np.int64)
    restarts = list[Restart]()
    epoch = 1
    for row in _restarts(at, segment):
        epoch = row.epoch if row.cause == CLOSING else epoch
        place = int(np.searchsorted(places, row.seq, side="right"))
        restarts.append(Restart(place, row.seq, row.cause, row.epoch, evidence_threshold(epoch)))
    return Course(points, restarts, evidence_threshold(1), change_threshold(_n_segments(at, segment)), len(rows))


def label_lag(at: AsOf, segment: SegmentState, *, n_recent: int = RECENT) -> Lag | None:
    """How late the last labels came; None without one."""
    column, where, values = scope_of(key_of(segment))
    rows = sql.fetch(
        "SELECT l.labeled_at - f.observed_at FROM memory_labelstate l JOIN memory_forecaststate f"
        " ON f.namespace_id = l.namespace_id AND f.monitor_run = l.monitor_run AND f.observation = l.observation"
        f" WHERE l.namespace_id = %s AND {where} AND l.is_first AND l.seq <= %s ORDER BY l.{column} DESC"
        f" LIMIT {int(n_recent)}",
        [at.namespace, *values, at.seq],
    )
    if not rows:
        return None
    lags = np.array([lag for (lag,) in rows])
    # Quantiles are lags that came: between two of them one that is absurd would spoil its neighbours too.
    told = np.quantile(lags, [0.5, 0.9, *SHARES], method="inverted_cdf")
    bound = BEYOND * max(float(told[1]), 1.0)
    return Lag(
        len(rows), float(told[0]), float(told[1]), list(zip(told[2:].tolist(), SHARES, strict=True)), bound,
        int((lags > bound).sum()),
    )  # fmt: skip


def _labels(at: AsOf, segment: SegmentState) -> Any:
    return LabelState.objects.filter(**_about(at, segment), is_first=True)


def _about(at: AsOf, segment: SegmentState) -> dict[str, Any]:
    about = {
        "namespace": at.namespace, "monitor_run": segment.monitor_run, "relation_type": segment.relation_type,
        "seq__lte": at.seq,
    }  # fmt: skip
    return about if segment.source_family == EVERY_FAMILY else {**about, "source_family": segment.source_family}


def _restarts(at: AsOf, segment: SegmentState) -> Sequence[ProcessRestart]:
    return list(ProcessRestart.objects.filter(**_about(at, segment)).order_by("seq", "item"))


def _n_segments(at: AsOf, segment: SegmentState) -> int:
    rows = SegmentState.objects.filter(namespace=at.namespace, monitor_run=segment.monitor_run, first_seq__lte=at.seq)
    return rows.exclude(source_family=EVERY_FAMILY).count()


def evidence_threshold(epoch: int) -> float:
    """The log that evidence must reach in an epoch."""
    return -float(np.log(processes.level_of(ALPHA, epoch)))
