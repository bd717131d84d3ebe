"""What the pages of invariants cost, whatever has run and whatever the namespace holds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from audit.laws import recording
from memory.base import clock
from memory.checks.operations import Found, record_run, waive
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


def broken(world: World, *, n: int) -> None:
    """`n` runs of each law, the last one of L7 with `n` faults, and as many waivers."""
    for _ in range(n):
        recording.run(world.charlie)
    found = [Found("edge_end_missing", seq=one + 1) for one in range(n)]
    record_run(
        world.charlie, name="law.L7", version=1, verdict="violated", at_seq=1, n_checked=9, found=found, report={}
    )  # fmt: skip
    for one in range(n):
        waive(world.alice, name="law.L7", reason="known", expires_at=clock.now() + timedelta(days=one + 1))


def test_the_board_costs_the_same_whatever_has_run() -> None:
    counts = {}
    for n in (0, 1, 8):
        world = World(f"lab{n}")
        if n:
            broken(world, n=n)
        counts[f"now {n}"] = count_queries(browser(world.alice), f"/laws?ns=lab{n}")
    assert_baseline("laws:index", counts)


def test_an_invariant_costs_the_same_whatever_was_found() -> None:
    counts = {}
    for n in (0, 1, 8):
        world = World(f"lab{n}")
        if n:
            broken(world, n=n)
        counts[f"now {n}"] = count_queries(browser(world.alice), f"/laws/law.L7?ns=lab{n}")
    assert_baseline("laws:detail", counts)


def test_a_comparison_of_records_costs_the_same_whatever_else_there_is() -> None:
    counts = {}
    for n in (1, 50):
        world = World(f"lab{n}")
        first, second = (saved.id for saved in world.save_all("one", "two"))
        world.save_all(*(f"note {one}" for one in range(n)))
        here = f"/laws/compare?ns=lab{n}&first={first}&second={second}"
        counts[f"now {n}"] = count_queries(browser(world.alice), here)
    assert_baseline("laws:compare", counts)


def test_a_comparison_of_stores_costs_the_same_whatever_they_hold() -> None:
    counts = {}
    for n in (1, 50):
        world = World(f"lab{n}")
        world.save("one")
        seq = world.now().seq
        world.save_all(*(f"note {one}" for one in range(n)))
        counts[f"now {n}"] = count_queries(browser(world.alice), f"/laws/stores?ns=lab{n}&against={seq}")
    assert_baseline("laws:stores", counts)
