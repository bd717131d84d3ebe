"""Who may erase, when, and what the answer is the second time."""

from __future__ import annotations

from uuid import uuid4

import pytest

from memory.agents import operations as agents
from memory.base import clock
from memory.base.errors import Erased, Forbidden, Invalid, NotFound, OnHold
from memory.ledger.models import Content, Erasure, Name
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.verification import scan
from memory.records.content import NewRecord
from memory.records.operations import save
from memory.records.queries import detail
from tests.statements import after_first, in_thread
from tests.states import row_counts
from tests.world import World

pytestmark = pytest.mark.django_db


def test_erasing_twice_is_one_entry_and_the_same_answer() -> None:
    world = World()
    saved = world.save("a note")
    first = world.erase(saved.id)
    before = row_counts()
    again = world.erase(saved.id)
    assert (again.seq, again.refs) == (first.seq, ())
    assert row_counts() == before


def test_erasing_more_than_before_erases_the_rest() -> None:
    world = World()
    one, two, _ = world.save("one"), world.save("two"), world.save("three")
    world.erase(one.id)
    assert {seq for seq, _, _ in world.erase(one.id, two.id).refs} == {two.seq}


def test_one_entry_erases_many_and_each_part_has_its_row() -> None:
    world = World()
    saved = [world.save(f"note {number}", summary="s") for number in range(5)]
    world.save("one more")
    gone = world.erase(*(one.id for one in saved), note="why")
    rows = Erasure.objects.filter(namespace=world.namespace, seq=gone.seq)
    assert {(row.target_seq, row.target_item, row.target_part) for row in rows} == set(gone.refs)
    assert len(gone.refs) == 10


@pytest.mark.parametrize("who", ["bob", "charlie", "scout"])
@pytest.mark.parametrize("is_gone", [False, True], ids=["standing", "gone before"])
def test_only_an_owner_erases_and_nobody_else_learns_what_is_gone(who: str, is_gone: bool) -> None:
    world = World()
    saved = world.save("a note")
    if is_gone:
        world.erase(saved.id)
    with pytest.raises(Forbidden):
        world.erase(saved.id, by=getattr(world, who))
    with pytest.raises(Forbidden):
        erase(getattr(world, who), items=[(10**6, 0)], reason="request")


def test_an_item_that_does_not_exist_is_not_found_and_nothing_else_is_erased() -> None:
    world = World()
    saved = world.save("a note")
    with pytest.raises(NotFound):
        erase(world.alice, items=[world.address(saved.id), (saved.seq, 99)], reason="request")
    assert Content.objects.filter(namespace=world.namespace, seq=saved.seq).exists()


def test_an_item_of_another_namespace_is_not_found_here() -> None:
    here, there = World("here"), World("there")
    for number in range(3):
        saved = there.save(f"note {number}")
    with pytest.raises(NotFound):
        erase(here.alice, items=[(saved.seq, 0)], reason="request")
    assert Content.objects.filter(namespace=there.namespace, seq=saved.seq).exists()


def test_nothing_to_erase_is_invalid() -> None:
    world = World()
    with pytest.raises(Invalid):
        erase(world.alice, items=[], reason="request")
    with pytest.raises(Invalid):
        erase(world.alice, items=[(1, 0)], reason="because")


def test_nothing_is_erased_under_a_hold_until_it_ends_or_is_lifted() -> None:
    world = World()
    saved = world.save("a note")
    ends = clock.now() + agents.DEFAULT_LIFE
    agents.hold(world.alice, held=True, reason="an audit", until_at=ends)
    with pytest.raises(OnHold):
        world.erase(saved.id)
    with clock.fixed(ends):
        assert world.erase(saved.id).refs
    other = world.save("another")
    agents.hold(world.alice, held=True, reason="an audit")
    with pytest.raises(OnHold):
        world.erase(other.id)
    agents.hold(world.alice, held=False, reason="it is over")
    assert world.erase(other.id).refs


def test_a_repeated_save_under_the_same_id_or_key_answers_erased() -> None:
    world = World()
    id = uuid4()
    world.save("a note", id=id, by=world.keyed("k-1"))
    world.erase(id)
    for by in (world.keyed("k-1"), world.scout):
        with pytest.raises(Erased):
            world.save("a note", id=id, by=by)


def test_a_merge_over_an_erased_source_needs_its_content() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    world.erase(one)
    with pytest.raises(Erased):
        world.merge(one, two)
    both = world.merge(one, two, content="both")
    assert detail.record(world.now(), id=both).content == "both"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_erase_at_once_one_does_and_the_other_is_told() -> None:
    world = World()
    saved = world.save("a note")
    first: list[int] = []
    with after_first("memory_item", lambda: first.append(in_thread(lambda: world.erase(saved.id)).seq)):
        mine = world.erase(saved.id)
    assert (mine.seq, mine.refs) == (first[0], ())
    assert {row.seq for row in Erasure.objects.filter(namespace=world.namespace)} == {mine.seq}
    assert scan(world.namespace).is_clean


# What an erasure takes from those who would guess, and what a copy put back is worth.


def test_a_key_answers_erased_when_any_of_what_it_wrote_is_gone() -> None:
    world = World()
    asked = [NewRecord("note", "first"), NewRecord("note", "secret 1234")]
    _, second = save(world.keyed("k"), records=asked)
    world.erase(second.id)
    for guess in ("secret 1234", "secret 9999"):
        with pytest.raises(Erased):
            save(world.keyed("k"), records=[asked[0], NewRecord("note", guess)])


def test_erased_content_that_is_put_back_is_a_fault_of_the_scan() -> None:
    world = World()
    saved = world.save("gone for good")
    seq, item = world.address(saved.id)
    kept = Content.objects.get(namespace=world.namespace, seq=seq, item=item, part="content")
    copy = {"salt": bytes(kept.salt), "payload": kept.payload}
    world.erase(saved.id)
    Content.objects.create(namespace_id=world.namespace, seq=seq, item=item, part="content", **copy)
    assert {fault.code for fault in scan(world.namespace).faults} == {"content_unlisted"}


def test_a_name_that_no_item_lists_is_a_fault_of_the_scan() -> None:
    world = World()
    Name.objects.create(namespace_id=world.namespace, seq=1, item=77, id=uuid4(), text="forged", salt=b"s" * 32)
    assert {fault.code for fault in scan(world.namespace).faults} == {"content_unlisted"}
