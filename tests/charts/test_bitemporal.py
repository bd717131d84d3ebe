"""The bitemporal picture: nothing is lost, nothing is turned around, an edge belongs to what begins there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.charts.bitemporal import bitemporal_svg, words_of
from audit.charts.bitemporal_layout import MOST_LANES, MOST_VERSIONS, laid_out
from audit.charts.bitemporal_values import Known, Picture, Point, Version, learned, standing

pytestmark = pytest.mark.sqlite_only

MOST_BYTES = 80_000
FIRST = datetime(2026, 11, 1, tzinfo=UTC)
HOSTILE = '<script>window.ran = true</script> "quoted" & \u202ecod \u0007'


def on(hour: float) -> datetime:
    return FIRST + timedelta(hours=hour)


def by(seq: int) -> Known:
    """Entries stand an hour, and at every third one a month, behind each other."""
    return Known(on(seq + 720 * (seq // 3)), seq)


@st.composite
def versions(draw: st.DrawFn, *, most: int = 9) -> tuple[Version, ...]:
    """A history: open and closed, empty and long, saying the same and saying otherwise, in two attributes."""
    found = []
    for number in range(draw(st.integers(0, most))):
        start = draw(st.none() | st.integers(0, 12))
        end = draw(st.none() | st.integers(start or 0, 14))
        seq = draw(st.integers(1, 9))
        until = draw(st.none() | st.integers(seq, 10))
        claimed = draw(st.none() | st.integers(0, 12))
        found.append(
            Version(
                id=f"version {number}", value=draw(st.sampled_from(("red", "green", HOSTILE))),
                valid_from=None if start is None else on(start), valid_to=None if end is None else on(end),
                known_from=by(seq), known_to=None if until is None else by(until),
                state=draw(st.sampled_from(("current", "superseded", "retracted", "erased"))),
                href=draw(st.sampled_from(("", "/records/1?a=b&c=d"))), group=draw(st.sampled_from(("", "colour"))),
                claimed_at=None if claimed is None else on(claimed),
            )
        )  # fmt: skip
    return tuple(found)


points = st.builds(Point, st.integers(-1, 15).map(on), st.integers(0, 11).map(by))
pictures = st.builds(
    Picture, versions(), points, against=st.none() | st.integers(0, 11).map(by), is_ordinal=st.booleans(),
    is_claimed=st.booleans(),
)  # fmt: skip


def shown(svg: str) -> list[int]:
    return sorted(int(one) for one in re.findall(r'data-version="(\d+)"', svg))


@given(pictures, st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None)
def test_every_version_is_drawn_and_the_order_given_changes_no_byte(picture: Picture, random: object) -> None:
    svg = bitemporal_svg(picture)
    ET.fromstring(svg)
    laid = laid_out(picture)
    assert shown(svg) == list(range(laid.n_shown))
    assert {box.lane for box in laid.boxes} <= set(range(MOST_LANES))
    left_out = len(picture.versions) - laid.n_shown
    assert f"{laid.n_shown} of {laid.n_shown + left_out} versions shown" in svg
    turned = list(picture.versions)
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert bitemporal_svg(replace(picture, versions=tuple(turned))) == svg


@given(pictures, st.lists(st.integers(-2, 8_000), min_size=2, max_size=8))
@settings(max_examples=120, deadline=None)
def test_a_later_instant_never_stands_before_an_earlier_one(picture: Picture, hours: list[int]) -> None:
    laid = laid_out(picture)
    instants = sorted({*(on(hour) for hour in hours), *laid.valid.stops, *laid.lanes[0].known.stops})
    across = [laid.valid.place(at) for at in instants]
    assert across == sorted(across)
    for lane in laid.lanes:
        upwards = [lane.known.place(at) for at in instants]
        assert upwards == sorted(upwards, reverse=True)
        assert all(lane.top < place < lane.bottom for place in upwards)
    for scale in (laid.valid, laid.lanes[0].known):
        assert len(set(scale.places)) == len(scale.stops)
    if picture.is_ordinal and len(laid.valid.places) > 2:
        gaps = [after - before for before, after in zip(laid.valid.places, laid.valid.places[1:], strict=False)]
        assert max(gaps) == pytest.approx(min(gaps))


@given(pictures)
@settings(max_examples=150, deadline=None)
def test_a_point_lies_in_the_drawn_rectangle_exactly_where_the_version_stands_there(picture: Picture) -> None:
    laid = laid_out(picture)
    valids = {*laid.valid.stops, picture.point.valid_at, on(-5), on(400)}
    knowns = {*laid.lanes[0].known.stops, picture.point.known.at, on(-5), on(9_000)}
    for valid_at in valids:
        for known_at in knowns:
            point = Point(valid_at, Known(known_at))
            x = laid.valid.place(valid_at)
            for box in laid.boxes:
                y = laid.lanes[box.lane].known.place(known_at)
                is_inside = box.left <= x < box.right and box.top < y <= box.bottom
                assert is_inside == box.version.stands(point), (valid_at, known_at, box)


def test_a_shared_edge_belongs_to_the_right_and_to_the_upper_version() -> None:
    before = Version("a", "red", on(0), on(5), by(1), by(3))
    right = Version("b", "green", on(5), None, by(1))
    upper = Version("c", "blue", on(0), on(5), by(3))
    history = (before, right, upper)
    instant = timedelta(microseconds=1)
    assert standing(history, Point(on(5), by(1))) == (right,)
    assert standing(history, Point(on(5) - instant, by(1))) == (before,)
    assert standing(history, Point(on(0), by(3))) == (upper,)
    assert standing(history, Point(on(0), Known(by(3).at - instant))) == (before,)
    assert not any(one.shares_a_point(other) for one in history for other in history if one is not other)


@given(pictures)
@settings(max_examples=100, deadline=None)
def test_what_contradicts_another_stands_in_another_lane(picture: Picture) -> None:
    boxes = laid_out(picture).boxes
    for box in boxes:
        for other in boxes:
            if box.lane == other.lane:
                assert box.version.group == other.version.group
                assert box.version.said == other.version.said or not box.version.shares_a_point(other.version)


@given(versions(), st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=150, deadline=None)
def test_what_was_learned_is_what_stands_at_either_recording(
    history: tuple[Version, ...], first: int, second: int
) -> None:
    earlier, later = sorted((by(first), by(second)))
    told = learned(history, earlier=earlier, later=later)
    for group in {version.group for version in history}:
        for hour in (-1.0, *range(15), 0.5, 5.5, 20.0):
            (stretch,) = [
                one for one in told
                if one.group == group
                and (one.valid_from is None or one.valid_from <= on(hour))
                and (one.valid_to is None or on(hour) < one.valid_to)
            ]  # fmt: skip
            was, became = (said(history, group, Point(on(hour), known)) for known in (earlier, later))
            assert {one.said for one in stretch.before} == was
            assert {one.said for one in stretch.after} == became
            kinds = {(False, True): "added", (True, False): "removed"}
            expected = "kept" if was == became else kinds.get((bool(was), bool(became)), "changed")
            assert stretch.change == expected


def said(history: Sequence[Version], group: str, point: Point) -> set[str]:
    return {one.said for one in standing(history, point) if one.group == group}


def test_above_the_cap_the_rest_is_counted_and_what_is_asked_for_is_kept() -> None:
    value = "a value of some length with a <b> & more of it than a rectangle holds, up to its cut"
    history = [
        Version(
            f"{n:08}-0000-4000-8000-000000000000", f"{value} {n}", on(n), None if n % 2 else on(n + 1), by(n),
            by(n + 1), state="erased" if n % 5 == 0 else "superseded", ended_by=f"superseded by seq {n + 1}",
            source="relayed, ticket 4411", actor="agent scout", href=f"/facts/{n:08}-0000-4000-8000-000000000000",
            claimed_at=on(n - 0.5),
        )
        for n in range(1, 400)
    ]  # fmt: skip
    oldest = Point(on(1), by(1))
    for is_ordinal in (False, True):
        picture = Picture(tuple(history), oldest, by(200), n_total=4_000, is_ordinal=is_ordinal)
        svg = bitemporal_svg(picture)
        assert len(shown(svg)) == MOST_VERSIONS
        assert f"{MOST_VERSIONS} of 4000 versions shown" in svg
        assert len(svg.encode()) <= MOST_BYTES
        kept = [box.version for box in laid_out(picture).boxes]
        assert standing(kept, oldest) == standing(history, oldest) != ()
        assert history[-1] in kept


def test_marks_are_told_in_words_and_text_from_outside_stays_text() -> None:
    retracted = Version(
        "a", HOSTILE, on(0), None, by(1), by(2), state="retracted", ended_by="retracted as wrong", source="relayed",
        actor="agent scout", href="/facts/a", claimed_at=on(0),
    )  # fmt: skip
    erased = replace(retracted, id="b", value="erased", state="erased", valid_from=None, valid_to=on(-3))
    tick = replace(retracted, id="c", value="ping", state="current", valid_to=on(0), known_to=None, href="")
    svg = bitemporal_svg(Picture((retracted, erased, tick), Point(on(1), by(1)), is_claimed=True), drawing_id="one")
    root = ET.fromstring(svg)
    assert "<script>" not in svg
    assert "\u202e" not in svg
    assert "claimed by the source, not proven here" in root.attrib["aria-label"]
    links = list(root.iter("{http://www.w3.org/2000/svg}a"))
    labels = [link.findtext("{http://www.w3.org/2000/svg}title", "") for link in links]
    assert len(labels) == 2
    assert any("retracted as wrong" in label and "recorded by seq 1 until seq 2" in label for label in labels)
    assert any("erased" in label and "(open → 2026-10-31 21:00:00)" in label for label in labels)
    assert all("the source claims to have known it by 2026-11-01" in label for label in labels)
    assert svg.count('fill="url(#one-ended)"') == svg.count('fill="url(#one-erased)"') == 1
    assert svg.count('data-tick=""') == 1
    assert words_of(tick) in ET.tostring(root, encoding="unicode", method="text")
