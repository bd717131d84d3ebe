"""Figures for plotly.js: no colour, no mark-up from outside, nothing misspelt, the library that the package means."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs_version

from audit.charts.figures import (
    INKS,
    MOST_LINES,
    MOST_POINTS,
    MOST_SERIES,
    SERIES,
    Column,
    Figure,
    axis,
    drawn,
    not_drawn,
    said,
    series,
    zero_line,
)
from tests.architecture.sources import ROOT

VENDORED = ROOT / "static" / "vendor" / "plotly" / "plotly-cartesian.min.js"
TOKENS = (ROOT / "static" / "css" / "tokens.css").read_text()


def figure(*, layout: dict[str, Any] | None = None, finding: str = "It rose.", **trace: Any) -> Figure:
    one = {"type": "scatter", "x": [1, 2], "y": [3, 4], "meta": {"ink": "series-1"}, **trace}
    return drawn(
        "rates", finding=finding, label="a line", columns=[Column("day")], rows=[["1"]], traces=[one],
        layout=layout or {"xaxis": axis("day (UTC)")}, height_px=200,
    )  # fmt: skip


def test_the_vendored_library_is_the_version_that_the_package_bundles() -> None:
    head = VENDORED.read_bytes()[:200].decode()
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in head
    assert f"cartesian-dist-min {get_plotlyjs_version()}," in (VENDORED.parents[1] / "HASHES").read_text()


def test_a_figure_is_plain_json_without_a_template_and_the_same_each_time() -> None:
    plot = figure().plot
    assert plot is not None
    assert json.loads(json.dumps(plot)) == plot == figure().plot
    assert "template" not in plot["layout"]
    assert plot["data"][0]["x"] == [1, 2]


@pytest.mark.parametrize(
    ("layout", "trace"),
    [
        ({}, {"line": {"color": "#0072b2"}}),
        ({}, {"marker": {"color": [1, 2]}}),
        ({}, {"fillcolor": "red"}),
        ({"font": {"color": "black"}}, {}),
        ({"shapes": [{"type": "line", "name": "text", "line": {"color": "blue"}}]}, {}),
        ({}, {"meta": {"ink": "red"}}),
        ({}, {"meta": {"ink": ["series-1", "#fff"]}}),
        ({}, {"meta": {}}),
        ({"shapes": [{"type": "line", "name": "crimson"}]}, {}),
        ({"xaxis": {"titel": {"text": "day"}}}, {}),
        ({}, {"lines": {"dash": "dot"}}),
        ({}, {"x": [*range(MOST_POINTS + 1)]}),
    ],
)
def test_a_colour_an_unknown_ink_a_misspelt_property_and_too_many_points_are_refused(
    layout: dict[str, Any], trace: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        figure(layout=layout, **trace)


def test_what_cannot_be_said_in_a_caption_or_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="sentence"):
        figure(finding="Rates")
    with pytest.raises(ValueError, match="says why"):
        not_drawn("rates", finding="None.", label="", columns=[], rows=[], state="nothing", reason="")
    with pytest.raises(ValueError, match="lower case"):
        not_drawn("Rates!", finding="None.", label="", columns=[], rows=[], state="nothing", reason="none")
    with pytest.raises(ValueError, match="at most 6 series"):
        drawn("rates", finding="It rose.", label="", columns=[], rows=[], traces=[{}] * 7, layout={}, height_px=100)


def test_every_ink_is_a_colour_of_the_tokens() -> None:
    assert [ink for ink in INKS if not re.search(rf"--{ink}: light-dark\(#", TOKENS)] == []


def test_any_of_ink_dash_and_marker_tells_the_series_apart() -> None:
    for part in zip(*SERIES, strict=True):
        assert len(set(part)) == MOST_SERIES
    assert figure(**series(5)).state == "drawn"
    with pytest.raises(IndexError):
        series(MOST_SERIES)


def test_a_table_stops_where_the_file_goes_on() -> None:
    rows = [[str(n)] for n in range(MOST_LINES + 3)]
    long = not_drawn("long", finding="Many.", label="", columns=[Column("n")], rows=rows, state="too_few", reason="x")
    assert (len(long.lines), long.n_more, len(long.rows)) == (MOST_LINES, 3, MOST_LINES + 3)


def test_a_line_at_zero_crosses_the_axis_that_it_is_of() -> None:
    assert (zero_line(of="x")["x0"], zero_line(of="x")["x1"], zero_line(of="x")["yref"]) == (0, 0, "paper")
    assert (zero_line(of="y")["y0"], zero_line(of="y")["y1"], zero_line(of="y")["xref"]) == (0, 0, "paper")


@given(st.text(max_size=40) | st.sampled_from(["<a href='//x'>y</a>", "\u202ecod", "a & b", "%{x} <br>"]))
def test_no_label_from_outside_holds_a_tag_or_a_mark_that_turns_it(value: str) -> None:
    shown = said(value, 20)
    assert "<" not in shown
    assert ">" not in shown
    assert re.search(r"&(?!amp;|lt;|gt;)", shown) is None
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00")
