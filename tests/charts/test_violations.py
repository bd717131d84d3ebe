"""The strip of a check's runs: four marks, the newest at the right, nothing of it drawn like what it is not."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from audit.charts.violations import HEIGHT, MARGIN, SLOTS, Outcome, Slot, violations_svg

REACH = HEIGHT - 2 * MARGIN


def slot(outcome: Outcome, n: int = 0, *, label: str = "1 Nov", words: str = "seen") -> Slot:
    return Slot(label, outcome, n, words)


def heights(svg: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for group in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g"):
        (rect,) = group.iter("{http://www.w3.org/2000/svg}rect")
        found.setdefault(group.attrib["data-outcome"], []).append(float(rect.attrib["height"]))
    return found


def test_a_bar_is_as_high_as_its_share_of_the_most_and_one_violation_is_always_seen() -> None:
    found = heights(violations_svg([slot("broken", 1), slot("broken", 500), slot("broken", 1_000)], title="t"))
    assert found["broken"][1:] == [REACH / 2, REACH]
    assert found["broken"][0] > heights(violations_svg([slot("holds")], title="t"))["holds"][0]


def test_a_run_without_violations_a_run_undecided_and_no_run_are_three_marks() -> None:
    svg = violations_svg([slot("holds"), slot("undecidable"), slot("not_run")], title="t")
    found = heights(svg)
    assert len({height for (height,) in found.values()}) == 3
    assert found.keys() == {"holds", "undecidable", "not_run"}


def test_the_newest_run_stands_at_the_right_end_and_older_than_thirty_are_left_out() -> None:
    svg = violations_svg([slot("broken", n, label=f"run {n}") for n in range(40)], title="t")
    assert re.findall(r"<title>run (\d+):", svg) == [str(n) for n in range(10, 40)]
    few = violations_svg([slot("broken", 1)], title="t")
    (x,) = re.findall(r'<rect x="([\d.]+)"', few)
    assert float(x) > float(re.findall(r'viewBox="0 0 ([\d.]+)', few)[0]) * (SLOTS - 1) / SLOTS


def test_every_mark_has_its_words_and_nothing_given_is_markup() -> None:
    svg = violations_svg([slot("broken", 2, label="<b>", words='"2" & more')], title='<i> "x"')
    root = ET.fromstring(svg)
    assert root.attrib["aria-label"] == '<i> "x"'
    (title,) = root.iter("{http://www.w3.org/2000/svg}title")
    assert title.text == '<b>: "2" & more'
    assert not list(root.iter("b"))


def test_a_negative_number_is_refused_and_none_is_an_empty_strip() -> None:
    with pytest.raises(ValueError, match="negative"):
        violations_svg([slot("broken", -1)], title="t")
    assert heights(violations_svg([], title="nothing ran")) == {}
