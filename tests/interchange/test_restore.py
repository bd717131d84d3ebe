"""Restoring: where to, whose it is then, and what does not come back."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from memory.agents import operations as agents
from memory.agents.accounts import create_person
from memory.agents.activity import latest
from memory.agents.models import Token
from memory.agents.operations import admit_member, secret_hash
from memory.agents.people import members
from memory.agents.queries import role_of, token_opens, token_with
from memory.agents.setup import first_run, system
from memory.base import clock
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Conflict, Forbidden, IdempotencyMismatch
from memory.interchange.operations import restore_archive
from memory.ledger.models import Content, Entry, Erasure, Name, Namespace, Restoration
from memory.ledger.queries import asof
from memory.ledger.queries.erased import commitments
from memory.ledger.queries.verification import scan
from memory.records.models import Record
from memory.records.queries.detail import record
from memory.records.queries.recall import recall
from tests.conftest import lifted_triggers
from tests.interchange.archives import archive_of, lines_of, lose, namespace_named, restored
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import imported
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def person(namespace: int, name: str = "olga", role: str = "owner") -> Actor:
    """Somebody with an account of this host who owns another namespace of it."""
    account = create_person(f"{name}@example.org").pk
    admit_member(system(namespace), person=account, role=role)
    return Actor(namespace, "person", person=account, role="owner", powers=ROLE_POWERS["owner"])


def size_of(namespace: int) -> int:
    return Entry.objects.filter(namespace=namespace).count()


def test_a_namespace_that_is_not_empty_is_a_conflict_and_stays_as_it_was(world: World) -> None:
    archive = archive_of(world.namespace)
    later = world.save("written since")
    with pytest.raises(Conflict, match="lab"):
        restored(archive)
    assert record(world.now(), id=later.id).content == "written since"
    assert not Restoration.objects.exists()


def test_a_namespace_that_stands_under_another_owner_is_a_conflict_too(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    World("lab")
    with pytest.raises(Conflict):
        restored(archive)


def test_other_namespaces_are_not_touched(world: World) -> None:
    other = World("other")
    other.save("of the other")
    before = archive_of(other.namespace)
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    assert archive_of(other.namespace) == before


def test_accounts_of_the_former_host_open_nothing_here(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    here = namespace_named("lab")
    # The numbers of the archive's people are numbers of this host's people too: that is chance, not a grant.
    assert world.alice.person is not None
    assert role_of(here, world.alice.person) is None
    assert members(here) == []


def test_whoever_restores_owns_what_stands_then(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    olga = person(World("home").namespace)
    done = restored(archive, by=olga)
    here = namespace_named("lab")
    assert olga.person is not None
    assert role_of(here, olga.person) == "owner"
    assert [row.person for row in members(here)] == [olga.person]
    # Her admission is an entry like any other, behind the last of the archive.
    assert size_of(here) == done.size + 1
    assert scan(here).is_clean


def test_an_owner_who_restores_on_the_same_host_is_owner_by_the_archive_alone(world: World) -> None:
    home = World("home")
    alice = replace(world.alice, namespace=home.namespace)
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive, by=alice)
    here = namespace_named("lab")
    assert archive_of(here) == archive
    assert alice.person is not None
    assert role_of(here, alice.person) == "owner"
    assert world.bob.person is not None
    assert role_of(here, world.bob.person) is None


def test_tokens_of_the_former_host_open_nothing_unless_its_people_came_along(world: World) -> None:
    secret = secret_hash(world.secrets[world.scout_id])
    archive, now = archive_of(world.namespace), clock.now()
    agents.revoke_token(world.alice, token=Token.objects.get(namespace=world.namespace, secret_hash=secret).id)
    lose(world)
    restored(archive)
    here = namespace_named("lab")
    # It was revoked after the archive was made; nothing here says so.
    assert token_with(here, secret, now) is None
    assert token_opens("lab", secret, now) is None
    fresh = agents.issue_token(system(here), agent=world.scout_id)
    assert token_opens("lab", secret_hash(fresh.secret), clock.now()) is not None
    world.namespace = here
    lose(world)
    restored(archive, keeps_people=True)
    assert token_opens("lab", secret, now) is not None
    assert token_with(namespace_named("lab"), secret, now) is not None


def test_people_who_came_along_keep_their_roles(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive, keeps_people=True)
    here = namespace_named("lab")
    assert {row.role for row in members(here)} == {"owner", "reviewer", "auditor"}


def test_a_restored_store_without_people_still_is_a_first_start(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    made = first_run(owner_email="owner@localhost")
    assert made is not None
    assert made.namespace == "main"


def test_a_restore_is_an_entry_of_the_namespace_that_asked_for_it(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    home = World("home")
    before = size_of(home.namespace)
    done = restored(archive, by=home.alice)
    entry = Entry.objects.get(namespace=home.namespace, seq=done.seq)
    assert (entry.verb, entry.person, entry.seq) == ("restore_namespace", home.alice.person, before + 1)
    assert scan(home.namespace).is_clean


def test_only_an_owner_restores(world: World) -> None:
    archive = archive_of(world.namespace)
    lose(world)
    home = World("home")
    for by in (home.bob, home.charlie, home.scout):
        with pytest.raises(Forbidden):
            restored(archive, by=by)
    assert not Namespace.objects.filter(name="lab").exists()


def test_a_restore_repeated_under_its_key_is_the_first_one(world: World) -> None:
    archive, other = archive_of(world.namespace), World("other")
    another = archive_of(other.namespace)
    lose(world)
    lose(other)
    home = World("home")
    by = replace(home.alice, idempotency_key="once")
    first, again = restored(archive, by=by), restored(archive, by=by)
    assert (first.replayed, again.replayed) == (False, True)
    assert replace(again, replayed=False) == first
    with pytest.raises(IdempotencyMismatch):
        restored(another, by=by)
    assert not Namespace.objects.filter(name="other").exists()


class TestErased:
    """What was erased after the archive was made."""

    CANARY = "canary 5e0b77c2d9a1"

    @pytest.fixture
    def old(self, world: World) -> tuple[bytes, list[bytes], Any]:
        """An archive that still holds the text, and what an erasure since then says must not come back."""
        note = world.save(f"the word is {self.CANARY}", summary=f"{self.CANARY} in short")
        world.merge(note.id, world.save("another").id, content="a summary")
        archive = archive_of(world.namespace)
        gone = world.erase(note.id)
        listed = list(commitments(world.namespace, seq=gone.seq).values())
        lose(world)
        return archive, listed, note

    def rows_with(self, text: str) -> list[object]:
        return [
            *Content.objects.filter(payload__contains=text),
            *Name.objects.filter(text__contains=text),
        ]

    def test_what_is_on_the_list_does_not_come_back_and_the_answer_says_so(self, old: Any) -> None:
        archive, listed, note = old
        assert self.CANARY.encode() in archive
        done = restored(archive, erased=listed)
        assert done.n_erased == len(listed) > 1
        here = namespace_named("lab")
        assert self.rows_with(self.CANARY) == []
        assert self.CANARY.encode() not in archive_of(here)
        found = record(asof.now(here), id=note.id)
        assert (found.content, found.row.state) == (None, "erased")
        assert recall(asof.now(here), query=self.CANARY).items == ()

    def test_the_erasure_is_the_next_entry_and_every_proof_still_holds(self, old: Any) -> None:
        archive, listed, _ = old
        done = restored(archive, erased=listed)
        here = namespace_named("lab")
        entry = Entry.objects.get(namespace=here, seq=done.size + 1)
        assert entry.verb == "erase"
        assert Erasure.objects.filter(namespace=here, seq=entry.seq).count() == len(listed)
        assert scan(here).is_clean
        assert size_of(here) == done.size + 1

    def test_an_archive_of_what_was_restored_restores_again(self, old: Any, world: World) -> None:
        archive, listed, _ = old
        restored(archive, erased=listed)
        world.namespace = namespace_named("lab")
        second = archive_of(world.namespace)
        lose(world)
        assert restored(second, erased=listed).n_erased == 0
        assert archive_of(namespace_named("lab")) == second

    def test_what_a_namespace_of_this_store_has_erased_needs_no_list(self, world: World) -> None:
        note = world.save(f"the word is {self.CANARY}")
        archive = archive_of(world.namespace)
        gone = world.erase(note.id)
        # Somebody has put the namespace aside under another name and identity, behind the ledger's back.
        with lifted_triggers(connection):
            Namespace.objects.filter(pk=world.namespace).update(name="aside", uid=uuid4())
        assert restored(archive).n_erased == len(gone.refs)
        assert self.rows_with(self.CANARY) == []

    def test_without_a_list_the_old_text_is_there_again(self, old: Any) -> None:
        """So that the tests above would fail where the list did nothing."""
        archive, _, note = old
        assert restored(archive).n_erased == 0
        assert self.CANARY in str(record(asof.now(namespace_named("lab")), id=note.id).content)

    def test_a_list_of_something_else_takes_nothing(self, old: Any) -> None:
        archive, _, _ = old
        assert restored(archive, erased=[uuid4().bytes * 2]).n_erased == 0


def test_an_erased_row_comes_back_neither_by_an_old_archive_nor_by_another_import(
    world: World, foreign_file: ForeignFile
) -> None:
    """export → erase → restore the old archive → import the source again."""
    foreign_file.memory("a", content="canary 6620 in the source").memory("b", content="a harmless row")
    source = foreign_file.done()
    imported(source, "lab", by=world.alice, source="team")
    archive = archive_of(world.namespace)
    record_id = Record.objects.get(namespace=world.namespace, id__in=_holding(world.namespace, "canary 6620")).id
    gone = world.erase(record_id)
    listed = list(commitments(world.namespace, seq=gone.seq).values())
    lose(world)
    assert restored(archive, erased=listed, keeps_people=True).n_erased == len(listed)
    world.namespace = namespace_named("lab")
    again = imported(source, "lab", by=replace(world.alice, namespace=world.namespace), source="team")
    assert [one.n_records for one in again.applied] == [0]
    assert not Content.objects.filter(payload__contains="canary 6620").exists()
    assert "canary 6620" not in str(recall(asof.now(world.namespace), query="canary 6620").items)
    assert scan(world.namespace).is_clean


def _holding(namespace: int, text: str) -> list[Any]:
    """The records whose stored text holds the words."""
    places = Content.objects.filter(namespace=namespace, part="content", payload__contains=text)
    return [Record.objects.get(namespace=namespace, seq=row.seq, item=row.item).id for row in places]


def test_every_line_type_is_one_that_an_archive_knows(world: World) -> None:
    assert {line["type"] for line in lines_of(archive_of(world.namespace))} <= {
        "header", "entry", "content", "name", "checkpoint", "public_key", "trailer",
    }  # fmt: skip


def test_progress_is_told_from_the_first_entry_to_the_last(world: World) -> None:
    world.save("one more")
    archive, size = archive_of(world.namespace), size_of(world.namespace)
    lose(world)
    told: list[tuple[str, int]] = []
    restore_archive(system(0), BytesIO(archive), progress=lambda stage, done, _total: told.append((stage, done)))
    for stage in ("verifying", "restoring"):
        assert [done for name, done in told if name == stage] == list(range(1, size + 1))


def test_nobody_of_this_host_is_named_for_what_accounts_of_the_former_one_did(world: World) -> None:
    archive, n_by_people = archive_of(world.namespace), Entry.objects.filter(principal="person").count()
    home = World("home")
    lose(world)
    restored(archive, by=person(home.namespace))
    here = asof.now(namespace_named("lab"))
    told = {line.seq: line for line in latest(here, limit=200)}
    former = [line for line in told.values() if line.person == home.alice.person and line.seq < here.seq]
    assert len(former) == n_by_people > 0
    assert {line.person_name for line in former} == {""}
    # Where the accounts came along, they are who they were.
    world.namespace = here.namespace
    lose(world)
    restored(archive, keeps_people=True)
    names = {line.person_name for line in latest(asof.now(namespace_named("lab")), limit=200)}
    assert "alice@example.org" in names
