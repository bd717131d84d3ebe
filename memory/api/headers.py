"""Headers of a request: who it is, for whom and in which run, and what is asked of a write.

Invariants
- A header that says something unreadable is refused by its name; none is silently dropped.
- On a route of people a token is refused whatever it opens, so that it says nothing about itself.
- Only the loader of a replay namespace names another actor and an instant of its own; anywhere else both are refused.

Source: RFC 6750 (Bearer); RFC 9110, section 13.1.1 (If-Match); W3C Trace Context, section 3.2 (traceparent).
"""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest
from ninja.utils import check_csrf

from memory.agents import identity
from memory.base import clock, gate, instants
from memory.base.actor import Actor, RunGiven
from memory.base.bodies import require_type
from memory.base.doors import Door, namespace
from memory.base.errors import Forbidden, Invalid, Unauthorized
from memory.base.text import NAME_CHARS, fault

KEY_CHARS = 200
ACTOR, EVENT_AT = "Palimpsest-Actor", "Palimpsest-Event-At"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def admitted(request: HttpRequest, door: Door) -> Actor:
    """The actor of the request at that door, with all that its headers say.

    Raises Unauthorized, Forbidden, NotFound (no such namespace for them), Invalid (a header).
    """
    by = _identified(request, door)
    gate.permits(by, door.need)
    by = replace(_in_the_name_of(request, by, door), request_id=getattr(request, "request_id", None))
    if not door.is_write:
        return by
    if not door.takes_match and "If-Match" in request.headers:
        raise Invalid.at("If-Match", expected="no condition: nothing is replaced here")
    return replace(
        by, idempotency_key=_text(request, "Idempotency-Key", KEY_CHARS),
        on_behalf_of=_text(request, "Palimpsest-On-Behalf-Of", NAME_CHARS),
        host=_text(request, "Palimpsest-Host", NAME_CHARS), run=_run(request),
    )  # fmt: skip


def _identified(request: HttpRequest, door: Door) -> Actor:
    now = clock.now()
    shown = request.headers.get("Authorization")
    if shown is not None:
        scheme, _, secret = shown.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise Unauthorized("Authorization: expected Bearer and a token.")
        if door.need.by_person:
            raise Forbidden("This act is a person's; a token never may.")
        return identity.by_token(secret.strip(), namespace=namespace(request), now=now)
    if not request.user.is_authenticated:
        raise Unauthorized("Send a token as `Authorization: Bearer …`, or sign in.")
    by = identity.by_person(int(request.user.pk), namespace=namespace(request), now=now)
    _require_own_site(request, door)
    return by


def _require_own_site(request: HttpRequest, door: Door) -> None:
    """A session alone is no consent: another site's page could have sent the request."""
    if request.method in SAFE:
        return
    if request.content_type:
        # A form is refused before anybody reads it for a token of its own.
        require_type(request.headers.get("Content-Type", ""), allowed=door.media)
    if check_csrf(request) is not None:
        raise Forbidden("Send the CSRF token of your session as X-CSRFToken.")


def _in_the_name_of(request: HttpRequest, by: Actor, door: Door) -> Actor:
    given = [name for name in (ACTOR, EVENT_AT) if name in request.headers]
    if not given:
        return by
    if not door.is_write or not identity.is_loader(by):
        raise Invalid.at(given[0], expected="no such header: only the loader of a replay namespace may send it")
    if EVENT_AT not in given:
        raise Invalid.at(EVENT_AT, expected=instants.EXPECTED)
    try:
        event_at = instants.read(request.headers[EVENT_AT].strip())
    except ValueError as error:
        raise Invalid.at(EVENT_AT, expected=instants.EXPECTED, got=request.headers[EVENT_AT]) from error
    principal = _text(request, ACTOR, NAME_CHARS)
    actor = identity.standing_for(by, principal, event_at=event_at)
    if actor is None:
        raise Invalid.at(ACTOR, expected="agent:<name> or person:<address> of this namespace", got=principal)
    gate.permits(actor, door.need)
    return actor


def _run(request: HttpRequest) -> RunGiven | None:
    trace = _trace(request)
    named = _text(request, "Palimpsest-Run", KEY_CHARS)
    if not named:
        return trace
    if not _UUID.fullmatch(named):
        raise Invalid.at("Palimpsest-Run", expected="the id of a run, as full-length UUID text", got=named)
    return RunGiven(id=UUID(named))


def _trace(request: HttpRequest) -> RunGiven | None:
    """The run that a trace stands for: found again by the trace id, opened where there is none."""
    given = request.headers.get("traceparent")
    if given is None:
        return None
    match = _TRACEPARENT.fullmatch(given.strip())
    if match is None or not _is_valid_trace(*match.groups()):
        raise Invalid.at("traceparent", expected="00-<trace id>-<parent id>-<flags> in lower-case hex", got=given)
    return RunGiven(kind="session", refs=(("trace", match[2]), ("traceparent", match[0])))


def _is_valid_trace(version: str, trace: str, parent: str, further: str | None) -> bool:
    known = version != "ff" and not (version == "00" and further)
    return known and trace.strip("0") != "" and parent.strip("0") != ""


def _text(request: HttpRequest, name: str, most: int) -> str:
    """The value of a header, empty where it is absent. Bytes beyond ASCII are read as UTF-8."""
    given = request.headers.get(name)
    if given is None:
        return ""
    try:
        value = given.encode("latin-1").decode("utf-8").strip()
    except UnicodeError as error:
        raise Invalid.at(name, expected="UTF-8 text", got="other bytes") from error
    problem = fault(value)
    if problem is not None or not 1 <= len(value) <= most:
        raise Invalid.at(name, expected=f"1 to {most} characters of text", got=problem or f"{len(value)} characters")
    return value
