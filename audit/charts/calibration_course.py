"""Calibration over time: what the watching processes hold, the metrics of one window after the other, how late labels
come.

Invariants
- Processes and windows are drawn over labels in the order in which they came, which is the order that they bet in.
- A process stands beside the threshold that it is held against, at every label; restarts and alarms are marks.
- A window that is not full is drawn as a state with words, never as a value.
- The curve of label lag is of labels that came; what is pending is said beside it.

Units: logs are natural logs, in nats; lags are claimed seconds, shown in the largest unit that fits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.charts.beliefs import MINUS
from audit.charts.calibration import UNIT
from audit.charts.figures import Column, Figure, axis, drawn, not_drawn, series

WEALTH_PX = 340
COURSE_PX = 300
LAG_PX = 240
UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


@dataclass(frozen=True, slots=True)
class Moment:
    """The processes after the label of that number; None before a process has begun."""

    n_labels: int
    seq: int
    evidence: float
    change: float | None
    order: float


@dataclass(frozen=True, slots=True)
class Mark:
    """An alarm or a restart: after which label, in words; `level` is where the instrument stood, None for a restart."""

    n_labels: int
    words: str
    level: float | None = None


@dataclass(frozen=True, slots=True)
class Wealth:
    """The processes of a segment. `evidence_thresholds` has (labels before it holds, threshold) for each epoch."""

    moments: Sequence[Moment]
    evidence_thresholds: Sequence[tuple[int, float]]
    change_threshold: float
    alarms: Sequence[Mark] = ()
    restarts: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """The metrics of the labels from `first` to `last`."""

    first: int
    last: int
    accuracy: float
    confidence: float
    excess: float
    nll: float
    brier: float


def log_wealth(wealth: Wealth, *, id: str = "wealth") -> Figure:
    """Both instruments over labels, each with its threshold; the order of scores beside them."""
    columns = (
        Column("after label", True), Column("entry", True), Column("ever miscalibrated, nats", True),
        Column("changed, nats", True), Column("order of scores, nats", True), Column("what happened"),
    )  # fmt: skip
    happened = _happened(wealth)
    rows = [
        (str(one.n_labels), str(one.seq), f"{one.evidence:.3f}", "" if one.change is None else f"{one.change:.3f}",
         f"{one.order:.3f}", happened.get(one.n_labels, ""))
        for one in reversed(wealth.moments)
    ]  # fmt: skip
    label = "Lines over labels as they came: the logs of both watching processes, with their thresholds and alarms."
    if not wealth.moments:
        return not_drawn(
            id, finding="No label has come, so nothing was bet.", label=label, columns=columns, rows=rows,
            state="too_few", reason="The processes begin with the first label.",
        )  # fmt: skip
    return drawn(
        id, finding=_verdict(wealth), label=label, columns=columns, rows=rows, traces=_wealth_traces(wealth),
        layout={
            "xaxis": axis("labels, in the order in which they came", rangemode="tozero"), "yaxis": axis("log, nats"),
            "shapes": [_at(one.n_labels) for one in wealth.restarts],
            "annotations": [_note(one.n_labels, one.words) for one in wealth.restarts],
        },
        height_px=WEALTH_PX,
    )  # fmt: skip


def metric_windows(
    stretches: Sequence[Stretch], *, size: int, n_labeled: int, n_pending: int, id: str = "metrics"
) -> Figure:  # fmt: skip
    """What was stated and what came true, window after window. size : labels of a window."""
    columns = (
        Column("labels"), Column("stated", True), Column("came true", True), Column("excess error", True),
        Column("NLL, nats", True), Column("Brier, 0 to 2", True), Column("guard"),
    )  # fmt: skip
    rows = [
        (f"{one.first} to {one.last}", f"{one.confidence:.3f}", f"{one.accuracy:.3f}", f"{one.excess:.3f}",
         f"{one.nll:.3f}", f"{one.brier:.3f}", "full")
        for one in reversed(stretches)
    ]  # fmt: skip
    n_over = n_labeled % size
    guard = f"too few ({n_over} of {size})" if not n_pending else f"too few ({n_over} of {size}), {n_pending} pending"
    if n_over or not stretches:
        rows.insert(0, (f"{n_labeled - n_over + 1} on", "", "", "", "", "", guard))
    label = "Lines over windows of labels from 0 to 1: stated confidence, the share that came true, excess error."
    if not stretches:
        return not_drawn(
            id, finding=f"No window is full: {n_over} of {size} labels have come.", label=label, columns=columns,
            rows=rows, state="too_few", reason=f"A window has {size} labels; one that is not full says nothing.",
        )  # fmt: skip
    finding = _furthest(stretches) + (f"; the newest is not full, {guard}." if n_over else ".")
    shapes, notes = _open_window(n_labeled - n_over, size, n_over)
    return drawn(
        id, finding=finding, label=label, columns=columns, rows=rows,
        traces=[
            _windowed(stretches, "stated", [round(one.confidence, 4) for one in stretches], 0),
            _windowed(stretches, "came true", [round(one.accuracy, 4) for one in stretches], 1),
            _windowed(stretches, "excess error", [round(one.excess, 4) for one in stretches], 2),
        ],
        layout={
            "xaxis": axis("last label of the window", rangemode="tozero"),
            "yaxis": axis("0 to 1", range=[-0.03, 1.06], **UNIT), "shapes": shapes, "annotations": notes,
        },
        height_px=COURSE_PX,
    )  # fmt: skip


def label_lag(
    curve: Sequence[tuple[float, float]], *, n: int, median: float, ninth_decile: float, n_pending: int,
    bound: float = math.inf, n_beyond: int = 0, id: str = "lag",
) -> Figure:  # fmt: skip
    """The share of labels that had come by an age. curve : (seconds, share), of the last n labels.

    bound : seconds; the axis ends there at the latest, and `n_beyond` labels that claim a longer lag are counted.
    """
    columns = (Column("label came by", True), Column("share of labels", True))
    rows = [(in_words(seconds), f"{share:.2f}") for seconds, share in curve]
    pending = f"{n_pending} forecast{' is' if n_pending == 1 else 's are'} pending"
    label = "A line that rises from 0 to 1 over the age of a forecast: the share of labels that had come by then."
    if not curve:
        return not_drawn(
            id, finding=f"No label has come; {pending}.", label=label, columns=columns, rows=rows, state="too_few",
            reason="How late labels come is known once one has come.",
        )  # fmt: skip
    size, unit = next(one for one in UNITS if ninth_decile >= one[0] or one[0] == 1.0)
    which = f"the last {n} labels" if n > 1 else "one label"
    finding = (
        f"Of {which} half came within {in_words(median)} and nine of ten within {in_words(ninth_decile)}; {pending}."
    )
    if n_beyond:
        told = "claims" if n_beyond == 1 else "claim"
        finding += f" The curve ends at {in_words(bound)}; {n_beyond} of them {told} a longer lag."
    points = [(0.0, 0.0), *(one for one in curve if one[0] <= bound)]
    return drawn(
        id, finding=finding, label=label, columns=columns, rows=rows,
        traces=[
            {
                "type": "scatter", "mode": "lines", "x": [round(seconds / size, 4) for seconds, _ in points],
                "y": [share for _, share in points], "hoverinfo": "skip", **_plain(0),
            }
        ],
        layout={
            "xaxis": axis(f"age of the forecast, {unit}", rangemode="tozero"),
            "yaxis": axis("share of labels that came", range=[0, 1.04], **UNIT),
        },
        height_px=LAG_PX,
    )  # fmt: skip


def nats_words(value: float) -> str:
    """A log with one digit; what rounds to nothing has no sign."""
    shown = f"{abs(value):.1f}"
    return shown if value >= 0 or float(shown) == 0 else f"{MINUS}{shown}"


def in_words(seconds: float) -> str:
    """A lag in its largest unit: "2.5 days", "40 seconds"."""
    size, unit = next(one for one in UNITS if abs(seconds) >= one[0] or one[0] == 1.0)
    shown = f"{seconds / size:.1f}".removesuffix(".0")
    return f"{shown} {unit[:-1] if shown == '1' else unit}"


def _wealth_traces(wealth: Wealth) -> list[dict[str, Any]]:
    moments, end = wealth.moments, wealth.moments[-1].n_labels
    order = _process(moments, "order of scores, no alarm", [round(one.order, 4) for one in moments], 5)
    return [
        _process(moments, "ever miscalibrated", [round(one.evidence, 4) for one in moments], 0),
        _threshold("its threshold", _steps(wealth.evidence_thresholds, end), 0),
        _process(moments, "changed", [_rounded(one.change) for one in moments], 1),
        _threshold("its threshold ", [(0, wealth.change_threshold), (end, wealth.change_threshold)], 1),
        # It may rise far above both thresholds and would press them flat: it is drawn when it is asked for.
        {**order, "visible": "legendonly"},
        *([_alarm_marks(wealth.alarms)] if wealth.alarms else ()),
    ]


def _plain(index: int) -> dict[str, Any]:
    """A line of the series without its markers."""
    told = series(index)
    return {name: told[name] for name in ("line", "meta") if name in told}


def _process(moments: Sequence[Moment], name: str, values: Sequence[float | None], index: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": [one.n_labels for one in moments], "y": [*values],
        "hovertemplate": f"{name} %{{y:.2f}} nats after label %{{x}}<extra></extra>", "connectgaps": False,
        **_plain(index),
    }  # fmt: skip


def _threshold(name: str, points: Sequence[tuple[int, float]], index: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": [place for place, _ in points],
        "y": [round(value, 4) for _, value in points], "hoverinfo": "skip", "meta": {"ink": f"series-{index + 1}"},
        "line": {"dash": "dot", "width": 1, "shape": "hv"},
    }  # fmt: skip


def _steps(thresholds: Sequence[tuple[int, float]], end: int) -> list[tuple[int, float]]:
    return [*thresholds, (end, thresholds[-1][1])] if thresholds else []


def _alarm_marks(alarms: Sequence[Mark]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "name": "alarm", "x": [one.n_labels for one in alarms],
        "y": [_rounded(one.level) for one in alarms], "marker": {"size": 13, "symbol": "x"}, "meta": {"ink": "danger"},
        "hovertext": [f"{one.words}, label {one.n_labels}" for one in alarms], "hoverinfo": "text", "cliponaxis": False,
    }  # fmt: skip


def _happened(wealth: Wealth) -> dict[int, str]:
    told: dict[int, list[str]] = {}
    for one in (*wealth.alarms, *wealth.restarts):
        told.setdefault(one.n_labels, []).append(one.words)
    return {place: "; ".join(words) for place, words in told.items()}


def _verdict(wealth: Wealth) -> str:
    last = wealth.moments[-1]
    threshold = wealth.evidence_thresholds[-1][1]
    now = f"after label {last.n_labels} evidence stands at {nats_words(last.evidence)} of {threshold:.1f} nats"
    if not wealth.alarms:
        return f"Neither instrument has crossed its threshold: {now}."
    first, n = wealth.alarms[0], len(wealth.alarms)
    others = f", {n - 1} more after it" if n > 1 else ""
    return f"The first alarm came with label {first.n_labels} ({first.words}){others}; {now}."


def _at(place: int) -> dict[str, Any]:
    return {"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "paper", "name": "muted",
            "line": {"width": 1.5, "dash": "dash"}}  # fmt: skip


def _note(place: float, words: str) -> dict[str, Any]:
    return {"x": place, "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "left", "xshift": 4, "text": words,
            "showarrow": False, "name": "muted"}  # fmt: skip


def _windowed(stretches: Sequence[Stretch], name: str, values: Sequence[float], index: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "x": [one.last for one in stretches], "y": [*values],
        "hovertemplate": f"{name} %{{y:.2f}} to label %{{x}}<extra></extra>", "cliponaxis": False, **series(index),
    }  # fmt: skip


def _furthest(stretches: Sequence[Stretch]) -> str:
    one = max(stretches, key=lambda one: abs(one.confidence - one.accuracy))
    return (
        f"Stated and true differ most in labels {one.first} to {one.last}: {one.confidence:.2f} stated, "
        f"{one.accuracy:.2f} came true"
    )


def _open_window(start: int, size: int, n_over: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The newest window while it is not full: a band over the labels that it waits for, with its words."""
    if not n_over:
        return [], []
    band = {"type": "rect", "x0": start, "x1": start + size, "y0": 0, "y1": 1, "yref": "paper", "name": "muted",
            "layer": "below", "line": {"width": 0}}  # fmt: skip
    note = _note(start + size, f"too few ({n_over} of {size})")
    return [band], [{**note, "xanchor": "right", "xshift": -4, "y": 0, "yanchor": "bottom"}]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
