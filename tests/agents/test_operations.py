"""Who may write, in whose name and in which task: held by the operations, whatever the door."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection

from memory.agents import operations as agents
from memory.agents import queries, runs
from memory.agents.models import Agent, Hold, Membership, Run, RunReference, Token
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.base.errors import Conflict, Forbidden, Invalid, NotFound, Stopped
from memory.ledger.models import Entry, Refusal
from memory.ledger.operations.erasing import erase
from memory.ledger.operations.founding import found
from memory.ledger.operations.refusing import WINDOW_SECONDS, refuse
from memory.ledger.queries.verification import scan
from memory.records import operations as records
from memory.records.content import NewRecord
from tests.statements import after_first, in_thread
from tests.states import everything, projected, rebuilt, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


# Tokens.


def test_no_table_holds_the_secret_of_a_token_and_only_its_hash_finds_it() -> None:
    world = World()
    secret = world.secrets[world.scout_id]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                assert not any(secret in str(bytes(v) if isinstance(v, memoryview) else v) for v in row), table
    token = Token.objects.get(namespace=world.namespace)
    assert bytes(token.secret_hash) == hashlib.sha256(secret.encode()).digest()
    assert queries.token_with(world.namespace, agents.secret_hash(secret), clock.now()) == token


def test_a_token_opens_one_namespace() -> None:
    here, there = World("here"), World("there")
    digest = agents.secret_hash(here.secrets[here.scout_id])
    assert queries.token_namespaces(digest) == [here.namespace]
    assert queries.token_with(there.namespace, digest, clock.now()) is None


def test_a_token_ends_at_its_instant_and_not_before() -> None:
    world = World()
    issued = agents.issue_token(world.alice, agent=world.scout_id, life=timedelta(days=1))
    digest = agents.secret_hash(issued.secret)
    assert queries.token_with(world.namespace, digest, issued.expires_at - timedelta(microseconds=1)) is not None
    assert queries.token_with(world.namespace, digest, issued.expires_at) is None


def test_a_rotated_token_is_revoked_by_the_entry_that_makes_the_new_one() -> None:
    world = World()
    old = agents.issue_token(world.alice, agent=world.scout_id, scopes=("read", "control"))
    new = agents.rotate_token(world.alice, token=old.id)
    now = clock.now()
    assert queries.token_with(world.namespace, agents.secret_hash(old.secret), now) is None
    found_ = queries.token_with(world.namespace, agents.secret_hash(new.secret), now)
    assert found_ is not None
    assert queries.scopes_of(found_.scopes) == ("read", "control")
    with pytest.raises(Conflict):
        agents.revoke_token(world.alice, token=old.id)
    with pytest.raises(Conflict):
        agents.rotate_token(world.alice, token=old.id)


@pytest.mark.parametrize("scopes", [(), ("admin",), ("read", "own")])
def test_a_scope_that_is_none_is_refused(scopes: tuple[str, ...]) -> None:
    world = World()
    with pytest.raises(Invalid):
        agents.issue_token(world.alice, agent=world.scout_id, scopes=scopes)


@pytest.mark.parametrize("life", [timedelta(0), timedelta(days=-1), timedelta(days=367)])
def test_a_life_without_an_end_or_over_a_year_is_refused(life: timedelta) -> None:
    world = World()
    with pytest.raises(Invalid):
        agents.issue_token(world.alice, agent=world.scout_id, life=life)


def test_what_a_token_may_is_what_its_scopes_say() -> None:
    world = World()
    reader = world.agent("reader", scopes=("read",))
    with pytest.raises(Forbidden):
        world.save(by=reader)
    assert world.save(by=world.agent("writer", scopes=("write",))).id


OWNERS_ACTS = {
    "make an agent": lambda w, by: agents.create_agent(by, name="other"),
    "issue a token": lambda w, by: agents.issue_token(by, agent=w.scout_id),
    "freeze": lambda w, by: agents.freeze(by, agent=w.scout_id),
    "admit a member": lambda w, by: agents.admit_member(by, person=1, role="owner"),
    "place a hold": lambda w, by: agents.hold(by, held=True, reason="x"),
    "change a setting": lambda w, by: agents.change_setting(by, name="approval_mode", value="single_owner"),
    "erase": lambda w, by: erase(by, items=[(1, 0)], reason="request"),
}


@pytest.mark.parametrize("act", OWNERS_ACTS)
@pytest.mark.parametrize("who", ["bob", "charlie", "scout"])
def test_what_is_an_owners_is_nobody_elses(act: str, who: str) -> None:
    world = World()
    before = row_counts()
    with pytest.raises(Forbidden):
        OWNERS_ACTS[act](world, getattr(world, who))
    assert row_counts() == before


@pytest.mark.parametrize("act", OWNERS_ACTS)
def test_a_token_never_does_what_is_a_persons_whatever_its_powers(act: str) -> None:
    world = World()
    mighty = replace(world.scout, powers=frozenset({"read", "write", "control", "review", "own"}))
    with pytest.raises(Forbidden, match="person's"):
        OWNERS_ACTS[act](world, mighty)


# Freezing.


def test_a_frozen_agent_writes_nothing_from_the_next_entry_on_and_others_do() -> None:
    world = World()
    other = world.agent("other")
    agents.freeze(world.alice, agent=world.scout_id, reason="it repeats itself")
    before = everything(world.namespace)
    with pytest.raises(Stopped):
        world.save()
    with pytest.raises(Stopped):
        runs.open_run(world.scout)
    assert everything(world.namespace) == before
    assert world.save(by=other).id
    agents.freeze(world.alice, agent=world.scout_id, frozen_now=False)
    assert world.save().id
    with pytest.raises(Conflict):
        agents.freeze(world.alice, agent=world.scout_id, frozen_now=False)


def test_an_agent_of_another_namespace_cannot_be_frozen_here() -> None:
    here, there = World("here"), World("there")
    with pytest.raises(NotFound):
        agents.freeze(here.alice, agent=there.scout_id)
    assert there.save().id


# Members.


def test_the_newest_word_on_a_person_counts_and_none_ends_it() -> None:
    world = World()
    assert world.bob.person is not None
    assert queries.role_of(world.namespace, world.bob.person) == "reviewer"
    agents.admit_member(world.alice, person=world.bob.person, role="owner")
    assert queries.role_of(world.namespace, world.bob.person) == "owner"
    agents.admit_member(world.alice, person=world.bob.person, role="none")
    assert queries.role_of(world.namespace, world.bob.person) is None
    assert Membership.objects.filter(namespace=world.namespace, person=world.bob.person).count() == 3


def test_a_role_ends_at_its_instant() -> None:
    world = World()
    agents.admit_member(world.alice, person=77, role="reviewer", expires_at=NOON)
    assert queries.role_of(world.namespace, 77, NOON - timedelta(microseconds=1)) == "reviewer"
    assert queries.role_of(world.namespace, 77, NOON) is None


def test_an_auditor_always_has_an_end() -> None:
    world = World()
    agents.admit_member(world.alice, person=77, role="auditor")
    row = queries.membership_of(world.namespace, 77)
    assert row is not None
    recorded_at = Entry.objects.get(namespace=world.namespace, seq=row.seq).recorded_at
    assert row.expires_at == recorded_at + agents.AUDITOR_LIFE


def test_the_last_owner_can_neither_leave_nor_become_less() -> None:
    world = World()
    assert world.alice.person is not None
    for role in ("none", "reviewer", "auditor"):
        with pytest.raises(Conflict):
            agents.admit_member(world.alice, person=world.alice.person, role=role)
    agents.admit_member(world.alice, person=77, role="owner")
    agents.admit_member(world.alice, person=world.alice.person, role="none")
    with pytest.raises(Conflict):
        agents.admit_member(world.system, person=77, role="none")


# Holds and settings.


def test_the_newest_word_on_the_hold_counts() -> None:
    world = World()
    assert queries.standing_hold(world.namespace, clock.now()) is None
    agents.hold(world.alice, held=True, reason="an audit", until_at=NOON)
    assert queries.standing_hold(world.namespace, NOON - timedelta(seconds=1)) is not None
    assert queries.standing_hold(world.namespace, NOON) is None
    agents.hold(world.alice, held=True, reason="for good")
    assert queries.standing_hold(world.namespace, NOON) is not None
    agents.hold(world.alice, held=False, reason="over")
    assert queries.standing_hold(world.namespace, clock.now()) is None
    assert Hold.objects.filter(namespace=world.namespace).count() == 3


def test_a_setting_takes_the_declared_values_and_the_newest_counts() -> None:
    world = World()
    assert queries.setting(world.namespace, "approval_mode", "two_person") == "two_person"
    agents.change_setting(world.alice, name="approval_mode", value="single_owner")
    assert queries.setting(world.namespace, "approval_mode", "two_person") == "single_owner"
    for name, value in (("approval_mode", "nobody"), ("colour", "red")):
        with pytest.raises(Invalid):
            agents.change_setting(world.alice, name=name, value=value)


# Agents.


@pytest.mark.parametrize("name", ["", "  ", "x" * 401, "a\0b", "\ud800"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    world = World()
    with pytest.raises(Invalid):
        agents.create_agent(world.alice, name=name)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_register_one_name_at_once_one_does() -> None:
    world = World()
    rival = lambda: in_thread(lambda: agents.create_agent(world.alice, name="twin"))  # noqa: E731
    with after_first("memory_name", rival) as watch, pytest.raises(Conflict):
        agents.create_agent(world.alice, name="twin")
    assert watch.statements
    assert Agent.objects.filter(namespace=world.namespace).count() == 2
    assert scan(world.namespace).is_clean


# Runs.


def given_run(world: World, **given: object) -> Actor:
    return replace(world.scout, run=RunGiven(**given))  # type: ignore[arg-type]


def test_the_first_entry_that_names_a_run_opens_it_and_later_ones_join() -> None:
    world = World()
    by = given_run(world, title="night build", refs=(("ticket", "4411"), ("trace", "a" * 32)))
    first, second = world.save("one", by=by), world.save("two", by=by)
    (run,) = Run.objects.filter(namespace=world.namespace)
    entries = Entry.objects.filter(namespace=world.namespace, run=run.id).values_list("seq", flat=True)
    assert list(entries) == [first.seq, second.seq]
    assert run.seq == first.seq
    assert RunReference.objects.filter(namespace=world.namespace, run_id=run.id).count() == 2


def test_a_run_of_an_id_that_nobody_opened_is_not_found_unless_it_is_described() -> None:
    world = World()
    id = uuid4()
    with pytest.raises(NotFound):
        world.save(by=given_run(world, id=id))
    world.save(by=given_run(world, id=id, title="a task"))
    world.save(by=given_run(world, id=id))
    assert Entry.objects.filter(namespace=world.namespace, run=id).count() == 2


def test_a_run_of_another_namespace_is_not_found_here() -> None:
    here, there = World("here"), World("there")
    run, _, _ = runs.open_run(given_run(there, title="theirs"))
    with pytest.raises(NotFound):
        here.save(by=given_run(here, id=run))


@pytest.mark.parametrize("key", ["", "k-1"], ids=["without a key", "with a key"])
def test_a_run_is_opened_once_and_says_one_thing(key: str) -> None:
    world = World()
    id = uuid4()
    by = replace(given_run(world, id=id, title="a task"), idempotency_key=key)
    first = runs.open_run(by)
    again = runs.open_run(by)
    assert (first[0], first[2], again) == (id, False, (id, first[1], True))
    other = given_run(world, id=id, title="another task")
    with pytest.raises(Conflict):
        runs.open_run(replace(other, idempotency_key=f"{key}-other" if key else ""))


def test_a_run_ends_once() -> None:
    world = World()
    run, _, _ = runs.open_run(given_run(world, title="a task"))
    ended = runs.end_run(world.scout, run=run, note="done")
    assert Entry.objects.get(namespace=world.namespace, seq=ended.seq).run == run
    with pytest.raises(Conflict):
        runs.end_run(world.scout, run=run)
    with pytest.raises(NotFound):
        runs.end_run(world.scout, run=uuid4())


def test_references_of_runs_rebuilt_are_those_that_stood_and_erased_ones_are_gone() -> None:
    world = World()
    first = world.save(by=given_run(world, title="one", refs=(("ticket", "4411"),)))
    world.save(by=given_run(world, title="two", refs=(("ticket", "4412"),)))
    assert rebuilt(world.namespace)["run_references"] == projected(world.namespace)["run_references"]
    erase(world.alice, items=[(first.seq, 0)], reason="request")
    assert [row[-1] for row in projected(world.namespace)["run_references"]] == ["4412"]
    assert rebuilt(world.namespace)["run_references"] == projected(world.namespace)["run_references"]


# Refusals.


def test_refusals_of_one_kind_are_written_once_a_minute_with_their_number() -> None:
    cache.clear()
    world = World()
    about = uuid4()
    assert refuse(world.scout, code="stopped", about=about) is not None
    assert [refuse(world.scout, code="stopped", about=about) for _ in range(3)] == [None] * 3
    assert refuse(world.scout, code="stopped", about=uuid4()) is not None
    assert refuse(world.scout, code="on_hold", about=about) is not None
    cache.delete(f"refusal/{world.namespace}/{world.scout_id}/stopped/{about}/recent")
    refuse(world.scout, code="stopped", about=about)
    rows = Refusal.objects.filter(namespace=world.namespace, object=about, code="stopped").order_by("seq")
    assert list(rows.values_list("count", flat=True)) == [1, 4]
    assert WINDOW_SECONDS == 60
    assert scan(world.namespace).is_clean


# A namespace that replays.


def test_a_replaying_namespace_takes_the_instants_of_its_events_and_no_other_writer() -> None:
    namespace = found(Actor(0, "system", event_at=NOON), name="story", host_clock="replay").pk
    loader = Actor(namespace, "agent", agent=uuid4(), powers=frozenset({"write"}))
    with pytest.raises(Forbidden):
        records.save(loader, records=[NewRecord("note", "now")])
    for event_at in (NOON + timedelta(days=1), NOON + timedelta(days=1), NOON):
        records.save(replace(loader, event_at=event_at), records=[NewRecord("note", "then")])
    instants = list(Entry.objects.filter(namespace=namespace).order_by("seq").values_list("recorded_at", flat=True))
    assert instants[0] == NOON
    assert instants[1] == NOON + timedelta(days=1)
    assert instants == sorted(set(instants))
    assert scan(namespace).is_clean
