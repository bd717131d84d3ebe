"""The last runs of one check as a strip: how many violations each found, and the days on which it did not run.

Invariants
- Four marks that differ in shape: a bar with its height for violations, a low line for none, a hollow one where the run
  could not decide, an empty frame where there was no run. An empty frame is never drawn like a good answer.
- The newest stands at the right end; a strip of few runs leaves its left side empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from audit.charts.markup import attribute, number, text

BAR_WIDTH = 5.0
BAR_PITCH = 7.0
HEIGHT = 28.0
MARGIN = 2.0
SLOTS = 30
LEAST_BAR = 5.0
LOW = 2.0

type Outcome = Literal["broken", "holds", "undecidable", "not_run"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One run, or one day without one. `words` tell it to whoever cannot see it."""

    label: str
    outcome: Outcome
    n_violations: int
    words: str


def violations_svg(slots: Sequence[Slot], *, title: str) -> str:
    """The strip as one ``<svg>`` element, escaped.

    slots : oldest first; the last SLOTS are drawn, the highest bar for the most violations among them.
    Raises ValueError for a negative number.
    """
    if any(slot.n_violations < 0 for slot in slots):
        raise ValueError("a number of violations is not negative")
    drawn = slots[-SLOTS:]
    most = max((slot.n_violations for slot in drawn if slot.outcome == "broken"), default=0) or 1
    width = SLOTS * BAR_PITCH
    first = SLOTS - len(drawn)
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="violations" viewBox="0 0 {number(width)} ',
            f'{number(HEIGHT)}" role="img" aria-label="{attribute(title)}" preserveAspectRatio="none">',
            *(_mark(slot, x=(first + index) * BAR_PITCH + 1, most=most) for index, slot in enumerate(drawn)),
            f'<path class="zero" d="M0 {number(HEIGHT - MARGIN)}H{number(width)}"/>',
            "</svg>",
        ]
    )


def _mark(slot: Slot, *, x: float, most: int) -> str:
    title = f"<title>{text(slot.label)}: {text(slot.words)}</title>"
    zero, reach = HEIGHT - MARGIN, HEIGHT - 2 * MARGIN
    heights: dict[Outcome, float] = {"holds": LOW, "undecidable": LEAST_BAR, "not_run": reach}
    height = heights.get(slot.outcome) or max(LEAST_BAR, min(1.0, slot.n_violations / most) * reach)
    inset = 0.0 if slot.outcome in ("broken", "holds") else 0.5
    return (
        f'<g data-outcome="{slot.outcome}">{title}<rect x="{number(x + inset)}" y="{number(zero - height + inset)}" '
        f'width="{number(BAR_WIDTH - 2 * inset)}" height="{number(height - 2 * inset)}"/></g>'
    )
