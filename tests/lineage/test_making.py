"""How a record came to be, and what its merges left open."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.making import LAWS, making
from tests.contract.callers import caller
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World()


def test_a_saved_record_was_made_by_nothing_and_a_derived_one_says_why_and_from_what(world: World) -> None:
    one, two = (saved.id for saved in world.save_all("one", "two"))
    assert making(world.now(), record=one).made_by is None
    evolved = world.evolve(one, content="one, better", cause=Cause("inference", "worked out"))
    made = making(world.now(), record=evolved).made_by
    assert made is not None
    assert (made.kind, made.reason, made.reason_given, made.note) == ("evolve", "inference", True, "worked out")
    assert made.sources == (("evolved_from", one),)
    merge = world.merge(two, evolved, valid_time="hull")
    made = making(world.now(), record=merge).made_by
    assert made is not None
    assert made.sources == (("merged_from", two), ("merged_from", evolved))
    assert (made.content_rule, made.valid_rule, made.law) == ("generated", "hull", LAWS["hull"])


def test_a_supersession_is_told_with_its_reason_at_what_it_ended(world: World) -> None:
    old, new = (saved.id for saved in world.save_all("old", "new"))
    before = world.at(world.now().seq)
    world.supersede(old, new)
    (ended,) = making(world.now(), record=old).ended_by
    assert (ended.kind, ended.reason, ended.sources) == ("supersede", "correction", (("supersedes", new),))
    assert making(world.at(before.seq), record=old).ended_by == ()
    assert making(world.now(), record=new).made_by is None


def test_a_conflict_is_open_until_a_version_says_what_holds_and_stays_so_at_earlier_points(world: World) -> None:
    one = world.save("one", metadata={"owner": "Ann", "same": 1}, origin="log").id
    two = world.save("two", metadata={"owner": "Bob", "same": 1}, origin="mail").id
    merge = world.merge(one, two)
    opened = world.now().seq
    found = making(world.now(), record=merge)
    assert [conflict.key for conflict in found.conflicts] == ["owner", "source.origin"]
    assert [(said.value, said.sources) for said in found.conflicts[0].said] == [("Ann", (one,)), ("Bob", (two,))]
    assert found.n_open == 2
    reworded = world.evolve(merge, content="both, reworded")
    assert making(world.now(), record=reworded).n_open == 2
    settled = world.evolve(reworded, metadata={"same": 1, "owner": "Bob"})
    later = world.evolve(settled, metadata={"same": 1, "owner": "Cid"})
    for record in (merge, reworded, settled, later):
        now = making(world.now(), record=record)
        assert now.n_open == 1
        assert (now.conflicts[0].settled_by, now.conflicts[0].settled_as) == (settled, "Bob")
        assert now.conflicts[1].settled_by is None
    assert making(world.at(opened), record=merge).n_open == 2
    branch = world.evolve(merge, metadata={"same": 1, "source.origin": "log"})
    assert making(world.now(), record=branch).n_open == making(world.now(), record=merge).n_open == 0


def test_a_version_that_says_null_settles_too(world: World) -> None:
    one, two = world.save("one", metadata={"k": 1}).id, world.save("two", metadata={"k": 2}).id
    merge = world.merge(one, two)
    settled = world.evolve(merge, metadata={"k": None})
    (conflict,) = making(world.now(), record=merge).conflicts
    assert (conflict.settled_by, conflict.settled_as) == (settled, None)


def test_erased_values_are_counted_and_not_told(world: World) -> None:
    one, two = world.save("one", metadata={"k": 1}).id, world.save("two", metadata={"k": 2}).id
    merge = world.merge(one, two)
    world.erase(one)
    found = making(world.now(), record=merge)
    assert (found.conflicts, found.n_erased_conflicts) == ((), 1)


def test_merges_of_merges_are_each_told_for_themselves(world: World) -> None:
    one, two = world.save("one", metadata={"k": 1}).id, world.save("two", metadata={"k": 2}).id
    first = world.merge(one, two)
    second = world.merge(first, world.save("three", metadata={"k": 3}).id)
    assert [conflict.key for conflict in making(world.now(), record=first).conflicts] == ["k"]
    assert making(world.now(), record=second).conflicts == ()


def test_one_query_whatever_there_is(world: World) -> None:
    ids = [world.save(f"record {n}", metadata={"k": n}).id for n in range(20)]
    merge = world.merge(*ids)
    here = merge
    for number in range(10):
        here = world.evolve(here, content=f"version {number}")
    at = world.now()
    for record in (here, merge, ids[0]):
        with CaptureQueriesContext(connection) as captured:
            making(at, record=record)
        assert len(captured) == 1


def test_over_http(world: World) -> None:
    agent = caller(world, world.scout)
    one, two = world.save("one", metadata={"k": 1}).id, world.save("two", metadata={"k": 2}).id
    merge = world.merge(one, two)
    found = agent.get(f"/records/{merge}/derivation").json()
    assert found["conflicts"] == [
        {
            "merged": str(merge), "key": "k", "settled_by": None, "settled_as": None,
            "values": [{"value": 1, "sources": [str(one)]}, {"value": 2, "sources": [str(two)]}],
        }
    ]  # fmt: skip
    assert (found["n_open"], found["made_by"]["reason"], found["made_by"]["type_rule"]) == (1, "correction", "majority")
    assert agent.get(f"/records/{one}/derivation").json()["made_by"] is None
    assert agent.get(f"/records/{merge}/derivation", known_at="seq:1").status_code == 404
