"""The lineage of a record as a drawing: ancestors left, descendants right, long edges led around what they pass.

Nodes are links; the shape says the kind, the second line the kind and the state in words. Dashed = erased, hatched =
dead end, thick = on the selected path; every line is dashed where a source claims it all. Edges carry a mark for every
relation but derivation. What is left out at a node stands on it as a number that opens one level more.

Invariants
- Caps are checked before anything is laid out: 500 nodes, 1 500 links, depth 300. Above them the drawing is refused
  with the numbers; a slice is never cut here.
- The order in which nodes and links are given does not matter: equal slices give equal bytes.
- A cycle among directed links is reported with its ids. Symmetric relations have no direction and cannot make one.
- All text is escaped; colours are left to the style sheet.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from audit.charts.layering import GraphCycle, short_layers, topological_order
from audit.charts.layout import Engine, Layout, has_fast_engine, layered_layout
from audit.charts.lineage_drawing import Drawing
from audit.charts.lineage_values import Graph, Link, Node

MOST_NODES = 500
MOST_LINKS = 1_500
MOST_DEPTH = 300

SYMMETRIC_RELATIONS = frozenset({"conflicts"})

type Keep = Callable[[str, int, Callable[[], Layout]], Layout]


class LineageTooLarge(Exception):
    """A slice above a cap. ``cap`` names the first one met: "nodes", "links" or "depth"."""

    def __init__(self, *, cap: str, got: int, most: int) -> None:
        self.cap, self.got, self.most = cap, got, most
        super().__init__(f"the drawing holds at most {most} {cap}, got {got}")


class LineageCycle(Exception):
    """Directed links that lead back to where they began; ``ids`` are the nodes on the way."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(f"the lineage runs in a circle over {len(self.ids)} nodes: {' → '.join(self.ids[:8])}")


class LineageBroken(Exception):
    """A slice that contradicts itself: an id given twice, or a link to a node that is not in it."""


def _made_anew(key: str, n_nodes: int, make: Callable[[], Layout]) -> Layout:
    return make()


def _key(ids: Sequence[str], edges: Sequence[tuple[int, int]], engine: Engine | None) -> str:
    """A hash of all that a layout is made from: ids and links, never a text."""
    chosen = engine.__qualname__ if engine is not None else f"fast={has_fast_engine()}"
    return sha256(repr((chosen, list(ids), list(edges))).encode()).hexdigest()


def lineage_svg(
    graph: Graph, *, drawing_id: str = "lineage", swap_target: str = "", style: str = "",
    engine: Engine | None = None, keep: Keep = _made_anew,
) -> str:  # fmt: skip
    """The drawing as one ``<svg>`` element, escaped and ready to print.

    drawing_id : prefix of the ids inside, for two drawings on one page.   swap_target : selector of the region that
    a link which opens or closes a level replaces; empty leaves plain links.   style : CSS to carry along in a file
    of its own.   engine : how columns are ordered, by default the better one at hand.   keep : where layouts are kept;
    asked with a hash of the ids and links, the number of nodes, and what makes the layout.
    Raises LineageTooLarge, LineageCycle, LineageBroken.
    """
    check_caps(n_nodes=len(graph.nodes), n_links=len(graph.links), depth=graph.depth)
    nodes = sorted(graph.nodes, key=lambda node: node.id)
    number_of = {node.id: index for index, node in enumerate(nodes)}
    if len(number_of) < len(nodes):
        raise LineageBroken("a node is given twice")
    links = _oriented(graph.links, number_of=number_of, ids=[node.id for node in nodes])
    edges = sorted({(number_of[link.source], number_of[link.target]) for link in links})
    check_caps(n_nodes=len(nodes), n_links=len(links), depth=max(short_layers(len(nodes), edges=edges), default=0))
    key = _key([node.id for node in nodes], edges, engine)
    layout = keep(key, len(nodes), lambda: layered_layout(len(nodes), edges=edges, engine=engine))
    drawing = Drawing(
        drawing_id=drawing_id,
        swap_target=swap_target,
        style=style,
        nodes=nodes,
        links=links,
        edges=edges,
        layout=layout,
        is_claimed=graph.is_claimed,
        is_whole=graph.is_whole,
    )
    return drawing.svg(title=graph.title, symmetric=SYMMETRIC_RELATIONS)


def check_caps(*, n_nodes: int, n_links: int, depth: int) -> None:
    """Raises LineageTooLarge for the first cap that is passed."""
    for cap, got, most in (
        ("nodes", n_nodes, MOST_NODES),
        ("links", n_links, MOST_LINKS),
        ("depth", depth, MOST_DEPTH),
    ):
        if got > most:
            raise LineageTooLarge(cap=cap, got=got, most=most)


def _oriented(links: Sequence[Link], *, number_of: dict[str, int], ids: Sequence[str]) -> list[Link]:
    """The links in one order, each from left to right: symmetric ones are turned along the directed ones."""
    for link in links:
        for end in (link.source, link.target):
            if end not in number_of:
                raise LineageBroken(f"a link leads to {end!r}, which is not in the slice")
        if link.source == link.target and link.relation in SYMMETRIC_RELATIONS:
            raise LineageBroken(f"{link.source!r} stands in relation {link.relation!r} to itself")
    directed = {
        (number_of[link.source], number_of[link.target]) for link in links if link.relation not in SYMMETRIC_RELATIONS
    }
    try:
        order = topological_order(len(ids), edges=sorted(directed))
    except GraphCycle as cycle:
        raise LineageCycle([ids[vertex] for vertex in cycle.vertices]) from cycle
    rank = {ids[vertex]: index for index, vertex in enumerate(order)}
    turned = {}
    for link in links:
        kept = (
            link if link.relation not in SYMMETRIC_RELATIONS or rank[link.source] < rank[link.target] else link.turned
        )
        turned[kept.source, kept.target, kept.relation] = kept
    return [turned[key] for key in sorted(turned)]


__all__ = [
    "MOST_DEPTH",
    "MOST_LINKS",
    "MOST_NODES",
    "SYMMETRIC_RELATIONS",
    "Graph",
    "LineageBroken",
    "LineageCycle",
    "LineageTooLarge",
    "Link",
    "Node",
    "check_caps",
    "lineage_svg",
]
