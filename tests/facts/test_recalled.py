"""Recall tells what is known of the subjects that it is asked about, before it tells records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.agents import operations as agents
from memory.facts.queries import recalled
from tests.contract.callers import caller
from tests.world import World

pytestmark = pytest.mark.django_db


def told(world: World, **body: object) -> Any:
    answer = caller(world, world.scout).post("/recall", {"query": "which port has staging", **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_recall_tells_facts_of_its_subjects_with_their_status_and_what_is_held_of_none() -> None:
    world = World()
    world.save("staging listens somewhere")
    world.declare("port")
    world.tell("staging", "port", 5433, origin="ops")
    world.tell("staging", "owner", "anna")
    agents.change_setting(world.alice, name="review_policy", value="attribute=secret -> hold 3 d")
    world.tell("staging", "secret", "a canary")
    first, second, record = told(world, subjects=["staging", "nobody"])["items"]
    assert (first["kind"], first["text"], first["state"], first["origin"]) == (
        "fact", "staging port: 5433", "known", "ops",
    )  # fmt: skip
    assert (second["text"], record["kind"]) == ("staging owner: anna", "record")
    assert [item["kind"] for item in told(world)["items"]] == ["record"]


def test_recall_tells_both_sides_of_a_conflict_and_keeps_to_its_budget() -> None:
    world = World()
    world.declare("port")
    world.tell("staging", "port", 5433)
    world.tell("staging", "port", 5434)
    found = told(world, subjects=["staging"])
    assert {(item["text"], item["state"]) for item in found["items"]} == {
        ("staging port: 5433", "conflict"), ("staging port: 5434", "conflict"),
    }  # fmt: skip
    narrow = told(world, subjects=["staging"], budget_tokens=5)
    assert (len(narrow["items"]), narrow["hidden"]["budget"], narrow["tokens"]) == (1, 1, 5)


def test_recall_counts_what_it_does_not_tell_of_its_subjects_by_why(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    spring, summer = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    for attribute in ("port", "owner", "region"):
        world.tell("staging", attribute, "one")
    world.tell("staging", "lease", "two", valid_from=spring, valid_to=summer)
    assert told(world, subjects=["staging"], limit=1)["hidden"] == {"limit": 2, "unknown": 1}
    assert told(world, subjects=["staging"], limit=2, budget_tokens=1)["hidden"] == {"budget": 3, "unknown": 1}
    monkeypatch.setattr(recalled, "MOST", 3)
    assert told(world, subjects=["staging"])["hidden"] == {"limit": 1}
