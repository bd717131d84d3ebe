"""The acts of an owner on agents and their tokens, and the wait for an agent's first entry."""

from datetime import timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page
from audit.navigation import Link
from audit.pages.agents.forms import ConnectForm, TokenForm
from audit.pages.agents.shown import Answer, fresh_token, refused, shown
from audit.posting import posted
from audit.templatetags.console import count
from memory.agents import operations
from memory.agents.connecting import connect as connect_agent
from memory.agents.people import members
from memory.agents.queries import agent_rows
from memory.base.errors import DomainError, Invalid, NotFound
from memory.ledger.queries.entries import entries


@require_safe
@page("agents", applies=False)
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    return shown(request, visit)


@posted("/agents")
@page("agents", applies=False, power="own")
@sensitive_variables()
def connect(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Register an agent with its first token; the answer shows the secret, once."""
    people = tuple((row.person, row.name) for row in members(visit.actor.namespace))
    form = ConnectForm(request.POST, people=people)
    if not form.is_valid():
        return shown(request, visit, answer=Answer(422, forms={"connect": form}))
    given = form.cleaned_data
    try:
        made = connect_agent(
            visit.actor, name=given["name"], scopes=tuple(given["scopes"]), life=timedelta(days=given["days"]),
            operator=given["operator"],
        )  # fmt: skip
    except DomainError as error:
        return refused(request, visit, "connect", error, connect=form)
    fresh = fresh_token(request, visit, agent=made.agent, name=given["name"], issued=made.issued)
    return shown(request, visit, answer=Answer(fresh=fresh))


@posted("/agents")
@page("agents", applies=False, power="own")
@sensitive_variables()
def issue(request: HttpRequest, visit: Visit, agent: UUID) -> HttpResponse:
    """One more token for an agent; the answer shows the secret, once."""
    form = TokenForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(" ".join(str(error) for errors in form.errors.values() for error in errors))
        name = _name(visit, agent)
        life = timedelta(days=form.cleaned_data["days"])
        issued = operations.issue_token(visit.actor, agent=agent, scopes=tuple(form.cleaned_data["scopes"]), life=life)
    except DomainError as error:
        return refused(request, visit, "agents", error)
    fresh = fresh_token(request, visit, agent=agent, name=name, issued=issued)
    return shown(request, visit, answer=Answer(fresh=fresh))


@posted("/agents")
@page("agents", applies=False, power="own")
@sensitive_variables()
def rotate(request: HttpRequest, visit: Visit, token: UUID) -> HttpResponse:
    """A new token in the place of one, which ends; the answer shows the secret, once."""
    try:
        agent = next((row for row in agent_rows(visit.at) if token in {one.id for one in row.tokens}), None)
        if agent is None:
            raise NotFound("There is no such token.")
        issued = operations.rotate_token(visit.actor, token=token)
    except DomainError as error:
        return refused(request, visit, "tokens", error)
    fresh = fresh_token(request, visit, agent=agent.id, name=agent.name, issued=issued)
    return shown(request, visit, answer=Answer(fresh=fresh))


@posted("/agents")
@page("agents", applies=False, power="own")
def revoke(request: HttpRequest, visit: Visit, token: UUID) -> HttpResponse:
    try:
        made = operations.revoke_token(visit.actor, token=token)
    except DomainError as error:
        return refused(request, visit, "tokens", error)
    recorded.tell(request, "The token is revoked and opens nothing from now on, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def freeze(request: HttpRequest, visit: Visit, agent: UUID) -> HttpResponse:
    return _freeze(request, visit, agent, frozen=True)


@posted("/agents")
@page("agents", applies=False, power="own")
def unfreeze(request: HttpRequest, visit: Visit, agent: UUID) -> HttpResponse:
    return _freeze(request, visit, agent, frozen=False)


def _freeze(request: HttpRequest, visit: Visit, agent: UUID, *, frozen: bool) -> HttpResponse:
    try:
        name, reason = _name(visit, agent), request.POST.get("reason", "").strip()
        if not reason:
            raise Invalid.at("reason", expected="why, in a few words")
        made = operations.freeze(visit.actor, agent=agent, frozen_now=frozen, reason=reason)
    except DomainError as error:
        return refused(request, visit, "agents", error)
    words = "is frozen: its writes are refused from now on" if frozen else "may write again"
    recorded.tell(request, f"Agent {name} {words}, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


def _name(visit: Visit, agent: UUID) -> str:
    """What the agent is called.   Raises NotFound."""
    found = next((row.name for row in agent_rows(visit.at) if row.id == agent), None)
    if found is None:
        raise NotFound("There is no such agent.")
    return found


@require_safe
@page("agents", applies=False)
def first(request: HttpRequest, visit: Visit, agent: UUID) -> HttpResponse:
    """The agent's first entry after the one named in the address, or that it is still waited for."""
    after = request.GET.get("after", "0")
    if not after.isascii() or not after.isdecimal() or len(after) > 15:
        raise Invalid.at("after", expected="the seq of an entry", got=after)
    found = entries(visit.at, after=int(after), agent=agent, limit=1)
    entry = Link(f"seq {count(found[0].seq)}", f"/ledger/{found[0].seq}{visit.carry}") if found else None
    template = "agents/first.html#waiting" if is_partial(request) else "agents/first.html"
    return render(request, template, {"entry": entry, "waiting_url": request.get_full_path(), "agent": agent})
