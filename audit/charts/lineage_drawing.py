"""The marks of a lineage drawing: shapes of nodes, lines, signs, and the controls that open and close a level.

Invariants
- Nodes stand in the document by column and then by row, so that the tab key follows the eye.
- Every mark has a class or a data attribute and no colour; beside each colour stands a word or a shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from audit import states
from audit.charts.layout import Layout
from audit.charts.lineage_values import Link, Node
from audit.charts.markup import address, attribute, number, shortened, text
from audit.charts.routes import NODE_HEIGHT, NODE_WIDTH, PARALLEL_GAP, Geometry

LABEL_CHARACTERS = 24
CONTROL_RADIUS = 9
TARGET_RADIUS = 12

SIGNS = {"derived": "", "supersedes": "»", "conflicts": "≠", "verifies": "✓", "refers": "·", "buries": "×"}
CHANGES = {"added": "+", "removed": "−", "kept": "="}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A laid out slice. ``edges`` are the pairs of node numbers that the layout knows, ``links`` all relations.

    ``is_whole``: all of the lineage is shown, so what a node counts beside it belongs to other branches.
    """

    drawing_id: str
    swap_target: str
    style: str
    nodes: Sequence[Node]
    links: Sequence[Link]
    edges: Sequence[tuple[int, int]]
    layout: Layout
    is_claimed: bool = False
    is_whole: bool = False

    def svg(self, *, title: str, symmetric: frozenset[str]) -> str:
        geometry = Geometry.of(self.layout)
        width, height = number(geometry.width), number(geometry.height)
        places = zip(self.layout.columns, self.layout.rows, strict=True)
        in_order = sorted(range(len(self.nodes)), key=dict(enumerate(places)).__getitem__)
        return "".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="lineage" id="{attribute(self.drawing_id)}" ',
                f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" ',
                f'role="group" aria-label="{attribute(title)}"{_flag("claimed", self.is_claimed)}>',
                f"<desc>{text(title)}</desc>" if self.style else "",
                f"<style>{text(self.style)}</style>" if self.style else "",
                self._definitions(),
                '<g class="links" aria-hidden="true">',
                *self._links(geometry, symmetric),
                '</g><g class="nodes">',
                *(self._node(vertex, geometry) for vertex in in_order),
                "</g></svg>",
            ]
        )

    def _definitions(self) -> str:
        name = attribute(self.drawing_id)
        return (
            f'<defs><marker id="{name}-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" '
            'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
            '<path class="arrow" d="M0 .5L8 4L0 7.5z"/></marker>'
            f'<pattern id="{name}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><path class="hatch-line" d="M0 0V6"/></pattern></defs>'
        )

    def _links(self, geometry: Geometry, symmetric: frozenset[str]) -> list[str]:
        number_of = {node.id: index for index, node in enumerate(self.nodes)}
        edge_of = {edge: index for index, edge in enumerate(self.edges)}
        beside: dict[int, list[Link]] = {}
        for link in self.links:
            beside.setdefault(edge_of[number_of[link.source], number_of[link.target]], []).append(link)
        return [
            self._link(
                link, geometry, edge=edge, shift=(index - (len(links) - 1) / 2) * PARALLEL_GAP, symmetric=symmetric
            )
            for edge, links in sorted(beside.items())
            for index, link in enumerate(links)
        ]

    def _link(self, link: Link, geometry: Geometry, *, edge: int, shift: float, symmetric: frozenset[str]) -> str:
        source, target = self.edges[edge]
        sign = SIGNS.get(link.relation, "?")
        points = geometry.way(source, target, edge=edge, shift=shift)
        x, y = (points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2
        arrow = "" if link.relation in symmetric else f' marker-end="url(#{attribute(self.drawing_id)}-arrow)"'
        mark = f'<text class="sign" x="{number(x)}" y="{number(y + 4)}">{sign}</text>' if sign else ""
        return (
            f'<g class="link" data-from="{source}" data-to="{target}" data-relation="{attribute(link.relation)}"'
            f"{_flag('path', link.is_on_path)}{_value('change', link.change)}>"
            f'<path class="line" d="{geometry.path(source, target, edge=edge, shift=shift)}"{arrow}/>{mark}</g>'
        )

    def _node(self, vertex: int, geometry: Geometry) -> str:
        node = self.nodes[vertex]
        x, y = geometry.corner(vertex)
        state = states.state(node.state)
        marks = ("focus" * node.is_focus, "on the way" * node.is_on_path, "found" * node.is_match)
        words = ", ".join(filter(None, [node.label, node.kind_word, state.word, node.change, *marks]))
        place = "focus" if node.is_focus else vertex
        outline = _outline(node.kind)
        hatch = f'<path class="hatch" fill="url(#{attribute(self.drawing_id)}-hatch)" d="{outline}"/>'
        change = (
            f'<text class="change" x="{number(NODE_WIDTH - 8)}" y="14">{CHANGES[node.change]}</text>'
            if node.change
            else ""
        )
        return (
            f'<g class="node" transform="translate({number(x)} {number(y)})">'
            f'<a href="{address(node.url)}" id="{attribute(self.drawing_id)}-{place}" data-node="{vertex}" '
            f'data-column="{self.layout.columns[vertex]}" data-kind="{attribute(node.kind)}" '
            f'data-state="{attribute(node.state)}" data-tone="{state.tone}"{_flag("focus", node.is_focus)}'
            f"{_flag('path', node.is_on_path)}{_flag('match', node.is_match)}{_value('change', node.change)}"
            f' aria-label="{attribute(words)}"><title>{text(words)}</title>'
            f'<path class="box" d="{outline}"/>{hatch if node.kind == "tombstone" else ""}'
            f'<svg x="12" y="0" width="{number(NODE_WIDTH - 24)}" height="{number(NODE_HEIGHT)}">'
            f'<text class="label" x="0" y="15">{text(shortened(node.label, LABEL_CHARACTERS))}</text>'
            f'<text class="words" x="0" y="29">{text(node.kind_word)} · '
            f'<tspan class="state-word">{text(state.word)}</tspan></text>'
            f"</svg>{change}</a>{self._controls(node)}</g>"
        )

    def _controls(self, node: Node) -> str:
        left, right = 0.0, NODE_WIDTH
        return "".join(
            self._control(x, url, sign=sign, words=words, way=way)
            for x, url, sign, words, way in (
                (left, node.expand_up_url, f"+{node.n_hidden_up or ''}", "Show what it rests on", "expand-up"),
                (left, node.collapse_up_url, "−", "Hide what it rests on", "collapse-up"),
                (right, node.expand_down_url, f"+{node.n_hidden_down or ''}", "Show what rests on it", "expand-down"),
                (right, node.collapse_down_url, "−", "Hide what rests on it", "collapse-down"),
            )
            if url
        )

    def _control(self, x: float, url: str, *, sign: str, words: str, way: str) -> str:
        href = address(url)
        swap = (
            f' hx-get="{href}" hx-target="{attribute(self.swap_target)}" hx-swap="outerMorph" hx-push-url="true"'
            if self.swap_target
            else ""
        )
        width = max(2 * CONTROL_RADIUS, 8 + 6 * len(sign))
        hidden = sign.removeprefix("+").removeprefix("−")
        more = f": {hidden} more{', outside this lineage' if self.is_whole else ''}" if hidden else ""
        return (
            f'<a class="control" href="{href}"{swap} data-way="{way}" aria-label="{words}{more}">'
            f"<title>{words}{more}</title>"
            f'<rect class="target" x="{number(x - TARGET_RADIUS)}" y="{number(NODE_HEIGHT - TARGET_RADIUS)}" '
            f'width="{2 * TARGET_RADIUS}" height="{2 * TARGET_RADIUS}"/>'
            f'<rect class="knob" x="{number(x - width / 2)}" y="{number(NODE_HEIGHT - CONTROL_RADIUS)}" '
            f'width="{number(width)}" height="{2 * CONTROL_RADIUS}" rx="{CONTROL_RADIUS}"/>'
            f'<text class="sign" x="{number(x)}" y="{number(NODE_HEIGHT + 4)}">{text(sign)}</text></a>'
        )


def _outline(kind: str) -> str:
    """The outline of a node, origin at its top left corner; each kind has its own, a kind that is new gets a box."""
    w, h = int(NODE_WIDTH), int(NODE_HEIGHT)
    half = h // 2
    outlines = {
        "record": f"M4 0H{w - 4}Q{w} 0 {w} 4V{h - 4}Q{w} {h} {w - 4} {h}H4Q0 {h} 0 {h - 4}V4Q0 0 4 0z",
        "fact": f"M{half} 0H{w - half}A{half} {half} 0 0 1 {w - half} {h}H{half}A{half} {half} 0 0 1 {half} 0z",
        "action": f"M0 0H{w - 10}L{w} {half}L{w - 10} {h}H0L8 {half}z",
        "rule": f"M8 0H{w - 8}L{w} 8V{h - 8}L{w - 8} {h}H8L0 {h - 8}V8z",
        "claim": f"M0 0H{w - 12}L{w} 12V{h}H0z",
        "tombstone": f"M0 {h}V12Q0 0 12 0H{w - 12}Q{w} 0 {w} 12V{h}z",
        "run": f"M10 0H{w - 10}L{w} {half}L{w - 10} {h}H10L0 {half}z",
    }
    return outlines.get(kind, f"M0 0H{w}V{h}H0z")


def _flag(name: str, is_set: bool) -> str:
    return f' data-{name}=""' if is_set else ""


def _value(name: str, value: str) -> str:
    return f' data-{name}="{attribute(value)}"' if value else ""
