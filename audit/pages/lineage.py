"""The lineage of a record as a part of its page, and as files: what the address asks, and how the slice is drawn.

Invariants
- The state of the drawing is the address: levels, opened sides, relations, table or drawing.
- The list beside the drawing holds the same nodes and links; the table and the exports hold the whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.charts.lineage import LineageBroken, LineageCycle, LineageTooLarge, lineage_svg
from audit.charts.lineage_values import RELATIONS, Graph, Link, Node
from audit.charts.outline import outline
from audit.components import Facet, FacetValue, Pager, Tab
from audit.frame import address, in_url, pairs_of
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.lineage.kernel import Step, walked
from memory.lineage.queries.graph import (
    GROUPS,
    MOST_COUNTED,
    MOST_DEPTH,
    MOST_LINKS,
    MOST_NODES,
    GraphLink,
    GraphNode,
    Side,
    Slice,
    graph,
    whole_lineage,
)
from memory.records.queries.detail import RecordRow, rows_by_id

LEVELS = (0, 1, 2, 3, 5, 10, MOST_DEPTH)
ROWS = 100
REGION = "lineage-region"
PROV = "http://www.w3.org/ns/prov#"
STYLES = ("tokens.css", "charts.css")

type Opened = tuple[tuple[UUID, Side], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks of the lineage of one record."""

    record: UUID
    path: str
    pairs: tuple[tuple[str, str], ...]
    up: int
    down: int
    opened: Opened
    groups: tuple[str, ...]
    is_table: bool
    after: int

    def setting(self, name: str, value: str) -> str:
        """The address with `name` set; an empty value takes it away."""
        return address(self.path, [*(pair for pair in self.pairs if pair[0] not in (name, "after")), (name, value)])

    def opening(self, node: UUID, side: Side) -> str:
        """The address with one more side opened."""
        return self.setting("open", _written((*self.opened, (node, side))))

    def closing(self, node: UUID, side: Side) -> str:
        return self.setting("open", _written(tuple(pair for pair in self.opened if pair != (node, side))))

    def export(self, suffix: str) -> str:
        return address(f"/records/{self.record}/lineage.{suffix}", self.pairs)


def asked(request: HttpRequest, record: UUID, *, path: str = "") -> Asked:
    """Read the address. Raises Invalid (levels, opened sides); unknown relations are refused by the query."""
    return Asked(
        record=record,
        path=path or f"/records/{record}",
        pairs=tuple(pairs_of(request, without=("after",))),
        up=_number(request, "up", default=1),
        down=_number(request, "down", default=1),
        opened=_opened(request.GET.get("open", "")),
        groups=tuple(word for word in request.GET.get("relations", "").split(",") if word),
        is_table=request.GET.get("view") == "table",
        after=_number(request, "after", default=0),
    )


def part(visit: Visit, given: Asked) -> dict[str, Any]:
    """What the part of the page draws: the drawing and its list, or the table of all."""
    if given.is_table:
        return {"is_table": True, **_table(visit, given)}
    found = graph(
        visit.at, focus=given.record, up=given.up, down=given.down, opened=given.opened, groups=given.groups
    )  # fmt: skip
    drawn = graph_of(visit, given, found)
    svg, refusal = _drawn(drawn)
    return {
        "is_table": False,
        "graph": drawn,
        "svg": svg,
        "refusal": refusal,
        "outline": outline(drawn),
        "up": _levels(given, "up", given.up),
        "down": _levels(given, "down", given.down),
        "relations": _relations(given, found),
        "svg_url": given.export("svg") if svg else "",
        "json_url": given.export("json"),
        "table_url": given.setting("view", "table"),
        "is_capped": found.is_capped,
        "rests": _rests(found),
    }


def graph_of(visit: Visit, given: Asked, found: Slice) -> Graph:
    """The slice in the words of the drawing, each node with the addresses that open and close its sides."""
    is_full = bool(found.cut_by)
    nodes = tuple(_node(visit, given, node, is_full=is_full) for node in found.nodes)
    links = tuple(Link(str(link.older), str(link.newer), link.group) for link in _distinct(found.links))
    return Graph(nodes, links, max(found.n_nodes, len(nodes)), max(found.n_links, len(links)), found.cut_by)


def _distinct(links: Sequence[GraphLink]) -> list[GraphLink]:
    """One link for each group between two nodes: two stored relations of a group are drawn as one line."""
    return list({(link.older, link.newer, link.group): link for link in links}.values())


def _node(visit: Visit, given: Asked, node: GraphNode, *, is_full: bool) -> Node:
    opened = set(given.opened)
    label = "erased" if node.state == "erased" else covered(node.label) or "no text"

    def expand(side: Side, n_hidden: int) -> str:
        return given.opening(node.id, side) if n_hidden and not is_full else ""

    def collapse(side: Side) -> str:
        return given.closing(node.id, side) if (node.id, side) in opened else ""

    return Node(
        id=str(node.id), label=label, kind="record", state=node.state, url=f"/records/{node.id}{visit.carry}",
        depth=node.depth, is_focus=node.id == given.record, n_hidden_up=node.n_hidden_up,
        n_hidden_down=node.n_hidden_down, expand_up_url=expand("up", node.n_hidden_up),
        expand_down_url=expand("down", node.n_hidden_down), collapse_up_url=collapse("up"),
        collapse_down_url=collapse("down"),
    )  # fmt: skip


def _drawn(drawn: Graph, *, style: str = "", swap_target: str = f"#{REGION}") -> tuple[str, str]:
    """(drawing, "") or ("", why there is none)."""
    try:
        svg = lineage_svg(drawn, swap_target=swap_target, style=style)
    except LineageTooLarge as error:
        return "", f"The drawing holds at most {count(error.most)} {error.cap}; here are {count(error.got)}."
    except LineageCycle as error:
        ids = " → ".join(node_id[:8] for node_id in error.ids[:8])
        return "", f"These records rest on each other in a circle: {ids}. A sound store holds none."
    except LineageBroken as error:
        return "", f"The lineage contradicts itself: {error}."
    # The drawing escapes all that it is given.
    return mark_safe(svg), ""  # noqa: S308


def _levels(given: Asked, name: str, current: int) -> tuple[Tab, ...]:
    default = 1
    return tuple(
        Tab(
            "all" if n == MOST_DEPTH else str(n), given.setting(name, "" if n == default else str(n)),
            is_current=n == current,
        )
        for n in LEVELS
    )  # fmt: skip


def _relations(given: Asked, found: Slice) -> Facet:
    chosen = [group for group in GROUPS if group in given.groups]
    values = []
    for group in GROUPS:
        if group not in found.groups and group not in chosen:
            continue
        others = [one for one in GROUPS if (one in chosen) != (one == group)]
        url = given.setting("relations", ",".join(others))
        values.append(FacetValue(RELATIONS[group], count(found.groups.get(group, 0)), url, group in chosen))
    return Facet("Relations", tuple(values) if len(values) > 1 or chosen else ())


def _rests(found: Slice) -> str:
    more = "+" if found.is_capped else ""
    above, below = (f"{count(n)}{more} {word}{'' if n == 1 else 's'}" for n, word in (
        (found.n_ancestors, "ancestor"), (found.n_descendants, "descendant"),
    ))  # fmt: skip
    return f"{above}, {below}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A record of the whole lineage: how many levels above (negative) or below, by which relation and from where."""

    depth: int
    relation: str
    row: RecordRow
    url: str


def _table(visit: Visit, given: Asked) -> dict[str, Any]:
    links = whole_lineage(visit.at, focus=given.record, groups=given.groups)
    reached = [
        *((-one.depth, one.relation, one.id) for one in walked(given.record, _steps(links, upwards=True))),
        *((one.depth, one.relation, one.id) for one in walked(given.record, _steps(links, upwards=False))),
    ]
    shown = reached[given.after : given.after + ROWS]
    rows = rows_by_id(visit.at, [identity for _, _, identity in shown])
    last = given.after + len(shown)
    before = given.setting("after", str(max(0, given.after - ROWS))) if given.after else ""
    behind = given.setting("after", str(last)) if last < len(reached) else ""
    return {
        "table_rows": tuple(
            TableRow(depth, RELATIONS[relation], rows[identity], f"/records/{identity}{visit.carry}")
            for depth, relation, identity in shown
            if identity in rows
        ),
        "table_total": count(len(reached)),
        "is_capped": len(links) > MOST_COUNTED,
        "pager": Pager(before, behind, f"{count(given.after + 1)} to {count(last)} of {count(len(reached))}"),
        "drawing_url": given.setting("view", ""),
        "json_url": given.export("json"),
    }  # fmt: skip


def _steps(links: Sequence[GraphLink], *, upwards: bool) -> list[Step]:
    if upwards:
        return [Step(link.newer, link.group, link.older) for link in links]
    return [Step(link.older, link.group, link.newer) for link in links]


@require_safe
@page("records")
def as_svg(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The drawing of the slice as a file that carries its style."""
    given = asked(request, record)
    found = graph(
        visit.at, focus=record, up=given.up, down=given.down, opened=given.opened, groups=given.groups
    )  # fmt: skip
    style = "\n".join((Path(settings.STATICFILES_DIRS[0]) / "css" / name).read_text("utf-8") for name in STYLES)
    svg, refused = _drawn(graph_of(visit, given, found), style=style, swap_target="")
    if refused:
        raise Invalid(refused)
    response = HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="lineage-{record}-seq-{visit.at.seq}.svg"'
    return response


@require_safe
@page("records")
def as_json(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The whole lineage, as PROV-JSON, with the caps of the drawing stated inside."""
    given = asked(request, record)
    found = graph(visit.at, focus=record, up=0, down=0, groups=given.groups)
    links = whole_lineage(visit.at, focus=record, groups=given.groups)[:MOST_COUNTED]
    rows = rows_by_id(visit.at, sorted({record, *(end for link in links for end in (link.older, link.newer))}))
    return JsonResponse(
        {
            "prefix": {"prov": PROV, "record": f"urn:palimpsest:{visit.namespace}:record:"},
            "palimpsest": {
                "namespace": visit.namespace, "focus": str(record), "seq": visit.at.seq,
                "valid_at": in_url(visit.at.valid_at), "n_nodes": found.n_nodes, "n_links": found.n_links,
                "truncated": found.is_capped, "drawing_caps": {
                    "nodes": MOST_NODES, "links": MOST_LINKS, "depth": MOST_DEPTH,
                },
            },
            "entity": {f"record:{row.id}": _entity(row) for row in rows.values()},
            "wasDerivedFrom": {f"_:{index}": _derivation(link) for index, link in enumerate(links)},
        },
        json_dumps_params={"ensure_ascii": False},
    )  # fmt: skip


def _entity(row: RecordRow) -> Mapping[str, Any]:
    return {
        "prov:generatedAtTime": in_url(row.recorded_at), "prov:label": row.first_line, "palimpsest:type": row.type,
        "palimpsest:state": row.state, "palimpsest:seq": row.seq,
    }  # fmt: skip


def _derivation(link: GraphLink) -> Mapping[str, Any]:
    kind = "prov:Revision" if link.relation in ("evolved_from", "supersedes") else "prov:Derivation"
    return {
        "prov:generatedEntity": f"record:{link.newer}", "prov:usedEntity": f"record:{link.older}", "prov:type": kind,
        "palimpsest:relation": link.relation,
    }  # fmt: skip


def _number(request: HttpRequest, name: str, *, default: int) -> int:
    value = request.GET.get(name, "")
    if value and not (value.isascii() and value.isdecimal() and len(value) <= 6):
        raise Invalid.at(name, expected="a whole number", got=value)
    return int(value) if value else default


def _opened(value: str) -> Opened:
    found: list[tuple[UUID, Side]] = []
    for word in value.split(",") if value else ():
        identity, _, side = word.partition(":")
        try:
            node = UUID(identity)
        except ValueError as error:
            raise Invalid.at("open", expected="pairs such as <id>:up", got=word) from error
        if side not in ("up", "down"):
            raise Invalid.at("open", expected="up or down after the id", got=word)
        found.append((node, cast(Side, side)))
    return tuple(dict.fromkeys(found))


def _written(opened: Opened) -> str:
    return ",".join(f"{node}:{side}" for node, side in opened)
