"""A point that was resolved stays where it is, while the head goes on."""

from __future__ import annotations

import pytest

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
