"""Segments as the pages show them: one verdict line each, and the figures behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

import numpy as np

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.beliefs.models import Observation
from memory.beliefs.states import unpacked
from memory.calibration import reading
from memory.calibration.issuing import key_of
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.bands import consistency_band
from memory.calibration.kernel.classes import ClassScore, classwise
from memory.calibration.kernel.discovery import discoveries
from memory.calibration.kernel.metrics import BrierParts, Calibration, Metrics
from memory.calibration.kernel.smooth import smooth_error, smooth_interval
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.watching import ALPHA
from memory.calibration.kernel.windows import Span
from memory.calibration.members import Member, members, summed
from memory.calibration.models import EVERY_FAMILY, SegmentState
from memory.calibration.queries.alarms import AlarmRow, alarms
from memory.calibration.queries.runs import Run, run_named, runs
from memory.calibration.queries.watches import WatchRow, standing_watch
from memory.calibration.reading import Cut
from memory.ledger.queries.contents import name_ids, names_of

Verdict = Literal["too_few", "calibrated", "alarm"]
Window = Literal["reference", "current"]
N_WINDOWS = 60
SEED = 20_230_421
"""Of the resamples behind an interval, so that a page shows the same one each time."""


@dataclass(frozen=True, slots=True)
class Lean:
    """Where the current window is furthest from true: the bin with the most labels to explain."""

    lower: float
    upper: float
    confidence: float
    accuracy: float

    @property
    def is_over_confident(self) -> bool:
        return self.confidence > self.accuracy


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One family of a run: its verdict first. `n_needed` labels are the fewest that anything is said of.

    `is_listed`: it stands in the list of all segments whose rate of false ones is controlled.
    """

    run_id: str
    relation_type: str
    source_family: str
    verdict: Verdict
    n_tracked: int
    n_labeled: int
    n_needed: int
    since: datetime | None
    lean: Lean | None
    is_listed: bool
    watch: WatchRow
    alarms: tuple[AlarmRow, ...]

    @property
    def n_pending(self) -> int:
        return self.n_tracked - self.n_labeled


@dataclass(frozen=True, slots=True)
class BinRow:
    """One bin of the reliability diagram; calibrated bins lie in [band_low, band_high]. Without forecasts all None."""

    lower: float
    upper: float
    n: int
    confidence: float | None = None
    accuracy: float | None = None
    band_low: float | None = None
    band_high: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """One window: how many members, and what they score. `smooth` has its interval (low, high)."""

    n: int
    metrics: Metrics
    calibration: Calibration
    brier: BrierParts
    smooth: float
    smooth_interval: tuple[float, float]
    bins: list[BinRow]
    classes: list[ClassScore]


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One window of the course of metrics: the labels from `first` to `last` of the family, in order of arrival."""

    first: int
    last: int
    metrics: Metrics
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """A forecast of a window with its label. `posterior` None once erased."""

    place: int
    observation: UUID
    observation_id: str
    posterior: tuple[float, ...] | None
    true_index: int


def segments(at: AsOf) -> list[SegmentRow]:
    """Every family of every run at the point: alarms first, then by the evidence against them."""
    told = alarms(at)
    found = [row for run in runs(at) for row in _rows(at, run, told)]
    listed = set(discoveries([row.watch.log_evidence for row in found], rate=ALPHA))
    found = [replace(row, is_listed=position in listed) for position, row in enumerate(found)]
    return sorted(found, key=lambda row: (row.verdict != "alarm", -row.watch.log_evidence, row.source_family))


def segment_named(at: AsOf, *, run_id: str, relation_type: str, source_family: str) -> tuple[Run, SegmentState]:
    """The run and the row of a family.   Raises NotFound."""
    run = run_named(at, run_id)
    names = name_ids(at.namespace, [relation_type, source_family])
    rows = SegmentState.objects.filter(namespace=at.namespace, monitor_run=run.id, first_seq__lte=at.seq)
    row = None
    if relation_type in names and source_family in names:
        row = rows.filter(relation_type=names[relation_type], source_family=names[source_family]).first()
    if row is None:
        raise NotFound(f"The run {run_id[:60]} has no forecast of that relation type and family {at.words}.")
    return run, row


def figures(at: AsOf, run: Run, segment: SegmentState, *, window: Window = "current") -> Figures | None:
    """The figures of a window at the point; None where it holds nothing that can be scored."""
    cut = Cut(at.seq)
    counted = reading.counted(at.namespace, segment, cut)
    reference, current = reading.window_members(
        at.namespace, key_of(segment), n_labeled=counted.n_labeled, config=run.config, rule="locked", cut=cut
    )
    return _figures(reference if window == "reference" else current, n_bins=run.config.ece_bins)


def figures_around(
    at: AsOf, run: Run, segment: SegmentState, *, n_labels: int
) -> tuple[Figures | None, Figures | None]:
    """Before and after: the current window that ended with that label, and the one of as many labels after it."""
    size = run.config.current_size
    spans = Span(max(n_labels - size, 0), n_labels), Span(n_labels, n_labels + size)
    before, after = (members(at.namespace, key_of(segment), span, seq=at.seq) for span in spans)
    return _figures(before, n_bins=run.config.ece_bins), _figures(after, n_bins=run.config.ece_bins)


def metric_course(at: AsOf, run: Run, segment: SegmentState, *, n_windows: int = N_WINDOWS) -> list[WindowRow]:
    """The last windows of the family, one after the other without overlap, the oldest first; no short one."""
    size, bins = run.config.current_size, run.config.ece_bins
    counted = reading.counted(at.namespace, segment, Cut(at.seq))
    start = max(counted.n_labeled // size - n_windows, 0) * size
    found = members(at.namespace, key_of(segment), Span(start, counted.n_labeled), seq=at.seq)
    rows = []
    for first in range(0, len(found) - size + 1, size):
        sums = summed(found[first : first + size], n_bins=bins)
        if sums is not None:
            told = scores.metrics(sums, n_bins=bins), scores.calibration(sums, n_bins=bins)
            rows.append(WindowRow(start + first + 1, start + first + size, *told))
    return rows


def forecasts(at: AsOf, segment: SegmentState, *, span: Span) -> list[ForecastRow]:
    """The forecasts whose labels arrived at the places of the span, in order, each with its observation."""
    found = members(at.namespace, key_of(segment), span, seq=at.seq)
    rows = Observation.objects.filter(namespace=at.namespace, id__in=[member.observation for member in found])
    named = dict(rows.values_list("id", "name"))
    texts = names_of(at.namespace, named.values())
    return [
        ForecastRow(
            member.place, member.observation, texts.get(named[member.observation], ""),
            None if member.posterior is None else tuple(unpacked(member.posterior).tolist()), member.true_index,
        )
        for member in found
    ]  # fmt: skip


def _rows(at: AsOf, run: Run, told: Sequence[AlarmRow]) -> list[SegmentRow]:
    rows = [
        row
        for row in reading.segments_of(at.namespace, run=run.id)
        if row.source_family != EVERY_FAMILY and row.first_seq <= at.seq
    ]
    texts = names_of(at.namespace, [name for row in rows for name in (row.relation_type, row.source_family)])
    return [
        _row(at, run, row, (texts.get(row.relation_type, ""), texts.get(row.source_family, "")), told) for row in rows
    ]


def _row(at: AsOf, run: Run, row: SegmentState, named: tuple[str, str], told: Sequence[AlarmRow]) -> SegmentRow:
    cut = Cut(at.seq)
    found = reading.windows(at.namespace, row, config=run.config, rule="locked", cut=cut)
    about = (run.config.run_id, *named)
    own = tuple(one for one in told if (one.run_id, one.relation_type, one.source_family) == about)
    standing = [one for one in own if one.is_open]
    n_needed = run.config.min_current_size
    verdict: Verdict = "alarm" if standing else "too_few" if found.counted.n_labeled < n_needed else "calibrated"
    return SegmentRow(
        *about, verdict, found.counted.n_tracked, found.counted.n_labeled, n_needed,
        min((one.opened_at for one in standing), default=None), _lean(found.current, run.config.ece_bins),
        is_listed=False, watch=standing_watch(at, row), alarms=own,
    )  # fmt: skip


def _lean(sums: ExactSums | None, n_bins: int) -> Lean | None:
    if sums is None or not scores.n_rows(sums):
        return None
    bins = scores.bins_of(sums, n_bins=n_bins)
    worst = int(np.abs(bins.n * (bins.accuracy - bins.confidence)).argmax())
    return Lean(worst / n_bins, (worst + 1) / n_bins, float(bins.confidence[worst]), float(bins.accuracy[worst]))


def _figures(found: Sequence[Member], *, n_bins: int) -> Figures | None:
    scored = [member for member in found if member.posterior is not None]
    if not scored:
        return None
    posteriors = np.stack([unpacked(member.posterior) for member in scored])
    truth = np.array([member.true_index for member in scored], np.int64)
    rows = scores.statistics(posteriors, truth, n_bins=n_bins)
    sums = ExactSums.of(rows)
    cells = scores.residual_cells(rows, n_bins=n_bins)
    return Figures(
        len(scored), scores.metrics(sums, n_bins=n_bins), scores.calibration(sums, n_bins=n_bins),
        scores.brier_parts(sums, n_bins=n_bins), float(smooth_error(scores.residuals(sums, n_bins=n_bins))),
        smooth_interval(cells, np.random.default_rng(SEED)), _bins(sums, n_bins),
        classwise(posteriors, truth, n_bins=n_bins),
    )  # fmt: skip


def _bins(sums: ExactSums, n_bins: int) -> list[BinRow]:
    bins = scores.bins_of(sums, n_bins=n_bins)
    rows = []
    for index in range(n_bins):
        n = round(float(bins.n[index]))
        edges = index / n_bins, (index + 1) / n_bins, n
        if n == 0:
            rows.append(BinRow(*edges))
            continue
        confidence = float(bins.confidence[index])
        rows.append(BinRow(*edges, confidence, float(bins.accuracy[index]), *consistency_band(n, confidence)))
    return rows
