"""The door of every page: who is at the screen, in which namespace, in which role, at which point in time.

Invariants
- A page sees a `Visit` or nothing: whoever is not signed in, no member, or without the power is answered here.
- What is in another namespace is not found, whether it exists or not.
- Nothing is written from a page that shows the past, and nothing by a GET.
- A refusal of the domain becomes a page with the same status, code and places; it says which role may.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect

from audit.components import Problem, ProblemError
from audit.frame import Person, address, asked_point, build_frame, pairs_of, pinned_address
from audit.navigation import Frame, Link
from audit.problems import is_file
from memory.agents.attention import Attention, Member, attention, memberships
from memory.api.problems import answered
from memory.base import clock
from memory.base.actor import ROLE_POWERS, Actor, Power, Role
from memory.base.asof import AsOf
from memory.base.errors import Conflict, DomainError, Forbidden, Invalid, NotFound, Unauthorized
from memory.base.text import fault
from memory.ledger.queries import asof

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a signed-in member: `actor` for operations, `at` for queries, `frame` for the template."""

    actor: Actor
    at: AsOf
    namespace: str
    role: Role
    frame: Frame

    @property
    def carry(self) -> str:
        """The query string that links inside the console end with."""
        return self.frame.carry

    def once(self, key: str) -> Actor:
        """The actor of a form that carries `key`: sent twice, it is answered twice and written once."""
        return replace(self.actor, idempotency_key=key[:200])


def page(
    key: str, *, applies: bool = True, power: Power | None = None
) -> Callable[[Callable[Concatenate[HttpRequest, Visit, P], HttpResponseBase]], View[P]]:
    """Turn a view of (request, visit, …) into one of (request, …).

    `key` is the page of the rail it stands under; `applies` is false where no point in time applies.
    `power` is what an unsafe method asks of the role.
    """

    def door(view: Callable[Concatenate[HttpRequest, Visit, P], HttpResponseBase]) -> View[P]:
        @wraps(view)
        def entered(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _sign_in_first(request)
            try:
                visit = _visit(request, key=key, applies=applies)
                if isinstance(visit, str):
                    return HttpResponseRedirect(visit)
                if request.method not in SAFE:
                    require(visit, power)
                response = view(request, visit, *args, **kwargs)
            except DomainError as error:
                response = refusal(request, error)
            patch_vary_headers(response, ["Cookie", "HX-Request"])
            patch_cache_control(response, private=True, no_cache=True)
            return response

        return entered

    return door


def is_partial(request: HttpRequest) -> bool:
    """True if htmx asks for a part of the page: the same address gives the part or the whole.

    A boosted link asks for the whole, unless its region has a target of its own.
    """
    htmx = getattr(request, "htmx", None)
    is_boosted = bool(htmx) and htmx.boosted  # type: ignore[union-attr]
    return bool(htmx) and (not is_boosted or request.headers.get("HX-Request-Type") == "partial")


def person_names(ids: set[int]) -> dict[int, str]:
    """{person id: the name shown} of the accounts that exist."""
    if not ids:
        return {}
    return {user.pk: shown_name(user) for user in get_user_model().objects.filter(pk__in=ids)}


def shown_name(user: Any) -> str:
    """The full name, or what the person signs in with."""
    return str(user.get_full_name() or user.get_username())


def person_actor(request: HttpRequest, *, person: int, member: Member) -> Actor:
    """The actor of a person's act in the namespace of `member`."""
    return Actor(
        namespace=member.namespace, kind="person", person=person, powers=ROLE_POWERS[member.role], role=member.role,
        request_id=getattr(request, "request_id", None),
    )  # fmt: skip


def refusal(request: HttpRequest, error: DomainError, *, ways_on: tuple[Link, ...] = ()) -> HttpResponse:
    """A refusal as a page, its fragment for htmx, or a problem document for a file, with the status of its code."""
    if is_file(request):
        return answered(request, error)
    frame = getattr(request, "frame", None)
    problem = problem_of(request, error, ways_on=ways_on or (Link("Overview", f"/{frame.carry if frame else ''}"),))
    template = "problem.html#fragment" if is_partial(request) else "problem.html"
    return render(request, template, {"problem": problem}, status=error.status)


def problem_of(request: HttpRequest, error: DomainError, *, ways_on: tuple[Link, ...] = ()) -> Problem:
    """What the component draws of a refusal, for a page that shows it where the act was."""
    places = tuple(
        ProblemError(".".join(str(step) for step in place.loc), place.code, place.expected, place.got)
        for place in error.errors
    )
    request_id = str(getattr(request, "request_id", ""))
    return Problem(error.status, error.title, error.detail, error.code, request_id, places, ways_on)


def _sign_in_first(request: HttpRequest) -> HttpResponseBase:
    if request.method not in SAFE:
        error = Unauthorized("Sign in first; nothing was written.")
        return refusal(request, error, ways_on=(Link("Sign in", "/sign-in"),))
    target = address("/sign-in", [("next", request.get_full_path())])
    return HttpResponseClientRedirect(target) if is_partial(request) else HttpResponseRedirect(target)


def _visit(request: HttpRequest, *, key: str, applies: bool) -> Visit | str:
    """The visit, or the address that says the same and never drifts. Raises Forbidden, NotFound, Invalid."""
    _require_text(request)
    read_at = clock.now()
    person = Person(request.user.pk or 0, shown_name(request.user))
    members = memberships(person.id, now=read_at)
    if not members:
        raise Forbidden("You are no member of any namespace; an owner can invite you.")
    named = request.GET.get("ns", "")
    member = next((one for one in members if one.name == named or not named), None)
    if member is None:
        raise NotFound(f"There is no namespace {named[:100]!r} for you.")
    if not named and len(members) > 1:
        if request.method not in SAFE:
            raise Invalid.at("ns", expected="the namespace to act in: you are a member of several")
        return address(request.path, [("ns", member.name), *pairs_of(request, without=("ns",))])
    seq = asof.named_seq(request.GET.get("known_at", ""))
    standing = attention(member.namespace, now=read_at, seq=seq)
    names = _names(standing)

    def framed(at: AsOf) -> Frame:
        frame = build_frame(
            request, key=key, applies=applies, person=person, members=members, member=member, attention=standing,
            at=at, read_at=read_at, names=names,
        )  # fmt: skip
        request.frame = frame  # type: ignore[attr-defined]
        return frame

    log = asof.LogEnd(standing.head, standing.last_at, standing.closed_seq, standing.instants)
    with clock.fixed(read_at):
        try:
            valid_at, known_at = asked_point(request) if applies else ("", "")
            at = asof.resolve(member.namespace, valid_at=valid_at, known_at=known_at, log=log)
        except DomainError:
            framed(asof.resolve(member.namespace, log=log))
            raise
    if request.method in SAFE and (pinned := pinned_address(request, at)):
        return pinned
    actor = person_actor(request, person=person.id, member=member)
    return Visit(actor, at, member.name, member.role, framed(at))


def _require_text(request: HttpRequest) -> None:
    """Raise Invalid for what no database can be asked for."""
    for name, values in request.GET.lists():
        if found := next((fault(text) for text in (name, *values) if fault(text)), None):
            raise Invalid.at(name.replace("\0", "")[:60], expected="text without NUL and lone surrogates", got=found)


def _names(standing: Attention) -> Mapping[int, str]:
    """Names for the banners: no query where none stands."""
    told = [
        one.person
        for one in (standing.hold, standing.frozen, standing.closed)
        if one is not None and one.person is not None
    ]
    return person_names(set(told))


def require(visit: Visit, power: Power | None) -> None:
    """Raise Forbidden where the role lacks the power, Conflict where nothing can be written from the page.

    A page that only holds the form of an act asks as well, so that nobody fills in what will be refused. What every
    member may ask for, `read`, is a check of what stands: an auditor's too, and from a page of the past.
    """
    if power is None or not visit.actor.may(power):
        roles = [role for role, powers in ROLE_POWERS.items() if power in powers]
        who = " or ".join(f"{'an' if role == 'owner' else 'a'} {role}" for role in roles) or "nobody"
        raise Forbidden(f"This is an act for {who} of {visit.namespace}; you are its {visit.role}.")
    if power != "read" and not visit.frame.can_write:
        raise Conflict(visit.frame.write_refusal)
