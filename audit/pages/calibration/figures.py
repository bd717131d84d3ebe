"""The figures of a segment and of an alarm, from what was read of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from audit.charts.calibration import Bin, before_after, confidences, reliability
from audit.charts.calibration_course import Mark, Moment, Stretch, Wealth, label_lag, log_wealth, metric_windows
from audit.charts.figures import Figure
from audit.pages.calibration.words import INSTRUMENTS, too_few_words, window_words
from memory.base.asof import AsOf
from memory.calibration.queries.alarms import AlarmRow
from memory.calibration.queries.segments import BinRow, bins_of, figures_around, metric_course
from memory.calibration.queries.verdicts import SegmentRow
from memory.calibration.queries.watches import Course, course, evidence_threshold
from memory.calibration.queries.watches import label_lag as lag_of

RESTARTS: Mapping[str, str] = {"closing": "began again: closing", "correction": "a label was corrected"}
MOST_MOMENTS = 600
"""Points of a process that a page draws; the label with the most evidence of each stretch stays."""


def reliability_of(row: SegmentRow) -> Figure:
    """The window that is shown, from its running sums: it costs no query."""
    return reliability(_shown_bins(row), window=_window(row), too_few=_too_few(row), is_outside=row.is_outside)


def confidences_of(at: AsOf, row: SegmentRow) -> Figure:
    return confidences(_shown_bins(row), window=_window(row))


def wealth_of(at: AsOf, row: SegmentRow) -> Figure:
    """Both instruments; the alarms are the segment's own."""
    return log_wealth(_wealth(row, course(at, row.state, n_points=MOST_MOMENTS)))


def metrics_of(at: AsOf, row: SegmentRow) -> Figure:
    stretches = [
        Stretch(
            one.first, one.last, one.metrics.accuracy, one.metrics.mean_confidence, one.calibration.ece_excess,
            one.metrics.nll, one.metrics.brier,
        )
        for one in metric_course(at, row)
    ]  # fmt: skip
    return metric_windows(
        stretches, size=row.run.config.current_size, n_labeled=row.n_labeled, n_pending=row.n_pending
    )  # fmt: skip


def lag_figure(at: AsOf, row: SegmentRow) -> Figure:
    lag = lag_of(at, row.state)
    if lag is None:
        return label_lag((), n=0, median=0.0, ninth_decile=0.0, n_pending=row.n_pending)
    return label_lag(
        lag.curve, n=lag.n, median=lag.median, ninth_decile=lag.ninth_decile, n_pending=row.n_pending,
        bound=lag.bound, n_beyond=lag.n_beyond,
    )  # fmt: skip


def around(at: AsOf, row: SegmentRow, alarm: AlarmRow) -> Figure:
    """The window that ended with the label that tipped the alarm, and the one after it."""
    before, after = figures_around(at, row, n_labels=alarm.n_labels)
    return before_after(*(_bins([] if one is None else one.bins) for one in (before, after)))


DETAILS: Mapping[str, tuple[str, Callable[[AsOf, SegmentRow], Figure]]] = {
    "wealth": ("What the two instruments hold", wealth_of),
    "metrics": ("Window after window", metrics_of),
    "confidences": ("How confidence is spread", confidences_of),
    "lag": ("How late labels come", lag_figure),
}
"""What folds on the page of a segment, in its order: the title and the figure."""


def figure_named(at: AsOf, row: SegmentRow, name: str) -> Figure | None:
    """The figure of that name; None where there is none."""
    if name == "reliability":
        return reliability_of(row)
    return DETAILS[name][1](at, row) if name in DETAILS else None


def _shown_bins(row: SegmentRow) -> list[Bin]:
    if row.sums is None:
        return []
    return _bins(bins_of(row.sums, n_bins=row.run.config.ece_bins))


def _bins(rows: Sequence[BinRow]) -> list[Bin]:
    return [
        Bin(one.lower, one.upper, one.n)
        if one.confidence is None or one.accuracy is None or one.band_low is None or one.band_high is None
        else Bin(one.lower, one.upper, one.n, one.confidence, one.accuracy, one.band_low, one.band_high)
        for one in rows
    ]


def _window(row: SegmentRow) -> str:
    return window_words(row, row.window or "current")


def _too_few(row: SegmentRow) -> str:
    return "" if row.window is not None else too_few_words(row)


def _wealth(row: SegmentRow, found: Course) -> Wealth:
    alarms = [Mark(one.n_labels, INSTRUMENTS[one.instrument], one.level) for one in reversed(row.alarms)]
    thresholds = [(0, evidence_threshold(1)), *((one.n_labels, one.evidence_threshold) for one in found.restarts)]
    return Wealth(
        [Moment(one.n_labels, one.seq, one.log_evidence, one.log_change, one.log_order) for one in found.points],
        thresholds, found.change_threshold, alarms,
        [Mark(one.n_labels, RESTARTS[one.cause]) for one in found.restarts],
    )  # fmt: skip
