"""What the evidence says of a graph of relations: conflicts in nats, probabilities, and what changes without a part.

Invariants
- Conflicts stand around a zero line: above it the rest of the evidence contradicts the observation, below it the rest
  corroborates it. An observation to which nothing else speaks has no bar but words, since zero would look like "fine".
- What is equal within TIE is said to be equal: a tie blames no observation alone, and a tied answer does not "stay".
- Every probability stands on one axis from 0 to 1. Prior and posterior differ by pattern, not only by ink; one that is
  only bounded shows its interval.
- A figure draws the most telling rows and says how many it leaves out; its table holds all of them.

Units: nats are natural-log units. A conflict is the log Bayes factor of "the observation has nothing to do with its two
nodes" against "it is right".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.charts.figures import Column, Figure, Ink, axis, drawn, not_drawn, said, zero_line
from audit.charts.markup import seen

MOST_ROWS = 24
ROW_PX = 26
FRAME_PX = 76
TIE = 1e-9
MOST_NAMED = 3
LABEL_CHARACTERS = 26
NARROW_CHARACTERS = 13
MINUS = "\u2212"
ARROW = " → "
QUARTERS: dict[str, Any] = {"tickmode": "array", "tickvals": [0, 0.25, 0.5, 0.75, 1]}


@dataclass(frozen=True, slots=True)
class Conflict:
    """One observation against the rest: `strength_nats` is None where no second path joins its nodes. `gives_way` if
    the best joint answer says something else of its nodes than it does."""

    name: str
    between: str
    strength_nats: float | None
    gives_way: bool = False


@dataclass(frozen=True, slots=True)
class Probability:
    """One label of one node, in [0, 1]. `low` and `high` bound a posterior that is not exact."""

    label: str
    prior: float
    posterior: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """The answer without one observation: the probability of the label that is on top with it, and the label on top
    then. `change_nats` is what log P of the label loses or gains. `equals`: all labels that are on top then, where
    there are several; `is_unknown` if these are all that there are."""

    name: str
    between: str
    probability: float
    top: str
    change_nats: float
    equals: tuple[str, ...] = ()
    is_unknown: bool = False


def nats(value: float) -> str:
    """Signed, two decimals: "+12.40", "−0.03", "0.00"."""
    shown = f"{abs(value):.2f}"
    sign = "" if float(shown) == 0 else "+" if value > 0 else MINUS
    return sign + shown


def share(value: float) -> str:
    """A probability to three digits; what is rounded to a certainty that it is not says so."""
    if 0 < value < 0.0005:
        return "< 0.001"
    if 0.9995 < value < 1:
        return "> 0.999"
    return f"{value:.3f}"


def conflict_bars(conflicts: Sequence[Conflict], *, id: str = "conflicts") -> Figure:
    """Each observation against the rest, the strongest contradiction on top."""
    by_name = sorted(conflicts, key=lambda one: (one.between, one.name))
    order = strongest_first([one.strength_nats for one in by_name], gives_way=[one.gives_way for one in by_name])
    ordered = [by_name[index] for index in order]
    known = [one for one in ordered if one.strength_nats is not None]
    columns = (
        Column("observation"),
        Column("between"),
        Column("conflict, nats", True),
        Column("the rest of the evidence"),
    )
    rows = [(one.name, one.between, _strength(one), verdict_of(one.strength_nats)) for one in ordered]
    label = "Signed bars: how far the rest of the evidence contradicts or corroborates each observation, in nats."
    if not conflicts:
        return not_drawn(
            id, finding="No observation is used, so nothing is in conflict.", label=label, columns=columns, rows=rows,
            state="nothing", reason="There is no evidence at this point.",
        )  # fmt: skip
    if not known:
        return not_drawn(
            id, finding=f"Nothing is told twice: {_counted(len(ordered), 'observation')} and no second path.",
            label=label, columns=columns, rows=rows, state="too_few",
            reason="A conflict needs a second way from one node to the other; here is none.",
        )  # fmt: skip
    shown = [*ordered[:MOST_ROWS]]
    return drawn(
        id, finding=_finding(known, n_bridges=len(ordered) - len(known), n_hidden=len(ordered) - len(shown)),
        label=label, columns=columns, rows=rows, traces=[_bars(shown)],
        layout={
            **_rows_layout([one.between for one in shown], title="conflict, nats", range=_room(shown)),
            "shapes": [zero_line(of="x")],
            "annotations": [_bridge(row) for row, one in enumerate(shown) if one.strength_nats is None],
        },
        height_px=_height(len(shown)),
    )  # fmt: skip


def verdict_of(strength_nats: float | None) -> str:
    """What the rest of the evidence does to an observation of this strength."""
    if strength_nats is None:
        return "no second path"
    return "contradicts" if strength_nats > 0 else "corroborates" if strength_nats < 0 else "says nothing"


def strongest_first(strengths: Sequence[float | None], *, gives_way: Sequence[bool]) -> list[int]:
    """The places of the strengths, strongest first and those without one last; of equal ones those that give way."""
    order = sorted(range(len(strengths)), key=lambda place: _falling(strengths[place]))
    tie, heads = -1, dict[int, int]()
    for place in order:
        # A tie begins with its strongest: it does not creep on from one to the next.
        if tie < 0 or _falling(strengths[place])[1] - _falling(strengths[tie])[1] > TIE:
            tie = place
        heads[place] = tie
    rank = {place: n for n, place in enumerate(order)}
    return sorted(
        order, key=lambda place: (strengths[place] is None, rank[heads[place]], not gives_way[place], place)
    )  # fmt: skip


def _falling(strength: float | None) -> tuple[bool, float]:
    return strength is None, -(strength or 0.0)


def _strength(one: Conflict) -> str:
    return "" if one.strength_nats is None else nats(one.strength_nats)


def _finding(known: Sequence[Conflict], *, n_bridges: int, n_hidden: int) -> str:
    worst = known[0].strength_nats or 0.0
    others = f"; {_counted(n_bridges, 'observation has', 'observations have')} no second path" if n_bridges else ""
    left_out = f"; {n_hidden} more in the table" if n_hidden else ""
    tied = [one for one in known if worst - (one.strength_nats or 0.0) <= TIE]
    if worst > 0 and len(tied) > 1:
        yields = [one.between for one in tied if one.gives_way]
        verb = "gives" if len(yields) == 1 else "give"
        way = f"; in the best joint answer {_together(yields)} {verb} way" if yields else ""
        told = f"{_counted(len(tied), 'observation')} contradict one another equally, by {worst:.1f} nats"
        return f"{told}{way}{others}{left_out}."
    if worst > 0:
        return f"The rest of the evidence contradicts {known[0].between} by {worst:.1f} nats{others}{left_out}."
    return f"Nothing is contradicted: the rest corroborates {_counted(len(known), 'observation')}{others}{left_out}."


def _together(words: Sequence[str]) -> str:
    """The words as a list in a sentence; of many the first, and how many more."""
    if len(words) > MOST_NAMED:
        return f"{words[0]} and {len(words) - 1} more"
    return " and ".join([part for part in (", ".join(words[:-1]), words[-1]) if part])


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or f'{one}s'}"


def _room(shown: Sequence[Conflict]) -> list[float]:
    """The axis with room for the number beside the longest bar of either side."""
    values = [0.0, *(one.strength_nats or 0.0 for one in shown)]
    low, high = min(values), max(values)
    room = 0.3 * ((high - low) or 1.0)
    return [low - (room if low < 0 else room / 4), high + room]


def _bars(shown: Sequence[Conflict]) -> dict[str, Any]:
    values = [one.strength_nats or 0.0 for one in shown]
    inks: list[Ink] = ["danger" if value > 0 else "ok" for value in values]
    return {
        "type": "bar", "orientation": "h", "x": values, "y": [*range(len(shown))], "width": 0.62,
        "marker": {"pattern": {"shape": ["/" if value > 0 else "" for value in values]}}, "meta": {"ink": inks},
        "text": ["" if one.strength_nats is None else nats(one.strength_nats) for one in shown],
        "textposition": "outside", "cliponaxis": False,
        "hovertext": [f"{said(one.name, 40)}: {verdict_of(one.strength_nats)}" for one in shown], "hoverinfo": "text",
    }  # fmt: skip


def probability_bars(
    probabilities: Sequence[Probability], *, node: str, method: str, n_observations: int, id: str = "probabilities"
) -> Figure:  # fmt: skip
    """Prior against posterior of each label of a node, the most probable on top.

    method : "exact", or how the numbers were come to.   n_observations : how many the answer rests on.
    """
    ordered = sorted(probabilities, key=lambda one: -one.posterior)
    shown = ordered[:MOST_ROWS]
    is_bounded = any(one.low is not None for one in ordered)
    columns = [Column("value"), Column("prior", True), Column("posterior", True)]
    rows = [[one.label, share(one.prior), share(one.posterior)] for one in ordered]
    if is_bounded:
        columns.append(Column("between", True))
        rows = [[*row, _interval(one)] for row, one in zip(rows, ordered, strict=True)]
    label = f"Paired bars from 0 to 1: prior and posterior of each value of {seen(node)}."
    if not ordered or n_observations == 0:
        return not_drawn(
            id, finding=f"Nothing is observed of {node}: what is believed of it is the prior.", label=label,
            columns=columns, rows=rows, state="nothing", reason="There is no evidence at this point.",
        )  # fmt: skip
    told = f"({method}, {_counted(n_observations, 'observation')}{_left_out(ordered)})."
    return drawn(
        id, finding=f"{_believed(ordered, node=node)} {told}",
        label=label, columns=columns, rows=rows,
        traces=[_paired(shown, "posterior"), _paired(shown, "prior")],
        layout={
            **_rows_layout([one.label for one in shown], title="probability", range=[0, 1.12], **QUARTERS),
            "bargap": 0.28, "barmode": "group",
        },
        height_px=_height(len(shown), row_px=38),
    )  # fmt: skip


def _left_out(ordered: Sequence[Probability]) -> str:
    n = len(ordered) - MOST_ROWS
    return f", {n} more in the table" if n > 0 else ""


def _believed(ordered: Sequence[Probability], *, node: str) -> str:
    """The most probable value, or those that are equally so."""
    top = ordered[0]
    tied = [one.label for one in ordered if top.posterior - one.posterior <= TIE]
    if len(tied) == 1:
        return f"{node} is most probably {top.label}: {share(top.posterior)}"
    return f"{node} is equally probably {_together(tied).replace(' and ', ' or ')}: {share(top.posterior)} each"


def _paired(shown: Sequence[Probability], which: str) -> dict[str, Any]:
    is_prior = which == "prior"
    values = [one.prior if is_prior else one.posterior for one in shown]
    trace: dict[str, Any] = {
        "type": "bar", "orientation": "h", "name": which, "x": values, "y": [*range(len(shown))],
        "marker": {"pattern": {"shape": "/" if is_prior else ""}}, "meta": {"ink": "muted" if is_prior else "series-1"},
        "text": [share(value) for value in values], "textposition": "outside", "cliponaxis": False,
        "hoverinfo": "skip",
    }  # fmt: skip
    if not is_prior and any(one.low is not None for one in shown):
        # The number would stand on the line of the interval; it is in the table beside its bounds.
        del trace["text"]
        bounds = [(one, one.low if one.low is not None else one.posterior) for one in shown]
        trace["error_x"] = {
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 4,
            "array": [max(0.0, (one.high if one.high is not None else one.posterior) - one.posterior) for one in shown],
            "arrayminus": [max(0.0, one.posterior - low) for one, low in bounds],
        }  # fmt: skip
    return trace


def _interval(one: Probability) -> str:
    return "" if one.low is None or one.high is None else f"{share(one.low)} to {share(one.high)}"


def removal_dots(
    removals: Sequence[Removal], *, node: str, top: str, now: float, is_tied: bool = False, id: str = "removals"
) -> Figure:  # fmt: skip
    """What becomes of the most probable label of a node without each observation, those that end it on top.

    top, now : the label with all the evidence, and its probability.   is_tied : another is as probable as it is.
    """
    ordered = sorted(removals, key=lambda one: (_stays(one, top), -abs(one.change_nats), one.between, one.name))
    columns = (
        Column("without"), Column("between"), Column(f"probability of {said(top, 30)}", True),
        Column("change, nats", True), Column("most probable then"),
    )  # fmt: skip
    rows = [
        (one.name, one.between, share(one.probability), nats(one.change_nats), _then(one, top=top))
        for one in ordered
    ]  # fmt: skip
    label = f"Dots from 0 to 1: the probability of {seen(top)} for {seen(node)} without each observation."
    if not ordered:
        return not_drawn(
            id, finding="No observation can be left out: there is none.", label=label, columns=columns, rows=rows,
            state="nothing", reason="There is no evidence at this point.",
        )  # fmt: skip
    shown = ordered[:MOST_ROWS]
    line = {"type": "line", "x0": now, "x1": now, "y0": 0, "y1": 1, "yref": "paper", "name": "muted",
            "line": {"width": 1.5, "dash": "dash"}}  # fmt: skip
    return drawn(
        id, finding=_nothing_carried(node) if is_tied else _carried(ordered, top=top),
        label=label, columns=columns, rows=rows, traces=[_dots(shown, top=top)],
        layout={
            **_rows_layout(
                [one.between for one in shown], title=f"probability of {said(top, 30)}", range=[-0.04, 1.04], **QUARTERS
            ),
            "shapes": [line],
        },
        height_px=_height(len(shown)),
    )  # fmt: skip


def _nothing_carried(node: str) -> str:
    return f"No value of {node} is the most probable, so no observation carries an answer."


def _carried(ordered: Sequence[Removal], *, top: str) -> str:
    carrying = [one for one in ordered if not _stays(one, top)]
    hidden = f"; {len(ordered) - MOST_ROWS} more in the table" if len(ordered) > MOST_ROWS else ""
    if not carrying:
        return f"No single observation carries the answer: it stays {top} without any one of {len(ordered)}{hidden}."
    first = carrying[0]
    carry = _counted(len(carrying), "observation carries", "observations each carry")
    becomes = (
        "nothing is known" if first.is_unknown else f"{_together(first.equals)} are equally probable" if first.equals
        else f"it is {first.top}"
    )  # fmt: skip
    return f"{carry} the answer: without {first.between} {becomes}{hidden}."


def _stays(one: Removal, top: str) -> bool:
    return one.top == top and not one.equals


def _then(one: Removal, *, top: str) -> str:
    """What is most probable without it, in the table."""
    if one.is_unknown:
        return "none: nothing is known"
    if one.equals:
        return f"{_together(one.equals).replace(' and ', ' or ')}, equally"
    return one.top if one.top == top else f"{one.top} (flips)"


def _mark(one: Removal, *, top: str) -> str:
    """What stands beside its dot."""
    if one.is_unknown or one.equals:
        return "nothing is known" if one.is_unknown else "a tie"
    return "" if one.top == top else f"flips to {said(one.top, 16)}"


def _dots(shown: Sequence[Removal], *, top: str) -> dict[str, Any]:
    inks: list[Ink] = ["series-1" if _stays(one, top) else "danger" for one in shown]
    symbols = ["circle" if _stays(one, top) else "x" for one in shown]
    return {
        "type": "scatter", "mode": "markers+text", "x": [one.probability for one in shown], "y": [*range(len(shown))],
        "marker": {"size": 10, "symbol": symbols}, "meta": {"ink": inks},
        "text": [_mark(one, top=top) for one in shown],
        "textposition": ["middle right" if one.probability < 0.5 else "middle left" for one in shown],
        "cliponaxis": False, "hoverinfo": "text",
        "hovertext": [f"without {said(one.name, 40)}: {share(one.probability)}" for one in shown],
    }  # fmt: skip


def _rows_layout(labels: Sequence[str], *, title: str, **given: Any) -> dict[str, Any]:
    """Rows from top to bottom: places are numbers, since two labels that are cut alike would fall into one."""
    return {
        "xaxis": axis(title, tickangle=0, **given),
        "yaxis": axis(
            "", tickmode="array", tickvals=[*range(len(labels))], showgrid=False, ticks="",
            ticktext=[said(label, LABEL_CHARACTERS) for label in labels], range=[len(labels) - 0.5, -0.5],
        ),
        "meta": {"narrow_ticks": [_narrow(label) for label in labels]},
    }  # fmt: skip


def _narrow(label: str) -> str:
    """The label for a narrow window; of two nodes both stay to be told apart."""
    source, arrow, target = label.partition(ARROW)
    return said(source, NARROW_CHARACTERS // 2) + arrow + said(target, NARROW_CHARACTERS // 2) if arrow else said(
        label, NARROW_CHARACTERS)  # fmt: skip


def _bridge(row: int) -> dict[str, Any]:
    words = verdict_of(None)
    return {"x": 0, "y": row, "text": words, "showarrow": False, "xanchor": "left", "xshift": 6, "name": "muted"}


def _height(n_rows: int, *, row_px: int = ROW_PX) -> int:
    return FRAME_PX + max(n_rows, 2) * row_px
