"""What another namespace holds changes no answer about lineage; two histories that differ in valid time alone differ.

Source: laws of the store, 1.8 and 4.5.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import pytest

from memory.base import clock, ids
from memory.lineage.models import Edge
from memory.records.models import Record
from tests.contract.callers import caller
from tests.histories import history
from tests.world import World

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).resolve().parents[1] / "interchange" / "fixtures"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def made(name: str) -> World:
    """A namespace whose history is the same each time, ids included."""
    with clock.fixed(NOON):
        world = World(name)
        with ids.seeded("frame"):
            for _ in history(world, seed=4, n_acts=25):
                pass
    return world


def told(world: World) -> str:
    """Everything that the API tells of the lineage of a namespace."""
    with clock.fixed(NOON):
        return json.dumps(_read(world), sort_keys=True).replace(str(world.scout_id), "scout")


def _read(world: World) -> dict[str, Any]:
    agent = caller(world, world.scout)
    point = {"known_at": f"seq:{world.now().seq}", "valid_at": "2030-01-01T00:00:00Z"}
    records = Record.objects.filter(namespace=world.namespace).order_by("seq", "item").values_list("id", flat=True)
    found: dict[str, Any] = {}
    for record in records:
        for part in ("ancestry", "descendants", "timeline", "derivation", "suggestions"):
            found[f"{record} {part}"] = agent.get(f"/records/{record}/{part}", **point).json()
        found[f"{record} graph"] = agent.get("/lineage", focus=str(record), up=5, down=5, **point).json()
    return found


def test_another_namespace_with_the_same_words_and_ids_changes_no_answer() -> None:
    """The others hold records under the very same ids: they are per namespace."""
    here = made("here")
    alone = told(here)
    assert len(alone) > 10_000
    assert told(made("after")) == alone
    made("later")
    assert told(here) == alone
    assert len(set(Edge.objects.values_list("namespace", flat=True))) == 3


def test_the_two_histories_of_the_twin_store_are_told_apart_here() -> None:
    """The source maps both to one store; ours answers (2026-02-01, now) differently for each."""
    twin = json.loads((FIXTURES / "l6_twin.json").read_text())
    assert twin["logical_dumps_identical"]
    answers = []
    for number, one in enumerate(twin["histories"]):
        recorded = datetime.fromisoformat(one["recorded"])
        with clock.injected(lambda at=recorded: at):  # type: ignore[misc]
            world = World(f"twin-{number}")
            start = datetime.combine(datetime.fromisoformat(one["valid_from"]).date(), time(), UTC)
            first = world.save("the office is in Graz", valid_from=start).id
            second = world.evolve(first, content="the office is in Graz, on the second floor")
            agent = caller(world, world.scout)
            point = {"valid_at": "2026-02-01T00:00:00Z", "known_at": f"seq:{world.now().seq}"}
            line = agent.get(f"/records/{first}/timeline", **point).json()
            listed = agent.get("/records", **point).json()
        answers.append((line["answer"] == str(second), [row["first_line"] for row in listed["items"]]))
    assert answers == [(True, ["the office is in Graz, on the second floor"]), (False, [])]
