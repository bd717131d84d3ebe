"""The page of agents and people as it stands, with what an act just made or why it was refused, beside its form.

Invariants
- No point in time applies: the page is about who may act now.
- A secret or a one-time link stands only on the answer to the act that made it, and that answer is kept by nobody.
- Only owners meet controls; others read the same rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from audit import recorded
from audit.access import Visit, person_names, problem_of
from audit.components import Problem
from audit.connecting import Block, blocks, server_url
from audit.frame import words
from audit.navigation import Link
from audit.pages.agents.forms import (
    FIRST_SCOPES,
    ROLES,
    SCOPES,
    ConnectForm,
    HoldForm,
    InviteForm,
    PolicyForm,
    RetentionForm,
)
from memory.agents.operations import Issued
from memory.agents.people import MemberRow, members
from memory.agents.policies import policy_at
from memory.agents.queries import AgentRow, TokenRow, agent_rows
from memory.agents.retention import retention
from memory.base.errors import DomainError
from memory.ledger.queries import asof

CONTROLS: Mapping[str, Any] = {
    "roles": ROLES,
    "no_role": [("role", "none")],
    "token_choices": [(scope, meaning, scope in FIRST_SCOPES) for scope, meaning in SCOPES],
    "connect_link": Link("Connect an agent", "#connect"),
}


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A token with its agent; `state` is live, expired or revoked."""

    row: TokenRow
    agent: AgentRow
    state: str


@dataclass(frozen=True, slots=True)
class ShownAgent:
    row: AgentRow
    operator: str
    n_live: int
    last_url: str


@dataclass(frozen=True, slots=True)
class Fresh:
    """A token just made: the secret, the blocks that hold it, and where its first entry is waited for."""

    agent: str
    secret: str
    note: str
    blocks: tuple[Block, ...]
    waiting_url: str


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A one-time link just made, whole, for the person of that address."""

    address: str
    url: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the page says beyond how things stand. `problems` and `forms` go by the section that they belong to."""

    status: int = 200
    problems: Mapping[str, Problem] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    fresh: Fresh | None = None
    link: OneTimeLink | None = None


def shown(request: HttpRequest, visit: Visit, *, answer: Answer | None = None) -> HttpResponse:
    """The page, with the answer to the act that led here."""
    given = answer or Answer()
    has_made = given.fresh is not None or given.link is not None
    at = asof.now(visit.actor.namespace) if has_made else visit.at
    found = agent_rows(at)
    if has_made:
        request.frame = replace(visit.frame, head_seq=at.seq)  # type: ignore[attr-defined]
    people = members(visit.actor.namespace)
    names = {row.person: row.name for row in people}
    names |= person_names({row.operator for row in found if row.operator is not None} - names.keys())
    may_own = visit.actor.may("own") and visit.frame.can_write
    kept_for = retention(visit.actor.namespace)
    policy = policy_at(visit.actor.namespace)
    context: dict[str, Any] = {
        "agents": [_agent(row, names, visit) for row in found],
        "live_tokens": _tokens(found, now=visit.frame.read_at, is_live=True),
        "ended_tokens": _tokens(found, now=visit.frame.read_at, is_live=False),
        "people": people,
        "may_own": may_own,
        "recorded": recorded.told(request, carry=visit.carry),
        "hold_banner": next((banner for banner in visit.frame.banners if banner.kind == "hold"), None),
        "answer": given,
        "retention": kept_for,
        "policy": policy,
    }
    if may_own:
        context |= {**CONTROLS, **_forms(given, people, person=visit.actor.person, kept_for=kept_for)}
        context["policy_form"] = given.forms.get("policy") or PolicyForm(initial={"value": policy.text})
    response = render(request, "agents/index.html", context, status=given.status)
    if has_made:
        patch_cache_control(response, no_store=True)
    return response


def refused(request: HttpRequest, visit: Visit, section: str, error: DomainError, **shown_forms: Form) -> HttpResponse:
    """The page with the refusal where the act was; what was typed is kept."""
    problems = {section: problem_of(request, error)}
    return shown(request, visit, answer=Answer(error.status, problems, shown_forms))


def fresh_token(request: HttpRequest, visit: Visit, *, agent: UUID, name: str, issued: Issued) -> Fresh:
    """What the page shows once of a token that was just made."""
    made = blocks(url=server_url(request), namespace=visit.namespace, secret=issued.secret)
    waiting_url = f"/agents/{agent}/first{visit.carry}{'&' if visit.carry else '?'}after={issued.seq}"
    return Fresh(name, issued.secret, f"It ends on {words(issued.expires_at)}.", made, waiting_url)


def _forms(
    given: Answer, people: list[MemberRow], *, person: int | None, kept_for: timedelta | None
) -> dict[str, Form]:  # fmt: skip
    days = {"days": kept_for.days} if kept_for is not None else {}
    choices = tuple((row.person, row.name) for row in people)
    return {
        "connect_form": given.forms.get("connect") or ConnectForm(people=choices, initial={"operator": person}),
        "invite_form": given.forms.get("invite") or InviteForm(),
        "hold_form": given.forms.get("hold") or HoldForm(),
        "retention_form": given.forms.get("retention") or RetentionForm(initial=days),
    }


def _agent(row: AgentRow, names: Mapping[int, str], visit: Visit) -> ShownAgent:
    operator = names.get(row.operator, f"person {row.operator}") if row.operator is not None else ""
    n_live = sum(_state(token, visit.frame.read_at) == "live" for token in row.tokens)
    return ShownAgent(row, operator, n_live, f"/ledger/{row.last_seq}{visit.carry}" if row.last_seq else "")


def _tokens(agents: list[AgentRow], *, now: datetime, is_live: bool) -> list[ShownToken]:
    """Live tokens or ended ones, newest first."""
    found = [ShownToken(token, row, _state(token, now)) for row in agents for token in row.tokens]
    kept = [token for token in found if (token.state == "live") == is_live]
    return sorted(kept, key=lambda token: -token.row.seq)


def _state(token: TokenRow, now: datetime) -> str:
    if token.revoked_seq is not None:
        return "revoked"
    return "live" if token.expires_at > now else "expired"
