"""One drawn example of three nodes, which says what a conflict is before a page shows the first number of nats.

Four observations: a is like b, b is like c, a is like c, and a fourth that says a is unlike c. Two ways lead from a to
c beside it, and what they say together is held against it. All numbers are worked out here, over the four ways in which
b and c can be like a or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import log, prod

from audit.charts.relations import Claim, Member, relations_svg

type Observed = tuple[str, str, float]

OBSERVED: tuple[Observed, ...] = (("a", "b", 0.9), ("b", "c", 0.9), ("a", "c", 0.9), ("a", "c", 0.2))
"""Two nodes, and how probable it is by the observation alone that they are alike."""

ODD = 3


@dataclass(frozen=True, slots=True)
class Example:
    """The drawing, and the numbers of its sentence: probabilities that a and c are alike, and a conflict in nats.

    over_b : by the two observations over b.   straight : by the other one between the two.   odd : by the one that says
    unlike.   without_odd, together : by the rest, and by all.   strength_nats : of the odd one against the rest.
    """

    svg: str
    over_b: float
    straight: float
    odd: float
    without_odd: float
    together: float
    strength_nats: float


def example() -> Example:
    """The example, the same each time."""
    claims = [
        Claim(str(index), a, b, _said(p), _conflict(index)) for index, (a, b, p) in enumerate(OBSERVED)
    ]  # fmt: skip
    members = [Member("a", "a", "", 1.0, is_root=True)]
    for node in "bc":
        alike = _alike("a", node, observed=OBSERVED)
        members.append(Member(node, node, _said(alike), max(alike, 1 - alike)))
    title = "Three nodes: three observations say that they are alike, a fourth says that a is unlike c."
    return Example(
        relations_svg(members, claims, title=title, drawing_id="example"),
        over_b=_alike("a", "c", observed=OBSERVED[:2]), straight=OBSERVED[2][2], odd=OBSERVED[ODD][2],
        without_odd=_alike("a", "c", observed=_without(ODD)), together=_alike("a", "c", observed=OBSERVED),
        strength_nats=_conflict(ODD),
    )  # fmt: skip


def _said(p: float) -> str:
    return "alike" if p > 0.5 else "unlike"


def _without(index: int) -> tuple[Observed, ...]:
    return OBSERVED[:index] + OBSERVED[index + 1 :]


def _alike(a: str, b: str, *, observed: Sequence[Observed]) -> float:
    """How probable two nodes are alike, over every way in which all three can be."""
    ways = [dict(zip("abc", (True, *rest), strict=True)) for rest in product((True, False), repeat=2)]
    weights = [prod(p if way[x] == way[y] else 1 - p for x, y, p in observed) for way in ways]
    return sum(weight for way, weight in zip(ways, weights, strict=True) if way[a] == way[b]) / sum(weights)


def _conflict(index: int) -> float:
    """The log Bayes factor of "this observation has nothing to do with its nodes" against "it is right"."""
    a, b, p = OBSERVED[index]
    others = _alike(a, b, observed=_without(index))
    return log(0.5 / (others * p + (1 - others) * (1 - p)))
