"""What is believed: saved questions with their answers, contradicted ones first, and the relation types.

The page says what a conflict is by one drawn example before it shows the first number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.charts.beliefs import nats
from audit.charts.relations_example import example
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.beliefs.words import AUTHORITY, HIDDEN, Share, named, relation_url
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.beliefs.kernel.capsule import ranked
from memory.beliefs.operations.revoking import named as observation_named
from memory.beliefs.queries.saved import saved_queries
from memory.beliefs.queries.summaries import Summary, summaries
from memory.beliefs.queries.types import RelationRow, relation_rows

MOST = 25
UNANSWERED = {
    "search": ("not_checked", "searched when opened"),
    "wide": ("not_checked", "worked out when opened"),
    "contradiction": ("conflict", "cannot all hold"),
    "erased": ("erased", "erased"),
    "invalid": ("refused", "no question any more"),
}
"""Why a list shows no answer: the badge and its words."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A saved question and its answer in one line. `badge` is how it was come to, or why it was not.

    `node` is the first that is asked about, `n_more` how many others; `hidden` says in words what does not speak.
    """

    name: str
    url: str
    relation_type: str
    relation_url: str
    node: str
    n_more: int
    value: str
    share: Share | None
    entropy_nats: float | None
    n_observations: int | None
    strongest: str
    is_contradicted: bool
    last_seq: int | None
    last_url: str
    badge: tuple[str, str]
    is_stale: bool
    hidden: str


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A relation type in one line."""

    name: str
    url: str
    law: str
    n_labels: int | None
    n_observations: int
    last_seq: int | None
    last_url: str


@require_safe
@page("beliefs")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    start = _start(request)
    saved = saved_queries(visit.at)
    types = relation_rows(visit.at)
    shown = saved[start : start + MOST]
    found = summaries(visit.at, saved=shown, bound={row.relation.text: row.relation for row in types})
    questions = [_question(visit, one) for one in sorted(found, key=_contradicted_first)]
    told = example()
    context = {
        "authority": AUTHORITY,
        "example": told,
        "example_svg": mark_safe(told.svg),  # noqa: S308  (the drawing escapes what it is given)
        "example_nats": nats(told.strength_nats),
        "questions": questions,
        "types": [_type(visit, row) for row in types],
        "count_text": count(len(saved)),
        "range_text": _range(start, len(shown), len(saved)),
        "next_url": _page_url(request, start + MOST) if start + MOST < len(saved) else "",
        "first_url": _page_url(request, 0) if start else "",
        "empty": _empty(visit) if not saved and not types else None,
        "actions": (Link("Ask a question", f"/beliefs/graph{visit.carry}"),),
    }
    return render(request, "beliefs/index.html", context)


@require_safe
@page("beliefs")
def find(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The page of an observation by the id that its client knows."""
    row = observation_named(visit.actor.namespace, request.GET.get("observation_id", "").strip()[:512])
    return HttpResponseRedirect(f"/beliefs/observations/{row.id}{visit.carry}")


def _contradicted_first(one: Summary) -> tuple[int, float, str]:
    """What cannot hold, then the strongest conflict; at the end what is not answered here."""
    rank = {"contradiction": 0, "answered": 1}.get(one.kind, 2)
    strength = one.strongest_nats
    return (rank, np.inf if strength is None else -strength, one.saved.name)


def _question(visit: Visit, one: Summary) -> QuestionRow:
    relation = one.saved.relation_type
    told: dict[str, Any] = {
        "node": "", "n_more": 0, "value": "", "share": None, "entropy_nats": None, "n_observations": None,
        "strongest": "", "is_contradicted": one.kind == "contradiction", "last_seq": None, "last_url": "",
        "badge": UNANSWERED.get(one.kind, ("exact", "exact")), "is_stale": False,
        "hidden": _hidden(one),
    }  # fmt: skip
    answer = one.answer
    if answer is not None:
        others = [index for index in range(len(answer.nodes)) if index != answer.root] or [answer.root]
        order, shares = ranked(answer.marginals[others[0]][None])
        row = answer.marginals[others[0]]
        strength = one.strongest_nats
        told |= {
            "node": named(answer.nodes[others[0]]), "n_more": len(others) - 1,
            "value": answer.law.labels[order[0, 0]], "share": Share(float(shares[0, 0])),
            "entropy_nats": abs(float(-(row[row > 0] * np.log(row[row > 0])).sum())),
            "n_observations": len(answer.used.ids), "strongest": "" if strength is None else nats(strength),
            "is_contradicted": strength is not None and strength > 0, "last_seq": one.last_seq,
            "last_url": f"/ledger/{one.last_seq}{visit.carry}" if one.last_seq else "",
            "is_stale": not answer.used.ids and bool(one.hidden),
        }  # fmt: skip
    return QuestionRow(
        name=named(one.saved.name), url=f"/beliefs/saved/{one.saved.id}{visit.carry}", relation_type=named(relation),
        relation_url=relation_url(relation, carry=visit.carry) if relation else "", **told,
    )  # fmt: skip


def _hidden(one: Summary) -> str:
    """What lies between the nodes and does not speak, counted by why."""
    return ", ".join(f"{count(n)} {HIDDEN.get(why, why).split(':')[0]}" for why, n in (one.hidden or {}).items())


def _type(visit: Visit, row: RelationRow) -> TypeRow:
    law = row.relation.law
    return TypeRow(
        named(row.relation.text), relation_url(row.relation.text, carry=visit.carry),
        "erased" if law is None else law.name, None if law is None else law.size, row.n_observations, row.last_seq,
        f"/ledger/{row.last_seq}{visit.carry}" if row.last_seq else "",
    )  # fmt: skip


def _start(request: HttpRequest) -> int:
    text = request.GET.get("after", "")
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise Invalid.at("after", expected="a whole number", got=text)
    return int(text or 0)


def _page_url(request: HttpRequest, start: int) -> str:
    kept = pairs_of(request, without=("after",))
    return address("/beliefs", [*kept, ("after", str(start) if start else "")])


def _range(start: int, n_shown: int, n_all: int) -> str:
    if n_shown == n_all:
        return ""
    return f"{start + 1} to {start + n_shown} of {count(n_all)}, by name; {count(n_all - n_shown)} on other pages"


def _empty(visit: Visit) -> dict[str, Any]:
    if not visit.at.is_now:
        return {"kind": "not_then", "source_url": "", "first": None, "last": None}
    how = "The first relation type comes when an agent binds a law, the first belief when it posts to /observations."
    return {"kind": "nothing_yet", "title": "No beliefs yet", "how": how, "action": None}
