"""What ended between the door and the lock opens nothing: powers are asked about again before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.agents import operations as agents
from memory.agents.identity import by_token
from memory.agents.models import Token
from memory.base import clock, gate
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import DomainError, Forbidden, Stopped, Unauthorized
from memory.ledger.models import Entry
from memory.records import operations as records
from tests.contract.callers import caller
from tests.statements import after_first, in_thread
from tests.world import World

pytestmark = pytest.mark.django_db

HEAD = "memory_head"


@pytest.fixture
def world() -> World:
    return World()


def at_the_door(world: World) -> Actor:
    """Scout as its token opens the namespace."""
    return by_token(world.secrets[world.scout_id], namespace=world.name, now=clock.now())


def token_of(world: World) -> UUID:
    return Token.objects.get(namespace=world.namespace, agent=world.scout_id).id


def n_entries(world: World) -> int:
    return Entry.objects.filter(namespace=world.namespace).count()


def test_a_token_that_opened_the_door_is_carried_to_the_lock(world: World) -> None:
    assert at_the_door(world).token == token_of(world)
    assert world.save("a note", by=at_the_door(world)).seq


ENDS: dict[str, tuple[Callable[[World], object], type[DomainError]]] = {
    "revoked": (lambda w: agents.revoke_token(w.alice, token=token_of(w)), Unauthorized),
    "rotated": (lambda w: agents.rotate_token(w.alice, token=token_of(w)), Unauthorized),
    "frozen": (lambda w: agents.freeze(w.alice, agent=w.scout_id), Stopped),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_token_that_ended_since_writes_nothing(world: World, end: str) -> None:
    act, refusal = ENDS[end]
    by = at_the_door(world)
    act(world)
    before = n_entries(world)
    with pytest.raises(refusal):
        world.save("a note", by=by)
    assert n_entries(world) == before


def test_a_token_that_expired_since_writes_nothing(world: World) -> None:
    by = at_the_door(world)
    ends = Token.objects.get(id=by.token).expires_at
    with clock.fixed(ends - timedelta(seconds=1)):
        assert world.save("in time", by=by).seq
    with clock.fixed(ends), pytest.raises(Unauthorized):
        world.save("too late", by=by)


ROLES: dict[str, tuple[str, Callable[[World, Actor], object]]] = {
    "an owner who is a reviewer now": ("reviewer", lambda w, by: agents.create_agent(by, name="another")),
    "an owner who has left": ("none", lambda w, by: agents.create_agent(by, name="another")),
    "a reviewer who is an auditor now": (
        "auditor", lambda w, by: records.withdraw(by, record=w.save("a note").id, reason="wrong"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("who", ROLES)
def test_a_role_that_changed_since_opens_nothing(world: World, who: str) -> None:
    role, act = ROLES[who]
    by = world.person("dora", role="reviewer" if role == "auditor" else "owner")
    agents.admit_member(world.alice, person=by.person or 0, role=role)
    with pytest.raises(Forbidden):
        act(world, by)


def test_a_role_that_rose_since_opens_no_more_than_the_door_did(world: World) -> None:
    by = world.bob
    agents.admit_member(world.alice, person=by.person or 0, role="owner")
    with pytest.raises(Forbidden):
        agents.create_agent(by, name="another")
    assert agents.create_agent(replace(by, role="owner", powers=ROLE_POWERS["owner"]), name="another").seq


def test_a_role_that_expired_since_opens_nothing(world: World) -> None:
    ends = clock.now() + timedelta(days=1)
    by = world.person("dora", role="owner")
    agents.admit_member(world.alice, person=by.person or 0, role="owner", expires_at=ends)
    assert agents.create_agent(by, name="in time").seq
    with clock.fixed(ends), pytest.raises(Forbidden):
        agents.create_agent(by, name="too late")


@pytest.mark.django_db(transaction=True)
def test_a_token_revoked_while_its_write_waits_for_the_lock_is_refused(world: World) -> None:
    """The revocation stands between the look-up at the door and the lock of the write."""
    scout = caller(world, world.scout)
    token = token_of(world)
    with after_first("memory_token t", lambda: in_thread(lambda: agents.revoke_token(world.alice, token=token))):
        answer = scout.post("/records", {"type": "note", "content": "too late"})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert Entry.objects.filter(namespace=world.namespace).latest("seq").verb == "revoke_token"


def test_asking_again_costs_one_query(world: World) -> None:
    for by, need in ((at_the_door(world), gate.WRITE), (world.alice, gate.OWN)):
        with CaptureQueriesContext(connection) as asked:
            gate.passes(by, need)
        assert len(asked) == 1


def test_a_loader_whose_token_is_revoked_writes_for_nobody(world: World) -> None:
    by = replace(at_the_door(world), kind="person", agent=None, person=world.alice.person, powers=ROLE_POWERS["owner"])
    gate.passes(by, gate.OWN)
    agents.revoke_token(world.alice, token=token_of(world))
    with pytest.raises(Unauthorized):
        gate.passes(by, gate.OWN)
