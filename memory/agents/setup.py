"""What must stand before anyone can sign in or write: namespaces, agents, roles, tokens. For commands of the host.

Invariants
- Whoever runs commands on the host is the actor "system"; each act is an entry like any other.
- Asking twice changes nothing: what stands already is answered, not made again. Tokens and links are always fresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from memory.agents import operations
from memory.agents.accounts import create_person
from memory.agents.models import Agent, Membership, Setting
from memory.agents.queries import agent_named, frozen, membership_of, role_of
from memory.base import clock, ids
from memory.base.actor import Actor
from memory.base.errors import Conflict, NotFound
from memory.ledger.drafts import Draft
from memory.ledger.models import Head, Namespace
from memory.ledger.operations.founding import found
from memory.ledger.queries.asof import namespace_named
from memory.ledger.queries.contents import name_ids

FIRST_NAMESPACE = "main"
FIRST_AGENT = "first-agent"
# An auditor's role ends by itself; a later invitation gives it a new end.
AUDITOR_LIFE = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What the first start made. `secret` is the agent's token, shown once."""

    namespace: str
    owner: User
    agent: str
    secret: str


def system(namespace: int) -> Actor:
    """The actor of commands run on the host. A replayed namespace has no time but that of its events, also for them."""
    heads = Head.objects.filter(namespace=namespace, namespace__clock="replay")
    return Actor(namespace, "system", event_at=heads.values_list("last_at", flat=True).first())


def takes_people(namespace: int) -> bool:
    """Whether people may write there: not where it replays events, nor once it is closed; the host still may."""
    rows = Head.objects.filter(namespace=namespace, namespace__clock="host", closed_seq__isnull=True)
    return rows.exists()


def stores_named(name: str) -> list[Namespace]:
    """The namespace of that name, or all of them for no name, in order.   Raises NotFound."""
    return [namespace_named(name)] if name else list(Namespace.objects.order_by("name"))


def ensure_namespace(name: str) -> int:
    """The id of the namespace, made if there is none.   Raises Invalid (name)."""
    standing = Namespace.objects.filter(name=name).values_list("pk", flat=True).first()
    return standing if standing is not None else found(system(0), name=name).pk


def found_replay(name: str, *, notice: str, at: datetime) -> int:
    """The id of the replay namespace of that name, made if there is none; its first entry carries the notice.

    Appends: `create_namespace`, items namespace and setting (two people approve).   Raises Invalid (name).
    """
    standing = Namespace.objects.filter(name=name, clock="replay").values_list("pk", flat=True).first()
    if standing is not None:
        return standing
    mode = {"value": "two_person", "note": notice}
    draft = Draft("setting", ids.new_id(), Setting, {"name": "approval_mode"}, mode)
    return found(replace(system(0), event_at=at), name=name, host_clock="replay", drafts=[draft]).pk


def ensure_agent(by: Actor, *, name: str, operator: int | None = None) -> UUID:
    """The id of the agent, made if there is none.   Raises Invalid (name), Forbidden (owners only)."""
    standing = _agent(by.namespace, name)
    return standing.id if standing is not None else operations.create_agent(by, name=name, operator=operator).id


def ensure_role(by: Actor, *, person: int, role: str, expires_at: datetime | None = None) -> bool:
    """Give the person the role; false if they hold it already, for as long.   Raises Invalid, Conflict, Forbidden."""
    standing = membership_of(by.namespace, person)
    if standing is not None and standing.role == role and standing.expires_at == expires_at:
        return False
    operations.admit_member(by, person=person, role=role, expires_at=expires_at)
    return True


def new_token(
    *, namespace: str, agent: str, scopes: Sequence[str], life: timedelta = operations.DEFAULT_LIFE
) -> operations.Issued:
    """A token of the agent; namespace and agent are made where absent, or nothing is.   Raises Invalid."""
    with transaction.atomic():
        store = ensure_namespace(namespace)
        identity = ensure_agent(system(store), name=agent)
        # The life of a token runs on the clock of those who use it, also where a namespace replays older events.
        by = replace(system(store), event_at=None)
        return operations.issue_token(by, agent=identity, scopes=scopes, life=life)


def invite(*, email: str, role: str, namespace: str) -> User:
    """The account, holding the role in the namespace.   Raises NotFound (namespace), Invalid, Conflict (last owner)."""
    with transaction.atomic():
        store = namespace_named(namespace).pk
        person = create_person(email)
        expires_at = clock.now() + AUDITOR_LIFE if role == "auditor" else None
        ensure_role(system(store), person=person.pk, role=role, expires_at=expires_at)
    return person


def freeze_named(*, agent: str, namespace: str = "", reason: str = "") -> list[str]:
    """Freeze the agent in the namespace, or wherever an agent of that name is. Answers the namespaces it was frozen in.

    Raises NotFound (no such agent or namespace), Conflict (frozen already in all of them).
    """
    named = [(store, row) for store in stores_named(namespace) if (row := _agent(store.pk, agent)) is not None]
    if not named:
        raise NotFound(f"There is no agent {agent!r}{f' in {namespace}' if namespace else ''}.")
    live = [(store, row) for store, row in named if not frozen(store.pk, row.id)]
    if not live:
        raise Conflict(f"The agent {agent!r} is frozen already.")
    for store, row in live:
        operations.freeze(system(store.pk), agent=row.id, reason=reason)
    return [store.name for store, _ in live]


def first_run(*, owner_email: str) -> FirstRun | None:
    """Make the first namespace with its owner and one agent with a token; None where anyone owns anything.

    All or nothing, so that a start that is cut short is a first start again.   Raises Invalid (email).
    """
    with transaction.atomic():
        if _has_owner():
            return None
        store = ensure_namespace(FIRST_NAMESPACE)
        owner = create_person(owner_email)
        ensure_role(system(store), person=owner.pk, role="owner")
        issued = new_token(namespace=FIRST_NAMESPACE, agent=FIRST_AGENT, scopes=("read", "write"))
    return FirstRun(FIRST_NAMESPACE, owner, FIRST_AGENT, issued.secret)


def _has_owner() -> bool:
    owners = Membership.in_force.filter(role="owner").values_list("namespace", "person")
    return any(role_of(namespace, person) == "owner" for namespace, person in set(owners))


def _agent(namespace: int, name: str) -> Agent | None:
    identity = name_ids(namespace, [name]).get(name)
    return None if identity is None else agent_named(namespace, identity)
