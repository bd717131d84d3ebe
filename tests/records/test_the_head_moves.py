"""A point that was resolved stays where it is, while the head goes on."""

from __future__ import annotations

from uuid import UUID

import pytest

from memory.base.asof import AsOf
from memory.records.queries.detail import RecordRow, rows_by_id
from memory.records.queries.lists import Filter, records
from tests.world import World

pytestmark = pytest.mark.django_db


def test_what_comes_after_the_point_is_no_part_of_its_answer() -> None:
    world = World()
    first = world.save("stands")
    at = world.now()
    world.save("comes later")
    world.evolve(first.id, content="changes later")
    page = records(at, where=Filter())
    assert [(row.id, row.state) for row in page.items] == [(first.id, "current")]


def test_a_record_restored_or_derived_from_since_is_as_it_was_at_the_point() -> None:
    world = World()
    hidden, parent = (saved.id for saved in world.save_all("to be hidden", "to be evolved"))
    world.withdraw(hidden)
    at = world.now()
    before = [row(at, id) for id in (hidden, parent)]
    assert [(one.state, one.n_children) for one in before] == [("withdrawn", 0), ("current", 0)]
    world.restore(hidden)
    world.evolve(parent, content="evolved")
    assert [row(at, id) for id in (hidden, parent)] == before
    now = [row(world.now(), id) for id in (hidden, parent)]
    assert [(one.state, one.n_children) for one in now] == [("current", 0), ("superseded", 1)]


def row(at: AsOf, id: UUID) -> RecordRow:
    return rows_by_id(at, [id])[id]
