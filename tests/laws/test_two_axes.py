"""The sixth law in its strong form: two histories that differ only in valid time, told apart here and nowhere there."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit.laws import contextfs
from audit.laws.snapshots import check
from memory.records.models import RecordState
from tests.world import World

pytestmark = pytest.mark.django_db

BETWEEN = datetime(2026, 2, 1, tzinfo=UTC)


def test_two_histories_that_give_one_foreign_store_give_two_answers_here(
    contextfs_store: Callable[[str], Path], contextfs_sidecar: Callable[[str], dict[str, Any]]
) -> None:
    twin = contextfs_sidecar("l6_twin")
    first, second = twin["dump_sha256"]
    assert first == second, "no function of that store can tell the two histories apart"
    assert check(contextfs.load(contextfs_store("l6_twin"))).verdict("L6") == "violated"
    answers = []
    for number, history in enumerate(twin["histories"]):
        world = World(f"history-{number}")
        begins = datetime.fromisoformat(history["valid_from"]).replace(tzinfo=UTC)
        saved = world.save("the limit is 40", valid_from=begins)
        at = world.at(saved.seq, valid_at=BETWEEN)
        answers.append(list(RecordState.objects.current(at).values_list("first_line", flat=True)))
    assert answers == [["the limit is 40"], []]
