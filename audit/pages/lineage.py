"""The lineage of a record as a part of its page: how the slice that an address asks for is drawn, listed and paged.

Invariants
- The state of the drawing is the address: levels, opened sides, relations, a way, a find, another point.
- The list beside the drawing holds the same nodes and links; the table and the exports hold the whole.
- What looks like a secret is covered before it is drawn, found or listed.
- A layout is kept under a hash of ids and links, never of text; it is a function of these alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from django.core.cache import cache
from django.utils.safestring import mark_safe

from audit.access import Visit
from audit.charts.layout import Layout
from audit.charts.lineage import LineageBroken, LineageCycle, LineageTooLarge, lineage_svg
from audit.charts.lineage_values import RELATIONS, Change, Graph, Link, Node
from audit.charts.outline import outline
from audit.components import Facet, FacetValue, Pager, Tab
from audit.frame import words
from audit.navigation import Link as PageLink
from audit.pages.lineage_address import Asked
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.lineage.queries.comparing import Comparison, compared, other_point
from memory.lineage.queries.graph import GROUPS, MOST_DEPTH, GraphLink, GraphNode, Side, Slice, graph
from memory.lineage.queries.pages import Placed, first_lines, lineage_page

LEVELS = (0, 1, 2, 3, 5, 10, MOST_DEPTH)
ROWS = 100
FOUND_ELSEWHERE = 20
KEPT_SECONDS = 3_600
WORTH_KEEPING = 60
REGION = "lineage-region"
EITHER_POINT = "seq:N or an instant such as 2026-11-24 10:00"


@dataclass(frozen=True, slots=True)
class Read:
    """The slice that is drawn, and, where two points are compared, what changed from the other one."""

    found: Slice
    against: AsOf | None = None
    comparison: Comparison | None = None

    def of_node(self, node: GraphNode) -> Change:
        return self.comparison.nodes[node.id] if self.comparison else ""

    def of_link(self, link: GraphLink) -> Change:
        return self.comparison.links[link] if self.comparison else ""


def read(visit: Visit, given: Asked) -> Read:
    """The slice that the address asks for. Raises NotFound, Invalid."""
    levels: dict[str, Any] = {
        "focus": given.record, "up": given.up, "down": given.down, "opened": given.opened, "groups": given.groups,
        "to": given.to,
    }  # fmt: skip
    if not given.against:
        return Read(graph(visit.at, **levels))
    against = other_point(visit.at, given.against)
    comparison = compared(visit.at, against=against, **levels)
    return Read(comparison.slice, against, comparison)


def readable(visit: Visit, given: Asked) -> Asked:
    """The same; without the point to compare with, but with the words for it, where there is no such point."""
    try:
        if given.against:
            other_point(visit.at, given.against)
    except Invalid as error:
        is_named = given.against.startswith(("seq:", "source:"))
        expected = error.errors[0].expected if is_named else EITHER_POINT
        return replace(given, against="", fault=f"Expected {expected}; nothing is compared.")
    return given


def pinned(visit: Visit, given: Asked) -> str:
    """The address that never drifts: a wall clock to compare with becomes the seq that it means; "" where none does."""
    if not given.against or given.against.startswith(("seq:", "source:")):
        return ""
    against = other_point(visit.at, given.against)
    return "" if against.provisional else given.setting("against", f"seq:{against.seq}")


def part(visit: Visit, given: Asked) -> dict[str, Any]:
    """What the part of the page draws: the drawing and its list, or the table of all."""
    if given.is_table:
        return {"is_table": True, **_table(visit, given)}
    here = read(visit, given)
    drawn = graph_of(visit, given, here)
    svg, refusal = drawing(drawn)
    return {
        "is_table": False,
        "graph": drawn,
        "svg": svg,
        "refusal": refusal,
        "outline": outline(drawn),
        "up": _levels(given, "up", given.up),
        "down": _levels(given, "down", given.down),
        "relations": _relations(given, drawn, here.found),
        "svg_url": given.export("svg") if svg else "",
        "json_url": given.export("json"),
        "table_url": given.setting("view", "table"),
        "is_capped": here.found.is_capped,
        "rests": _rests(here.found),
        "left_out": count(n) if (n := sum(here.found.hidden.values())) else "",
        "ways": _ways(given, drawn, here.found),
        "changes": _changes(given, here),
        "found_too": _found_elsewhere(visit, given, drawn) if given.find else None,
        "asked": given,
        "find_kept": given.without("find"),
        "against_kept": given.without("against"),
        "against_typed": dict(given.pairs).get("against", ""),
    }


def graph_of(visit: Visit, given: Asked, here: Read) -> Graph:
    """The slice in the words of the drawing, each node with the addresses that open and close its sides."""
    found = here.found
    nodes = tuple(_node(visit, given, node, here) for node in found.nodes)
    links = tuple(_distinct(here))
    return Graph(
        nodes, links, max(found.n_nodes, len(nodes)), max(found.n_links, len(links)), found.cut_by,
        is_claimed=visit.at.source_at is not None,
    )  # fmt: skip


def _distinct(here: Read) -> list[Link]:
    """One link for each group between two nodes: two stored relations of a group are drawn as one line."""
    pairs = here.found.path_pairs
    return list({
        (link.older, link.newer, link.group): Link(
            str(link.older), str(link.newer), link.group, frozenset((link.older, link.newer)) in pairs,
            here.of_link(link),
        )
        for link in here.found.links
    }.values())  # fmt: skip


def _node(visit: Visit, given: Asked, node: GraphNode, here: Read) -> Node:
    opened = set(given.opened)
    label = shown_line(node.label, node.state)

    def expand(side: Side, n_hidden: int) -> str:
        return given.opening(node.id, side) if n_hidden and not here.found.cut_by else ""

    def collapse(side: Side) -> str:
        return given.closing(node.id, side) if (node.id, side) in opened else ""

    return Node(
        id=str(node.id), label=label, kind="record", state=node.state, url=f"/records/{node.id}{visit.carry}",
        depth=node.depth, is_focus=node.id == given.record, is_on_path=node.id in here.found.path,
        is_match=is_match(given.find, label), change=here.of_node(node), n_hidden_up=node.n_hidden_up,
        n_hidden_down=node.n_hidden_down, expand_up_url=expand("up", node.n_hidden_up),
        expand_down_url=expand("down", node.n_hidden_down), collapse_up_url=collapse("up"),
        collapse_down_url=collapse("down"),
    )  # fmt: skip


def shown_line(line: str, state: str) -> str:
    """What stands in a node or a row: never an erased text, and no secret."""
    return "erased" if state == "erased" else covered(line) or "no text"


def is_match(find: str, label: str) -> bool:
    return bool(find) and find.casefold() in label.casefold()


def drawing(drawn: Graph, *, style: str = "", swap_target: str = f"#{REGION}") -> tuple[str, str]:
    """(drawing, "") or ("", why there is none)."""
    try:
        svg = lineage_svg(drawn, swap_target=swap_target, style=style, keep=_kept)
    except LineageTooLarge as error:
        return "", f"The drawing holds at most {count(error.most)} {error.cap}; here are {count(error.got)}."
    except LineageCycle as error:
        ids = " → ".join(node_id[:8] for node_id in error.ids[:8])
        return "", f"These records rest on each other in a circle: {ids}. A sound store holds none."
    except LineageBroken as error:
        return "", f"The lineage contradicts itself: {error}."
    # The drawing escapes all that it is given.
    return mark_safe(svg), ""  # noqa: S308


def _kept(key: str, n_nodes: int, make: Callable[[], Layout]) -> Layout:
    """The layout of a slice, made once in an hour; a small one is made faster than it is found."""
    if n_nodes < WORTH_KEEPING:
        return make()
    return cast(Layout, cache.get_or_set(f"lineage:{key}", make, KEPT_SECONDS))


def _levels(given: Asked, name: str, current: int) -> tuple[Tab, ...]:
    default = 1
    return tuple(
        Tab(
            "all" if n == MOST_DEPTH else str(n), given.setting(name, "" if n == default else str(n)),
            is_current=n == current,
        )
        for n in LEVELS
    )  # fmt: skip


def _relations(given: Asked, drawn: Graph, found: Slice) -> Facet:
    """The words of the filter, each with how many links join two shown records: those that are drawn, or would be."""
    counts = Counter(link.relation for link in drawn.links)
    chosen = [group for group in GROUPS if group in given.groups]
    values = []
    for group in GROUPS:
        if group not in found.groups and group not in chosen:
            continue
        others = [one for one in GROUPS if (one in chosen) != (one == group)]
        url = given.setting("relations", ",".join(others))
        values.append(
            FacetValue(
                RELATIONS[group],
                count(counts[group] if group in chosen or not chosen else found.between.get(group, 0)),
                url,
                group in chosen,
            )
        )
    return Facet("Relations", tuple(values) if len(values) > 1 or chosen else ())


def _rests(found: Slice) -> str:
    more = "+" if found.is_capped else ""
    above, below = (f"{count(n)}{more} {word}{'' if n == 1 else 's'}" for n, word in (
        (found.n_ancestors, "ancestor"), (found.n_descendants, "descendant"),
    ))  # fmt: skip
    return f"{above}, {below}"


def _ways(given: Asked, drawn: Graph, found: Slice) -> Mapping[str, Any] | None:
    """The way that is shown: how long it is, to what, and the address without it."""
    if given.to is None:
        return None
    end = next((node.label for node in drawn.nodes if node.id == str(given.to)), str(given.to)[:8])
    return {"n_steps": max(0, len(found.path) - 1), "is_found": bool(found.path), "end": end,
            "without_url": given.setting("to", "")}  # fmt: skip


def _changes(given: Asked, here: Read) -> Mapping[str, Any] | None:
    """What changed from the other point, in numbers and words, and the address without the comparison."""
    if here.comparison is None or here.against is None:
        return None
    against = here.against
    told = f"seq {count(against.seq)}" if against.seq else "the beginning"
    if against.source_at is not None:
        told = f"what the source says it knew by {words(against.source_at)}"
    counts = {change: here.comparison.count(change) for change in ("added", "removed", "kept")}
    return {
        "point": told,
        "is_provisional": against.provisional,
        "counts": tuple((change, count(nodes), count(links)) for change, (nodes, links) in counts.items()),
        "without_url": given.setting("against", ""),
    }


def _found_elsewhere(visit: Visit, given: Asked, drawn: Graph) -> Mapping[str, Any]:
    """How many shown nodes match, and what else of the whole lineage does, each with the address of the way to it."""
    shown = {node.id for node in drawn.nodes}
    lines = first_lines(visit.at, focus=given.record, groups=given.groups)
    others = [
        (record, line)
        for record, text in lines
        if str(record) not in shown and is_match(given.find, line := covered(text))
    ]
    links = tuple(PageLink(line, given.showing_way_to(record)) for record, line in others[:FOUND_ELSEWHERE])
    return {
        "n_shown": count(sum(node.is_match for node in drawn.nodes)), "n_others": count(len(others)), "others": links,
        "without_url": given.setting("find", ""),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableRow:
    """A record of the whole lineage: how many levels above (negative) or below, by which relation and from where."""

    placed: Placed
    relation: str
    url: str
    way_url: str
    is_match: bool


def _table(visit: Visit, given: Asked) -> dict[str, Any]:
    page = lineage_page(visit.at, focus=given.record, groups=given.groups, after=given.after, limit=ROWS)
    before = given.setting("after", str(max(0, given.after - ROWS))) if given.after else ""
    behind = given.setting("after", str(page.next)) if page.next is not None else ""
    last = min(given.after + ROWS, page.total)
    return {
        "table_rows": tuple(_table_row(visit, given, one) for one in page.items),
        "table_total": count(page.total),
        "is_capped": page.is_capped,
        "pager": Pager(before, behind, f"{count(given.after + 1)} to {count(last)} of {count(page.total)}"),
        "drawing_url": given.setting("view", ""),
        "json_url": given.export("json"),
    }  # fmt: skip


def _table_row(visit: Visit, given: Asked, one: Placed) -> TableRow:
    line = shown_line(one.row.first_line, one.row.state)
    return TableRow(
        one, RELATIONS[one.group], f"/records/{one.row.id}{visit.carry}", given.showing_way_to(one.row.id),
        is_match(given.find, line),
    )  # fmt: skip
