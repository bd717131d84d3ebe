"""The hooks of a loop: a belief before the model, observations after it, and summaries that are no new evidence."""

from __future__ import annotations

from typing import Any

import pytest

from memory.base.errors import Invalid
from memory.beliefs.lifecycle import Lifecycle, StructuredEncoder
from memory.beliefs.models import Observation
from memory.ledger.models import Entry
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = World()
    world.bind()
    return world


def seen(world: World, id: str, *masses: float, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": 2, "observation_id": id, "namespace": world.name, "relation_type": "rel", "source": "a",
        "target": "b", "posterior": list(masses), "evidence_family": id, "observed_at": 1.0, **more,
    }  # fmt: skip


def hooks(world: World) -> Lifecycle:
    return Lifecycle(world.scout, "native", StructuredEncoder())


def test_what_a_tool_saw_is_what_the_next_request_is_told(world: World) -> None:
    loop, query = hooks(world), {"namespace": world.name, "relation_type": "rel", "root": "a", "nodes": ["a", "b"]}
    assert loop.before_model({"prompt": "p"}, None) == {"prompt": "p"}
    before = Entry.objects.count()
    assert loop.after_tool({"memory_observations": [seen(world, "o1", 0.1, 0.9, 0, 0)]}) == ["o1"]
    given = [seen(world, id, 0.1, 0.9, 0, 0) for id in ("o2", "o3")]
    assert loop.after_model({"memory_observations": given}) == ["o2", "o3"]
    assert Entry.objects.count() == before + 2
    request = {"prompt": "p"}
    told = loop.before_model(request, query)
    assert request == {"prompt": "p"}
    assert told["memory_capsule"]["used_observation_ids"] == ["o1", "o2", "o3"]
    decided = loop.before_model(request, query, focus_node="b", alternatives=1)["memory_capsule"]
    assert (decided["kind"], decided["highest_probability_state"], len(decided["alternatives"])) == (
        "memory_decision", "1", 1,
    )  # fmt: skip


def test_a_summary_is_never_independent_evidence(world: World) -> None:
    loop = hooks(world)
    told = [seen(world, "o1", 1, 0, 0, 0)]
    assert loop.on_compaction({"memory_observations": told}) == ["o1"]
    assert not Observation.objects.get(namespace=world.namespace).is_independent
    assert told[0].get("independent_evidence") is None
    assert world.ask("a", "b").hidden == {"o1": "dependent"}


def test_an_event_is_stored_whole_or_not_at_all(world: World) -> None:
    loop, before = hooks(world), Entry.objects.count()
    given = [seen(world, "o1", 1, 0, 0, 0), seen(world, "o2", 1, 0, 0)]
    with pytest.raises(Invalid, match="1: posterior"):
        loop.after_tool({"memory_observations": given})
    with pytest.raises(Invalid, match="memory_observations"):
        loop.after_tool({"memory_observations": "none"})
    assert loop.after_tool({}) == []
    assert Lifecycle(world.scout, "native").after_tool({"memory_observations": given}) == []
    assert Entry.objects.count() == before


def test_what_is_said_or_asked_of_another_namespace_is_refused(world: World) -> None:
    loop, before = hooks(world), Entry.objects.count()
    elsewhere = {"namespace": "elsewhere", "relation_type": "rel", "root": "a", "nodes": ["a", "b"]}
    with pytest.raises(Invalid, match="namespace: expected lab"):
        loop.before_model({}, elsewhere)
    with pytest.raises(Invalid, match="namespace: expected lab"):
        loop.after_tool({"memory_observations": [{**seen(world, "o1", 1, 0, 0, 0), "namespace": "elsewhere"}]})
    assert Entry.objects.count() == before
