"""A key gives the first answer again, or says why not, and never writes twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.base.errors import (
    Erased,
    IdempotencyMismatch,
)
from memory.ledger.models import Entry
from memory.records import operations as records
from memory.records.content import NewRecord
from tests.ledger.acts import REPEATABLE, Act, link_once, name_of, standing, withdraw_once
from tests.states import evidence, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("act", REPEATABLE, ids=name_of)
def test_the_same_key_and_payload_give_the_first_answer_and_no_entry(act: Act) -> None:
    world = World()
    first = act(world, world.keyed("k-1"))
    before = evidence(world.namespace)
    assert act(world, world.keyed("k-1")) == first
    assert evidence(world.namespace) == before


@pytest.mark.parametrize("act", REPEATABLE, ids=name_of)
def test_a_key_used_for_another_verb_is_a_mismatch(act: Act) -> None:
    world = World()
    act(world, world.keyed("k-1"))
    other = withdraw_once if act is not withdraw_once else link_once
    for content in ("wrong", "a", "b"):
        standing(world, content)
    before = row_counts()
    with pytest.raises(IdempotencyMismatch):
        other(world, world.keyed("k-1"))
    assert row_counts() == before


def test_a_key_used_for_another_payload_is_a_mismatch_that_names_the_entry() -> None:
    world = World()
    saved = world.save("one", by=world.keyed("k-1"))
    before = row_counts()
    with pytest.raises(IdempotencyMismatch) as refusal:
        world.save("another", by=world.keyed("k-1"))
    assert refusal.value.extra == {"seq": saved.seq}
    assert row_counts() == before


def test_a_key_belongs_to_the_principal_who_used_it() -> None:
    world = World()
    other = world.agent("other")
    mine = world.save("a note", by=world.keyed("k-1"))
    theirs = world.save("a note", by=replace(other, idempotency_key="k-1"))
    assert not theirs.replayed
    assert theirs.id != mine.id


def test_a_key_belongs_to_the_namespace_in_which_it_was_used() -> None:
    here, there = World("here"), World("there")
    here.save("a note", by=here.keyed("k-1"))
    assert not there.save("another note", by=there.keyed("k-1")).replayed


def test_a_replayed_save_says_so_and_carries_the_first_digests() -> None:
    world = World()
    first = world.save("a note", by=world.keyed("k-1"))
    again = world.save("a note", by=world.keyed("k-1"))
    assert (first.replayed, again.replayed) == (False, True)
    assert replace(again, replayed=False) == first


def test_a_key_whose_text_was_erased_answers_erased_for_the_same_and_for_another_payload() -> None:
    world = World()
    saved = world.save("a note", by=world.keyed("k-1"))
    world.erase(saved.id)
    before = row_counts()
    for content in ("a note", "another"):
        with pytest.raises(Erased):
            world.save(content, by=world.keyed("k-1"))
    assert row_counts() == before


def test_neither_key_nor_fingerprint_can_be_computed_without_a_secret_of_the_store() -> None:
    """Two namespaces, one agent's words under one key: nothing that stands in evidence is equal."""
    here, there = World("here"), World("there")
    by = replace(here.scout, idempotency_key="k-1")
    records.save(by, records=[NewRecord("note", "a note")])
    records.save(replace(by, namespace=there.namespace), records=[NewRecord("note", "a note")])
    rows = Entry.objects.filter(key__isnull=False).values_list("key", "fingerprint")
    found = [bytes(value) for row in rows for value in row]
    assert len(found) == len(set(found)) == 4
