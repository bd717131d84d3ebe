"""Two intervals over one axis and what both claim of it, drawn once.

Invariants
- An open end runs to the edge of the picture and ends in an arrow; a bounded one ends in a stroke.
- The shared stretch is a band behind both, with its own outline, so that it is not told by colour alone.
- The picture is told in words by its title; the numbers stand beside it on the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from audit.charts.markup import attribute, number, text

WIDTH, HEIGHT = 640.0, 84.0
LEFT, RIGHT = 24.0, 616.0
ROWS = (20.0, 48.0)
BAR = 14.0
# The part of the axis that lies beyond the last bound, so that an open end has somewhere to run.
BEYOND = 0.12


@dataclass(frozen=True, slots=True)
class Stretch:
    """One half-open interval; `end` None is open."""

    label: str
    start: datetime
    end: datetime | None


def intervals_svg(a: Stretch, b: Stretch, *, start: datetime, end: datetime | None, title: str) -> str:
    """Both stretches and the shared one from `start` to `end`, as one `<svg>` element, escaped."""
    bounds = [at for at in (a.start, b.start, a.end, b.end, start, end) if at is not None]
    first, last = min(bounds), max(bounds)
    length = (last - first).total_seconds() or 1.0
    has_open = a.end is None or b.end is None
    whole = length * (1 + BEYOND) if has_open else length

    def x(at: datetime | None) -> float:
        if at is None:
            return RIGHT
        return LEFT + (RIGHT - LEFT) * (at - first).total_seconds() / whole

    band = (
        f'<rect class="shared" x="{number(x(start))}" y="6" width="{number(max(x(end) - x(start), 2.0))}"'
        f' height="{number(HEIGHT - 24)}"/>'
    )
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="intervals" viewBox="0 0 {number(WIDTH)} {number(HEIGHT)}"',
            f' role="img" aria-label="{attribute(title)}">', band, _bar(a, ROWS[0], x), _bar(b, ROWS[1], x),
            f'<path class="axis" d="M{number(LEFT)} {number(HEIGHT - 14)}H{number(RIGHT)}"/></svg>',
        )
    )  # fmt: skip


def _bar(one: Stretch, y: float, x: object) -> str:
    assert callable(x)
    start, end = float(x(one.start)), float(x(one.end))
    width = max(end - start, 2.0)
    shape = f'<rect class="stretch" x="{number(start)}" y="{number(y - BAR / 2)}" width="{number(width)}" height="14"/>'
    if one.end is None:
        tip = f'<path class="open" d="M{number(end)} {number(y - 7)}l10 7l-10 7z"/>'
    else:
        tip = f'<path class="end" d="M{number(end)} {number(y - 10)}v20"/>'
    label = f'<text x="4" y="{number(y + 4)}">{text(one.label)}</text>'
    return f"<g>{shape}{tip}{label}</g>"
