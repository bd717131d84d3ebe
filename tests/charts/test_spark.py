"""Strips of bars: a gap is no zero, too few is no value, and bars are as tall as their numbers say."""

import xml.etree.ElementTree as ET

import pytest

from audit.charts.spark import HEIGHT, MARGIN, SparkBar, spark_svg

SVG = "{http://www.w3.org/2000/svg}"


def bars(*values: float | None, **options: float) -> list[ET.Element]:
    series = [SparkBar(f"{day} Nov", value, str(value)) for day, value in enumerate(values, start=1)]
    return list(ET.fromstring(spark_svg(series, title="writes", **options)).iter(f"{SVG}g"))


def height(bar: ET.Element) -> float:
    return float(bar.find(f"{SVG}rect").attrib["height"])  # type: ignore[union-attr]


def test_a_day_without_data_a_day_with_zero_and_a_day_with_data_are_three_marks() -> None:
    assert [bar.attrib["class"] for bar in bars(None, 0, 5)] == ["gap", "none", "bar"]


def test_too_few_to_say_wins_over_the_value() -> None:
    drawn = ET.fromstring(spark_svg([SparkBar("1 Nov", 0.9, "2 of 30", is_too_few=True)], title="rate"))
    assert [group.attrib["class"] for group in drawn.iter(f"{SVG}g")] == ["too-few"]


def test_heights_are_in_proportion_to_the_values() -> None:
    half, whole = bars(5, 10)
    assert height(whole) == pytest.approx(HEIGHT - 2 * MARGIN)
    assert height(half) == pytest.approx(height(whole) / 2)


def test_strips_with_one_top_share_an_axis() -> None:
    (alone,) = bars(5, top=10.0)
    assert height(alone) == pytest.approx(height(bars(5, 10)[0]))


def test_an_empty_series_and_one_of_gaps_are_drawn_with_the_zero_line() -> None:
    for text in (spark_svg([], title="writes"), spark_svg([SparkBar("1 Nov", None, "no data")], title="writes")):
        assert ET.fromstring(text).find(f"{SVG}path[@class='zero']") is not None


def test_uncertainty_is_a_line_from_low_to_high() -> None:
    drawn = ET.fromstring(spark_svg([SparkBar("1 Nov", 0.5, "50 %", low=0.25, high=1.0)], title="rate"))
    band = drawn.find(f".//{SVG}path[@class='band']")
    assert band is not None
    upper, lower = (float(value) for value in band.attrib["d"].split(" ")[1].split("V"))
    assert upper == pytest.approx(MARGIN)
    assert lower == pytest.approx(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) / 4, abs=0.1)


def test_a_negative_value_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        bars(-1)


def test_labels_are_escaped() -> None:
    text = spark_svg([SparkBar("<b>", 1, '"&')], title='"><script>')
    assert "<b>" not in text
    assert "<script" not in text
    ET.fromstring(text)
