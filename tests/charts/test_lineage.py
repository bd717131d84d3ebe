"""The lineage drawing: hostile text is escaped, caps are refused, edges pass no node, equal slices give equal bytes."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given

from audit.charts.layout import own_engine
from audit.charts.lineage import LineageBroken, LineageCycle, LineageTooLarge, lineage_svg
from audit.charts.lineage_values import Graph, Link, Node
from audit.charts.markup import OutsideAddress
from audit.charts.routes import NODE_HEIGHT, NODE_WIDTH
from tests.charts.graphs import chain, line_points, node, slices

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\" onload='x' & ]]> \u202egpj.exe \x00 \ud800 </a>"


def drawn(graph: Graph, **options: str) -> ET.Element:
    return ET.fromstring(lineage_svg(graph, **options))


def boxes(svg: ET.Element) -> dict[str, tuple[float, float]]:
    """The top left corner of each node by its number."""
    found = {}
    for group in svg.iter(f"{SVG}g"):
        if group.get("class") == "node":
            x, y = re.findall(r"[\d.]+", group.attrib["transform"])
            found[group.find(f"{SVG}a").attrib["data-node"]] = (float(x), float(y))  # type: ignore[union-attr]
    return found


def links(svg: ET.Element) -> list[tuple[str, str, str]]:
    groups = [group for group in svg.iter(f"{SVG}g") if group.get("class") == "link"]
    return [(g.attrib["data-from"], g.attrib["data-to"], g.find(f"{SVG}path").attrib["d"]) for g in groups]  # type: ignore[union-attr]


def of(nodes: tuple[Node, ...], *links: Link) -> Graph:
    return Graph(nodes=nodes, links=links, n_nodes_total=len(nodes), n_links_total=len(links))


@given(slices())
def test_no_two_nodes_overlap_and_no_line_runs_over_a_node(graph: Graph) -> None:
    svg = drawn(graph)
    corners = boxes(svg)
    assert len(corners) == len(graph.nodes)
    placed = sorted(corners.values())
    for index, (x, y) in enumerate(placed):
        for other_x, other_y in placed[:index]:
            assert abs(x - other_x) >= NODE_WIDTH or abs(y - other_y) >= NODE_HEIGHT
    for source, target, path in links(svg):
        assert corners[source][0] + NODE_WIDTH < corners[target][0]
        for x, y in line_points(path):
            for left, top in (corner for name, corner in corners.items() if name not in {source, target}):
                assert not (left < x < left + NODE_WIDTH and top < y < top + NODE_HEIGHT)


@given(slices())
def test_a_line_leaves_its_source_on_the_right_and_meets_its_target_on_the_left(graph: Graph) -> None:
    svg = drawn(graph)
    corners = boxes(svg)
    for source, target, path in links(svg):
        first, *_, last = line_points(path)
        assert first[0] == pytest.approx(corners[source][0] + NODE_WIDTH)
        assert last[0] == pytest.approx(corners[target][0])
        for (_, y), name in ((first, source), (last, target)):
            assert corners[name][1] < y < corners[name][1] + NODE_HEIGHT


def test_lines_that_take_a_lane_run_over_no_node_either() -> None:
    names = [f"r{index:03}" for index in range(100)]
    steps = [Link(a, b) for a, b in pairwise(names)]
    far = [Link(names[0], name) for name in names[2:]]
    svg = drawn(of(tuple(map(node, names)), *steps, *far))
    corners = boxes(svg)
    over_lanes = [link for link in links(svg) if "V" in link[2]]
    assert over_lanes
    for source, target, path in over_lanes:
        for x, y in line_points(path):
            assert not any(
                left < x < left + NODE_WIDTH and top < y < top + NODE_HEIGHT
                for name, (left, top) in corners.items()
                if name not in {source, target}
            )


@given(slices())
def test_the_order_of_nodes_and_links_does_not_matter(graph: Graph) -> None:
    turned = replace(graph, nodes=graph.nodes[::-1], links=graph.links[::-1])
    assert lineage_svg(graph) == lineage_svg(turned)


@given(slices())
def test_any_label_gives_well_formed_text_without_a_script(graph: Graph) -> None:
    svg = drawn(graph)
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} <= {
        *("svg", "defs", "marker", "pattern", "g", "a", "title", "path", "rect", "text", "tspan"),
    }


def test_hostile_labels_ids_and_words_are_escaped() -> None:
    hostile = replace(node("a", label=HOSTILE), kind=HOSTILE)
    text = lineage_svg(of((hostile, node("b")), Link("a", "b", HOSTILE)), drawing_id='x"><script>')
    assert "<script" not in text
    assert "\u202e" not in text
    assert "\x00" not in text
    text.encode()
    svg = ET.fromstring(text)
    assert not [name for element in svg.iter() for name in element.attrib if name.startswith("on")]
    title = svg.find(f".//{SVG}title")
    assert title is not None
    assert title.text is not None
    assert "<script>alert(1)</script>" in title.text


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "//evil.example/x", "https://evil.example", "/\\evil", "", " /x"]
)
def test_a_link_that_leaves_the_site_is_refused(url: str) -> None:
    with pytest.raises(OutsideAddress):
        lineage_svg(of((replace(node("a"), url=url),)))
    if url:
        with pytest.raises(OutsideAddress):
            lineage_svg(of((replace(node("a"), expand_up_url=url),)))


def test_501_nodes_are_refused_with_the_number() -> None:
    with pytest.raises(LineageTooLarge, match="500 nodes, got 501") as caught:
        lineage_svg(of(tuple(node(f"r{index}") for index in range(501))))
    assert (caught.value.cap, caught.value.got, caught.value.most) == ("nodes", 501, 500)


def test_500_nodes_are_drawn() -> None:
    random = Random(7)
    nodes = tuple(node(f"r{index:03}") for index in range(500))
    pairs = {(random.randrange(index), index) for index in range(1, 500)} | {(max(0, i - 3), i) for i in range(1, 500)}
    graph = of(nodes, *(Link(f"r{a:03}", f"r{b:03}") for a, b in sorted(pairs)))
    assert len(boxes(drawn(graph))) == 500


def test_1501_links_are_refused_with_the_number() -> None:
    nodes = tuple(node(f"r{index:02}") for index in range(60))
    pairs = [Link(f"r{a:02}", f"r{b:02}") for a in range(60) for b in range(a + 1, 60)]
    with pytest.raises(LineageTooLarge) as caught:
        lineage_svg(of(nodes, *pairs[:1501]))
    assert (caught.value.cap, caught.value.got) == ("links", 1501)


def test_a_line_of_400_is_refused_and_one_of_300_levels_is_drawn() -> None:
    with pytest.raises(LineageTooLarge) as caught:
        lineage_svg(chain(401))
    assert (caught.value.cap, caught.value.got, caught.value.most) == ("depth", 400, 300)
    assert len(boxes(drawn(chain(301)))) == 301


def test_depth_is_measured_on_the_links_also_where_nodes_do_not_say_it() -> None:
    flat = chain(302)
    with pytest.raises(LineageTooLarge) as caught:
        lineage_svg(replace(flat, nodes=tuple(replace(one, depth=0) for one in flat.nodes)))
    assert caught.value.cap == "depth"


def test_a_circle_of_derivations_is_reported_with_its_ids() -> None:
    graph = of((node("a"), node("b"), node("c")), Link("a", "b"), Link("b", "c"), Link("c", "b", "supersedes"))
    with pytest.raises(LineageCycle) as caught:
        lineage_svg(graph)
    assert set(caught.value.ids) == {"b", "c"}


def test_a_conflict_with_an_ancestor_is_drawn_without_an_arrow_and_makes_no_circle() -> None:
    graph = of((node("a"), node("b")), Link("a", "b"), Link("b", "a", "conflicts"))
    groups = {g.attrib["data-relation"]: g for g in drawn(graph).iter(f"{SVG}g") if g.get("class") == "link"}
    assert groups["derived"].attrib["data-from"] == groups["conflicts"].attrib["data-from"]
    arrows = {name: group.find(f"{SVG}path").get("marker-end") for name, group in groups.items()}  # type: ignore[union-attr]
    assert arrows["derived"]
    assert arrows["conflicts"] is None


def test_two_relations_between_the_same_nodes_are_two_lines_apart() -> None:
    graph = of((node("a"), node("b")), Link("a", "b"), Link("a", "b", "supersedes"))
    paths = [path for _, _, path in links(drawn(graph))]
    assert len(set(paths)) == 2


@pytest.mark.parametrize(
    "graph",
    [
        of((node("a"), node("a"))),
        of((node("a"),), Link("a", "missing")),
        of((node("a"),), Link("a", "a", "conflicts")),
    ],
    ids=["id twice", "unknown end", "at odds with itself"],
)
def test_a_slice_that_contradicts_itself_is_reported(graph: Graph) -> None:
    with pytest.raises(LineageBroken):
        lineage_svg(graph)


def test_each_node_says_its_kind_and_state_in_words_and_is_a_link() -> None:
    graph = of(
        (node("a", label="Route", kind="tombstone", state="retest_only"), node("b", state="erased")), Link("a", "b")
    )
    svg = drawn(graph)
    anchors = [a for a in svg.iter(f"{SVG}a") if a.get("data-node")]
    assert [a.attrib["href"] for a in anchors] == ["/records/a", "/records/b"]
    assert anchors[0].attrib["aria-label"] == "Route, dead end, re-test only"
    assert "dead end · re-test only" in "".join(anchors[0].itertext())
    assert [a.attrib["data-state"] for a in anchors] == ["retest_only", "erased"]
    assert [len(a.findall(f"{SVG}path[@class='hatch']")) for a in anchors] == [1, 0]


def test_what_is_hidden_at_a_node_is_counted_on_the_control_that_shows_it() -> None:
    hidden = replace(node("a"), n_hidden_up=7, expand_up_url="?open=a:up", collapse_down_url="?up=1")
    svg = drawn(replace(of((hidden,)), n_nodes_total=8), swap_target="#lineage-region")
    controls = {a.attrib["data-way"]: a for a in svg.iter(f"{SVG}a") if a.get("class") == "control"}
    assert set(controls) == {"expand-up", "collapse-down"}
    assert controls["expand-up"].attrib["aria-label"] == "Show what it rests on: 7 more"
    assert controls["expand-up"].attrib["hx-get"] == controls["expand-up"].attrib["href"] == "?open=a:up"
    assert "hx-get" not in lineage_svg(of((hidden,)))


def test_the_order_of_the_tab_key_is_by_column_and_then_by_row() -> None:
    graph = of(tuple(map(node, "cabd")), Link("a", "b"), Link("a", "c"), Link("b", "d"), Link("c", "d"))
    svg = drawn(graph)
    corners = boxes(svg)
    order = [a.attrib["data-node"] for a in svg.iter(f"{SVG}a") if a.get("data-node")]
    assert order == sorted(order, key=corners.__getitem__)


def test_a_drawing_names_no_colour_and_no_style() -> None:
    graph = of(tuple(map(node, "ab")), Link("a", "b", "conflicts"))
    assert re.findall(r"style=|#[0-9a-f]{3,6}\b|rgb\(", lineage_svg(graph)) == []


def test_a_file_of_its_own_carries_its_style() -> None:
    svg = drawn(of((node("a"),)), style=".box { fill: red } a > b { }")
    style = svg.find(f"{SVG}style")
    assert style is not None
    assert style.text == ".box { fill: red } a > b { }"


def test_both_engines_draw_the_same_nodes_and_links() -> None:
    graph = chain(12)
    ours, default = (ET.fromstring(lineage_svg(graph, engine=engine)) for engine in (own_engine, None))
    assert boxes(ours).keys() == boxes(default).keys()
    assert [link[:2] for link in links(ours)] == [link[:2] for link in links(default)]
