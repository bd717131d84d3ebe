"""Lines of versions: what opens one, what stands in it, what may be asked of it, and when it is not sound."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base import clock
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.lineage.kernel import LineFault, Version, line_faults
from memory.lineage.models import ANCESTRY, Edge
from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.timeline import Timeline, line_of, narrowed, timeline
from memory.records.models import Record
from tests import histories
from tests.contract.callers import caller, places
from tests.histories import history
from tests.world import World

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World()


def line(at: AsOf, record: UUID) -> Timeline:
    return timeline(at, line=line_of(at, record=record))


def ids(found: Timeline) -> list[UUID]:
    return [entry.row.id for entry in found.entries]


def grow(world: World, *, seed: int, n_acts: int) -> None:
    for _ in history(world, seed=seed, n_acts=n_acts):
        pass


def test_a_save_a_merge_each_part_and_a_branch_open_a_line_and_an_evolve_of_the_head_extends_it(world: World) -> None:
    first, other = (saved.id for saved in world.save_all("one", "other"))
    second = world.evolve(first, content="two", cause=Cause("inference", "worked out"))
    branch = world.evolve(first, content="another second")
    merge = world.merge(second, other)
    left, right = world.split(merge, "left", "right")
    at = world.now()
    found = line(at, second)
    assert (ids(found), found.opened_by, found.head, found.branched_from) == ([first, second], "save", second, None)
    entry = found.entries[1]
    assert (entry.kind, entry.reason, entry.reason_given, entry.note) == ("evolve", "inference", True, "worked out")
    assert (entry.parents, entry.principal) == ((("evolved_from", first),), "agent")
    left_at = line(at, branch)
    assert (ids(left_at), left_at.opened_by) == ([branch], "evolve")
    assert left_at.branched_from is not None
    assert (left_at.branched_from.record, left_at.branched_from.line) == (first, first)
    assert line(at, merge).entries[0].parents == (("merged_from", second), ("merged_from", other))
    assert [line(at, part).opened_by for part in (merge, left, right)] == ["merge", "split", "split"]


def test_at_holds_its_instant_and_since_does_not(world: World) -> None:
    times = [NOON + timedelta(hours=n) for n in range(3)]
    with clock.injected(lambda: times[0]):
        here = world.save("version 0").id
    for instant, reason in ((times[1], "correction"), (times[2], "decay")):
        with clock.injected(lambda now=instant: now):  # type: ignore[misc]
            here = world.evolve(here, content=f"at {instant}", cause=Cause(reason))
    entries = line(world.now(), here).entries
    recorded = [entry.row.recorded_at for entry in entries]
    tick = timedelta(microseconds=1)
    for number, instant in enumerate(recorded):
        assert narrowed(entries, by_source=False, at=instant) == (entries[number],)
        assert narrowed(entries, by_source=False, since=instant) == entries[number + 1 :]
        assert narrowed(entries, by_source=False, since=instant - tick) == entries[number:]
    assert narrowed(entries, by_source=False, at=recorded[0] - tick) == ()
    assert narrowed(entries, by_source=False, reason="decay") == entries[2:]
    assert narrowed(entries, by_source=False, since=recorded[0], reason="correction") == (entries[1],)
    with pytest.raises(Invalid, match="by_reason"):
        narrowed(entries, by_source=False, reason="whim")


def test_over_http(world: World) -> None:
    agent = caller(world, world.scout)
    first = world.save("one").id
    second = world.evolve(first, content="two", cause=Cause("decay"))
    path = f"/records/{first}/timeline"
    whole = agent.get(path).json()
    assert [item["id"] for item in whole["items"]] == [str(first), str(second)]
    assert (whole["total"], whole["is_consistent"], whole["faults"]) == (2, True, [])
    assert (whole["head"], whole["answer"], whole["opened_by"]) == (str(second), str(second), "save")
    assert [item["id"] for item in agent.get(path, by_reason="decay").json()["items"]] == [str(second)]
    instant = whole["items"][0]["recorded_at"]
    assert [item["id"] for item in agent.get(path, at=instant).json()["items"]] == [str(first)]
    assert [item["id"] for item in agent.get(path, since=instant).json()["items"]] == [str(second)]
    wrong = agent.get(path, by_reason="whim")
    assert (wrong.status_code, places(wrong)) == (422, [["by_reason"]])
    assert agent.get(f"/records/{second}/timeline", known_at="seq:1").status_code == 404


def test_the_point_says_which_version_answers(world: World) -> None:
    first = world.save("one", valid_to=NOON).id
    seq = world.now().seq
    second = world.evolve(first, content="two", valid_from=NOON, valid_to=None)
    assert line(replace(world.at(seq), valid_at=NOON - timedelta(days=1)), first).answer == first
    assert line(replace(world.at(seq), valid_at=NOON), first).answer is None
    assert line(replace(world.now(), valid_at=NOON), first).answer == second
    assert line(replace(world.now(), valid_at=NOON - timedelta(days=1)), first).answer is None
    world.withdraw(second)
    assert line(replace(world.now(), valid_at=NOON), first).answer is None


@pytest.mark.parametrize("seed", range(3))
def test_after_any_history_lines_are_sound_and_give_the_parent_rows_back(seed: int, world: World) -> None:
    """From the graph to timelines and back: nothing is lost, nothing is made up."""
    grow(world, seed=seed, n_acts=60)
    at = world.now()
    records = dict(Record.objects.filter(namespace=world.namespace).values_list("id", "line"))
    lines = [timeline(at, line=line) for line in sorted(set(records.values()))]
    assert all(one.is_consistent for one in lines)
    assert {entry.row.id: one.line for one in lines for entry in one.entries} == records
    claimed = {
        (entry.row.id, relation, parent, ordinal)
        for one in lines
        for entry in one.entries
        for ordinal, (relation, parent) in enumerate(entry.parents)
    }
    rows = Edge.objects.filter(namespace=world.namespace, relation__in=ANCESTRY)
    assert claimed == set(rows.values_list("source", "relation", "target", "ordinal"))
    for one in lines:
        for before, after in zip(one.entries, one.entries[1:], strict=False):
            assert after.parents == (("evolved_from", before.row.id),)
            assert after.row.recorded_at > before.row.recorded_at


@pytest.mark.parametrize("seed", range(3))
def test_a_line_at_an_entry_is_the_same_whatever_comes_later(
    seed: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for erasure, which holds at every recorded time."""
    monkeypatch.setitem(histories.KINDS, "erase", 0)
    grow(world, seed=seed, n_acts=20)
    at = world.at(world.now().seq, valid_at=NOON)
    lines = sorted(set(Record.objects.filter(namespace=world.namespace).values_list("line", flat=True)))
    before = [timeline(at, line=one) for one in lines]
    grow(world, seed=seed + 100, n_acts=30)
    later = world.at(at.seq, valid_at=NOON)
    assert [timeline(later, line=one) for one in lines] == before


def version(number: int, seconds: int, claimed: int | None, after: int | None) -> Version:
    told = None if claimed is None else NOON + timedelta(seconds=claimed)
    return Version(UUID(int=number), NOON + timedelta(seconds=seconds), told, UUID(int=after) if after else None)


@pytest.mark.parametrize(
    ("versions", "faults"),
    [
        ([version(1, 0, None, None), version(2, 0, None, 1)], []),
        ([version(1, 0, 5, None), version(2, 1, None, 1), version(3, 2, 5, 2)], []),
        ([version(1, 1, None, None), version(2, 0, None, 1)], [("instant_decreases", 2, 1)]),
        ([version(1, 0, 9, None), version(2, 0, 3, 1)], [("claimed_instant_decreases", 2, 1)]),
        ([version(1, 0, 9, None), version(2, 1, None, 1), version(3, 2, 3, 2)], [("claimed_instant_decreases", 3, 1)]),
        ([version(1, 0, None, None), version(2, 1, None, None)], [("not_the_next", 2, 1)]),
        (
            [version(1, 0, None, None), version(2, 1, None, 1), version(1, 2, None, 2)],
            [("version_repeated", 1, 2)],
        ),
    ],
)
def test_each_broken_invariant_of_a_line_is_told_where_it_breaks(
    versions: list[Version], faults: list[tuple[str, int, int]]
) -> None:
    found = line_faults(versions)
    assert found == [LineFault(code, UUID(int=one), UUID(int=other)) for code, one, other in faults]  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 5), max_size=6))
def test_a_line_is_sound_exactly_where_no_instant_decreases(seconds: list[int]) -> None:
    versions = [version(n + 1, at, None, n or None) for n, at in enumerate(seconds)]
    assert (line_faults(versions) == []) == (sorted(seconds) == seconds)


def test_an_imported_line_that_breaks_an_invariant_is_listed_and_not_sorted(world: World) -> None:
    first = world.save("one", source_recorded_at=NOON).id
    second = world.evolve(first, content="two", source_recorded_at=NOON - timedelta(days=1), metadata={"k": 1})
    found = line(world.now(), second)
    assert ids(found) == [first, second]
    assert [(fault.code, fault.version) for fault in found.faults] == [("claimed_instant_decreases", second)]
    claimed = AsOf(**{**fields(world.now()), "source_at": NOON})
    assert narrowed(line(claimed, first).entries, by_source=True, at=NOON)[0].row.id == second


def fields(at: AsOf) -> dict[str, object]:
    return {name: getattr(at, name) for name in AsOf.__slots__}


def test_a_record_that_is_not_there_yet_has_no_line(world: World) -> None:
    first = world.save("one").id
    with pytest.raises(NotFound):
        line_of(world.at(world.now().seq - 1), record=first)
