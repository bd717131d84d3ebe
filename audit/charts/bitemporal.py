"""Versions over two clocks as a drawing: true on from left to right, as recorded by from below upwards.

One rectangle for each version, labelled with its value; its left and lower edge belong to it, its right and upper edge
do not. Open ends run into a zone that fades, with an arrow. Erased is hatched one way, withdrawn and retracted the
other way; each says so in words. What a source claims is dashed. Above the diagonal lies what was recorded late.

Invariants
- Every version given is drawn or counted in the title; equal pictures give equal bytes, in whatever order they come.
- Whatever is marked by a hatch, a dash or a colour is in the words of its title too; colours are left to the style
  sheet.
- All text is escaped. The change points of both clocks stand in data attributes, as an address asks for them.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from audit import states
from audit.charts.bitemporal_layout import LEAST, LEFT, OPEN_ZONE, RIGHT, TOP, WIDTH, Box, Lane, Layout, laid_out
from audit.charts.bitemporal_values import BEGINNING, Change, Known, Learned, Picture, Point, Version, learned
from audit.charts.markup import address, attribute, number, shortened, text

CHARACTER_WIDTH = 7.0
LABEL_LEAST_WIDTH = 34.0
LABEL_LEAST_HEIGHT = 15.0
VALUE_CHARACTERS = 60
MOST_STRETCHES = 12
VALID_LABEL_GAP = 92.0
KNOWN_LABEL_GAP = 30.0
HATCHED = {"erased": "erased", "withdrawn": "ended", "retracted": "ended"}
MARKS: dict[Change, str] = {"added": "+", "removed": "−", "changed": "≠", "kept": "="}


def bitemporal_svg(picture: Picture, *, drawing_id: str = "timeline") -> str:
    """The picture as one ``<svg>`` element, escaped and ready to print.

    drawing_id : prefix of the ids inside, for two drawings on one page.
    """
    layout = laid_out(picture)
    name, height = attribute(drawing_id), number(layout.height)
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="bitemporal" id="{name}" viewBox="0 0 {number(WIDTH)} ',
            f'{height}" role="group" aria-label="{attribute(title_of(picture, layout))}"',
            f'{_flag("claimed", picture.is_claimed)} data-true-on="{_valid_stops(layout)}" ',
            f'data-recorded-by="{_known_stops(picture, layout)}">',
            _definitions(name),
            *(_ground(lane, layout, picture) for lane in layout.lanes),
            '<g class="versions">',
            *(_box(box, name) for box in sorted(layout.boxes, key=_drawn_order)),
            "</g>",
            *(_over(lane, layout, name) for lane in layout.lanes),
            *_labels(layout),
            *_learned(picture, layout),
            _axes(picture, layout),
            *_crosshair(picture.point, layout),
            "</svg>",
        ]
    )


def title_of(picture: Picture, layout: Layout | None = None) -> str:
    """The drawing in one sentence: how much of it is shown, and what it is read by."""
    found = layout or laid_out(picture)
    n_lanes = f" in {len(found.lanes)} lanes" if len(found.lanes) > 1 else ""
    claimed = ", claimed by the source, not proven here" if picture.is_claimed else ""
    return f"Timeline: {found.n_shown} of {found.n_total} versions shown{n_lanes}{claimed}"


def words_of(version: Version) -> str:
    """A version in one line: what it says, when it is true, by when it is known, and how it stands."""
    valid = f"true on {_interval(version.valid_from, version.valid_to)}"
    until = f" until {_recording(version.known_to)}" if version.known_to else ""
    known = f"recorded by {_recording(version.known_from)}{until}"
    parts = [
        shortened(version.value, VALUE_CHARACTERS), version.group, valid, known, states.state(version.state).word,
        version.ended_by,
    ]  # fmt: skip
    if version.claimed_at is not None:
        parts.append(f"the source claims to have known it by {_instant(version.claimed_at)}")
    return ", ".join(part for part in parts if part)


def _definitions(name: str) -> str:
    def hatch(key: str, angle: int) -> str:
        return (
            f'<pattern id="{name}-{key}" width="7" height="7" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({angle})"><path class="hatch-line" d="M0 0V7"/></pattern>'
        )

    def fade(key: str, way: str) -> str:
        return (
            f'<linearGradient id="{name}-{key}" {way}><stop class="fade-stop" offset="0" stop-opacity="0"/>'
            '<stop class="fade-stop" offset="1" stop-opacity=".9"/></linearGradient>'
        )

    marks = [hatch("erased", 45), hatch("ended", -45)]
    ways = {"left": 'x1="1" x2="0"', "right": 'x1="0" x2="1"', "up": 'x2="0" y1="1" y2="0"'}
    return f"<defs>{''.join(marks)}{''.join(fade(key, way) for key, way in ways.items())}</defs>"


def _ground(lane: Lane, layout: Layout, picture: Picture) -> str:
    """What lies under the rectangles of a lane: its frame, the area of late recording, the band of a comparison."""
    found = f'<rect class="ground" {_sides(LEFT, lane.top, RIGHT - LEFT, lane.bottom - lane.top)}/>'
    if len(layout.lanes) > 1:
        words = f"lane {layout.lanes.index(lane) + 1} of {len(layout.lanes)}"
        words += f" · {shortened(lane.group, 60)}" if lane.group else ""
        found += f'<text class="lane" x="{number(LEFT)}" y="{number(lane.top - 12)}">{text(words)}</text>'
    if corners := _diagonal(lane, layout):
        edge = f"M{number(LEFT)} {number(corners[0][1])}L{_line(corners)}V{number(lane.top)}H{number(LEFT)}z"
        found += f'<path class="late" d="{edge}"/>'
    if picture.against is not None:
        high, low = sorted(lane.known.place(known.at) for known in (picture.point.known, picture.against))
        found += f'<rect class="band" {_sides(LEFT, high, RIGHT - LEFT, low - high)}/>'
    return found


def _over(lane: Lane, layout: Layout, name: str) -> str:
    """What lies over them: the line "recorded when true", and the veils over the zones into which open ends run."""
    height = lane.bottom - lane.top
    veils = {
        "left": _sides(LEFT, lane.top, OPEN_ZONE, height),
        "right": _sides(RIGHT - OPEN_ZONE, lane.top, OPEN_ZONE, height),
        "up": _sides(LEFT, lane.top, RIGHT - LEFT, OPEN_ZONE),
    }
    drawn = "".join(f'<rect {sides} fill="url(#{name}-{key})"/>' for key, sides in veils.items())
    corners = _diagonal(lane, layout)
    line = f'<path class="diagonal" d="M{_line(corners)}"/>' if corners else ""
    return f'<g class="over">{line}{drawn}</g>'


def _diagonal(lane: Lane, layout: Layout) -> list[tuple[float, float]]:
    return [(x, y + lane.top - TOP) for x, y in layout.diagonal]


def _line(corners: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{number(x)} {number(y)}" for x, y in corners)


def _drawn_order(box: Box) -> tuple[bool, int]:
    """Ticks last, so that no rectangle covers them."""
    return not box.version.has_area, box.index


def _box(box: Box, name: str) -> str:
    version = box.version
    width, height = max(LEAST, box.right - box.left), max(LEAST, box.bottom - box.top)
    sides = _sides(box.left, box.bottom - height, width, height)
    shape = f'<rect class="box" {sides}/>'
    if hatch := HATCHED.get(version.state, ""):
        shape += f'<rect {sides} fill="url(#{name}-{hatch})"/>'
    inner = f"<title>{text(words_of(version))}</title>{_claimed(box)}{shape}{_arrows(box)}"
    told = (
        f'data-version="{box.index}" data-state="{attribute(version.state)}"'
        f"{_flag('ended', version.known_to is not None)}{_flag('tick', not version.has_area)}"
    )
    if not version.href:
        return f"<g {told}>{inner}</g>"
    # The table beside the drawing has the same links; a hundred more would stand in the way of the keys.
    return f'<a href="{address(version.href)}" tabindex="-1" {told}>{inner}</a>'


def _claimed(box: Box) -> str:
    """From the instant that the source claims up to the first recording here."""
    if box.claimed is None:
        return ""
    left, right = number(box.left), number(max(box.right, box.left + LEAST))
    return f'<path class="claim" d="M{left} {number(box.bottom)}V{number(box.claimed)}H{right}V{number(box.bottom)}"/>'


def _arrows(box: Box) -> str:
    marks = ""
    middle = (box.top + box.bottom) / 2
    if box.version.valid_to is None:
        marks += f"M{number(RIGHT + 2)} {number(middle - 4)}l7 4l-7 4z"
    if box.version.valid_from is None:
        marks += f"M{number(LEFT - 2)} {number(middle - 4)}l-7 4l7 4z"
    if box.version.known_to is None:
        across = (box.left + box.right) / 2
        marks += f"M{number(across - 4)} {number(box.top - 2)}l4 -7l4 7z"
    return f'<path class="open" d="{marks}"/>' if marks else ""


def _labels(layout: Layout) -> list[str]:
    """The value in each rectangle that has room for it and is not labelled over by another one."""
    found: list[str] = []
    taken: list[tuple[int, float, float, float]] = []
    for box in layout.boxes:
        left = max(box.left, LEFT + OPEN_ZONE - 4) if box.version.valid_from is None else box.left
        width = min(box.right, RIGHT - OPEN_ZONE / 2) - left - 8
        if width < LABEL_LEAST_WIDTH or box.bottom - box.top < LABEL_LEAST_HEIGHT:
            continue
        words = shortened(box.version.value, int(width / CHARACTER_WIDTH))
        x, end = left + 5, left + 5 + len(words) * CHARACTER_WIDTH
        y = box.bottom - 5
        while y - LABEL_LEAST_HEIGHT >= box.top - 1 and _is_taken(taken, box.lane, x, end, y):
            y -= LABEL_LEAST_HEIGHT
        if y - LABEL_LEAST_HEIGHT < box.top - 1 and _is_taken(taken, box.lane, x, end, y):
            continue
        taken.append((box.lane, x, end, y))
        found.append(
            f'<svg x="{number(x)}" y="{number(y - 12)}" width="{number(width)}" height="17">'
            f'<text class="label" x="0" y="12" data-state="{attribute(box.version.state)}">{text(words)}</text></svg>'
        )
    return [f'<g class="labels" aria-hidden="true">{"".join(found)}</g>']


def _is_taken(taken: Iterable[tuple[int, float, float, float]], lane: int, x: float, end: float, y: float) -> bool:
    return any(
        lane == other and x < other_end and start < end and abs(y - line) < LABEL_LEAST_HEIGHT
        for other, start, other_end, line in taken
    )


def _learned(picture: Picture, layout: Layout) -> list[str]:
    """The other recording in each lane, and stretch by stretch what was learned between the two."""
    if picture.against is None:
        return []
    earlier, later = sorted((picture.against, picture.point.known))
    found = [
        f'<path class="against" d="M{number(LEFT)} {number(lane.known.place(picture.against.at))}H{number(RIGHT)}"/>'
        for lane in layout.lanes
    ]
    # The stretches of a group stand in its first lane.
    lanes = {lane.group: lane for lane in reversed(layout.lanes)}
    told = learned(picture.versions, earlier=earlier, later=later)
    for one in [one for one in told if one.change != "kept" and one.group in lanes][:MOST_STRETCHES]:
        known = lanes[one.group].known
        found.append(_stretch(one, layout, y=(known.place(earlier.at) + known.place(later.at)) / 2))
    y = layout.lanes[0].known.place(picture.against.at) - 4
    words = f"compared with {_recording(picture.against)}"
    found.append(f'<text class="cross-label" x="{number(RIGHT - 6)}" y="{number(y)}">{text(words)}</text>')
    return ['<g class="learned">', *found, "</g>"]


def _stretch(one: Learned, layout: Layout, *, y: float) -> str:
    left = layout.valid.low if one.valid_from is None else layout.valid.place(one.valid_from)
    right = layout.valid.high if one.valid_to is None else layout.valid.place(one.valid_to)
    was, became = (" or ".join(shortened(version.value, 30) for version in side) for side in (one.before, one.after))
    told = {"added": f"added: {became}", "removed": f"removed: {was}", "changed": f"changed: {was} → {became}"}
    words = f"{told[one.change]}, true on {_interval(one.valid_from, one.valid_to)}"
    middle = (left + right) / 2
    return (
        f'<g data-change="{one.change}"><title>{text(words)}</title>'
        f'<path class="stretch" d="M{number(left)} {number(y)}H{number(right)}"/>'
        f'<circle cx="{number(middle)}" cy="{number(y)}" r="8"/>'
        f'<text class="mark" x="{number(middle)}" y="{number(y + 4)}">{MARKS[one.change]}</text></g>'
    )


def _axes(picture: Picture, layout: Layout) -> str:
    """The change points of both clocks, as many of them in words as there is room for."""
    last, seqs = layout.lanes[-1], _seqs(picture, layout)
    ticks = "".join(f"M{number(place)} {number(last.bottom)}v5" for place in layout.valid.places)
    found = []
    for place, at in _spaced(zip(layout.valid.places, layout.valid.stops, strict=True), VALID_LABEL_GAP):
        lines = _second(at).split(" ", 1)
        found.append(
            f'<text class="tick" x="{number(place)}" y="{number(last.bottom + 17)}">{lines[0]}'
            + (f'<tspan x="{number(place)}" dy="12">{lines[1]}</tspan>' if len(lines) > 1 else "")
            + "</text>"
        )
    for lane in layout.lanes:
        ticks += "".join(f"M{number(LEFT)} {number(place)}h-5" for place in lane.known.places)
        for place, at in _spaced(zip(lane.known.places, lane.known.stops, strict=True), KNOWN_LABEL_GAP):
            x, seq = number(LEFT - 9), seqs.get(at)
            first = f'<tspan x="{x}" y="{number(place - 2)}">seq {seq}</tspan>' if seq else ""
            y = number(place + (11 if seq else 4))
            found.append(f'<text class="tick known">{first}<tspan x="{x}" y="{y}">{_second(at)}</tspan></text>')
    names = (
        f'<text class="axis" x="{number(RIGHT)}" y="{number(layout.height - 3)}">true on (UTC) →</text>'
        f'<text class="axis known" x="6" y="14">↑ as recorded by (UTC)</text>'
    )
    return f'<g class="axes" aria-hidden="true"><path class="ticks" d="{ticks}"/>{"".join(found)}{names}</g>'


def _spaced(marks: Iterable[tuple[float, datetime]], gap: float) -> list[tuple[float, datetime]]:
    kept: list[tuple[float, datetime]] = []
    for place, at in marks:
        if not kept or abs(place - kept[-1][0]) >= gap:
            kept.append((place, at))
    return kept


def _crosshair(point: Point, layout: Layout) -> list[str]:
    """The point: one line through all lanes, one in each, and where they meet."""
    x = layout.valid.place(point.valid_at)
    words = f"true on {_second(point.valid_at)}, recorded by {_recording(point.known)}"
    found = [f'<path class="cross true-on" d="M{number(x)} 20V{number(layout.lanes[-1].bottom)}"/>']
    for lane in layout.lanes:
        y = number(lane.known.place(point.known.at))
        found.append(
            f'<path class="cross recorded-by" d="M{number(LEFT)} {y}H{number(RIGHT)}"/>'
            f'<circle class="handle" cx="{number(x)}" cy="{y}" r="6"/>'
        )
    half = len(words) * CHARACTER_WIDTH / 2
    middle = min(max(x, LEFT + half), WIDTH - 4 - half)
    found.append(f'<text class="cross-label" x="{number(middle)}" y="14">{text(words)}</text>')
    return ['<g class="crosshair" aria-hidden="true">', *found, "</g>"]


def _valid_stops(layout: Layout) -> str:
    """ "place=instant" of each change point of the world, as an address writes the instant."""
    return " ".join(
        f"{number(place)}={_in_url(at)}" for place, at in zip(layout.valid.places, layout.valid.stops, strict=True)
    )


def _known_stops(picture: Picture, layout: Layout) -> str:
    """ "place=recording" of each change point of recording in the first lane, from below upwards."""
    seqs = _seqs(picture, layout)
    marks = []
    for place, at in zip(layout.lanes[0].known.places, layout.lanes[0].known.stops, strict=True):
        if picture.is_claimed:
            marks.append(f"{number(place)}=source:{_in_url(at)}")
        elif seqs.get(at):
            marks.append(f"{number(place)}=seq:{seqs[at]}")
    return " ".join(marks)


def _seqs(picture: Picture, layout: Layout) -> dict[datetime, int]:
    """The entry of each recording that has one."""
    told = [known for box in layout.boxes for known in _knowns(box.version)]
    return {known.at: known.seq for known in [*told, *((picture.against,) if picture.against else ())] if known.seq}


def _knowns(version: Version) -> Sequence[Known]:
    return (version.known_from,) if version.known_to is None else (version.known_from, version.known_to)


def _recording(known: Known) -> str:
    if known == BEGINNING:
        return "the beginning"
    return f"seq {known.seq}" if known.seq else _instant(known.at)


def _interval(start: datetime | None, end: datetime | None) -> str:
    opening = f"[{_instant(start)}" if start else "(open"
    return f"{opening} → {_instant(end) if end else 'open'})"


def _instant(at: datetime) -> str:
    """A day at midnight, else with as much of the time as it has."""
    moment = at.astimezone(UTC)
    if moment.microsecond:
        return f"{moment:%Y-%m-%d %H:%M:%S.%f}"
    shown = f"{moment:%Y-%m-%d %H:%M:%S}"
    return shown.removesuffix(" 00:00:00") if shown.endswith(" 00:00:00") else shown


def _second(at: datetime) -> str:
    """The same to the second, for the eye."""
    return _instant(at.replace(microsecond=0))


def _in_url(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _sides(x: float, y: float, width: float, height: float) -> str:
    return f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'


def _flag(name: str, is_set: bool) -> str:
    return f' data-{name}=""' if is_set else ""
