"""The same question at another recorded time: what each node was believed to be then, and which observations moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.http import HttpRequest

from audit.access import Visit
from audit.navigation import Link
from audit.pages.beliefs.words import Share, named
from audit.templatetags.console import count
from memory.base.errors import Conflict, Invalid, NotFound
from memory.beliefs.kernel.capsule import ranked
from memory.beliefs.kernel.questions import QueryDocument
from memory.beliefs.kernel.terms import Budget
from memory.beliefs.queries.asking import Asking, ask
from memory.lineage.queries.comparing import other_point


@dataclass(frozen=True, slots=True)
class Moved:
    """A node at both points: its most probable value, and the total variation between the two beliefs."""

    name: str
    then: str
    then_share: Share
    now: str
    now_share: Share
    variation: float

    @property
    def is_other(self) -> bool:
        return self.then != self.now


@dataclass(frozen=True, slots=True)
class Compared:
    """Two answers to one question. `reason` says why there is none at the other point, "" where there is.

    came, went : observations that are used here and not there, and the other way round, each with its page.
    """

    point: str
    nodes: tuple[Moved, ...] = ()
    came: tuple[Link, ...] = ()
    went: tuple[Link, ...] = ()
    reason: str = ""

    @property
    def largest(self) -> float:
        return max((one.variation for one in self.nodes), default=0.0)


def compared(
    request: HttpRequest, visit: Visit, query: QueryDocument, here: Asking, *, budget: Budget
) -> tuple[Compared | None, str]:  # fmt: skip
    """The comparison that the address asks for, and what is wrong with the point that it names."""
    text = request.GET.get("against", "").strip()
    if not text:
        return None, ""
    try:
        at = other_point(visit.at, text)
    except Invalid as error:
        return None, f"Expected {error.errors[0].expected}; nothing is compared."
    point = f"seq {count(at.seq)}"
    try:
        there = ask(at, query=query, profile="native", budget=budget)
    except NotFound:
        return Compared(point, reason="The relation type had no law then."), ""
    except Conflict:
        return Compared(point, reason="The observations could not all hold then."), ""
    return Compared(
        point, _moved(there, here), _links(visit, here, but=there), _links(visit, there, but=here)
    ), ""  # fmt: skip


def _moved(there: Asking, here: Asking) -> tuple[Moved, ...]:
    """The nodes of both answers, those that moved most first."""
    then, now = there.answer, here.answer
    place = {node: index for index, node in enumerate(then.nodes)}
    found = []
    for index, node in enumerate(now.nodes):
        if node not in place or index == now.root:
            continue
        rows = np.stack([then.marginals[place[node]], now.marginals[index]])
        order, shares = ranked(rows)
        before, after = (
            (now.law.labels[order[i, 0]], Share(float(shares[i, 0]))) for i in (0, 1)
        )  # fmt: skip
        found.append(Moved(named(node), *before, *after, float(np.abs(rows[0] - rows[1]).sum() / 2)))
    return tuple(sorted(found, key=lambda one: -one.variation))


def _links(visit: Visit, asking: Asking, *, but: Asking) -> tuple[Link, ...]:
    gone = set(but.answer.used.ids)
    return tuple(
        Link(named(id), f"/beliefs/observations/{asking.ids[id]}{visit.carry}")
        for id in asking.answer.used.ids
        if id not in gone
    )
