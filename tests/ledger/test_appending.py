"""One operation is one entry: numbered without a gap, later than the one before, whole or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID, uuid4

import pytest

from memory.agents import operations as agents
from memory.agents import runs
from memory.base import clock, gate
from memory.base.actor import Actor, RunGiven
from memory.base.errors import (
    Conflict,
    DomainError,
    Erased,
    Forbidden,
    IdempotencyMismatch,
    Invalid,
    NotFound,
    OnHold,
    Raced,
    StaleVersion,
    Stopped,
    Unavailable,
    Withdrawn,
)
from memory.checks import operations as checks
from memory.ledger.models import Content, Entry, Head, Item, Name
from memory.ledger.operations.appending import ATTEMPTS, opened, retried
from memory.ledger.operations.erasing import erase
from memory.ledger.operations.founding import found
from memory.ledger.queries.verification import scan
from memory.lineage.operations import derivations, links, merging
from memory.records import operations as records
from memory.records.content import NewRecord
from memory.records.models import Record
from tests.statements import Planted, after_first, failing_at, in_thread
from tests.states import everything, evidence, projected, row_counts
from tests.world import CORRECTION, World

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def log(world: World) -> list[tuple[int, datetime]]:
    rows = Entry.objects.filter(namespace=world.namespace).order_by("seq")
    return list(rows.values_list("seq", "recorded_at"))


def is_gapless_and_rising(entries: list[tuple[int, datetime]]) -> bool:
    instants = [recorded_at for _, recorded_at in entries]
    rises = all(earlier < later for earlier, later in pairwise(instants))
    return rises and [seq for seq, _ in entries] == list(range(1, len(entries) + 1))


def test_entries_are_numbered_from_one_without_a_gap_and_their_instants_rise() -> None:
    world = World()
    for number in range(10):
        world.save(f"note {number}")
    assert is_gapless_and_rising(log(world))
    head = Head.objects.get(namespace=world.namespace)
    assert (head.size, head.last_at) == log(world)[-1]


def test_a_clock_that_stands_still_gives_instants_a_microsecond_apart() -> None:
    with clock.fixed(NOON):
        world = World()
        world.save("one")
        world.save("two")
    instants = [recorded_at for _, recorded_at in log(world)]
    assert instants == [NOON + number * TICK for number in range(len(instants))]


def test_a_clock_that_steps_back_gives_no_instant_twice_and_none_before_the_last() -> None:
    world = World()
    readings = iter([NOON, NOON - timedelta(days=400), NOON - timedelta(days=1), NOON + timedelta(seconds=1)])
    with clock.injected(lambda: next(readings)):
        for number in range(4):
            world.save(f"note {number}")
    instants = [recorded_at for _, recorded_at in log(world)][-4:]
    assert instants == [NOON, NOON + TICK, NOON + 2 * TICK, NOON + timedelta(seconds=1)]
    assert is_gapless_and_rising(log(world))


def test_an_operation_reads_the_clock_once() -> None:
    world = World()
    n_readings = 0

    def count() -> datetime:
        nonlocal n_readings
        n_readings += 1
        return NOON + n_readings * timedelta(seconds=1)

    with clock.injected(count):
        world.save_all(*(f"note {number}" for number in range(5)))
    assert n_readings == 1


def test_a_batch_is_one_entry_of_n_items_in_the_order_given() -> None:
    world = World()
    world.save("so that the name of the type is known")
    saved = world.save_all(*(f"note {number}" for number in range(7)))
    entry = Entry.objects.get(namespace=world.namespace, seq=saved[0].seq)
    items = Item.objects.filter(namespace=world.namespace, seq=entry.seq).order_by("item")
    assert {one.seq for one in saved} == {entry.seq}
    assert (entry.verb, entry.n_items) == ("save", 7)
    assert list(items.values_list("object", flat=True)) == [one.id for one in saved]


def test_an_entry_names_who_wrote_it_through_which_host_and_for_whom() -> None:
    world = World()
    request = uuid4()
    by = replace(world.scout, host="build-7", on_behalf_of="the night shift", request_id=request)
    entry = Entry.objects.get(namespace=world.namespace, seq=world.save("a note", by=by).seq)
    texts = dict(Name.objects.filter(namespace=world.namespace).values_list("id", "text"))
    assert (entry.principal, entry.agent, entry.person, entry.request) == ("agent", world.scout_id, None, request)
    assert (texts[entry.host], texts[entry.on_behalf_of]) == ("build-7", "the night shift")


def test_a_name_is_written_once_and_used_again() -> None:
    world = World()
    for _ in range(3):
        world.save("a note", by=replace(world.scout, host="build-7"))
    assert Name.objects.filter(namespace=world.namespace, text="build-7").count() == 1


# Idempotency keys.

Act = Callable[[World, Actor], object]


def _save(world: World, by: Actor) -> list[UUID]:
    return [one.id for one in records.save(by, records=[NewRecord("note", "one"), NewRecord("note", "two")])]


def _standing(world: World, content: str) -> UUID:
    """A record with this content, saved at the first call."""
    payload = f'"{content}"'
    found = Content.objects.filter(namespace=world.namespace, part="content", payload=payload).first()
    if found is None:
        return world.save(content).id
    return Item.objects.get(namespace=world.namespace, seq=found.seq, item=found.item).object


def _evolve(world: World, by: Actor) -> object:
    made = derivations.evolve(by, record=_standing(world, "old"), base="", changes={"content": "new"}, cause=CORRECTION)
    return made.derivation, made.records


def _merge(world: World, by: Actor) -> object:
    made = merging.merge(by, records=[_standing(world, "a"), _standing(world, "b")], cause=CORRECTION)
    return made.derivation, made.records


def _split(world: World, by: Actor) -> object:
    parts = [{"content": "left"}, {"content": "right"}]
    made = derivations.split(by, record=_standing(world, "whole"), parts=parts, cause=CORRECTION)
    return made.derivation, made.records


def _supersede(world: World, by: Actor) -> object:
    return derivations.supersede(
        by, old=_standing(world, "stale"), new=_standing(world, "fresh"), cause=CORRECTION
    ).derivation


def _link(world: World, by: Actor) -> object:
    return links.link(by, source=_standing(world, "a"), relation="references", target=_standing(world, "b")).seq


def _withdraw(world: World, by: Actor) -> object:
    return records.withdraw(by, record=_standing(world, "wrong"), reason="it is wrong").seq


def _open_run(world: World, by: Actor) -> object:
    return runs.open_run(replace(by, run=RunGiven(title="a run", refs=(("ticket", "1"),))))[0]


REPEATABLE = [_save, _evolve, _merge, _split, _supersede, _link, _withdraw, _open_run]


def name_of(act: Act) -> str:
    return act.__name__.lstrip("_")


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
    other = _withdraw if act is not _withdraw else _link
    for content in ("wrong", "a", "b"):
        _standing(world, content)
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


# Refusals.

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


# All or nothing.


def _erase(world: World, by: Actor) -> object:
    return erase(world.alice, items=[world.address(_standing(world, "to go"))], reason="request", note="asked for")


def _restore(world: World, by: Actor) -> object:
    return records.restore(world.bob, record=_standing(world, "hidden"), reason="wanted")


def _found(world: World, by: Actor) -> object:
    return found(SYSTEM, name="another")


def _create_agent(world: World, by: Actor) -> object:
    return agents.create_agent(world.alice, name="another")


def _record_check(world: World, by: Actor) -> object:
    found_ = [checks.Found("row_mismatch", seq=1, item=0)]
    return checks.record_run(
        world.alice, name="ledger_scan", version=1, verdict="failed", at_seq=1, n_checked=1, found=found_, report={}
    )


WRITES = [*REPEATABLE, _erase, _restore, _found, _create_agent, _record_check]


@pytest.mark.parametrize("act", WRITES, ids=name_of)
def test_a_statement_that_fails_leaves_the_store_as_it_was_whichever_it_is(act: Act) -> None:
    world = World()
    for content in ("old", "a", "b", "whole", "stale", "fresh", "wrong", "to go", "hidden"):
        _standing(world, content)
    world.withdraw(_standing(world, "hidden"))
    by = replace(world.keyed("k-1"), host="build-7", run=RunGiven(title="a run", refs=(("ticket", "4411"),)))
    counts, derived = row_counts(), projected(world.namespace)
    number, failed = 0, True
    while failed:
        number += 1
        with failing_at(number) as watch:
            try:
                act(world, by)
            except Planted:
                assert watch.has_failed
            failed = watch.has_failed
        if failed:
            assert (row_counts(), projected(world.namespace)) == (counts, derived), watch.statements[-1]
    assert number > 10
    assert row_counts() != counts
    assert scan(world.namespace).is_clean


# Races.


@pytest.mark.django_db(transaction=True)
def test_a_name_that_somebody_else_writes_meanwhile_is_used_and_not_written_twice() -> None:
    world = World()
    with after_first("memory_name", lambda: in_thread(lambda: world.save("theirs", type="idea"))) as watch:
        mine = world.save("mine", type="idea")
    assert watch.statements
    assert Name.objects.filter(namespace=world.namespace, text="idea").count() == 1
    assert Entry.objects.get(namespace=world.namespace, seq=mine.seq).n_items == 1
    assert is_gapless_and_rising(log(world))
    assert scan(world.namespace).is_clean


@pytest.mark.django_db(transaction=True)
def test_a_record_that_somebody_else_evolves_meanwhile_is_read_again() -> None:
    world = World()
    saved = world.save("one")
    newer: list[UUID] = []
    with after_first(
        "memory_recordstate", lambda: newer.append(in_thread(lambda: world.evolve(saved.id, tags=("x",))))
    ):
        mine = world.evolve(saved.id, content="two")
    # The other one extends the line; ours branches off from the version that it read.
    lines = dict(Record.objects.filter(namespace=world.namespace).values_list("id", "line"))
    assert lines[newer[0]] == lines[saved.id] == saved.id
    assert lines[mine] == mine
    assert scan(world.namespace).is_clean


@pytest.mark.django_db(transaction=True)
def test_two_writers_at_once_lose_nothing_and_share_no_number() -> None:
    world = World()
    threads = [
        threading.Thread(target=lambda: in_thread(lambda: [world.save(type=f"type-{n}") for n in range(10)]))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Record.objects.filter(namespace=world.namespace).count() == 20
    assert Name.objects.filter(namespace=world.namespace, text__startswith="type-").count() == 10
    assert is_gapless_and_rising(log(world))
    assert scan(world.namespace).is_clean


def test_an_operation_whose_ground_keeps_changing_gives_up_and_says_so() -> None:
    calls = 0

    @retried
    def never_settles() -> None:
        nonlocal calls
        calls += 1
        raise Raced

    with pytest.raises(Unavailable, match="Try again"):
        never_settles()
    assert calls == ATTEMPTS


def test_an_entry_without_items_is_not_written() -> None:
    world = World()
    before = row_counts()
    with pytest.raises(Conflict, match="Nothing to write"), opened(world.scout, verb="save", need=gate.WRITE):
        pass
    assert row_counts() == before
