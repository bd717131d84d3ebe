"""A strip of small bars: one number a day, usually over 14 days, with the zero line drawn.

Invariants
- A day without data is a gap with its own mark and never a bar of height zero; a zero is a bar of its own kind.
- Too few to say is a third mark, and it wins over the value.
- Several strips share an axis when they are given the same ``top``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.markup import attribute, number, text

BAR_WIDTH = 12.0
BAR_PITCH = 16.0
HEIGHT = 40.0
MARGIN = 3.0
LEAST_SLOTS = 14
LEAST_BAR = 1.5


@dataclass(frozen=True, slots=True)
class SparkBar:
    """One day. ``value`` None means that there are no data; ``low`` and ``high`` bound it where it is uncertain."""

    label: str
    value: float | None
    words: str
    is_too_few: bool = False
    low: float | None = None
    high: float | None = None


def spark_svg(bars: Sequence[SparkBar], *, title: str, top: float | None = None) -> str:
    """The strip as one ``<svg>`` element, escaped.

    bars : oldest first, values not below 0.   top : the value at full height, by default the greatest one shown.
    Raises ValueError for a negative value.
    """
    if any(bar.value is not None and bar.value < 0 for bar in bars):
        raise ValueError("a strip of bars begins at zero and shows no negative value")
    shown = [bar.high if bar.high is not None else bar.value for bar in bars if not bar.is_too_few]
    greatest = top or max((value for value in shown if value is not None), default=0.0) or 1.0
    width = max(len(bars), LEAST_SLOTS) * BAR_PITCH
    zero = HEIGHT - MARGIN
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="spark" viewBox="0 0 {number(width)} {number(HEIGHT)}" ',
            f'role="img" aria-label="{attribute(title)}" preserveAspectRatio="none">',
            *(_bar(bar, x=index * BAR_PITCH, zero=zero, greatest=greatest) for index, bar in enumerate(bars)),
            f'<path class="zero" d="M0 {number(zero)}H{number(width)}"/>',
            "</svg>",
        ]
    )


def _bar(bar: SparkBar, *, x: float, zero: float, greatest: float) -> str:
    title = f"<title>{text(bar.label)}: {text(bar.words)}</title>"
    middle = x + BAR_PITCH / 2
    if bar.is_too_few:
        return f'<g class="too-few">{title}<path d="M{number(middle - 3)} {number(zero - 4)}h6"/></g>'
    if bar.value is None:
        return f'<g class="gap">{title}<path d="M{number(middle - 3)} {number(zero)}h6"/></g>'
    reach = zero - MARGIN
    height = max(LEAST_BAR, min(1.0, bar.value / greatest) * reach)
    kind = "bar" if bar.value else "none"
    band = ""
    if bar.low is not None and bar.high is not None:
        upper, lower = (zero - min(1.0, max(0.0, bound / greatest)) * reach for bound in (bar.high, bar.low))
        band = f'<path class="band" d="M{number(middle)} {number(upper)}V{number(lower)}"/>'
    return (
        f'<g class="{kind}">{title}<rect x="{number(x + (BAR_PITCH - BAR_WIDTH) / 2)}" y="{number(zero - height)}" '
        f'width="{number(BAR_WIDTH)}" height="{number(height)}"/>{band}</g>'
    )
