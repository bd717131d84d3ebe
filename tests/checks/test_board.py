"""What the board reads: the last runs of each check, waivers, and since when one breaks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory.base import clock
from memory.checks import board as reads
from memory.checks.operations import Found, record_run, waive
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def ran(world: World, name: str, *, verdict: str = "holds", n: int = 0) -> int:
    found = [Found("edge_end_missing", seq=one + 1) for one in range(n)]
    return record_run(
        world.charlie, name=name, version=1, verdict=verdict, at_seq=1, n_checked=9, found=found, report={"n": n}
    ).seq  # fmt: skip


def waived(world: World, name: str, *, days: int = 1, reason: str = "known") -> datetime:
    ends = clock.now() + timedelta(days=days)
    waive(world.alice, name=name, reason=reason, expires_at=ends)
    return ends


def test_the_last_thirty_runs_of_each_check_stand_oldest_first(world: World) -> None:
    seqs = [ran(world, "law.L2", verdict="violated", n=n % 3) for n in range(32)]
    other = ran(world, "law.L7")
    found = reads.board(world.now())
    assert [run.seq for run in found["law.L2"].runs] == seqs[2:]
    assert [run.n_findings for run in found["law.L2"].runs[-3:]] == [2, 0, 1]
    assert [run.seq for run in found["law.L7"].runs] == [other]
    assert found["law.L2"].last is not None
    assert found["law.L2"].last.is_broken
    assert list(found) == ["law.L2", "law.L7"]


def test_runs_and_waivers_are_those_by_the_point_and_of_the_namespace(world: World) -> None:
    first = ran(world, "law.L2")
    ran(world, "law.L2", verdict="violated", n=1)
    waived(world, "law.L2")
    other = World("other")
    ran(other, "law.L3")
    then = reads.board(world.at(first))["law.L2"]
    assert ([run.seq for run in then.runs], then.waivers) == ([first], ())
    assert list(reads.board(other.now())) == ["law.L3"]


def test_a_waiver_is_told_with_who_and_why_and_the_one_that_ends_last_counts(world: World) -> None:
    later = waived(world, "law.L2", days=9, reason="until the import is repeated")
    waived(world, "law.L2", days=2)
    standing = reads.board(world.now())["law.L2"]
    live = standing.waiver(clock.now())
    assert live is not None
    assert (live.expires_at, live.person, live.reason) == (later, world.alice.person, "until the import is repeated")
    assert [waiver.reason for waiver in standing.waivers] == ["known", "until the import is repeated"]
    assert standing.waiver(later) is None
    assert standing.last is None


def test_a_check_is_told_since_when_it_breaks_over_all_its_runs(world: World) -> None:
    assert reads.broken(world.now(), name="law.L2") == reads.Broken(None, None, 0)
    instants = []
    for verdict in ("violated", "holds", "violated", "holds"):
        ran(world, "law.L2", verdict=verdict)
        instants.append(world.now().known_at)
    ran(world, "law.L3", verdict="violated")
    assert reads.broken(world.now(), name="law.L2") == reads.Broken(instants[0], instants[2], 2)


def test_the_board_costs_two_queries_whatever_has_run(world: World, django_assert_num_queries: Any) -> None:
    for n in (0, 12):
        for index in range(n):
            ran(world, f"law.L{index}")
            waived(world, f"law.L{index}")
        at = world.now()
        with django_assert_num_queries(2):
            assert len(reads.board(at)) == n
