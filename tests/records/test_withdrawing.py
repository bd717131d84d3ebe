"""A withdrawn record is hidden on every read by default, counted, shown on request, and can be restored by a person."""

from __future__ import annotations

import pytest

from memory.base.errors import Erased, Forbidden, Withdrawn
from memory.ledger.queries.verification import scan
from memory.records import operations as records
from memory.records.queries import detail, lists, recall
from tests.states import projected, rebuilt
from tests.world import World

pytestmark = pytest.mark.django_db

DEFAULT = lists.Filter()
SHOWING = lists.Filter(include=frozenset({"withdrawn"}))


def listed(world: World, where: lists.Filter = DEFAULT) -> list[str]:
    return [row.first_line for row in lists.records(world.now(), where=where).items]


def test_a_withdrawn_record_is_absent_from_lists_search_and_recall_and_counted_in_each() -> None:
    world = World()
    gone = world.save("the quick brown fox")
    world.save("the lazy dog and the fox")
    world.withdraw(gone.id)
    assert listed(world) == ["the lazy dog and the fox"]
    assert lists.records(world.now(), where=lists.Filter()).hidden == {"withdrawn": 1}
    searched = lists.records(world.now(), where=lists.Filter(query="fox"))
    assert ([row.first_line for row in searched.items], searched.hidden) == (
        ["the lazy dog and the fox"],
        {"withdrawn": 1},
    )
    recalled = recall.recall(world.now(), query="quick fox")
    assert [item.text for item in recalled.items] == ["the lazy dog and the fox"]
    assert recalled.hidden == {"withdrawn": 1}


def test_it_is_shown_where_it_is_asked_for_with_its_text_and_the_reason() -> None:
    world = World()
    gone = world.save("the quick brown fox")
    seq = world.withdraw(gone.id, reason="it was a dog")
    assert listed(world, SHOWING) == ["the quick brown fox"]
    read = detail.record(world.now(), id=gone.id)
    assert (read.row.state, read.content) == ("withdrawn", "the quick brown fox")
    assert (read.withdrawn_seq, read.withdrawal_reason) == (seq, "it was a dog")
    with pytest.raises(Withdrawn):
        detail.require_shown(read, include=frozenset())
    detail.require_shown(read, include=frozenset({"withdrawn"}))


def test_before_the_withdrawal_it_stands_for_ever() -> None:
    world = World()
    gone = world.save("the quick brown fox")
    world.withdraw(gone.id)
    world.restore(gone.id)
    world.withdraw(gone.id, reason="again")
    states = [detail.record(world.at(gone.seq + step), id=gone.id).row.state for step in range(4)]
    assert states == ["current", "withdrawn", "current", "withdrawn"]
    reasons = [detail.record(world.at(gone.seq + step), id=gone.id).withdrawal_reason for step in range(4)]
    assert reasons == ["", "no longer wanted", "", "again"]


def test_a_restored_record_is_as_it_was() -> None:
    world = World()
    gone = world.save("the quick brown fox")
    before = detail.record(world.at(gone.seq), id=gone.id)
    world.withdraw(gone.id)
    world.restore(gone.id)
    after = detail.record(world.now(), id=gone.id)
    assert (after.row, after.digest, after.content) == (before.row, before.digest, before.content)
    assert listed(world) == ["the quick brown fox"]


@pytest.mark.parametrize("who", ["alice", "bob", "scout"])
def test_an_agent_a_reviewer_and_an_owner_withdraw(who: str) -> None:
    world = World()
    saved = world.save()
    records.withdraw(getattr(world, who), record=saved.id, reason="wrong")
    assert listed(world) == []


def test_an_auditor_withdraws_nothing_and_no_agent_restores() -> None:
    world = World()
    saved = world.save()
    with pytest.raises(Forbidden):
        records.withdraw(world.charlie, record=saved.id, reason="wrong")
    world.withdraw(saved.id)
    for by in (world.scout, world.charlie):
        with pytest.raises(Forbidden):
            records.restore(by, record=saved.id, reason="right")


def test_erasure_is_graver_than_withdrawal_and_withdrawal_than_supersession() -> None:
    world = World()
    saved = world.save()
    world.evolve(saved.id, content="newer")
    states = [detail.record(world.now(), id=saved.id).row.state]
    world.withdraw(saved.id)
    states.append(detail.record(world.now(), id=saved.id).row.state)
    world.erase(saved.id)
    read = detail.record(world.now(), id=saved.id)
    assert [*states, read.row.state] == ["superseded", "withdrawn", "erased"]
    with pytest.raises(Erased):
        detail.require_shown(read, include=frozenset({"withdrawn"}))


def test_states_derived_anew_are_those_that_stood() -> None:
    world = World()
    first, second = world.save_all("one", "two")
    world.withdraw(first.id)
    world.restore(first.id)
    world.withdraw(second.id)
    before = projected(world.namespace)
    assert rebuilt(world.namespace) == before
    assert scan(world.namespace).is_clean
