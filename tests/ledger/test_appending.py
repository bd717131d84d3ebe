"""One operation is one entry: numbered without a gap, later than the one before, whole or not at all."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID, uuid4

import pytest

from memory.base import clock, gate
from memory.base.actor import RunGiven
from memory.base.errors import (
    Conflict,
    Raced,
    Unavailable,
)
from memory.ledger.models import Entry, Head, Item, Name
from memory.ledger.operations.appending import ATTEMPTS, opened, retried
from memory.ledger.queries.verification import scan
from memory.records.models import Record
from tests.ledger.acts import WRITES, Act, name_of, standing
from tests.statements import Planted, after_first, failing_at, in_thread
from tests.states import projected, row_counts
from tests.world import World

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


@pytest.mark.parametrize("act", WRITES, ids=name_of)
def test_a_statement_that_fails_leaves_the_store_as_it_was_whichever_it_is(act: Act) -> None:
    world = World()
    for content in ("old", "a", "b", "whole", "stale", "fresh", "wrong", "to go", "hidden"):
        standing(world, content)
    world.withdraw(standing(world, "hidden"))
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
