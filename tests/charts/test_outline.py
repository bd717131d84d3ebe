"""The nested list holds what the drawing holds, once each, and its marks are balanced."""

from dataclasses import replace

from hypothesis import given

from audit.charts.lineage_values import Graph, Link
from audit.charts.outline import MOST_NESTED, Outline, outline
from tests.charts.graphs import chain, node, slices


def sides(graph: Graph) -> dict[str, Outline]:
    return {part.side: part for part in outline(graph)}


def told(part: Outline) -> list[tuple[str, str, int, bool]]:
    return [(row.node.id, row.relation, row.level, row.is_repeated) for row in part.rows]


@given(slices())
def test_every_node_but_the_focus_is_written_in_full_exactly_once(graph: Graph) -> None:
    written = [row.node.id for part in outline(graph) for row in part.rows if not row.is_repeated]
    focus = graph.focus
    assert focus is not None
    assert sorted(written) == sorted(one.id for one in graph.nodes if one.id != focus.id)


@given(slices())
def test_every_link_is_told_exactly_once(graph: Graph) -> None:
    relations = [row.relation for part in outline(graph) for row in part.rows if row.relation]
    assert sorted(relations) == sorted(link.relation_word for link in graph.links)


@given(slices())
def test_lists_and_items_open_and_close_in_pairs(graph: Graph) -> None:
    for part in outline(graph):
        stack: list[str] = []
        for step in part.marks:
            match step.mark:
                case "open":
                    assert not stack or stack[-1] == "item"
                    stack.append("list")
                case "item":
                    assert stack[-1] == "list"
                    stack.append("item")
                case "end":
                    assert stack.pop() == "item"
                case "close":
                    assert stack.pop() == "list"
        assert stack == []


def test_ancestors_and_descendants_stand_under_their_own_heads() -> None:
    focus = node("f", is_focus=True)
    graph = Graph(
        nodes=(node("a"), node("b"), focus, node("c"), node("lone")),
        links=(Link("a", "b"), Link("b", "f"), Link("f", "c", "supersedes"), Link("a", "c")),
        n_nodes_total=5,
        n_links_total=4,
    )
    parts = sides(graph)
    assert told(parts["ancestors"]) == [("b", "derived", 1, False), ("a", "derived", 2, False)]
    assert told(parts["descendants"]) == [("c", "superseded", 1, False)]
    assert told(parts["others"]) == [("a", "", 1, True), ("c", "derived", 2, True), ("lone", "", 1, False)]


def test_a_circle_ends_where_it_began() -> None:
    graph = chain(3)
    looped = replace(graph, links=(*graph.links, Link("r0002", "r0000")))
    ids = [row.node.id for part in outline(looped) for row in part.rows]
    assert len(ids) == len(looped.links)


def test_a_line_of_300_is_nested_no_deeper_than_a_browser_takes_but_says_its_level() -> None:
    part = sides(chain(301))["descendants"]
    depth = deepest = 0
    for step in part.marks:
        depth += {"open": 1, "close": -1}.get(step.mark, 0)
        deepest = max(deepest, depth)
    assert deepest == MOST_NESTED
    assert part.rows[-1].level == 300
