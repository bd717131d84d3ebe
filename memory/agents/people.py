"""The people of a namespace: who holds a role now, and how somebody gets one.

Invariants
- Of several memberships of one person the newest counts; an ended or expired role is no role, but is still listed.
- A one-time link is made only for an account that nobody could sign in to yet and that no other namespace knows:
  a link signs in as the person, so it must never open more than what the inviter may give.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery

from memory.agents import operations
from memory.agents.accounts import create_person, sign_in_path
from memory.agents.activity import person_name
from memory.agents.models import Membership
from memory.base import gate
from memory.base.actor import Actor
from memory.ledger.models import Entry


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A person and the role that the newest membership gives; `by` set it by the entry `seq`, None for the host."""

    person: int
    name: str
    address: str
    role: str
    seq: int
    since: datetime
    by: int | None
    by_name: str
    expires_at: datetime | None
    last_sign_in: datetime | None


@dataclass(frozen=True, slots=True)
class Invited:
    """What an invitation did. `link` is the path of a one-time link; empty where the person can sign in without."""

    person: int
    seq: int
    link: str


def members(namespace: int) -> list[MemberRow]:
    """Everybody whose newest membership gives a role, by name. One query."""
    newer = Membership.in_force.filter(
        namespace=OuterRef("namespace"), person=OuterRef("person"), seq__gt=OuterRef("seq")
    )
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    account = User.objects.filter(pk=OuterRef("person"))
    columns: dict[str, Any] = {
        "name": person_name("person"),
        "address": Subquery(account.values("username")[:1]),
        "last_sign_in": Subquery(account.values("last_login")[:1]),
        "since": Subquery(entry.values("recorded_at")[:1]),
        "by": Subquery(entry.values("person")[:1]),
    }
    rows: Any = Membership.in_force.filter(~Exists(newer), namespace=namespace).exclude(role="none").annotate(**columns)
    found = [
        MemberRow(
            row.person, row.name or f"person {row.person}", row.address or "", row.role, row.seq, row.since, row.by,
            row.by_name or "", row.expires_at, row.last_sign_in,
        )
        for row in rows.annotate(by_name=person_name("by"))
    ]  # fmt: skip
    return sorted(found, key=lambda row: (row.name.lower(), row.person))


def invite(by: Actor, *, email: str, role: str, expires_at: datetime | None = None) -> Invited:
    """Give the person of that address the role; their account is made where there is none.

    Appends: `admit_member`. Raises Forbidden (owners only), Invalid (address, role), Conflict (the last owner).
    """
    gate.permits(by, gate.OWN)
    with transaction.atomic():
        person = create_person(email)
        admitted = operations.admit_member(by, person=person.pk, role=role, expires_at=expires_at)
    link = sign_in_path(person) if _is_theirs_to_open(person, by.namespace) else ""
    return Invited(person.pk, admitted.seq, link)


def _is_theirs_to_open(person: User, namespace: int) -> bool:
    """True if nobody has signed in to the account yet and only this namespace knows it."""
    has_entered = person.last_login is not None or person.has_usable_password()
    return not has_entered and not Membership.in_force.filter(person=person.pk).exclude(namespace=namespace).exists()
