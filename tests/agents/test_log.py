"""The log as a list: what it is narrowed to, how it is paged, and what it counts."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.agents import log as log_module
from memory.agents.log import LogFilter, LogPage, entry_told, every_entry, log
from memory.base.actor import RunGiven
from memory.base.errors import Invalid, NotFound
from memory.ledger.models import Entry
from tests.world import World

pytestmark = pytest.mark.django_db

ALL = LogFilter()


@pytest.fixture
def world() -> World:
    return World()


def seqs(page: LogPage) -> list[int]:
    return [row.seq for row in page.items]


def test_the_log_is_newest_first_with_the_leaf_of_each_entry(world: World) -> None:
    world.save("a note")
    page = log(world.now(), where=ALL)
    assert seqs(page) == list(range(world.now().seq, 0, -1))
    assert page.total == world.now().seq
    leaves = dict(Entry.objects.filter(namespace=world.namespace).values_list("seq", "leaf"))
    assert {row.seq: row.leaf for row in page.items} == {seq: bytes(leaf) for seq, leaf in leaves.items()}


def test_it_is_narrowed_by_verb_actor_run_and_range(world: World) -> None:
    run = replace(world.scout, run=RunGiven(title="night build"))
    first = world.save("in a run", by=run)
    second = world.save("in none")
    own = Entry.objects.get(namespace=world.namespace, seq=first.seq).run
    at = world.now()
    assert seqs(log(at, where=LogFilter(verb="save"))) == [second.seq, first.seq]
    assert seqs(log(at, where=LogFilter(run=own))) == [first.seq]
    assert seqs(log(at, where=LogFilter(who=f"agent:{world.scout.agent}"))) == [second.seq, first.seq]
    by_alice = set(seqs(log(at, where=LogFilter(who=f"person:{world.alice.person}"))))
    assert by_alice == set(
        Entry.objects.filter(namespace=world.namespace, person=world.alice.person).values_list("seq", flat=True)
    )
    assert set(seqs(log(at, where=LogFilter(who="system")))) & by_alice == set()
    assert seqs(log(at, where=LogFilter(first=2, last=4))) == [4, 3, 2]
    assert seqs(log(at, where=LogFilter(verb="save", last=first.seq))) == [first.seq]


@pytest.mark.parametrize("who", ["agent:x", "person:", "person:²", "nobody", "agent", "person:" + "9" * 30])
def test_an_actor_that_is_none_is_refused(who: str, world: World) -> None:
    with pytest.raises(Invalid):
        log(world.now(), where=LogFilter(who=who))


@pytest.mark.parametrize("after", ["7", "x", "<", "<x", ">>", "<" + "9" * 30, "<²"])
def test_a_cursor_that_is_none_is_refused(after: str, world: World) -> None:
    with pytest.raises(Invalid):
        log(world.now(), where=ALL, after=after)


def test_pages_follow_each_other_both_ways_without_a_gap(world: World) -> None:
    for n in range(20):
        world.save(f"note {n}")
    at, found, after = world.now(), [], ""
    pages = []
    while True:
        page = log(at, where=ALL, after=after, limit=7)
        pages.append(seqs(page))
        found += seqs(page)
        if not page.older:
            break
        after = page.older
    assert found == list(range(at.seq, 0, -1))
    assert pages[0] == list(range(at.seq, at.seq - 7, -1))
    back = []
    newer = log(at, where=ALL, after=after, limit=7).newer
    while newer:
        page = log(at, where=ALL, after=newer, limit=7)
        back.append(seqs(page))
        newer = page.newer
    assert back == pages[-2::-1]


def test_what_is_appended_meanwhile_moves_no_page(world: World) -> None:
    for n in range(20):
        world.save(f"note {n}")
    at = world.now()
    second = log(at, where=ALL, after=log(at, where=ALL, limit=7).older, limit=7)
    for n in range(9):
        world.save(f"later {n}")
    later = world.now()
    assert seqs(log(later, where=ALL, after=f"<{second.items[0].seq + 1}", limit=7)) == seqs(second)
    assert log(at, where=ALL).total == at.seq


def test_counts_are_told_by_verb_and_actor_with_their_names(world: World) -> None:
    world.save("one")
    world.save("two")
    page = log(world.now(), where=ALL)
    assert {one.value: one.count for one in page.verbs}["save"] == 2
    actors = {one.value: (one.label, one.count) for one in page.actors}
    assert actors[f"agent:{world.scout.agent}"] == ("scout", 2)
    assert actors[f"person:{world.alice.person}"][0] == "alice@example.org"
    assert sum(one.count for one in page.verbs) == sum(one.count for one in page.actors) == page.total


def test_counts_stop_at_the_cap_and_say_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "CAP", 5)
    page = log(world.now(), where=ALL, limit=2)
    assert (page.total, page.is_capped) == (5, True)
    exact = log(world.now(), where=LogFilter(last=5), limit=2)
    assert (exact.total, exact.is_capped) == (5, False)


def test_all_pages_together_end_at_the_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(20):
        world.save(f"note {n}")
    monkeypatch.setattr(log_module, "CHUNK", 6)
    at = world.now()
    assert [row.seq for row in every_entry(at, where=ALL, most=1_000)] == list(range(at.seq, 0, -1))
    assert [row.seq for row in every_entry(at, where=ALL, most=8)] == list(range(at.seq, at.seq - 8, -1))
    assert [row.verb for row in every_entry(at, where=LogFilter(verb="save"), most=12)] == ["save"] * 12


def test_two_queries_whatever_the_number_of_rows(world: World) -> None:
    counts = set()
    for n in (1, 30):
        for _ in range(n):
            world.save("a note")
        at = world.now()
        with CaptureQueriesContext(connection) as captured:
            log(at, where=ALL)
        counts.add(len(captured))
    assert counts == {2}


def test_one_entry_is_told_at_its_point_and_not_before(world: World) -> None:
    saved = world.save("a note")
    assert entry_told(world.now(), seq=saved.seq).label == "a note"
    with pytest.raises(NotFound):
        entry_told(world.at(saved.seq - 1), seq=saved.seq)
