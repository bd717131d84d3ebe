"""What is public leaves the house: compiled, redacted and current, and what does not is counted by why."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from memory.interchange.exports import exports
from memory.lineage.models import Compilation, Edge
from tests.conftest import lifted_triggers
from tests.contract.callers import caller, places
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def exported(world: World) -> dict[str, Any]:
    answer = caller(world, world.charlie).get("/export", format="public")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    found: dict[str, Any] = json.loads(answer.content)
    return found


def public(world: World, text: str, **given: Any) -> tuple[Any, Any, Any]:
    """A raw record, a compiled one of it, and a public one of that."""
    raw = world.save(f"raw {text}", origin="a secret place", tags=("raw-topic",)).id
    made = world.compile(raw, content=f"compiled {text}", covers=given.pop("covers", ""))
    return raw, made, world.compile(made, content=f"public {text}", is_public=True, **given)


def test_each_reason_to_leave_one_out_is_counted_and_the_rest_is_whole(world: World) -> None:
    _, _, kept = public(world, "kept", summary="in short", tags=("refunds",))
    withdrawn, old = public(world, "withdrawn")[2], public(world, "old")[2]
    tainted, gone = public(world, "tainted")[0], public(world, "gone")[2]
    world.withdraw(withdrawn)
    world.evolve(old, content="evolved past the firewall")
    world.erase(tainted)
    world.erase(gone)
    public(world, "behind", covers="topic-a")
    world.save("newer", tags=("topic-a",))
    found = exported(world)
    assert found["left_out"] == {"behind": 1, "erased": 1, "stale": 1, "superseded": 1, "withdrawn": 1}
    (item,) = found["items"]
    assert (item["id"], item["content"], item["summary"], item["tags"]) == (
        str(kept), "public kept", "in short", ["refunds"],
    )  # fmt: skip
    assert item["function"] == {"name": "digest", "version": "v1"}
    for private in ("raw", "compiled", "a secret place", "scout", "topic-a", "past the firewall"):
        assert private not in json.dumps(found["items"])
    assert exported(world) == {**found, "seq": world.now().seq}


def test_one_that_rests_on_something_raw_is_left_out_whatever_let_it_in(world: World) -> None:
    raw, made, first = public(world, "first")
    second = world.compile(first, content="public second", is_public=True)
    assert len(exported(world)["items"]) == 2
    # As if a fault had let it through: the compiled source loses the statement that makes it one.
    with lifted_triggers(connection):
        Compilation.objects.filter(namespace=world.namespace, record=made).delete()
    assert (exported(world)["items"], exported(world)["left_out"]) == ([], {"uncontrolled": 2})
    assert Edge.objects.filter(namespace=world.namespace, source=second, target=first).exists()
    assert raw


def test_it_is_of_the_whole_namespace_as_it_stands(world: World) -> None:
    public(world, "kept")
    agent = caller(world, world.scout)
    for asked, place in (({"agent": "scout"}, "agent"), ({"known_at": "seq:1"}, "known_at")):
        refused = agent.get("/export", format="public", **asked)
        assert (refused.status_code, places(refused)) == (422, [[place]])


def test_the_command_writes_it_and_the_ledger_says_that_it_left(world: World, tmp_path: Path) -> None:
    public(world, "kept")
    told, path = StringIO(), tmp_path / "public.json"
    call_command("export", "public", "--namespace", "lab", "--output", str(path), stderr=told)
    written = json.loads(path.read_bytes())
    assert [item["content"] for item in written["items"]] == ["public kept"]
    (row,) = exports(world.now())
    assert (row.format, row.n_items) == ("public", 1)
    assert row.file_digest in told.getvalue()
