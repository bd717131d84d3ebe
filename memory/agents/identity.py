"""From what a request shows to the actor of one namespace. Doors of every kind ask here.

Invariants
- A token opens the namespaces that it was made for; elsewhere it finds nothing, whether the namespace exists or not.
- A person is who signed in; their role is the newest membership, unless it has ended.
- In a replay namespace the loader alone may write, and in the name of whoever acted then, with that one's powers.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import cast

from memory.agents.operations import secret_hash
from memory.agents.queries import agent_by_name, person_with_address, role_of, token_opens, token_opens_any
from memory.base.actor import ROLE_POWERS, SCOPE_POWERS, Actor, Power, Role
from memory.base.errors import NotFound, Unauthorized
from memory.base.text import NAMESPACE_PATTERN
from memory.ledger.models import Namespace

LOADER = "loader"


def by_token(secret: str, *, namespace: str, now: datetime) -> Actor:
    """The agent of the token.   Raises Unauthorized (unknown, expired, revoked), NotFound (not of this namespace)."""
    digest = secret_hash(secret)
    found = token_opens(namespace, digest, now) if NAMESPACE_PATTERN.fullmatch(namespace) else None
    if found is not None:
        store, agent, token, scopes = found
        powers: frozenset[Power] = frozenset().union(*(SCOPE_POWERS[scope] for scope in scopes))
        return Actor(store, "agent", agent=agent, powers=powers, token=token)
    if token_opens_any(digest, now):
        raise _no_namespace(namespace)
    raise Unauthorized("This token is unknown, expired or revoked.")


def by_person(person: int, *, namespace: str, now: datetime) -> Actor:
    """The signed-in person in their role.   Raises NotFound (no namespace of theirs)."""
    store = _named(namespace)
    role = role_of(store.pk, person, now) if store is not None else None
    if store is None or role is None:
        raise _no_namespace(namespace)
    return Actor(store.pk, "person", person=person, role=cast(Role, role), powers=ROLE_POWERS[role])


def is_loader(by: Actor) -> bool:
    """True for the agent that loads a replay namespace."""
    if by.kind != "agent" or not Namespace.objects.filter(pk=by.namespace, clock="replay").exists():
        return False
    loader = agent_by_name(by.namespace, LOADER)
    return loader is not None and loader.id == by.agent


def standing_for(loader: Actor, principal: str, *, event_at: datetime) -> Actor | None:
    """The actor `agent:<name>` or `person:<address>` as the loader writes for them; None if there is no such one.

    Without a principal the loader writes as itself.
    """
    kind, _, name = principal.partition(":")
    if not principal:
        return replace(loader, event_at=event_at)
    if kind == "agent":
        return _as_agent(loader, name, event_at)
    return _as_person(loader, name, event_at) if kind == "person" else None


def _as_agent(loader: Actor, name: str, event_at: datetime) -> Actor | None:
    agent = agent_by_name(loader.namespace, name)
    if agent is None:
        return None
    powers: frozenset[Power] = frozenset().union(*SCOPE_POWERS.values())
    return replace(loader, agent=agent.id, powers=powers, loader=loader.agent, event_at=event_at)


def _as_person(loader: Actor, address: str, event_at: datetime) -> Actor | None:
    person = person_with_address(address)
    role = role_of(loader.namespace, person, event_at) if person is not None else None
    if role is None:
        return None
    return replace(
        loader, kind="person", agent=None, person=person, role=cast(Role, role), powers=ROLE_POWERS[role],
        loader=loader.agent, event_at=event_at,
    )  # fmt: skip


def _named(namespace: str) -> Namespace | None:
    # Only a well-formed name is asked for: the databases do not agree about NUL.
    is_name = NAMESPACE_PATTERN.fullmatch(namespace) is not None
    return Namespace.objects.filter(name=namespace).first() if is_name else None


def _no_namespace(name: str) -> NotFound:
    return NotFound(f"There is no namespace {name[:100]!r} for you.")
