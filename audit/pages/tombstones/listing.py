"""The list of dead ends: cards by due date, what is overdue on top."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page
from audit.components import Facet, FacetValue, FilterPart, Hidden
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.tombstones.forms import LimitForm
from audit.pages.tombstones.words import STATE_WORDS, card, names_of
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.base.schemas import is_id
from memory.tombstones.kernel.life import STATES
from memory.tombstones.queries import TombstonePage, tombstones


@require_safe
@page("tombstones")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    return listed(request, visit)


def listed(request: HttpRequest, visit: Visit, *, limit_form: LimitForm | None = None) -> HttpResponse:
    """The list; `limit_form` where the number of false blocks was refused."""
    states, after = _states(request), _after(request)
    with_retired = request.GET.get("include") == "retired"
    found = tombstones(visit.at, states=states, retired=with_retired, after=after)
    kept = pairs_of(request, without=("after",))
    cleared = address("/tombstones", pairs_of(request, without=("after", "state", "include")))
    names = names_of([row.said for row in found.items])
    context = {
        "told": recorded.told(request, carry=visit.carry),
        "cards": [card(row, names, carry=visit.carry) for row in found.items],
        "count_text": count(sum(found.states.values())),
        "total_text": f"{count(found.total)} dead end{'' if found.total == 1 else 's'}",
        "parts": _parts(request, states),
        "clear_url": cleared,
        "hidden": _hidden(request, found),
        "facets": _facets(request, found, states),
        "empty": _empty(visit, found, cleared) if not found.items else None,
        "next_url": address("/tombstones", [*kept, ("after", str(found.next))]) if found.next else "",
        "first_url": address("/tombstones", kept) if after else "",
        "actions": (Link("Check a route", f"/tombstones/check{visit.carry}"),
                    *((Link("Bury a route", f"/tombstones/new{visit.carry}"),) if _may_write(visit) else ())),
        "limit_form": (limit_form or LimitForm()) if _may_own(visit) else None,
    }  # fmt: skip
    status = 422 if limit_form is not None and limit_form.errors else 200
    template = "tombstones/index.html#rows" if is_partial(request) else "tombstones/index.html"
    return render(request, template, context, status=status)


def _may_write(visit: Visit) -> bool:
    return visit.actor.may("write") and visit.frame.can_write


def _may_own(visit: Visit) -> bool:
    return visit.actor.may("own") and visit.frame.can_write


def _states(request: HttpRequest) -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(request.GET.getlist("state")))
    for state in asked:
        if state not in STATES:
            raise Invalid.at("state", expected=" or ".join(STATES), got=state)
    return asked


def _after(request: HttpRequest) -> UUID | None:
    after = request.GET.get("after", "")
    if after and not is_id(after):
        raise Invalid.at("after", expected="the id that ended a page", got=after)
    return UUID(after) if after else None


def _facets(request: HttpRequest, found: TombstonePage, states: tuple[str, ...]) -> tuple[Facet, ...]:
    kept = pairs_of(request, without=("after", "state", "include"))
    values = tuple(
        FacetValue(
            STATE_WORDS[state], count(n),
            address("/tombstones", kept if states == (state,) else [*kept, ("state", state)]),
            is_active=state in states,
        )
        for state, n in found.states.items()
    )  # fmt: skip
    return (Facet("State", values),)


def _parts(request: HttpRequest, states: tuple[str, ...]) -> tuple[FilterPart, ...]:
    if not states:
        return ()
    cleared = address("/tombstones", pairs_of(request, without=("after", "state")))
    return (FilterPart(f"state is {' or '.join(STATE_WORDS[state] for state in states)}", cleared),)


def _hidden(request: HttpRequest, found: TombstonePage) -> tuple[Hidden, ...]:
    shown = address("/tombstones", [*pairs_of(request, without=("after", "include")), ("include", "retired")])
    return tuple(Hidden(label, count(n), shown) for label, n in found.hidden.items())


def _empty(visit: Visit, found: TombstonePage, cleared: str) -> Mapping[str, Any]:
    if sum(found.states.values()):
        return {"kind": "no_match", "words": "the state is the one asked for", "clear_url": cleared}
    if not visit.at.is_now:
        return {"kind": "not_then", "source_url": "", "first": None, "last": None}
    how = "The first one comes when an agent posts to /tombstones what failed, where, and what would open it again."
    link = Link("Bury a route", f"/tombstones/new{visit.carry}") if _may_write(visit) else None
    return {"kind": "nothing_yet", "title": "No dead ends yet", "how": how, "action": link}
