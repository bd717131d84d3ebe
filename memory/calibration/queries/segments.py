"""What stands behind the verdict of a segment: the figures of its windows, their course, the forecasts in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memory.base.asof import AsOf
from memory.beliefs.models import Observation
from memory.beliefs.states import unpacked
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.bands import consistency_band
from memory.calibration.kernel.classes import ClassScore, classwise
from memory.calibration.kernel.metrics import BrierParts, Calibration, Metrics
from memory.calibration.kernel.smooth import smooth_error, smooth_interval
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.windows import Span
from memory.calibration.members import Member, members, summed
from memory.calibration.queries.verdicts import SegmentRow, Window
from memory.ledger.queries.contents import names_of

N_WINDOWS = 60
SEED = 20_230_421
"""Of the resamples behind an interval, so that a page shows the same one each time."""


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


def figures(at: AsOf, row: SegmentRow, *, window: Window = "current") -> Figures | None:
    """The figures of a window at the point; None where it holds nothing that can be scored."""
    found = members(at.namespace, row.key, row.span_of(window), seq=at.seq)
    return _figures(found, n_bins=row.run.config.ece_bins)


def figures_around(at: AsOf, row: SegmentRow, *, n_labels: int) -> tuple[Figures | None, Figures | None]:
    """Before and after: the current window that ended with that label, and the one of as many labels after it."""
    size, bins = row.run.config.current_size, row.run.config.ece_bins
    found = members(at.namespace, row.key, Span(max(n_labels - size, 0), n_labels + size), seq=at.seq)
    before = [member for member in found if member.place <= n_labels]
    return _figures(before, n_bins=bins), _figures(found[len(before) :], n_bins=bins)


def metric_course(at: AsOf, row: SegmentRow, *, n_windows: int = N_WINDOWS) -> list[WindowRow]:
    """The last windows of the family, one after the other without overlap, the oldest first; no short one."""
    size, bins = row.run.config.current_size, row.run.config.ece_bins
    start = max(row.n_labeled // size - n_windows, 0) * size
    found = members(at.namespace, row.key, Span(start, row.n_labeled), seq=at.seq)
    rows = []
    for first in range(0, len(found) - size + 1, size):
        sums = summed(found[first : first + size], n_bins=bins)
        if sums is not None:
            told = scores.metrics(sums, n_bins=bins), scores.calibration(sums, n_bins=bins)
            rows.append(WindowRow(start + first + 1, start + first + size, *told))
    return rows


def forecasts(at: AsOf, row: SegmentRow, *, span: Span) -> list[ForecastRow]:
    """The forecasts whose labels arrived at the places of the span, in order, each with its observation."""
    found = members(at.namespace, row.key, span, seq=at.seq)
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
        smooth_interval(cells, np.random.default_rng(SEED)), bins_of(sums, n_bins=n_bins),
        classwise(posteriors, truth, n_bins=n_bins),
    )  # fmt: skip


def bins_of(sums: ExactSums, *, n_bins: int) -> list[BinRow]:
    """The reliability diagram of a window."""
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
