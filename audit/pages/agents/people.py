"""The acts of an owner on people and on the namespace itself: roles, invitations, the approval mode, the hold."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from audit import recorded
from audit.access import Visit, page
from audit.connecting import server_url
from audit.pages.agents.forms import HoldForm, InviteForm, PolicyForm, RetentionForm
from audit.pages.agents.shown import Answer, OneTimeLink, refused, shown
from audit.posting import posted
from memory.agents import operations
from memory.agents.people import invite as invite_person
from memory.agents.people import members
from memory.base.errors import Conflict, DomainError, NotFound

MODES = {
    "two_person": "Approvals need a second person from now on, recorded",
    "single_owner": "One owner may approve alone from now on, and each approval says so, recorded",
}


@posted("/agents")
@page("agents", applies=False, power="own")
def invite(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Give somebody a role. Who cannot sign in yet gets a one-time link, shown once by the answer."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return shown(request, visit, answer=Answer(422, forms={"invite": form}))
    email, role = form.cleaned_data["email"], form.cleaned_data["role"]
    try:
        invited = invite_person(visit.actor, email=email, role=role, expires_at=form.expires_at)
    except DomainError as error:
        return refused(request, visit, "people", error, invite=form)
    recorded.tell(request, f"{email} is now {_a(role)} of {visit.namespace}, recorded", seq=invited.seq)
    if invited.link:
        link = OneTimeLink(email, server_url(request) + invited.link)
        return shown(request, visit, answer=Answer(link=link))
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def role(request: HttpRequest, visit: Visit, person: int) -> HttpResponse:
    """Give a member another role, or end it."""
    wanted = request.POST.get("role", "")
    try:
        name = next((row.name for row in members(visit.actor.namespace) if row.person == person), None)
        if name is None:
            raise NotFound("Nobody of that id holds a role here.")
        made = operations.admit_member(visit.actor, person=person, role=wanted)
    except DomainError as error:
        return refused(request, visit, "people", error)
    words = f"{name} is now {_a(wanted)}" if wanted != "none" else f"{name} holds no role any more"
    recorded.tell(request, f"{words}, recorded", seq=made.seq)
    has_left = wanted == "none" and person == visit.actor.person
    return HttpResponseRedirect("/" if has_left else f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def approval_mode(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Switch between two people and a single owner: an entry like any other."""
    value = request.POST.get("value", "")
    try:
        if (value == "single_owner") == visit.frame.single_owner and value in MODES:
            raise Conflict("The namespace is in this mode already.")
        made = operations.change_setting(visit.actor, name="approval_mode", value=value)
    except DomainError as error:
        return refused(request, visit, "namespace", error)
    recorded.tell(request, MODES[value], seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def retention(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say for how long text is to be kept. It erases nothing by itself."""
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return shown(request, visit, answer=Answer(422, forms={"retention": form}))
    try:
        made = operations.change_setting(visit.actor, name="retention", value=form.value)
    except DomainError as error:
        return refused(request, visit, "namespace", error, retention=form)
    recorded.tell(request, "The retention is set, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def review_policy(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say which writes of agents wait for a person."""
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return shown(request, visit, answer=Answer(422, forms={"policy": form}))
    try:
        made = operations.change_setting(visit.actor, name="review_policy", value=form.cleaned_data["value"])
    except DomainError as error:
        form.add_error("value", error.errors[0].expected if error.errors else error.detail)
        return refused(request, visit, "namespace", error, policy=form)
    recorded.tell(request, "The review policy is set, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def hold(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Place a retention hold: nothing can be erased while it stands."""
    form = HoldForm(request.POST)
    if not form.is_valid():
        return shown(request, visit, answer=Answer(422, forms={"hold": form}))
    try:
        made = operations.hold(visit.actor, held=True, reason=form.cleaned_data["reason"], until_at=form.until_at)
    except DomainError as error:
        return refused(request, visit, "namespace", error, hold=form)
    recorded.tell(request, "The hold is placed: nothing can be erased, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


@posted("/agents")
@page("agents", applies=False, power="own")
def lift(request: HttpRequest, visit: Visit) -> HttpResponse:
    try:
        if not visit.frame.is_on_hold:
            raise Conflict("There is no hold to lift.")
        made = operations.hold(visit.actor, held=False, reason=request.POST.get("reason", ""))
    except DomainError as error:
        return refused(request, visit, "namespace", error)
    recorded.tell(request, "The hold is lifted, recorded", seq=made.seq)
    return HttpResponseRedirect(f"/agents{visit.carry}")


def _a(role: str) -> str:
    return f"{'an' if role[:1] in 'ao' else 'a'} {role}"
