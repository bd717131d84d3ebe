"""Exports as acts: what the ledger says of them, and what an erasure says that they still hold."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest

from memory.agents.setup import found_replay
from memory.base.actor import Actor
from memory.base.errors import Forbidden
from memory.interchange.exporting import Exported, export
from memory.interchange.exports import exports
from memory.interchange.operations import export_file
from memory.interchange.slices import Selection
from memory.ledger.models import Entry
from memory.ledger.queries import asof
from memory.ledger.queries.addressed import items_at
from memory.ledger.queries.radius import radius
from memory.ledger.queries.verification import scan
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def exported(world: World, format: str, *, by: Actor | None = None, **selected: Any) -> tuple[bytes, Exported, int]:
    stream = BytesIO()
    done, seq = export_file(by or world.charlie, world.now(), stream, format=format, selection=Selection(**selected))
    return stream.getvalue(), done, seq


def out_of_reach(world: World, record: Any) -> list[str]:
    """The exports that an erasure of the record names."""
    found = radius(world.now(), items=items_at(world.namespace, [world.address(record)]))
    return [one.id for one in found.affected if (one.kind, one.relation) == ("export", "out of reach")]


def n_entries(world: World) -> int:
    return Entry.objects.filter(namespace=world.namespace).count()


def test_an_export_is_an_entry_that_names_format_point_size_and_digest(world: World) -> None:
    world.save("taken along")
    at = world.now().seq
    data, done, seq = exported(world, "prov", agent=world.scout_id)
    (row,) = exports(world.now())
    assert (row.seq, row.person, row.format, row.at_seq) == (seq, world.charlie.person, "prov", at)
    assert row.file_digest == hashlib.sha256(data).hexdigest() == done.sha256.hex()
    assert row.n_bytes == len(data)
    assert row.n_items == done.n_items > 0
    assert row.filter == {"agent": str(world.scout_id)}
    assert scan(world.namespace).is_clean


def test_reading_an_export_writes_nothing(world: World) -> None:
    world.save("taken along")
    before = n_entries(world)
    for format in ("jsonl", "prov", "openlineage"):
        export(world.alice, world.now(), BytesIO(), format=format, selection=Selection())
    assert n_entries(world) == before


def test_every_file_that_leaves_is_an_entry_of_its_own(world: World) -> None:
    by = replace(world.charlie, idempotency_key="once")
    seqs = [export_file(by, world.now(), BytesIO(), format="prov", selection=Selection())[1] for _ in range(2)]
    assert [row.seq for row in exports(world.now())] == seqs[::-1]


def test_exports_are_listed_as_of_a_point_newest_first(world: World) -> None:
    seqs = [exported(world, format)[2] for format in ("prov", "openlineage", "jsonl")]
    assert [row.seq for row in exports(world.now())] == seqs[::-1]
    assert [row.seq for row in exports(world.at(seqs[1]))] == seqs[1::-1]
    assert [row.seq for row in exports(world.now(), before=seqs[1])] == seqs[:1]
    assert [row.format for row in exports(world.now(), limit=1)] == ["jsonl"]


def test_an_erasure_names_the_exports_that_held_the_text(world: World) -> None:
    exported(world, "jsonl", by=world.alice)
    note = world.save("to be erased").id
    exported(world, "jsonl", by=world.alice)
    exported(world, "prov")
    exported(world, "openlineage")
    held = [str(row.id) for row in exports(world.now())]
    # The first was made before the text; the last names ids alone.
    assert out_of_reach(world, note) == [held[2], held[1]]


def test_an_export_that_was_narrowed_to_other_entries_did_not_hold_it(world: World) -> None:
    note = world.save("by an agent").id
    other = world.agent("other").agent
    exported(world, "prov", agent=other)
    exported(world, "prov", agent=world.scout_id)
    recorded = Entry.objects.get(namespace=world.namespace, seq=world.address(note)[0]).recorded_at
    exported(world, "prov", until=recorded)
    exported(world, "prov", since=recorded)
    exported(world, "prov", focus=note)
    rows = [str(row.id) for row in reversed(exports(world.now()))]
    assert out_of_reach(world, note) == [rows[1], rows[3], rows[4]]


def test_of_several_items_each_is_held_only_by_what_was_made_after_it(world: World) -> None:
    old = world.save("by a person", by=world.alice).id
    exported(world, "prov", agent=world.scout_id)
    new = world.save("by an agent").id
    found = radius(world.now(), items=items_at(world.namespace, [world.address(old), world.address(new)]))
    # The filter of the export would meet the second, which was not there yet.
    assert [one for one in found.affected if one.kind == "export"] == []


def test_from_a_replay_a_copy_is_taken_out_by_the_system(world: World) -> None:
    began = datetime(2024, 3, 1, tzinfo=UTC)
    namespace = found_replay("replayed", notice="a replay", at=began)
    reader = replace(world.charlie, namespace=namespace)
    _, seq = export_file(reader, asof.now(namespace), BytesIO(), format="prov", selection=Selection())
    entry = Entry.objects.get(namespace=namespace, seq=seq)
    assert (entry.principal, entry.verb) == ("system", "export")
    assert entry.recorded_at - began < timedelta(seconds=1)
    with pytest.raises(Forbidden):
        export_file(
            replace(reader, powers=frozenset()), asof.now(namespace), BytesIO(), format="prov", selection=Selection()
        )
