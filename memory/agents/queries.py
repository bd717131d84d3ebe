"""Reads about agents, tokens, members, freezes, holds, settings and runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memory.agents.models import SCOPES, Agent, Freeze, Hold, Membership, Setting, Token, TokenRevocation
from memory.ledger.models import Content


def scope_bits(scopes: Sequence[str]) -> int:
    """A bit for each of SCOPES."""
    return sum(1 << index for index, name in enumerate(SCOPES) if name in scopes)


def scopes_of(bits: int) -> tuple[str, ...]:
    """The inverse of `scope_bits`."""
    return tuple(name for index, name in enumerate(SCOPES) if bits >> index & 1)


def token_with(namespace: int, secret_hash: bytes, now: datetime) -> Token | None:
    """The live token with that hash; None if there is none, or it is expired or revoked."""
    token = Token.objects.filter(namespace=namespace, secret_hash=secret_hash).first()
    if token is None or token.expires_at <= now:
        return None
    revoked = TokenRevocation.objects.filter(namespace=namespace, token=token.id).exists()
    return None if revoked else token


def token_namespaces(secret_hash: bytes) -> list[int]:
    """The namespaces that a secret opens, by id."""
    return sorted(Token.objects.filter(secret_hash=secret_hash).values_list("namespace_id", flat=True))


def frozen(namespace: int, agent: UUID) -> bool:
    """True if the newest word on the agent is a freeze."""
    rows = Freeze.objects.filter(namespace=namespace, agent=agent).order_by("-seq")
    return bool(rows.values_list("frozen", flat=True).first())


def membership_of(namespace: int, person: int) -> Membership | None:
    """The person's newest membership row, whatever it says."""
    return Membership.objects.filter(namespace=namespace, person=person).order_by("-seq").first()


def role_of(namespace: int, person: int, now: datetime | None = None) -> str | None:
    """The person's role; None for none, or (where `now` is given) one that has expired."""
    newest = membership_of(namespace, person)
    if newest is None or newest.role == "none":
        return None
    if now is not None and newest.expires_at is not None and newest.expires_at <= now:
        return None
    return newest.role


def namespaces_of(person: int, now: datetime) -> dict[int, str]:
    """{namespace id: role} of the person, expired ones left out."""
    newest: dict[int, Membership] = {}
    for row in Membership.objects.filter(person=person).order_by("seq"):
        newest[row.namespace_id] = row
    return {
        namespace: row.role
        for namespace, row in sorted(newest.items())
        if row.role != "none" and (row.expires_at is None or row.expires_at > now)
    }


def standing_hold(namespace: int, now: datetime) -> Hold | None:
    """The hold in force, or None."""
    newest = Hold.objects.filter(namespace=namespace).order_by("-seq").first()
    if newest is None or not newest.held or (newest.until_at is not None and newest.until_at <= now):
        return None
    return newest


def setting(namespace: int, name: str, default: str) -> str:
    """The newest value of a setting."""
    row = Setting.objects.filter(namespace=namespace, name=name).order_by("-seq").first()
    if row is None:
        return default
    payload = Content.objects.filter(namespace=namespace, seq=row.seq, item=row.item, part="value")
    text = payload.values_list("payload", flat=True).first()
    return default if text is None else text.strip('"')


def agent_named(namespace: int, name: UUID) -> Agent | None:
    """The agent with that name id."""
    return Agent.objects.filter(namespace=namespace, name=name).first()
