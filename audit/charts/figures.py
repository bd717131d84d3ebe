"""Figures for plotly.js: a finding in one sentence, the plot without a colour, and the same numbers as a table.

Invariants
- A figure always has its finding and its rows; it has a plot only where it has something to say. "Nothing" and "too
  few to say" are states with words of their own, never an empty pair of axes.
- No colour is written: a mark names its ink by a role of the style sheet (`Ink`), and the page paints it in the scheme
  of the reader. What tells series apart besides is written here: dash, marker, pattern.
- A misspelt property of a trace or a layout raises here, not in the browser.
- Equal input gives equal bytes; nothing here reads a clock.

Source: plotly.js, reference of the cartesian traces; `json_script` escapes what stands in the page.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audit.charts.markup import shortened, text

type Ink = Literal[
    "series-1", "series-2", "series-3", "series-4", "series-5",
    "text", "muted", "accent", "ok", "warn", "danger", "gone", "line-strong", "line",
]  # fmt: skip
type State = Literal["drawn", "nothing", "too_few"]
type Trace = Mapping[str, Any]

INKS: tuple[Ink, ...] = (
    "series-1", "series-2", "series-3", "series-4", "series-5",
    "text", "muted", "accent", "ok", "warn", "danger", "gone", "line-strong", "line",
)  # fmt: skip
SERIES: tuple[tuple[Ink, str, str], ...] = (
    ("series-1", "solid", "circle"), ("series-2", "dash", "square"), ("series-3", "dot", "diamond"),
    ("series-4", "dashdot", "cross"), ("series-5", "longdash", "triangle-up"), ("muted", "longdashdot", "x"),
)  # fmt: skip
"""Ink, dash and marker of each series: any one of the three tells them apart."""

MOST_SERIES = len(SERIES)
MOST_LINES = 200
MOST_POINTS = 2_000
"""The cartesian bundle draws each point as an element of its own; a longer series is thinned or binned before."""

ID = re.compile(r"[a-z][a-z0-9-]*")
AXIS: dict[str, Any] = {"fixedrange": True, "automargin": True, "zeroline": False, "showline": True, "ticks": "outside"}


@dataclass(frozen=True, slots=True)
class Column:
    """A head of the table. `is_number` sets its cells to the right; the unit belongs into the label."""

    label: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """What `components/_figure.html` draws.

    id : distinct on its page, lower case, digits and hyphens.   finding : the caption, one sentence.
    label : what is drawn, for those who do not see it.   plot : data and layout for plotly.js, None unless `drawn`.
    reason : why there is no plot, in words.   height_px : of the plot.
    """

    id: str
    finding: str
    label: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    state: State = "drawn"
    plot: Mapping[str, Any] | None = None
    reason: str = ""
    height_px: int = 0

    @property
    def lines(self) -> tuple[tuple[tuple[Column, str], ...], ...]:
        """The first MOST_LINES rows, each cell beside its column."""
        return tuple(tuple(zip(self.columns, row, strict=True)) for row in self.rows[:MOST_LINES])

    @property
    def n_more(self) -> int:
        """How many rows stand in the file alone."""
        return max(0, len(self.rows) - MOST_LINES)


def drawn(
    id: str, *, finding: str, label: str, columns: Sequence[Column], rows: Sequence[Sequence[str]],
    traces: Sequence[Trace], layout: Mapping[str, Any], height_px: int,
) -> Figure:  # fmt: skip
    """A figure with its plot.

    traces : plotly traces as mappings; the ink of one, or of each of its points, stands in `meta={"ink": …}`.
    layout : beside the shared one; a shape or an annotation names its ink in `name`.
    Raises ValueError for a property that plotly does not know, an ink that is no role, a colour, or too many series.
    """
    _require(id, finding=finding)
    if len(traces) > MOST_SERIES:
        raise ValueError(f"a figure has at most {MOST_SERIES} series, got {len(traces)}")
    plot = _plot(traces, layout=layout, height_px=height_px)
    _require_inks(plot)
    return Figure(
        id, finding, label, tuple(columns), tuple(tuple(row) for row in rows), "drawn", plot, "", height_px
    )  # fmt: skip


def not_drawn(
    id: str, *, finding: str, label: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], state: State,
    reason: str,
) -> Figure:  # fmt: skip
    """A figure that has nothing to draw, or too little to say: words stand in place of the plot. Raises ValueError."""
    _require(id, finding=finding)
    if state == "drawn" or not reason:
        raise ValueError("a figure without a plot says why")
    return Figure(id, finding, label, tuple(columns), tuple(tuple(row) for row in rows), state, None, reason, 0)


def axis(title: str, **given: Any) -> dict[str, Any]:
    """An axis as every figure has it: its unit in the title, not to be dragged. `given` comes on top."""
    return {**AXIS, "title": {"text": title}, **given}


def series(index: int) -> dict[str, Any]:
    """What tells the series of that number from the others: ink, dash and marker.   index : 0 up to MOST_SERIES."""
    ink, dash, symbol = SERIES[index]
    return {"meta": {"ink": ink}, "line": {"dash": dash}, "marker": {"symbol": symbol}}


def zero_line(*, of: Literal["x", "y"]) -> dict[str, Any]:
    """The line from which bars of the axis `of` are measured, over the whole height or width of the plot."""
    across = {"x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper"}
    along = {"y0": 0, "y1": 0, "x0": 0, "x1": 1, "xref": "paper"}
    return {
        "type": "line",
        "layer": "above",
        "name": "text",
        "line": {"width": 1.5},
        **(across if of == "x" else along),
    }


def _require(id: str, *, finding: str) -> None:
    if not ID.fullmatch(id):
        raise ValueError(f"the id of a figure is lower case, digits and hyphens, got {id!r}")
    if not finding.strip().endswith("."):
        raise ValueError(f"a finding is a sentence, got {finding!r}")


def _plot(traces: Sequence[Trace], *, layout: Mapping[str, Any], height_px: int) -> dict[str, Any]:
    """Validated by plotly; its template, which is of colours, left out."""
    from plotly import graph_objects  # noqa: PLC0415 - it takes longer to load than most pages take to answer

    shared = {
        "height": height_px, "margin": {"l": 8, "r": 16, "t": 8, "b": 8}, "hovermode": "closest", "dragmode": False,
        "showlegend": len(traces) > 1, "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }  # fmt: skip
    figure = graph_objects.Figure(data=list(traces), layout={**shared, **layout}).to_plotly_json()
    figure["layout"].pop("template", None)
    return {"data": figure["data"], "layout": figure["layout"]}


def _require_inks(plot: Mapping[str, Any]) -> None:
    """Every mark has an ink that is a role, nothing has a colour, and no series is too long to draw."""
    layout = plot["layout"]
    named = [trace.get("meta", {}).get("ink") for trace in plot["data"]]
    named += [part.get("name", "text") for part in (*layout.get("shapes", ()), *layout.get("annotations", ()))]
    for ink in named:
        for one in ink if isinstance(ink, list | tuple) else (ink,):
            if one not in INKS:
                raise ValueError(f"an ink is one of {', '.join(INKS)}, got {one!r}")
    if found := next(_colours(plot), None):
        raise ValueError(f"a figure has no colour of its own, got {found}")
    longest = max((len(trace.get("x") or ()) for trace in plot["data"]), default=0)
    if longest > MOST_POINTS:
        raise ValueError(f"a series is drawn with at most {MOST_POINTS} points, got {longest}")


def _colours(part: Any, *, path: str = "plot") -> Any:
    """Where a property of the plot is a colour."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            if "color" in name:
                yield f"{path}.{name}"
            yield from _colours(value, path=f"{path}.{name}")
    elif isinstance(part, list | tuple):
        for position, value in enumerate(part):
            yield from _colours(value, path=f"{path}[{position}]")


def said(value: str, n_characters: int) -> str:
    """Text from outside for a label of plotly.js, which takes tags for mark-up: one line, cut, escaped, no tag left."""
    return text(shortened(value, n_characters))
