"""Graphs of relations: every observation is drawn once with its words, the strongest speaks, and nothing is cut."""

from __future__ import annotations

import math
from itertools import product
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.charts.beliefs import nats
from audit.charts.relations import (
    MOST_CLAIMS,
    MOST_MEMBERS,
    NODE_HEIGHT,
    NODE_WIDTH,
    Claim,
    GraphBroken,
    GraphTooLarge,
    Member,
    relations_svg,
)
from audit.charts.relations_example import OBSERVED, example

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Member], list[Claim]]:
    n = draw(st.integers(1, 9))
    texts = st.text(max_size=8) | st.just("<a href='//x'>\u202e")
    members = [Member(f"n{i}", draw(texts), draw(texts), draw(st.floats(0, 1)), f"/n/{i}", i == 0) for i in range(n)]
    ends = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(ends, ends, st.none() | st.floats(-30, 30), st.booleans()), max_size=14))
    claims = [
        Claim(f"c{i}", f"n{a}", f"n{b}", draw(texts), strength, f"/c/{i}", "revoked" * is_left)
        for i, (a, b, strength, is_left) in enumerate(pairs)
    ]
    return members, claims


def classed(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter() if one.attrib.get("class") == name]


@given(graphs(), st.randoms(use_true_random=False))
def test_each_node_and_observation_stands_once_in_words_inside_the_drawing_in_any_order(
    graph: tuple[list[Member], list[Claim]], random: object
) -> None:
    members, claims = graph
    svg = relations_svg(members, claims, title="t")
    shuffled_members, shuffled_claims = list(members), list(claims)
    random.shuffle(shuffled_members)  # type: ignore[attr-defined]
    random.shuffle(shuffled_claims)  # type: ignore[attr-defined]
    assert svg == relations_svg(shuffled_members, shuffled_claims, title="t")
    root = ET.fromstring(svg)
    lines = {one.attrib["href"]: one for one in classed(root, "claim")}
    assert sorted(lines) == sorted(one.url for one in claims)
    for one in claims:
        drawn = lines[one.url]
        assert drawn.attrib["data-standing"] == one.standing
        assert one.words in drawn.attrib["aria-label"]
        (line,) = [part for part in drawn if part.attrib.get("class") == "line"]
        assert len({"marker-start", "marker-end"} & set(line.attrib)) == 1
    labels = classed(root, "claim-label")
    pairs = {frozenset((one.source, one.target)) for one in claims}
    assert min(1, len(pairs)) <= len(labels) <= len(pairs)
    if any(one.standing == "contradicted" for one in claims):
        assert labels[0].attrib["data-standing"] == "contradicted"
    corners = [tuple(map(float, one.attrib["transform"][10:-1].split())) for one in classed(root, "member")]
    assert len(corners) == len(members)
    for index, (x, y) in enumerate(corners):
        assert 0 <= x <= float(root.attrib["width"]) - NODE_WIDTH
        assert 0 <= y <= float(root.attrib["height"]) - NODE_HEIGHT
        assert not any(abs(x - a) < NODE_WIDTH and abs(y - b) < NODE_HEIGHT for a, b in corners[:index])


def test_the_strongest_of_parallel_observations_speaks_and_the_arrow_stands_at_the_target() -> None:
    members = [Member("a", "a", "", 1.0, is_root=True), Member("b", "b", "1", 0.9)]
    claims = [
        Claim("1", "a", "b", "same", -2.0, "/1"),
        Claim("2", "b", "a", "opposite", 11.0, "/2"),
        Claim("3", "a", "b", "same", None, "/3", reason="revoked"),
    ]
    root = ET.fromstring(relations_svg(members, claims, title="t"))
    (label,) = classed(root, "claim-label")
    assert label.text == f"opposite ≠ {nats(11.0)} ×3"
    ends = {
        one.attrib["href"]: next(name for part in one for name in part.attrib if name.startswith("marker"))
        for one in classed(root, "claim")
    }
    assert ends == {"/1": "marker-end", "/2": "marker-start", "/3": "marker-end"}
    assert {one.attrib["href"]: one.attrib["data-level"] for one in classed(root, "claim")}["/2"] == "4"


def test_too_many_parts_an_id_twice_and_an_end_outside_are_refused() -> None:
    members = [Member(f"n{i}", "", "", 0.5) for i in range(MOST_MEMBERS + 1)]
    with pytest.raises(GraphTooLarge):
        relations_svg(members, [], title="t")
    with pytest.raises(GraphTooLarge):
        relations_svg(members[:2], [Claim(f"c{i}", "n0", "n1", "x") for i in range(MOST_CLAIMS + 1)], title="t")
    with pytest.raises(GraphBroken):
        relations_svg([members[0], members[0]], [], title="t")
    with pytest.raises(GraphBroken):
        relations_svg(members[:2], [Claim("c", "n0", "n9", "x")], title="t")


def test_the_example_blames_the_odd_observation_and_its_numbers_are_those_of_enumeration() -> None:
    told = example()
    ways = [{"a": 1, "b": b, "c": c} for b, c in product((1, 0), repeat=2)]

    def weight(way: dict[str, int], seen: tuple[tuple[str, str, float], ...]) -> float:
        return math.prod(p if way[x] == way[y] else 1 - p for x, y, p in seen)

    whole = sum(weight(way, OBSERVED) for way in ways)
    rest = sum(weight(way, OBSERVED[:3]) for way in ways)
    assert told.together == pytest.approx(sum(weight(way, OBSERVED) for way in ways if way["c"]) / whole)
    assert told.without_odd == pytest.approx(sum(weight(way, OBSERVED[:3]) for way in ways if way["c"]) / rest)
    assert told.over_b == pytest.approx(0.9 * 0.9 + 0.1 * 0.1)
    assert told.strength_nats == pytest.approx(math.log(rest * 0.5 / whole))
    assert told.strength_nats > 0
    assert told.svg.count('data-standing="contradicted" data-level') == 1
    assert told == example()
