"""Whether what was stated came true: reliability with its bands, how confidence is spread, before and after an alarm.

Invariants
- Both axes of a reliability diagram run from 0 to 1; on the dashed diagonal forecasts mean what they say.
- A bin says how many forecasts it holds, and where calibrated ones of that number would lie by chance.
- What lies outside its band differs by marker and not by ink alone.
- A window with too few labels is not drawn: words stand in its place.

Source: Brocker and Smith 2007, "Increasing the reliability of reliability diagrams".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.charts.figures import Column, Figure, Ink, axis, drawn, not_drawn, series

SQUARE_PX = 340
HISTOGRAM_PX = 240
BAND_SHARE = 0.9
SMALLEST_PX, LARGEST_PX = 7.0, 18.0
UNIT: dict[str, Any] = {"tickmode": "array", "tickvals": [0, 0.25, 0.5, 0.75, 1]}


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts of a confidence in [lower, upper): how many, their mean confidence, the share that came true, and the
    band in which calibrated ones would lie. An empty bin has n = 0 and no numbers."""

    lower: float
    upper: float
    n: int
    confidence: float = 0.0
    accuracy: float = 0.0
    band_low: float = 0.0
    band_high: float = 1.0

    @property
    def is_outside(self) -> bool:
        return self.n > 0 and not self.band_low <= self.accuracy <= self.band_high

    @property
    def n_true(self) -> int:
        return round(self.n * self.accuracy)

    @property
    def edges(self) -> str:
        return f"{self.lower:.2f} to {self.upper:.2f}"


def reliability(
    bins: Sequence[Bin], *, window: str, too_few: str = "", is_outside: bool | None = None, id: str = "reliability"
) -> Figure:  # fmt: skip
    """The share that came true over stated confidence.

    window : which forecasts, as "the last 80".   too_few : why nothing is drawn, "" where something is.
    is_outside : whether the window as a whole lies outside its bands by more than chance; None to count the bins.
    """
    held = [one for one in bins if one.n]
    columns = (
        Column("stated confidence"), Column("forecasts", True), Column("mean confidence", True),
        Column("came true", True), Column("calibrated would be", True), Column("which is"),
    )  # fmt: skip
    rows = [
        (one.edges, str(one.n), f"{one.confidence:.3f}", f"{one.accuracy:.3f}",
         f"{one.band_low:.3f} to {one.band_high:.3f}", _side(one))
        for one in held
    ]  # fmt: skip
    label = "Dots over an axis of stated confidence from 0 to 1: the share that came true, with bands of chance."
    if too_few or not held:
        reason = too_few or "No forecast of this window can be scored."
        return not_drawn(
            id, finding="Too few labels to say whether confidence means what it says.", label=label, columns=columns,
            rows=() if too_few else rows, state="too_few", reason=reason,
        )  # fmt: skip
    return drawn(
        id, finding=_finding(held, window, is_outside), label=label, columns=columns, rows=rows, traces=[_dots(held)],
        layout={**_axes(), "shapes": [_diagonal(), *(_band(one) for one in held)]}, height_px=SQUARE_PX,
    )  # fmt: skip


def before_after(before: Sequence[Bin], after: Sequence[Bin], *, id: str = "around") -> Figure:
    """Two windows in one reliability diagram: up to the label that tipped an alarm, and after it."""
    columns = (
        Column("stated confidence"), Column("forecasts before", True), Column("came true before", True),
        Column("forecasts after", True), Column("came true after", True),
    )  # fmt: skip
    label = "Two lines over stated confidence from 0 to 1: the share that came true before and after the alarm."
    pairs = list(zip(before, after, strict=True)) if before and after else []
    rows = [
        (one.edges, str(one.n), _share(one), str(two.n), _share(two)) for one, two in pairs if one.n or two.n
    ]  # fmt: skip
    n_before, n_after = sum(one.n for one in before), sum(one.n for one in after)
    if not n_before or not n_after:
        side = "after it is" if n_before else "before it is"
        return not_drawn(
            id, finding="There is nothing yet to compare the alarm with.", label=label, columns=columns, rows=rows,
            state="too_few", reason=f"No forecast {side} labelled and readable at this point.",
        )  # fmt: skip
    told = (_mean(before), _mean(after))
    finding = (
        f"Before it {n_before} forecasts stated {told[0][0]:.2f} and {told[0][1]:.2f} came true; after it "
        f"{n_after} stated {told[1][0]:.2f} and {told[1][1]:.2f} did."
    )
    return drawn(
        id, finding=finding, label=label, columns=columns, rows=rows,
        traces=[_line(before, "before", 0), _line(after, "after", 1)],
        layout={**_axes(), "shapes": [_diagonal()]}, height_px=SQUARE_PX,
    )  # fmt: skip


def confidences(bins: Sequence[Bin], *, window: str, id: str = "confidences") -> Figure:
    """How many forecasts of each confidence came true and did not."""
    held = [one for one in bins if one.n]
    columns = (Column("stated confidence"), Column("came true", True), Column("did not", True))
    rows = [(one.edges, str(one.n_true), str(one.n - one.n_true)) for one in held]
    label = "Stacked bars over stated confidence from 0 to 1: how many forecasts came true and how many did not."
    if not held:
        return not_drawn(
            id, finding="There is no confidence to show.", label=label, columns=columns, rows=rows, state="too_few",
            reason="No forecast of this window can be scored.",
        )  # fmt: skip
    top = max(held, key=lambda one: one.n)
    n = sum(one.n for one in held)
    return drawn(
        id, finding=f"Most of {window} state {top.edges}: {top.n} of {n}.", label=label, columns=columns, rows=rows,
        traces=[
            _bars(bins, "came true", [one.n_true for one in bins], "series-1", ""),
            _bars(bins, "did not", [one.n - one.n_true for one in bins], "series-2", "/"),
        ],
        layout={
            "barmode": "stack", "bargap": 0.08, "xaxis": axis("stated confidence", range=[0, 1], **UNIT),
            "yaxis": axis("forecasts", rangemode="tozero"),
        },
        height_px=HISTOGRAM_PX,
    )  # fmt: skip


def _axes() -> dict[str, Any]:
    room = [-0.03, 1.06]
    return {
        "xaxis": axis("stated confidence", range=[-0.03, 1.03], **UNIT),
        "yaxis": axis("share that came true", range=room, **UNIT),
    }


def _diagonal() -> dict[str, Any]:
    return {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1, "name": "line-strong", "layer": "below",
            "line": {"width": 1.5, "dash": "dash"}}  # fmt: skip


def _band(one: Bin) -> dict[str, Any]:
    return {"type": "rect", "x0": one.lower, "x1": one.upper, "y0": one.band_low, "y1": one.band_high, "name": "muted",
            "layer": "below", "line": {"width": 0}}  # fmt: skip


def _dots(held: Sequence[Bin]) -> dict[str, Any]:
    most = max(one.n for one in held)
    inks: list[Ink] = ["danger" if one.is_outside else "series-1" for one in held]
    return {
        "type": "scatter", "mode": "markers+text", "x": [round(one.confidence, 4) for one in held],
        "y": [round(one.accuracy, 4) for one in held], "text": [str(one.n) for one in held],
        "textposition": ["bottom center" if one.accuracy > 0.5 else "top center" for one in held],
        "meta": {"ink": inks},
        "marker": {
            "size": [round(SMALLEST_PX + (LARGEST_PX - SMALLEST_PX) * (one.n / most) ** 0.5, 1) for one in held],
            "symbol": ["x" if one.is_outside else "circle" for one in held],
        },
        "hovertext": [f"{one.n} stated {one.confidence:.2f}, {one.n_true} came true" for one in held],
        "hoverinfo": "text", "cliponaxis": False,
    }  # fmt: skip


def _line(bins: Sequence[Bin], name: str, index: int) -> dict[str, Any]:
    held = [one for one in bins if one.n]
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "x": [round(one.confidence, 4) for one in held],
        "y": [round(one.accuracy, 4) for one in held], "hoverinfo": "text", "cliponaxis": False,
        "hovertext": [f"{name}: {one.n} stated {one.confidence:.2f}, {one.n_true} came true" for one in held],
        **series(index),
    }  # fmt: skip


def _bars(bins: Sequence[Bin], name: str, counts: Sequence[int], ink: Ink, pattern: str) -> dict[str, Any]:
    return {
        "type": "bar", "name": name, "x": [round((one.lower + one.upper) / 2, 4) for one in bins], "y": [*counts],
        "marker": {"pattern": {"shape": pattern}}, "meta": {"ink": ink}, "hoverinfo": "y+name",
    }  # fmt: skip


def _finding(held: Sequence[Bin], window: str, is_outside: bool | None) -> str:
    outside = [one for one in held if one.is_outside]
    by_chance = (1 - BAND_SHARE) * len(held)
    if not outside:
        return f"Of {window} every bin lies where calibrated forecasts would: {_counted(len(held))} inside the bands."
    worst = max(outside, key=lambda one: abs(one.n * (one.accuracy - one.confidence)))
    side = "over-confident" if worst.confidence > worst.accuracy else "under-confident"
    n = f"{_counted(len(outside))} of {len(held)} {'lies' if len(outside) == 1 else 'lie'} outside"
    if is_outside is False:
        return f"Of {window} {n}, no further than chance takes calibrated forecasts."
    if is_outside is None and len(outside) <= round(by_chance + 0.5):
        return f"Of {window} {n}, as about {by_chance:.1f} would by chance alone."
    return f"Of {window} those stated at {worst.confidence:.2f} came true in {worst.accuracy:.2f}: {side}; {n}."


def _side(one: Bin) -> str:
    if not one.is_outside:
        return "as it may be by chance"
    return "over-confident" if one.confidence > one.accuracy else "under-confident"


def _mean(bins: Sequence[Bin]) -> tuple[float, float]:
    n = sum(one.n for one in bins)
    return sum(one.n * one.confidence for one in bins) / n, sum(one.n * one.accuracy for one in bins) / n


def _share(one: Bin) -> str:
    return f"{one.accuracy:.3f}" if one.n else ""


def _counted(n: int) -> str:
    return f"{n} bin{'' if n == 1 else 's'}"
