"""Provenance as OpenLineage run events: a run has a start and one end."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from memory.interchange.exporting import export
from memory.interchange.slices import Selection
from memory.ledger.operations.refusing import refuse
from tests.interchange.archives import archive_of, lose, namespace_named, restored
from tests.interchange.provenance import Event, read_event
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def text(world: World, **selected: Any) -> str:
    stream = BytesIO()
    export(world.charlie, world.now(), stream, format="openlineage", selection=Selection(**selected))
    return stream.getvalue().decode()


def events(world: World, **selected: Any) -> list[Event]:
    return [read_event(json.loads(line)) for line in text(world, **selected).splitlines()]


def test_every_run_has_a_start_and_then_one_end(world: World) -> None:
    first, second = (one.id for one in world.save_all("one", "two"))
    world.evolve(world.merge(first, second), content="of both")
    world.withdraw(first)
    refuse(world.scout, code="stopped", about=first)
    runs = defaultdict(list)
    for event in events(world):
        runs[event.run].append(event.kind)
    assert len(runs) == 5
    assert all(kinds in (["START", "COMPLETE"], ["START", "ABORT"]) for kinds in runs.values())


def test_an_operation_is_a_run_of_the_job_that_its_verb_names(world: World) -> None:
    first, second = (one.id for one in world.save_all("one", "two"))
    merged = world.merge(first, second)
    start, end = [event for event in events(world) if event.job == "merge"]
    assert (start.kind, end.kind) == ("START", "COMPLETE")
    assert set(end.inputs) == {f"record/{first}", f"record/{second}"}
    assert end.outputs == (f"record/{merged}",)


def test_a_refusal_is_aborted(world: World) -> None:
    saved = world.save("asked about").id
    refuse(world.scout, code="stopped", about=saved)
    kinds = {event.kind: event.job for event in events(world) if event.job.startswith("refuse")}
    assert kinds == {"START": "refuse.stopped", "ABORT": "refuse.stopped"}


def test_what_ends_a_version_takes_it_in_and_gives_nothing_out(world: World) -> None:
    saved = world.save("said in haste").id
    world.withdraw(saved)
    end = events(world)[-1]
    assert (end.job, end.inputs, end.outputs) == ("withdraw", (f"record/{saved}",), ())


def test_no_text_is_in_an_event(world: World) -> None:
    saved = world.save("canary 4471", summary="canary in short")
    world.merge(saved.id, world.save("canary too").id)
    assert "canary" not in text(world)


def test_a_run_has_the_same_id_wherever_the_namespace_is(world: World) -> None:
    world.merge(*(one.id for one in world.save_all("a", "b")))
    before, archive = text(world), archive_of(world.namespace)
    lose(world)
    restored(archive, keeps_people=True)
    world.namespace = namespace_named("lab")
    stream = BytesIO()

    reader = replace(world.charlie, namespace=world.namespace)
    export(reader, world.now(), stream, format="openlineage", selection=Selection())
    assert stream.getvalue().decode() == before != ""


def test_a_slice_is_of_the_runs_that_the_filter_meets(world: World) -> None:
    world.save("by a person", by=world.alice)
    world.save("by an agent")
    assert len(events(world)) == 4
    assert len(events(world, agent=world.scout_id)) == 2
