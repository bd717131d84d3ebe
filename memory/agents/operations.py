"""Writes about agents, tokens, members, freezes, holds and settings."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memory.agents import policies, policy
from memory.agents.models import (
    ROLES,
    SCOPES,
    Agent,
    Freeze,
    Hold,
    Membership,
    Setting,
    Token,
    TokenRevocation,
)
from memory.agents.queries import frozen, role_of, scope_bits
from memory.base import clock, gate, ids, instants
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Conflict, Invalid, NotFound
from memory.base.text import NAME_CHARS, fault
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import book_for, opened, retried

MARK = "plm_"
DEFAULT_LIFE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=366)
AUDITOR_LIFE = timedelta(days=90)
UNLIMITED = "unlimited"
MOST_RETENTION_DAYS = 36_500
MOST_FALSE_BLOCKS = 1_000
SETTING_VALUES = {
    "approval_mode": "two_person or single_owner",
    policies.NAME: policy.ROW_FORM,
    "retention": f"a number of days, 1 to {MOST_RETENTION_DAYS}, or {UNLIMITED}",
    "false_block_limit": f"a number of reports, 1 to {MOST_FALSE_BLOCKS}",
    "profile": "native or compat",
}


@dataclass(frozen=True, slots=True)
class Made:
    """What an act made or changed: its id and the entry."""

    id: UUID
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Issued:
    """A fresh token. `secret` is shown once and stored nowhere: a repeated request gets an empty one."""

    id: UUID
    secret: str
    prefix: str
    expires_at: datetime
    seq: int
    replayed: bool = False


@retried
def create_agent(by: Actor, *, name: str, operator: int | None = None) -> Made:
    """Register an agent. Locks: the namespace head. Appends: `create_agent`.

    Raises Invalid (name), Conflict (name taken), Forbidden (owners only).
    """
    _name("name", name)
    book = book_for(by)
    agent = ids.new_id()
    draft = Draft("agent", agent, Agent, {"id": agent, "name": book.id(name), "operator": operator})
    request = {"name": name, "operator": operator}
    with opened(by, verb="create_agent", need=gate.OWN, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            first = Agent.objects.get(namespace=by.namespace, seq=entry.replayed_seq)
            return Made(first.id, first.seq, replayed=True)
        if Agent.objects.filter(namespace=by.namespace, name=draft.values["name"]).exists():
            raise Conflict(f"There is an agent named {name}.")
        entry.add(draft)
    return Made(agent, entry.seq)


def secret_hash(secret: str) -> bytes:
    """What is stored of a secret of 32 random bytes: nothing to guess, so no salt is needed."""
    return hashlib.sha256(secret.encode()).digest()


def issue_token(
    by: Actor, *, agent: UUID, scopes: Sequence[str] = ("read", "write"), life: timedelta = DEFAULT_LIFE
) -> Issued:
    """Make a token for the agent. Appends: `issue_token`. Raises NotFound, Invalid (scopes, life), Forbidden."""
    return _issue(by, agent=agent, scopes=scopes, life=life, revoked=None)


def rotate_token(by: Actor, *, token: UUID) -> Issued:
    """A new token in the place of the old one, which is revoked by the same entry. Raises NotFound, Conflict."""
    old = Token.objects.filter(namespace=by.namespace, id=token).first()
    if old is None:
        raise NotFound("There is no such token.")
    scopes = tuple(name for index, name in enumerate(SCOPES) if old.scopes >> index & 1)
    return _issue(by, agent=old.agent, scopes=scopes, life=DEFAULT_LIFE, revoked=token)


@retried
def _issue(by: Actor, *, agent: UUID, scopes: Sequence[str], life: timedelta, revoked: UUID | None) -> Issued:
    if not scopes or set(scopes) - set(SCOPES):
        raise Invalid.at("scopes", expected=f"some of {', '.join(SCOPES)}", got=", ".join(scopes))
    if not timedelta(0) < life <= LONGEST_LIFE:
        raise Invalid.at("life_days", expected="1 to 366 days", got=life.days)
    secret = MARK + urlsafe_b64encode(ids.new_secret()).rstrip(b"=").decode()
    expires_at = (by.event_at or clock.now()) + life
    identity = ids.new_id()
    prefix = secret[: len(MARK) + 6]
    values = {
        "id": identity, "agent": agent, "secret_hash": secret_hash(secret),
        "prefix": prefix, "scopes": scope_bits(scopes), "expires_at": expires_at,
    }  # fmt: skip
    verb = "issue_token" if revoked is None else "rotate_token"
    request = [str(agent), sorted(scopes), life.total_seconds(), str(revoked)]
    with opened(by, verb=verb, need=gate.OWN, request=request) as entry:
        if entry.replayed_seq is not None:
            return _issued_before(by.namespace, entry.replayed_seq)
        if not Agent.objects.filter(namespace=by.namespace, id=agent).exists():
            raise NotFound("There is no such agent.")
        entry.add(Draft("token", identity, Token, values))
        if revoked is not None:
            entry.add(_revocation(by, revoked))
    return Issued(identity, secret, prefix, expires_at, entry.seq)


def _issued_before(namespace: int, seq: int) -> Issued:
    first = Token.objects.get(namespace=namespace, seq=seq)
    return Issued(first.id, "", first.prefix, first.expires_at, seq, replayed=True)


@retried
def revoke_token(by: Actor, *, token: UUID) -> Made:
    """End a token now. Appends: `revoke_token`. Raises NotFound, Conflict (revoked before), Forbidden."""
    with opened(by, verb="revoke_token", need=gate.OWN, request=[str(token)]) as entry:
        if not entry.is_replay:
            entry.add(_revocation(by, token))
    return _made(token, entry.answer)


def _made(identity: UUID, answer: Appended) -> Made:
    return Made(identity, answer.seq, answer.replayed)


def _revocation(by: Actor, token: UUID) -> Draft:
    if not Token.objects.filter(namespace=by.namespace, id=token).exists():
        raise NotFound("There is no such token.")
    if TokenRevocation.objects.filter(namespace=by.namespace, token=token).exists():
        raise Conflict("This token is revoked already.")
    return Draft("token_revocation", token, TokenRevocation, {"token": token})


@retried
def freeze(by: Actor, *, agent: UUID, frozen_now: bool = True, reason: str = "") -> Made:
    """Refuse the agent's writes from the next entry on, or admit them again.

    Appends: `freeze` or `unfreeze`. Raises NotFound, Conflict (it is so already), Forbidden (owners only).
    """
    verb = "freeze" if frozen_now else "unfreeze"
    with opened(by, verb=verb, need=gate.OWN, request=[str(agent), reason]) as entry:
        if entry.is_replay:
            return _made(agent, entry.answer)
        if not Agent.objects.filter(namespace=by.namespace, id=agent).exists():
            raise NotFound("There is no such agent.")
        if frozen(by.namespace, agent) == frozen_now:
            raise Conflict("The agent is frozen already." if frozen_now else "The agent is not frozen.")
        parts = {"note": reason} if reason else {}
        entry.add(Draft("freeze", agent, Freeze, {"agent": agent, "frozen": frozen_now}, parts))
    return _made(agent, entry.answer)


@retried
def admit_member(by: Actor, *, person: int, role: str, expires_at: datetime | None = None) -> Appended:
    """Give the person a role in the namespace, or end it with `none`. An auditor without an end gets AUDITOR_LIFE.

    Appends: `admit_member`. Raises Invalid (role), Conflict (the last owner would go), Forbidden (owners only).
    """
    if role not in ROLES:
        raise Invalid.at("role", expected=" or ".join(ROLES), got=role)
    request = [person, role, instants.text(expires_at) if expires_at is not None else None]
    with opened(by, verb="admit_member", need=gate.OWN, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        now = by.event_at or clock.now()
        if expires_at is not None and expires_at <= now:
            raise Invalid.at("expires_at", expected="an instant to come", got=instants.text(expires_at))
        stays = role == "owner" and expires_at is None
        if not stays and role_of(by.namespace, person, now) == "owner" and _is_last_owner(by.namespace, person, now):
            raise Conflict("The last owner of a namespace cannot be removed, nor be given an end.")
        ends = entry.recorded_at + AUDITOR_LIFE if role == "auditor" and expires_at is None else expires_at
        row = {"person": person, "role": role, "expires_at": ends}
        entry.add(Draft("membership", ids.new_id(), Membership, row))
    return entry.answer


def _is_last_owner(namespace: int, person: int, now: datetime) -> bool:
    others = Membership.in_force.filter(namespace=namespace).exclude(person=person)
    return all(role_of(namespace, other, now) != "owner" for other in set(others.values_list("person", flat=True)))


@retried
def hold(by: Actor, *, held: bool, reason: str, until_at: datetime | None = None) -> Appended:
    """Place or lift the retention hold. Appends: `hold` or `lift_hold`. Raises Invalid (no reason), Forbidden."""
    if not reason.strip():
        raise Invalid.at("reason", expected="why the hold is placed or lifted")
    verb = "hold" if held else "lift_hold"
    request = [reason, instants.text(until_at) if until_at is not None else None]
    with opened(by, verb=verb, need=gate.OWN, request=request) as entry:
        if not entry.is_replay:
            row = {"held": held, "until_at": until_at}
            entry.add(Draft("hold", ids.new_id(), Hold, row, {"note": reason}))
    return entry.answer


@retried
def change_setting(by: Actor, *, name: str, value: str | Sequence[Any]) -> Appended:
    """Set a setting of the namespace; the review policy is given as text or as a list of rows.

    Appends: `change_setting`. Raises Invalid, Forbidden (owners only).
    """
    if name not in SETTING_VALUES:
        raise Invalid.at("name", expected=" or ".join(SETTING_VALUES), got=name)
    if name == policies.NAME:
        value = (policy.parsed(value) if isinstance(value, str) else policy.from_rows(value)).text
    elif not isinstance(value, str) or not _is_value(name, value):
        raise Invalid.at("value", expected=SETTING_VALUES[name], got=value)
    with opened(by, verb="change_setting", need=gate.OWN, request=[name, value]) as entry:
        if not entry.is_replay:
            entry.add(Draft("setting", ids.new_id(), Setting, {"name": name}, {"value": value}))
    return entry.answer


def _is_value(name: str, value: str) -> bool:
    if name == "approval_mode":
        return value in ("two_person", "single_owner")
    if name == "profile":
        return value in ("native", "compat")
    is_number = value.isascii() and value.isdecimal() and len(value) <= 5 and value == str(int(value))
    if name == "false_block_limit":
        return is_number and 1 <= int(value) <= MOST_FALSE_BLOCKS
    return value == UNLIMITED or (is_number and 1 <= int(value) <= MOST_RETENTION_DAYS)


def _name(loc: str, text: str) -> None:
    problem = fault(text)
    if problem is not None or not text.strip() or len(text) > NAME_CHARS:
        raise Invalid.at(loc, expected=f"1 to {NAME_CHARS} characters of text", got=problem or text[:40])
