"""Whatever is refused leaves every row of every table as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memory.agents import operations as agents
from memory.base.actor import Actor, RunGiven
from memory.base.errors import (
    Conflict,
    DomainError,
    Erased,
    Forbidden,
    Invalid,
    NotFound,
    OnHold,
    StaleVersion,
    Stopped,
    Withdrawn,
)
from memory.checks import operations as checks
from memory.ledger.operations.erasing import erase
from memory.ledger.operations.founding import found
from memory.records import operations as records
from memory.records.content import NewRecord
from memory.records.models import Record
from tests.states import everything
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


Arrange = Callable[[World], UUID]


def _note(world: World) -> UUID:
    return world.save("a note").id


def _erased(world: World) -> UUID:
    record = _note(world)
    world.erase(record)
    return record


def _withdrawn(world: World) -> UUID:
    record = _note(world)
    world.withdraw(record)
    return record


def _superseded(world: World) -> UUID:
    record = _note(world)
    world.evolve(record, content="a newer note")
    return record


def _frozen(world: World) -> UUID:
    agent = agents.create_agent(world.alice, name="frozen").id
    agents.freeze(world.alice, agent=agent)
    return agent


def _on_hold(world: World) -> UUID:
    record = _note(world)
    agents.hold(world.alice, held=True, reason="an audit")
    return record


def _twins(world: World, id: UUID) -> object:
    return records.save(world.scout, records=[NewRecord("note", "one", id=id), NewRecord("note", "two", id=id)])


SYSTEM = Actor(0, "system")
LONG_AGO = NOON - timedelta(days=9999)
REFUSED: dict[str, tuple[type[DomainError], Arrange, Callable[[World, UUID], object]]] = {
    "an auditor saves": (Forbidden, _note, lambda w, _: w.save(by=w.charlie)),
    "a frozen agent saves": (Stopped, _frozen, lambda w, id: w.save(by=replace(w.scout, agent=id))),
    "an id stands with another payload": (Conflict, _note, lambda w, id: w.save("other", id=id)),
    "an id comes twice in a batch": (Invalid, _note, lambda w, _: _twins(w, uuid4())),
    "an erased record is saved again": (Erased, _erased, lambda w, id: w.save("a note", id=id)),
    "an unknown record evolves": (NotFound, _note, lambda w, _: w.evolve(uuid4(), content="new")),
    "a withdrawn record evolves": (Withdrawn, _withdrawn, lambda w, id: w.evolve(id, content="new")),
    "an erased record evolves without content": (Erased, _erased, lambda w, id: w.evolve(id, tags=("t",))),
    "nothing changes": (Invalid, _note, lambda w, id: w.evolve(id, content="a note")),
    "the base is another": (StaleVersion, _note, lambda w, id: w.evolve(id, base="00" * 32, content="new")),
    "one record is merged": (Invalid, _note, lambda w, id: w.merge(id)),
    "a record is merged with itself": (Invalid, _note, lambda w, id: w.merge(id, id)),
    "a record is merged with an unknown one": (NotFound, _note, lambda w, id: w.merge(id, uuid4())),
    "an erased record is merged without content": (Erased, _erased, lambda w, id: w.merge(id, other_than(w, id))),
    "a record is split in one": (Invalid, _note, lambda w, id: w.split(id, "only")),
    "a record supersedes itself": (Invalid, _note, lambda w, id: w.supersede(id, id)),
    "a record is superseded again": (Conflict, _superseded, lambda w, id: w.supersede(id, other_than(w, id))),
    "a record is linked with itself": (Invalid, _note, lambda w, id: w.link(id, "part_of", id)),
    "a record is linked with an unknown one": (NotFound, _note, lambda w, id: w.link(id, "part_of", uuid4())),
    "a withdrawal has no reason": (Invalid, _note, lambda w, id: w.withdraw(id, reason=" ")),
    "a record is withdrawn twice": (Conflict, _withdrawn, lambda w, id: w.withdraw(id)),
    "a record that stands is restored": (Conflict, _note, lambda w, id: w.restore(id)),
    "an agent restores": (Forbidden, _withdrawn, lambda w, id: records.restore(w.scout, record=id, reason="x")),
    "a reviewer erases": (Forbidden, _note, lambda w, id: w.erase(id, by=w.bob)),
    "a record on hold is erased": (OnHold, _on_hold, lambda w, id: w.erase(id)),
    "an item that does not exist is erased": (NotFound, _note, lambda w, _: erase_item(w, seq=10**6)),
    "an erasure has no known reason": (Invalid, _note, lambda w, id: w.erase(id, reason="because")),
    "a name stands already": (Conflict, _note, lambda w, _: found(SYSTEM, name=w.name)),
    "a name is no name": (Invalid, _note, lambda w, _: found(SYSTEM, name="Not A Name")),
    "a clock is unknown": (Invalid, _note, lambda w, _: found(SYSTEM, name="new", host_clock="sundial")),
    "a run is unknown": (NotFound, _note, lambda w, _: w.save(by=replace(w.scout, run=RunGiven(id=uuid4())))),
    "an agent's name is taken": (Conflict, _note, lambda w, _: agents.create_agent(w.alice, name="scout")),
    "a reviewer makes an agent": (Forbidden, _note, lambda w, _: agents.create_agent(w.bob, name="other")),
    "the last owner leaves": (Conflict, _note, lambda w, _: leave(w)),
    "a hold has no reason": (Invalid, _note, lambda w, _: agents.hold(w.alice, held=True, reason="")),
    "a waiver ends before it begins": (Invalid, _note, lambda w, _: waive(w, LONG_AGO)),
}  # fmt: skip


def other_than(world: World, record: UUID) -> UUID:
    rows = Record.objects.filter(namespace=world.namespace).exclude(id=record)
    return rows.order_by("-seq").values_list("id", flat=True)[0]


def erase_item(world: World, *, seq: int) -> object:
    return erase(world.alice, items=[(seq, 0)], reason="request")


def leave(world: World) -> object:
    assert world.alice.person is not None
    return agents.admit_member(world.alice, person=world.alice.person, role="none")


def waive(world: World, expires_at: datetime) -> object:
    return checks.waive(world.alice, name="ledger_scan", reason="known", expires_at=expires_at)


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_written_when(case: str) -> None:
    error, arrange, act = REFUSED[case]
    world = World()
    id = arrange(world)
    _note(world)
    written = everything(world.namespace)
    with pytest.raises(error):
        act(world, id)
    assert everything(world.namespace) == written
