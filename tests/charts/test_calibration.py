"""Charts of calibration: bands and counts beside each dot, thresholds beside each process, words for too little."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.charts.calibration import Bin, before_after, confidences, reliability
from audit.charts.calibration_course import (
    Mark,
    Moment,
    Stretch,
    Wealth,
    in_words,
    label_lag,
    log_wealth,
    metric_windows,
    nats_words,
)
from audit.charts.figures import Figure
from audit.pages.calibration.measured import FALSE_ALARMS
from memory.calibration.kernel.processes import level_of
from memory.calibration.kernel.simulation import CALIBRATED
from memory.calibration.kernel.watching import ALPHA, RUN_LENGTH

pytestmark = pytest.mark.sqlite_only

COUNTS = st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), max_size=10)


def bins_of(told: list[tuple[int, float, float, float]]) -> list[Bin]:
    """Bins of a tenth each: how many, the share that came true, both ends of the band."""
    return [
        Bin(i / 10, (i + 1) / 10, n, (i + 0.5) / 10, round(n * true) / n, min(a, b), max(a, b))
        if n
        else Bin(i / 10, (i + 1) / 10, 0)
        for i, (n, true, a, b) in enumerate(told)
    ]


def plot_of(figure: Figure) -> Any:
    assert figure.plot is not None
    return figure.plot


@given(COUNTS)
def test_every_bin_with_forecasts_has_its_count_its_band_and_a_mark_of_its_own_outside_it(
    told: list[tuple[int, float, float, float]],
) -> None:
    bins = bins_of(told)
    held = [one for one in bins if one.n]
    figure = reliability(bins, window="the last 80")
    assert [row[1] for row in figure.rows] == [str(one.n) for one in held]
    if not held:
        assert (figure.state, figure.plot) == ("too_few", None)
        return
    (dots,) = plot_of(figure)["data"]
    assert [symbol == "x" for symbol in dots["marker"]["symbol"]] == [one.is_outside for one in held]
    assert [*dots["text"]] == [str(one.n) for one in held]
    diagonal, *bands = plot_of(figure)["layout"]["shapes"]
    assert (diagonal["x0"], diagonal["y0"], diagonal["x1"], diagonal["y1"]) == (0, 0, 1, 1)
    assert [(band["y0"], band["y1"]) for band in bands] == [(one.band_low, one.band_high) for one in held]
    bars = plot_of(confidences(bins, window="the last 80"))["data"]
    assert [sum(both) for both in zip(*(bar["y"] for bar in bars), strict=True)] == [one.n for one in bins]


def test_a_finding_names_the_worst_bin_unless_chance_alone_would_do_it() -> None:
    over = Bin(0.9, 1.0, 40, 0.95, 0.4, 0.85, 1.0)
    inside = Bin(0.5, 0.6, 40, 0.55, 0.5, 0.4, 0.7)
    barely = Bin(0.6, 0.7, 40, 0.65, 0.39, 0.4, 0.8)
    assert reliability([over, over, inside], window="the last 80").finding == (
        "Of the last 80 those stated at 0.95 came true in 0.40: over-confident; 2 bins of 3 lie outside."
    )
    assert "by chance alone" in reliability([barely, *[inside] * 9], window="the last 80").finding
    outside = reliability([barely, *[inside] * 9], window="the last 80", is_outside=True).finding
    assert "those stated at 0.65 came true in 0.39" in outside
    assert "no further than chance" in reliability([over, inside], window="the last 80", is_outside=False).finding
    assert "every bin lies where calibrated forecasts would" in reliability([inside], window="the last 80").finding


def test_nothing_is_drawn_of_too_few_labels() -> None:
    one = Bin(0.9, 1.0, 3, 0.95, 0.4, 0.85, 1.0)
    figure = reliability([one], window="the last 3", too_few="3 of 30 labels have come.")
    assert (figure.state, figure.plot, figure.rows, figure.reason) == ("too_few", None, (), "3 of 30 labels have come.")
    assert before_after([one], []).plot is None
    assert "after it is labelled" in before_after([one], [Bin(0.9, 1.0, 0)]).reason
    assert log_wealth(Wealth([], [(0, 5.3)], 9.9)).state == "too_few"
    assert label_lag((), n=0, median=0, ninth_decile=0, n_pending=4).finding == (
        "No label has come; 4 forecasts are pending."
    )


def test_both_instruments_stand_beside_the_thresholds_that_held_and_alarms_and_restarts_are_marks() -> None:
    moments = [Moment(n, 10 + n, 0.5 * n, None if n < 3 else 0.1 * n, 0.0) for n in range(1, 21)]
    wealth = Wealth(
        moments, [(0, 5.3), (12, 6.4)], 9.9, [Mark(11, "ever miscalibrated", 5.5)],
        [Mark(12, "began again: closing")],
    )  # fmt: skip
    figure = log_wealth(wealth)
    data = {trace["name"].strip(): trace for trace in plot_of(figure)["data"]}
    assert [*data["ever miscalibrated"]["y"]] == [one.evidence for one in moments]
    assert data["changed"]["y"][:3] == [None, None, pytest.approx(0.3)]
    assert data["order of scores, no alarm"]["visible"] == "legendonly"
    steps = plot_of(figure)["data"][1]
    assert ([*steps["x"]], [*steps["y"]], steps["line"]["shape"]) == ([0, 12, 20], [5.3, 6.4, 6.4], "hv")
    assert ([*data["alarm"]["x"]], [*data["alarm"]["y"]]) == ([11], [5.5])
    assert [shape["x0"] for shape in plot_of(figure)["layout"]["shapes"]] == [12]
    told = {row[0]: row[5] for row in figure.rows}
    assert (told["11"], told["12"], told["13"]) == ("ever miscalibrated", "began again: closing", "")
    assert "first alarm came with label 11" in figure.finding
    assert "Neither" in log_wealth(Wealth(moments[:4], [(0, 5.3)], 9.9)).finding


def test_a_window_that_is_not_full_is_a_state_and_no_value() -> None:
    one = Stretch(1, 10, 0.6, 0.9, 0.2, 0.7, 0.4)
    figure = metric_windows([one], size=10, n_labeled=13, n_pending=2)
    assert figure.rows[0][0] == "11 on"
    assert figure.rows[0][1:] == ("", "", "", "", "", "too few (3 of 10), 2 pending")
    assert all(len(trace["x"]) == 1 for trace in plot_of(figure)["data"])
    (band,) = plot_of(figure)["layout"]["shapes"]
    assert (band["x0"], band["x1"]) == (10, 20)
    assert plot_of(figure)["layout"]["annotations"][0]["text"] == "too few (3 of 10)"
    full = metric_windows([one], size=10, n_labeled=10, n_pending=0)
    assert len(full.rows) == 1
    assert not plot_of(full)["layout"].get("shapes")
    assert metric_windows([], size=10, n_labeled=3, n_pending=0).state == "too_few"


def test_label_lag_is_told_in_the_largest_unit_and_says_what_is_pending() -> None:
    figure = label_lag([(3_600.0, 0.5), (172_800.0, 1.0)], n=8, median=3_600, ninth_decile=172_800, n_pending=1)
    assert (
        figure.finding
        == "Of the last 8 labels half came within 1 hour and nine of ten within 2 days; 1 forecast is pending."
    )
    assert plot_of(figure)["layout"]["xaxis"]["title"]["text"] == "age of the forecast, days"
    assert [*plot_of(figure)["data"][0]["y"]] == [0.0, 0.5, 1.0]
    assert [in_words(one) for one in (0, 1, 90, 5_400, 86_400)] == [
        "0 seconds",
        "1 second",
        "1.5 minutes",
        "1.5 hours",
        "1 day",
    ]
    assert [nats_words(one) for one in (-0.04, 0.0, -1.26, 3.0)] == ["0.0", "0.0", "−1.3", "3.0"]


def test_the_measured_false_alarms_are_of_the_worlds_and_promises_that_are_measured() -> None:
    assert list(dict.fromkeys(one.streams for one in FALSE_ALARMS)) == [world.name for world in CALIBRATED]
    promised = {
        "e-process": f"{100 * level_of(ALPHA, 1):g} %", "change detector": f"{100 * 5_000 / RUN_LENGTH:g} %",
        "fixed guards": "",
    }  # fmt: skip
    assert all(one.promised == promised[one.instrument] for one in FALSE_ALARMS)


def test_a_lag_that_is_claimed_beyond_all_others_is_counted_and_leaves_the_axis_as_it_is() -> None:
    figure = label_lag([(2.0, 0.5), (3.0, 0.9), (1e12, 1.0)], n=20, median=2, ninth_decile=3, n_pending=0, bound=30.0,
                       n_beyond=1)  # fmt: skip
    assert max(plot_of(figure)["data"][0]["x"]) == 3.0
    assert "The curve ends at 30 seconds; 1 of them claims a longer lag." in figure.finding
