"""Provenance as PROV-JSON: what is declared, what is related, and what an erasure leaves of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.agents import operations as agents
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import DomainError, Invalid, NotFound, TooLarge
from memory.interchange import slices
from memory.interchange.exporting import export
from memory.interchange.prov import record
from memory.interchange.slices import Selection
from memory.ledger.operations.refusing import refuse
from memory.ledger.queries import asof
from tests.interchange.provenance import faults
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def prov(world: World, *, by: Actor | None = None, at: AsOf | None = None, **selected: Any) -> dict[str, Any]:
    """The document, which is sound."""
    stream = BytesIO()
    export(by or world.charlie, at or world.now(), stream, format="prov", selection=Selection(**selected))
    document: dict[str, Any] = json.loads(stream.getvalue())
    assert faults(document) == []
    return document


def related(document: dict[str, Any], relation: str, *roles: str) -> set[tuple[str, ...]]:
    return {tuple(value[f"prov:{role}"] for role in roles) for value in document.get(relation, {}).values()}


def entry(seq: int) -> str:
    return f"ml:entry/{seq}"


def test_a_saved_record_is_generated_by_its_entry_and_its_agent(world: World) -> None:
    saved = world.save("Ana lives in Porto")
    document = prov(world)
    entity = document["entity"][record(saved.id)]
    assert (entity["prov:label"], entity["ml:status"], entity["ml:type"]) == ("Ana lives in Porto", "current", "note")
    assert related(document, "wasGeneratedBy", "entity", "activity") == {(record(saved.id), entry(saved.seq))}
    assert related(document, "wasAssociatedWith", "activity", "agent") == {
        (entry(saved.seq), f"ml:agent/{world.scout_id}")
    }
    agent = document["agent"][f"ml:agent/{world.scout_id}"]
    assert agent == {"prov:label": "scout", "prov:type": "prov:SoftwareAgent"}


def test_an_evolve_is_a_revision_that_ends_the_older_version(world: World) -> None:
    old = world.save("Ana lives in Lisbon").id
    new = world.evolve(old, content="Ana lives in Porto")
    seq = world.now().seq
    document = prov(world)
    assert related(document, "wasDerivedFrom", "generatedEntity", "usedEntity") == {(record(new), record(old))}
    (derivation,) = document["wasDerivedFrom"].values()
    assert derivation["prov:type"] == "prov:Revision"
    assert derivation["prov:activity"] == entry(seq)
    assert (entry(seq), record(old)) in related(document, "used", "activity", "entity")
    assert related(document, "wasInvalidatedBy", "entity", "activity") == {(record(old), entry(seq))}
    assert document["activity"][entry(seq)]["prov:type"] == "ml:evolve"
    assert document["activity"][entry(seq)]["ml:reason"] == "correction"


def test_a_merge_has_several_sources_and_a_split_several_parts(world: World) -> None:
    first, second = (one.id for one in world.save_all("one", "two"))
    merged = world.merge(first, second)
    parts = world.split(merged, "left", "right")
    document = prov(world)
    derived = related(document, "wasDerivedFrom", "generatedEntity", "usedEntity")
    assert derived == {
        (record(merged), record(first)), (record(merged), record(second)),
        *((record(part), record(merged)) for part in parts),
    }  # fmt: skip
    split = entry(world.now().seq)
    assert {e for e, a in related(document, "wasGeneratedBy", "entity", "activity") if a == split} == set(
        map(record, parts)
    )


def test_a_withdrawal_invalidates_without_a_new_revision_and_a_restoration_undoes_it(world: World) -> None:
    saved = world.save("said in haste").id
    hidden = world.withdraw(saved)
    assert related(prov(world), "wasInvalidatedBy", "entity", "activity") == {(record(saved), entry(hidden))}
    assert "wasDerivedFrom" not in prov(world)
    world.restore(saved)
    assert "wasInvalidatedBy" not in prov(world)
    # As of the entry that hid it, it is hidden.
    assert "wasInvalidatedBy" in prov(world, at=world.at(hidden))


def test_an_erased_record_is_an_entity_without_attributes_at_every_point(world: World) -> None:
    saved = world.save("canary 81b2")
    world.merge(saved.id, world.save("another").id, content="of both")
    before = world.now().seq
    gone = world.erase(saved.id)
    document = prov(world)
    assert document["entity"][record(saved.id)] == {}
    assert (record(saved.id), entry(gone.seq)) in related(document, "wasInvalidatedBy", "entity", "activity")
    assert len(document["wasDerivedFrom"]) == 2
    past = prov(world, at=world.at(before))
    assert past["entity"][record(saved.id)] == {}
    assert entry(gone.seq) not in past["activity"]
    assert "canary" not in json.dumps([document, past])


def test_what_is_said_of_a_point_is_the_same_afterwards(world: World) -> None:
    first = world.save("the first").id
    at = world.at(world.now().seq)
    before = prov(world, at=at)
    world.evolve(first, content="reworded")
    world.withdraw(world.save("more").id)
    assert prov(world, at=at) == before


def test_as_the_source_says_it_knew_leaves_out_what_it_did_not_know_yet(world: World) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    old = world.save("claimed early", source_recorded_at=early).id
    new = world.evolve(old, content="claimed late")
    sister = world.save("claimed late too", source_recorded_at=late).id
    world.merge(old, sister, content="of both")
    at = asof.resolve(world.namespace, known_at="source:2026-03-01T00:00:00Z")
    document = prov(world, at=at)
    assert set(document["entity"]) == {record(old)}
    assert "wasDerivedFrom" not in document
    assert record(new) not in json.dumps(document)


def test_an_agent_acts_for_its_operator_and_for_whom_it_says(world: World) -> None:

    clerk = world.agent("clerk", operator=world.bob.person)
    world.save("for somebody", by=replace(clerk, on_behalf_of="the night shift"))
    world.save("by a person", by=world.alice)
    document = prov(world)
    delegations = related(document, "actedOnBehalfOf", "delegate", "responsible")
    operator, agent = f"ml:person/{world.bob.person}", f"ml:agent/{clerk.agent}"
    (party,) = [name for name in document["agent"] if name.startswith("ml:party/")]
    assert delegations == {(agent, operator), (agent, party)}
    assert document["agent"][party] == {"prov:label": "the night shift"}
    assert document["agent"][f"ml:person/{world.alice.person}"]["prov:type"] == "prov:Person"


def test_a_focus_is_all_it_rests_on_and_all_that_rests_on_it(world: World) -> None:
    root, aside = (one.id for one in world.save_all("root", "aside"))
    middle = world.evolve(root, content="middle")
    leaf = world.merge(middle, aside)
    stranger = world.save("of another lineage").id
    document = prov(world, focus=middle)
    assert set(document["entity"]) == {record(one) for one in (root, middle, leaf, aside)}
    # The other source of the leaf is no part of the focus' lineage: it is named, and no more.
    assert document["entity"][record(aside)] == {"ml:outside": True}
    assert record(stranger) not in document["entity"]


def test_a_filter_declares_what_it_leaves_out_without_its_text(world: World) -> None:
    old = world.save("written by a person", by=world.alice).id
    new = world.evolve(old, content="reworded by an agent")
    document = prov(world, agent=world.scout_id)
    assert document["entity"][record(new)]["prov:label"] == "reworded by an agent"
    assert document["entity"][record(old)] == {"ml:outside": True}
    assert "written by a person" not in json.dumps(document)


def test_a_filter_of_instants_is_half_open(world: World) -> None:
    first = world.save("first")
    second = world.save("second")
    found = {row.seq: row.recorded_at for row in slices.slice_of(world.now(), Selection()).acts}
    inside = prov(world, since=found[first.seq], until=found[second.seq])
    assert set(inside["entity"]) == {record(first.id)}
    assert prov(world, since=found[second.seq]).get("entity", {}).keys() == {record(second.id)}


def test_a_refusal_is_an_act_that_made_nothing(world: World) -> None:
    saved = world.save("asked about").id
    seq = refuse(world.scout, code="stopped", about=saved)
    assert seq is not None
    for document in (prov(world), prov(world, focus=saved), prov(world, agent=world.scout_id)):
        assert document["activity"][entry(seq)]["ml:refused"] == "stopped"
        assert (entry(seq), f"ml:agent/{world.scout_id}") in related(document, "wasAssociatedWith", "activity", "agent")
    assert entry(seq) not in prov(world, focus=world.save("another").id)["activity"]


def test_an_empty_selection_is_an_empty_document(world: World) -> None:
    assert prov(world).keys() == {"prefix"}


def test_the_same_point_has_the_same_bytes(world: World) -> None:
    world.merge(*(one.id for one in world.save_all("a", "b", "c")))
    first, second = BytesIO(), BytesIO()
    for stream in (first, second):
        export(world.scout, world.now(), stream, format="prov", selection=Selection())
    assert first.getvalue() == second.getvalue() != b""


def test_what_cannot_be_selected_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = world.save("one").id
    with pytest.raises(NotFound):
        prov(world, focus=UUID(int=7))
    with pytest.raises(Invalid, match="focus"):
        prov(world, focus=saved, agent=world.scout_id)
    with pytest.raises(Invalid, match="format"):
        export(world.scout, world.now(), BytesIO(), format="turtle", selection=Selection())
    world.save("two")
    monkeypatch.setattr(slices, "MOST_RECORDS", 1)
    with pytest.raises(TooLarge):
        prov(world)


def test_another_namespace_adds_nothing(world: World) -> None:
    world.merge(*(one.id for one in world.save_all("a", "b")))
    before = prov(world)
    other = World("other")
    other.merge(*(one.id for one in other.save_all("a", "b")))
    assert prov(world) == before


ACTS: dict[str, Callable[[World, UUID, UUID], Iterable[UUID] | object]] = {
    "save": lambda world, _first, _second: [world.save("another note").id],
    "evolve": lambda world, first, _second: [world.evolve(first, content="reworded")],
    "merge": lambda world, first, second: [world.merge(first, second, content="of both")],
    "split": lambda world, first, _second: world.split(first, "left", "right"),
    "supersede": lambda world, first, second: world.supersede(first, second),
    "link": lambda world, first, second: world.link(first, "references", second),
    "withdraw": lambda world, first, _second: world.withdraw(first),
    "restore": lambda world, first, _second: world.restore(first),
    "erase": lambda world, first, _second: world.erase(first),
    "refuse": lambda world, first, _second: refuse(world.scout, code="stopped", about=first),
}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.integers(0, 9), st.integers(0, 9)), max_size=14))
def test_no_relation_points_at_what_is_not_declared_whatever_was_done(
    acts: list[tuple[str, int, int]], world: World
) -> None:
    known = [world.save(f"seed {n}").id for n in range(3)]
    for act, left, right in acts:
        with suppress(DomainError):
            made = ACTS[act](world, known[left % len(known)], known[right % len(known)])
            known.extend(made if isinstance(made, list | tuple) else ())
    head = world.now()
    for at in (head, world.at(max(1, head.seq // 2))):
        prov(world, at=at)
        prov(world, at=at, agent=world.scout_id)
    prov(world, focus=known[0])


def test_a_frozen_agent_is_named_as_any_other(world: World) -> None:
    world.save("before it was frozen")
    agents.freeze(world.alice, agent=world.scout_id, reason="on leave")
    assert f"ml:agent/{world.scout_id}" in prov(world)["agent"]
