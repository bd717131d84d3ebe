"""A graph of relations as a drawing: nodes by their distance from the root, and each observation as a line between two.

A line says what was observed and what the rest of the evidence does to it: contradicted (≠, dashed, the thicker the
worse), corroborated (✓), no second path (·, dotted), or not used (–, faint). The same stands in its title in words.

Invariants
- An observation never spans a column: its nodes are at most one step apart, so nothing is drawn behind a node.
- Observations of the same two nodes stand beside each other; the strongest of them carries the label and their number.
  Labels find room in the order of contradiction; one that finds none is left out, and stands in the title of its line.
- Equal graphs give equal bytes, in whatever order their parts are given. All text is escaped; no colour is written.
- Caps are checked before anything is laid out; a graph is never cut here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from audit.charts.arranging import arrange, place
from audit.charts.beliefs import nats, share
from audit.charts.layering import Layered
from audit.charts.markup import address, attribute, number, shortened, text

MOST_MEMBERS = 64
MOST_CLAIMS = 256
NODE_WIDTH, NODE_HEIGHT = 132.0, 46.0
COLUMN_PITCH, ROW_PITCH = 286.0, 68.0
MARGIN = 14.0
BESIDE = 9.0
MOST_BULGE = 120.0
LABEL_ROOM = 118.0
NAME_CHARACTERS, WORD_CHARACTERS = 17, 10
THRESHOLDS_NATS = (0.0, 1.0, 3.0, 10.0)
LETTER_WIDTH, LETTER_HEIGHT = 6.6, 15.0
SPOTS = (0.5, 0.42, 0.58, 0.35, 0.65, 0.28, 0.72)
"""Where along its line a label may stand, the best place first."""

type Standing = Literal["contradicted", "corroborated", "bridge", "unused"]
SIGNS: Mapping[Standing, str] = {"contradicted": "≠", "corroborated": "✓", "bridge": "·", "unused": "–"}
WORDS: Mapping[Standing, str] = {
    "contradicted": "the rest of the evidence contradicts it",
    "corroborated": "the rest of the evidence corroborates it",
    "bridge": "no second path speaks to it",
    "unused": "not used",
}

type Point = tuple[float, float]
type Curve = tuple[Point, Point, Point, Point]


@dataclass(frozen=True, slots=True)
class Member:
    """A node with its most probable value. The root is what the others are told from: its value is given, not found."""

    id: str
    label: str
    value: str
    probability: float
    url: str = ""
    is_root: bool = False
    is_focus: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """An observation: what it says of target seen from source, and the rest of the evidence against it, in nats.

    `strength_nats` is None where no second path joins its nodes; `reason` says why one was not used.
    """

    id: str
    source: str
    target: str
    says: str
    strength_nats: float | None = None
    url: str = ""
    reason: str = ""

    @property
    def standing(self) -> Standing:
        if self.reason:
            return "unused"
        if self.strength_nats is None:
            return "bridge"
        return "contradicted" if self.strength_nats > 0 else "corroborated"

    @property
    def words(self) -> str:
        strength = f" by {nats(self.strength_nats)} nats" if self.strength_nats is not None and not self.reason else ""
        return WORDS[self.standing] + strength + f": {self.reason}" * bool(self.reason)


class GraphTooLarge(Exception):
    """More nodes or observations than are drawn."""

    def __init__(self, what: str, *, got: int, most: int) -> None:
        super().__init__(f"the drawing holds at most {most} {what}, got {got}")


class GraphBroken(Exception):
    """An id given twice, or an observation between nodes that are not in the graph."""


@dataclass(frozen=True, slots=True)
class _Places:
    """The top left corners of the nodes, and the size of the whole."""

    corners: tuple[Point, ...]
    columns: tuple[int, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Box:
    """The room of a label: its middle, and half of its width."""

    x: float
    y: float
    half: float

    def meets(self, other: "_Box") -> bool:
        return abs(self.x - other.x) < self.half + other.half and abs(self.y - other.y) < LETTER_HEIGHT


def relations_svg(members: Sequence[Member], claims: Sequence[Claim], *, title: str, drawing_id: str = "graph") -> str:
    """The drawing as one ``<svg>`` element, escaped and ready to print. Raises GraphTooLarge, GraphBroken."""
    _check(members, claims)
    nodes = sorted(members, key=lambda one: (not one.is_root, one.id))
    number_of = {one.id: index for index, one in enumerate(nodes)}
    beside = _beside(claims, number_of)
    places = _placed(len(nodes), [*beside])
    name = attribute(drawing_id)
    width, height = number(places.width), number(places.height)
    labels: list[_Box] = []
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="relations" id="{name}" width="{width}" height="{height}" ',
            f'viewBox="0 0 {width} {height}" role="group" aria-label="{attribute(title)}"><defs>',
            f'<marker id="{name}-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" markerHeight="9" ',
            'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="arrow" d="M0 .5L8 4L0 7.5z"/>',
            "</marker></defs>",
            *(_lines(pair, told, nodes, places, arrow=f"url(#{name}-arrow)") for pair, told in beside.items()),
            *(_member(one, places.corners[index]) for index, one in enumerate(nodes)),
            *(_label(pair, told, places, taken=labels) for pair, told in sorted(beside.items(), key=_worst_first)),
            "</svg>",
        ]
    )


def _check(members: Sequence[Member], claims: Sequence[Claim]) -> None:
    if len(members) > MOST_MEMBERS:
        raise GraphTooLarge("nodes", got=len(members), most=MOST_MEMBERS)
    if len(claims) > MOST_CLAIMS:
        raise GraphTooLarge("observations", got=len(claims), most=MOST_CLAIMS)
    ids = {one.id for one in members}
    if len(ids) < len(members) or len({one.id for one in claims}) < len(claims):
        raise GraphBroken("an id is given twice")
    if any(end not in ids for one in claims for end in (one.source, one.target)):
        raise GraphBroken("an observation is between nodes that are not in the graph")


def _beside(claims: Sequence[Claim], number_of: Mapping[str, int]) -> dict[tuple[int, int], list[Claim]]:
    """The observations by their two nodes, the strongest first."""
    found: dict[tuple[int, int], list[Claim]] = {}
    for one in sorted(claims, key=lambda one: (bool(one.reason), -_size(one), one.id)):
        low, high = sorted((number_of[one.source], number_of[one.target]))
        found.setdefault((low, high), []).append(one)
    return dict(sorted(found.items()))


def _worst_first(beside: tuple[tuple[int, int], list[Claim]]) -> tuple[bool, float, tuple[int, int]]:
    pair, (first, *_) = beside
    return bool(first.reason), -_size(first), pair


def _size(one: Claim) -> float:
    return one.strength_nats if one.strength_nats is not None else 0.0


def _placed(n: int, pairs: Sequence[tuple[int, int]]) -> _Places:
    """Columns by the distance from the root, or from the first node of a part that the root does not reach."""
    columns = _distances(n, pairs)
    between = [
        tuple(sorted(pair, key=lambda node: columns[node])) for pair in pairs if columns[pair[0]] != columns[pair[1]]
    ]
    layered = Layered(n_vertices=n, layers=list(columns), chains=[list(pair) for pair in between])
    rows = place(arrange(layered)).rows if n else []
    least = min(rows, default=0.0)
    corners = tuple(
        (MARGIN + column * COLUMN_PITCH, MARGIN + (row - least) * ROW_PITCH)
        for column, row in zip(columns, rows, strict=True)
    )
    last = [pair for pair in pairs if columns[pair[0]] == columns[pair[1]] == max(columns)]
    arcs = max((_bulge(corners[a], corners[b]) * 0.75 + LABEL_ROOM for a, b in last), default=0.0)
    width = max((x for x, _ in corners), default=0.0) + NODE_WIDTH + MARGIN + arcs
    height = max((y for _, y in corners), default=0.0) + NODE_HEIGHT + MARGIN
    return _Places(corners, columns, width, height)


def _distances(n: int, pairs: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    distance: dict[int, int] = {}
    for start in range(n):
        if start in distance:
            continue
        distance[start], queue = 0, [start]
        for node in queue:
            for other in sorted(near[node]):
                if other not in distance:
                    distance[other] = distance[node] + 1
                    queue.append(other)
    return tuple(distance[node] for node in range(n))


def _lines(
    pair: tuple[int, int], told: Sequence[Claim], nodes: Sequence[Member], places: _Places, *, arrow: str
) -> str:  # fmt: skip
    """The lines between two nodes, the weakest drawn first."""
    names = {node.id: node.label for node in (nodes[pair[0]], nodes[pair[1]])}
    last = nodes[_ends(pair, places)[1]].id
    return "".join(
        _line(
            one, _curve(pair, places, shift=(index - (len(told) - 1) / 2) * BESIDE), names=names,
            runs_on=one.target == last, arrow=arrow,
        )
        for index, one in reversed([*enumerate(told)])
    )  # fmt: skip


def _line(one: Claim, curve: Curve, *, names: Mapping[str, str], runs_on: bool, arrow: str) -> str:
    """`runs_on`: the curve ends at the target, where the arrow stands."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = curve
    path = f"M{number(ax)} {number(ay)}C{number(bx)} {number(by)} {number(cx)} {number(cy)} {number(dx)} {number(dy)}"
    level = sum((one.strength_nats or 0.0) > bound for bound in THRESHOLDS_NATS)
    words = f"{names[one.source]} to {names[one.target]}, {one.says}: {one.words}"
    end = "marker-end" if runs_on else "marker-start"
    drawn = (
        f'<title>{text(words)}</title><path class="reach" d="{path}"/><path class="line" d="{path}" {end}="{arrow}"/>'
    )
    attributes = f'class="claim" data-standing="{one.standing}" data-level="{level}"'
    if not one.url:
        return f"<g {attributes}>{drawn}</g>"
    return f'<a {attributes} href="{address(one.url)}" aria-label="{attribute(words)}">{drawn}</a>'


def _label(pair: tuple[int, int], told: Sequence[Claim], places: _Places, *, taken: list[_Box]) -> str:
    """One label for all lines between two nodes: of the strongest, where no other label stands yet, or none."""
    first = told[0]
    strength = f" {nats(first.strength_nats)}" if first.strength_nats is not None and not first.reason else ""
    words = f"{shortened(first.says, WORD_CHARACTERS)} {SIGNS[first.standing]}{strength}"
    words += f" ×{len(told)}" if len(told) > 1 else ""
    curve = _curve(pair, places, shift=0.0)
    is_beside = places.columns[pair[0]] == places.columns[pair[1]]
    half = LETTER_WIDTH * len(words) / 2
    boxes = []
    for spot in SPOTS:
        x, y = _along(curve, spot)
        boxes.append(_Box(x + half + 6 if is_beside else x, y, half))
    box = next((one for one in boxes if not any(one.meets(other) for other in taken)), None)
    if box is None:
        return ""
    taken.append(box)
    return (
        f'<text class="claim-label" data-standing="{first.standing}" x="{number(box.x)}" y="{number(box.y + 4)}" '
        f'aria-hidden="true">{text(words)}</text>'
    )


def _ends(pair: tuple[int, int], places: _Places) -> tuple[int, int]:
    """The two nodes in the order in which their curve runs."""
    first, last = sorted(pair, key=lambda node: (places.columns[node], node))
    return first, last


def _curve(pair: tuple[int, int], places: _Places, *, shift: float) -> Curve:
    """From side to side between columns; within a column an arc on the right, and a loop at a single node."""
    a, b = _ends(pair, places)
    (ax, ay), (bx, by) = places.corners[a], places.corners[b]
    start = (ax + NODE_WIDTH, ay + NODE_HEIGHT / 2 + shift)
    if places.columns[a] != places.columns[b]:
        end = (bx, by + NODE_HEIGHT / 2 + shift)
        middle = (start[0] + end[0]) / 2
        return start, (middle, start[1]), (middle, end[1]), end
    bulge = _bulge((ax, ay), (bx, by)) + shift
    down = NODE_HEIGHT / 4
    if a == b:
        return (start[0], start[1] - down), (start[0] + bulge, start[1] - 2 * down), (
            start[0] + bulge, start[1] + 2 * down), (start[0], start[1] + down)  # fmt: skip
    end = (bx + NODE_WIDTH, by + NODE_HEIGHT / 2 + shift)
    return start, (start[0] + bulge, start[1]), (end[0] + bulge, end[1]), end


def _bulge(one: Point, other: Point) -> float:
    """How far an arc between two nodes of a column stands out, for the handles of its curve."""
    return min(MOST_BULGE, 40.0 + 0.35 * abs(other[1] - one[1]))


def _along(curve: Curve, t: float) -> Point:
    """The point of a cubic curve at t in [0, 1]."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x = sum(weight * point[0] for weight, point in zip(weights, curve, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, curve, strict=True))
    return x, y


def _member(one: Member, corner: Point) -> str:
    found = "the root, given" if one.is_root else f"{one.value}, {share(one.probability)}"
    words = f"{one.label}: {found}"
    value = "root" if one.is_root else f"{shortened(one.value, WORD_CHARACTERS)} · {share(one.probability)}"
    width = NODE_WIDTH - 16
    bar = (
        f'<rect class="track" x="8" y="36" width="{number(width)}" height="4"/>'
        f'<rect class="bar" x="8" y="36" width="{number(width * min(1.0, max(0.0, one.probability)))}" height="4"/>'
    )
    if one.is_root:
        bar = ""
    marks = ' data-focus=""' * one.is_focus + ' data-root=""' * one.is_root
    inside = (
        f"<title>{text(words)}</title>"
        f'<rect class="box" width="{number(NODE_WIDTH)}" height="{number(NODE_HEIGHT)}" rx="6"/>'
        f'<text class="label" x="8" y="16">{text(shortened(one.label, NAME_CHARACTERS))}</text>'
        f'<text class="words" x="8" y="30">{text(value)}</text>{bar}'
    )
    at = f'transform="translate({number(corner[0])} {number(corner[1])})"'
    if not one.url:
        return f'<g class="member" {at}{marks}>{inside}</g>'
    return f'<a class="member" {at}{marks} href="{address(one.url)}" aria-label="{attribute(words)}">{inside}</a>'
