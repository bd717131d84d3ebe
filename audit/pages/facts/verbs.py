"""The acts of people on facts: assert one, supersede one, retract one.

Invariants
- Each act is a page that says its consequence first, and a POST to the same address; a refusal is shown on that page,
  with what was typed.
- A form carries a key: sent twice, it is answered twice and written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.navigation import Link
from audit.pages.facts.detail import fact_text
from audit.pages.facts.forms import ActForm, AssertForm, RetractForm, SupersedeForm
from audit.pages.facts.values import badge
from memory.base.actor import Actor, Power
from memory.base.answers import Appended
from memory.base.errors import DomainError
from memory.facts.content import NewFact
from memory.facts.operations import asserting, ending
from memory.facts.queries import detail as reads
from memory.facts.queries.lists import open_case
from memory.ledger.queries import asof


@dataclass(frozen=True, slots=True)
class Act:
    """One verb as its page tells it."""

    verb: str
    title: str
    consequence: str
    button: str
    form: type[ActForm]
    done: str
    weight: str = "primary"


SUPERSEDE = Act(
    "supersede", "Supersede this fact",
    "It was true and is no longer: from the instant on it holds no more, before it it still does. Nothing brings it "
    "back, not even taking its successor back.",
    "Supersede", SupersedeForm, "The fact is superseded, recorded",
)  # fmt: skip
RETRACT = Act(
    "retract", "Retract this fact",
    "The statement is taken back whole, for every instant. It stays on record with the reason, and so does its proof.",
    "Retract", RetractForm, "The fact is retracted, recorded", "danger",
)  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("facts", power="review")
def supersede(request: HttpRequest, visit: Visit, fact: UUID) -> HttpResponseBase:
    def act(by: Actor, given: dict[str, Any]) -> Appended:
        return ending.supersede(by, fact=fact, at=given["at"], new=given["by"], reason=given["reason"])

    return _ending(request, visit, fact, act=SUPERSEDE, operation=act)


@require_http_methods(["GET", "HEAD", "POST"])
@page("facts", power="review")
def retract(request: HttpRequest, visit: Visit, fact: UUID) -> HttpResponseBase:
    def act(by: Actor, given: dict[str, Any]) -> Appended:
        return ending.retract(by, fact=fact, retracted_as=given["retracted_as"], reason=given["reason"])

    return _ending(request, visit, fact, act=RETRACT, operation=act)


def _ending(
    request: HttpRequest, visit: Visit, fact: UUID, *, act: Act, operation: Callable[[Actor, dict[str, Any]], Appended]
) -> HttpResponseBase:
    require(visit, "review")
    form = act.form(request.POST or None, initial={"key": uuid4().hex})
    if request.method != "POST" or not form.is_valid():
        return _page(request, visit, fact, act=act, form=form)
    try:
        done = operation(visit.once(form.cleaned_data["key"]), form.cleaned_data)
    except DomainError as error:
        return _page(request, visit, fact, act=act, form=form, error=error)
    recorded.tell(request, act.done, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/facts/{fact}{visit.carry}")


def _page(
    request: HttpRequest, visit: Visit, fact: UUID, *, act: Act, form: ActForm, error: DomainError | None = None
) -> HttpResponse:
    found = reads.fact(visit.at, id=fact, reader=visit.actor, tells_hidden=False)
    url = f"/facts/{fact}"
    context = {
        "act": act, "form": form, "found": found, "badge": badge(found.line.state), "fact_id": str(fact),
        "line": f"{found.subject} · {found.attribute}: {fact_text(found)}",
        "problem": problem_of(request, error) if error is not None else None,
        "action_url": f"{url}/{act.verb}{visit.carry}", "fact_url": f"{url}{visit.carry}",
        "trail": (Link("Facts", f"/facts{visit.carry}"), Link(str(fact)[:8], f"{url}{visit.carry}"),
                  Link(act.verb, "")),
    }  # fmt: skip
    status = error.status if error is not None else 422 if form.is_bound else 200
    return render(request, "facts/act.html", context, status=status)


NEW_POWER: Power = "write"


@require_http_methods(["GET", "HEAD", "POST"])
@page("facts", power=NEW_POWER)
def new(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Assert one fact; what it contradicts is told on the page that it leads to."""
    require(visit, NEW_POWER)
    asked = {name: request.GET.get(name, "") for name in ("subject", "attribute")}
    form = AssertForm(request.POST or None, initial={"key": uuid4().hex, **asked})
    if request.method != "POST" or not form.is_valid():
        return _new_page(request, visit, form)
    given = form.cleaned_data
    fact = NewFact(
        subject=given["subject"], attribute=given["attribute"], value=given["value"], stance=given["stance"],
        valid_from=given["valid_from"], valid_to=given["valid_to"], source_class=given["source_class"],
        origin=given["origin"], note=given["note"], references=given["references"],
    )  # fmt: skip
    try:
        (done,) = asserting.assert_facts(visit.once(given["key"]), facts=[fact])
    except DomainError as error:
        return _new_page(request, visit, form, error=error)
    case = open_case(asof.now(visit.at.namespace), fact=done.id)
    words = "The fact is asserted" if case is None else "The fact is asserted and contradicts another"
    recorded.tell(request, f"{words}, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/facts/{done.id}{visit.carry}")


def _new_page(
    request: HttpRequest, visit: Visit, form: AssertForm, *, error: DomainError | None = None
) -> HttpResponse:  # fmt: skip
    context = {
        "form": form, "problem": problem_of(request, error) if error is not None else None,
        "action_url": f"/facts/new{visit.carry}", "facts_url": f"/facts{visit.carry}",
        "trail": (Link("Facts", f"/facts{visit.carry}"), Link("assert", "")),
    }  # fmt: skip
    status = error.status if error is not None else 422 if form.is_bound else 200
    return render(request, "facts/new.html", context, status=status)
