"""One segment: its verdict and its reliability first, everything behind them folded, each fold in the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.charts.calibration_course import nats_words
from audit.charts.figures import Figure
from audit.components import Definition
from audit.exports import csv_answer
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.beliefs.words import Share, named, relation_url
from audit.pages.calibration.figures import DETAILS, figure_named, reliability_of
from audit.pages.calibration.words import (
    INSTRUMENTS,
    ORDER_NOTE,
    day_words,
    evidence_words,
    segment_path,
    segment_url,
    verdict_of,
)
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.beliefs.kernel.laws import Law
from memory.beliefs.relations import relations
from memory.calibration.kernel.windows import Span
from memory.calibration.queries.alarms import AlarmRow
from memory.calibration.queries.segments import Figures, ForecastRow, figures, forecasts
from memory.calibration.queries.verdicts import SegmentRow, Window, segment

MOST_FORECASTS = 40
MOST_CLASSES = 64
SCORES, FORECASTS = "scores", "forecasts"
TITLES = {
    **{name: title for name, (title, _) in DETAILS.items()},
    SCORES: "Scores of both windows", FORECASTS: "The forecasts and their labels",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fold:
    """A part of the page that is folded or open; `url` turns it."""

    name: str
    title: str
    url: str
    is_open: bool
    figure: Figure | None = None
    csv_url: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast with its label. `truth` is what came true; `said` what it held most probable, "" once erased."""

    place: int
    name: str
    url: str
    said: str
    share: Share | None
    truth: str
    is_true: bool


@dataclass(frozen=True, slots=True)
class Forecasts:
    """The newest of a span of labels, and how many more it has."""

    rows: tuple[Forecast, ...]
    n_more: int
    words: str


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score of both windows."""

    term: str
    reference: str
    current: str
    title: str


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A label: what it was given on average, how often it was true, and its own binned error."""

    label: str
    mean_forecast: str
    frequency: str
    ece: str


SCORE_TERMS: tuple[tuple[str, str, Callable[[Figures], str]], ...] = (
    ("forecasts", "that can be scored", lambda one: count(one.n)),
    ("accuracy", "the share that came true", lambda one: f"{one.metrics.accuracy:.3f}"),
    ("mean confidence", "what was stated", lambda one: f"{one.metrics.mean_confidence:.3f}"),
    ("smooth calibration error", "free of bins, with an interval of 90 %", lambda one: (
        f"{one.smooth:.3f} ({one.smooth_interval[0]:.3f} to {one.smooth_interval[1]:.3f})")),
    ("binned error", "a display: chance alone gives the next row", lambda one: f"{one.calibration.ece:.3f}"),
    ("of that by chance", "the mean of calibrated forecasts", lambda one: f"{one.calibration.ece_null:.3f}"),
    ("root mean square error", "debiased", lambda one: f"{one.calibration.rms_debiased:.3f}"),
    ("Brier of the predicted label", "reliability − resolution + uncertainty", lambda one: (
        f"{one.brier.brier:.3f} = {one.brier.reliability:.3f} − {one.brier.resolution:.3f} + "
        f"{one.brier.uncertainty:.3f}")),
    ("negative log-likelihood", "nats", lambda one: f"{one.metrics.nll:.3f}"),
    ("top two", "the truth is one of the two most probable", lambda one: f"{one.metrics.top2_coverage:.3f}"),
    ("mean entropy", "nats", lambda one: f"{one.metrics.mean_entropy:.3f}"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlarmLine:
    """An alarm of the segment in one line."""

    url: str
    instrument: str
    opened: str
    state: str
    label: str


@require_safe
@page("calibration")
def shown(
    request: HttpRequest, visit: Visit, run: UUID, relation_type: UUID, source_family: UUID
) -> HttpResponse:  # fmt: skip
    row = segment(visit.at, (run, relation_type, source_family))
    opened = _opened(request)
    folds = [_fold(request, visit, row, name, opened) for name in TITLES]
    context: dict[str, Any] = {
        "row": row,
        "verdict": verdict_of(row),
        "title": named(row.source_family),
        "definitions": _definitions(visit, row),
        "figure": reliability_of(row),
        "csv_url": _csv_url(visit, row, "reliability"),
        "folds": folds,
        "alarms": [alarm_line(visit, alarm) for alarm in row.alarms],
        "order_note": ORDER_NOTE,
        "trail": (Link("Calibration", f"/calibration{visit.carry}"), Link(named(row.source_family), "")),
    }
    if opened & {SCORES, FORECASTS}:
        law = law_of(visit, row)
        if SCORES in opened:
            context |= {"scores": _scores(visit, row), "classes": _classes(visit, row, law)}
        if FORECASTS in opened:
            window = _asked_window(request, row)
            context |= {
                "forecasts": forecasts_of(visit, row, row.span_of(window), law=law),
                "forecasts_csv": _csv_url(visit, row, FORECASTS) + f"&window={window}",
                "window_links": [
                    (_window_url(request, row, one), one, one == window) for one in ("current", "reference")
                ],
            }
    return render(request, "calibration/segment.html", context)


@require_safe
@page("calibration")
def as_csv(
    request: HttpRequest, visit: Visit, run: UUID, relation_type: UUID, source_family: UUID
) -> HttpResponseBase:  # fmt: skip
    """The numbers of one figure, or the forecasts of a window."""
    row = segment(visit.at, (run, relation_type, source_family))
    name = request.GET.get("figure", "reliability")
    if name == FORECASTS:
        found = forecasts(visit.at, row, span=row.span_of(_asked_window(request, row)))
        columns: list[str] = ["place", "observation_id", "true_index", "posterior"]
        rows = [
            dict(zip(columns, (one.place, named(one.observation_id), one.true_index, _vector(one)), strict=True))
            for one in found
        ]
        return csv_answer(visit, "calibration-forecasts", columns=columns, rows=rows)
    figure = figure_named(visit.at, row, name)
    if figure is None:
        raise Invalid.at("figure", expected=" or ".join(("reliability", *DETAILS, FORECASTS)), got=name)
    return figure_csv(visit, f"calibration-{name}", figure)


def figure_csv(visit: Visit, name: str, figure: Figure) -> HttpResponseBase:
    """The table of a figure as a file."""
    columns = [column.label for column in figure.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in figure.rows]
    return csv_answer(visit, name, columns=columns, rows=rows)


def law_of(visit: Visit, row: SegmentRow) -> Law | None:
    """The law that the labels belong to; None once erased."""
    found = relations(visit.at.namespace, seq=visit.at.seq, texts=[row.relation_type])
    relation = found.get(row.relation_type)
    return None if relation is None else relation.law


def forecasts_of(visit: Visit, row: SegmentRow, span: Span, *, law: Law | None) -> Forecasts:
    """The newest forecasts of a span of labels, each with its observation."""
    start = max(span.start, span.end - MOST_FORECASTS)
    found = forecasts(visit.at, row, span=Span(start, span.end))
    words = f"Labels {count(span.start + 1)} to {count(span.end)} of this segment, the newest first." if span.n else ""
    rows = tuple(_forecast(visit, one, law) for one in reversed(found))
    return Forecasts(rows, start - span.start, words)


def alarm_line(visit: Visit, alarm: AlarmRow) -> AlarmLine:
    """An alarm with what became of it."""
    word = "closed" if alarm.closed else "acknowledged" if alarm.acknowledged else "open"
    url = f"/calibration/alarms/{alarm.id}{visit.carry}"
    return AlarmLine(url, INSTRUMENTS[alarm.instrument], day_words(alarm.opened_at), word, count(alarm.n_labels))


def _definitions(visit: Visit, row: SegmentRow) -> list[Definition]:
    config = row.run.config
    change = "not begun" if row.watch.log_change is None else f"{nats_words(row.watch.log_change)} nats"
    return [
        Definition("source family", named(row.source_family)),
        Definition("relation type", named(row.relation_type),
                   url=relation_url(row.relation_type, carry=visit.carry) if row.relation_type else ""),
        Definition("monitor run", named(row.run_id)),
        Definition("opened", f"seq {count(row.run.seq)}", url=f"/ledger/{row.run.seq}{visit.carry}", is_code=True),
        Definition("labels", f"{count(row.n_labeled)} of {count(row.n_tracked)} forecasts"),
        Definition("pending", f"{count(row.n_pending)} label{'' if row.n_pending == 1 else 's'}"),
        Definition("reference", f"the first {count(config.reference_size)} labels, locked when full"),
        Definition("current window", f"the last {count(config.current_size)} of the others"),
        Definition("least that is judged", f"{count(config.min_current_size)} labels"),
        Definition("ever miscalibrated", evidence_words(row), title="the log of an e-process and its threshold"),
        Definition("changed", f"{change}, threshold {row.watch.change_threshold:.1f}",
                   title="the log of a change detector and its threshold"),
        Definition("order of scores", f"{nats_words(row.watch.log_order)} nats", title=ORDER_NOTE),
        Definition("epoch", f"{count(row.watch.epoch)}", title="it begins again after an alarm is closed"),
    ]  # fmt: skip


def _opened(request: HttpRequest) -> frozenset[str]:
    names = [name for name in request.GET.get("open", "").split(",") if name]
    for name in names:
        if name not in TITLES:
            raise Invalid.at("open", expected=", ".join(TITLES), got=name[:60])
    return frozenset(names)


def _fold(request: HttpRequest, visit: Visit, row: SegmentRow, name: str, opened: frozenset[str]) -> Fold:
    is_open = name in opened
    turned = opened - {name} if is_open else opened | {name}
    kept = pairs_of(request, without=("open",))
    told = ",".join(one for one in TITLES if one in turned)
    url = f"{address(segment_path(row.key), [*kept, ('open', told)])}#part-{name}"
    figure = DETAILS[name][1](visit.at, row) if is_open and name in DETAILS else None
    return Fold(name, TITLES[name], url, is_open, figure, _csv_url(visit, row, name))


def _csv_url(visit: Visit, row: SegmentRow, name: str) -> str:
    return segment_url(row.key, carried=visit.frame.carried, suffix=".csv", figure=name)


def _asked_window(request: HttpRequest, row: SegmentRow) -> Window:
    asked = request.GET.get("window", "")
    if asked and asked not in ("current", "reference"):
        raise Invalid.at("window", expected="current or reference", got=asked[:60])
    if asked == "reference" or (not asked and not row.span_of("current").n):
        return "reference"
    return "current"


def _window_url(request: HttpRequest, row: SegmentRow, window: str) -> str:
    kept = pairs_of(request, without=("window",))
    return address(segment_path(row.key), [*kept, ("window", window)]) + f"#part-{FORECASTS}"


def _forecast(visit: Visit, one: ForecastRow, law: Law | None) -> Forecast:
    url = f"/beliefs/observations/{one.observation}{visit.carry}"
    truth = _label(law, one.true_index)
    if one.posterior is None:
        return Forecast(one.place, named(one.observation_id), url, "", None, truth, is_true=False)
    top = max(range(len(one.posterior)), key=lambda index: one.posterior[index])  # type: ignore[index]
    return Forecast(
        one.place, named(one.observation_id), url, _label(law, top), Share(one.posterior[top]), truth,
        top == one.true_index,
    )  # fmt: skip


def _scores(visit: Visit, row: SegmentRow) -> list[ScoreRow]:
    """Each score of the reference beside that of the current window; "" where a window holds too few."""
    before, now = (_judged(visit, row, window) for window in ("reference", "current"))
    return [
        ScoreRow(term, "" if before is None else told(before), "" if now is None else told(now), title)
        for term, title, told in SCORE_TERMS
    ]


def _judged(visit: Visit, row: SegmentRow, window: Window) -> Figures | None:
    """The figures of a window that holds enough labels to say something."""
    return figures(visit.at, row, window=window) if row.span_of(window).n >= row.n_needed else None


def _classes(visit: Visit, row: SegmentRow, law: Law | None) -> list[ClassRow]:
    """Each label of the law in the window that is shown."""
    found = None if row.window is None else _judged(visit, row, row.window)
    if found is None:
        return []
    return [
        ClassRow(_label(law, one.index), f"{one.mean_forecast:.3f}", f"{one.frequency:.3f}", f"{one.ece:.3f}")
        for one in found.classes[:MOST_CLASSES]
    ]


def _label(law: Law | None, index: int) -> str:
    return f"label {index + 1}" if law is None else named(law.labels[index])


def _vector(one: ForecastRow) -> str:
    return "" if one.posterior is None else " ".join(f"{mass:.6g}" for mass in one.posterior)
