"""A namespace never loses its last owner, neither by a role nor by an end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.agents.operations import admit_member
from memory.base import clock
from memory.base.errors import Conflict, Invalid
from tests.world import World

pytestmark = pytest.mark.django_db


def test_the_last_owner_is_given_neither_another_role_nor_an_end() -> None:
    world = World()
    for role, ends in (("none", None), ("reviewer", None), ("owner", clock.now() + timedelta(days=1))):
        with pytest.raises(Conflict):
            admit_member(world.alice, person=world.alice.person or 0, role=role, expires_at=ends)


def test_a_role_that_has_ended_already_is_refused() -> None:
    world = World()
    with pytest.raises(Invalid):
        admit_member(
            world.alice, person=world.bob.person or 0, role="owner", expires_at=clock.now() - timedelta(days=1)
        )


def test_an_owner_whose_time_is_up_is_no_other_owner() -> None:
    world = World()
    start = clock.now()
    with clock.fixed(start):
        admit_member(world.alice, person=world.bob.person or 0, role="owner", expires_at=start + timedelta(days=1))
    with clock.fixed(start + timedelta(days=2)), pytest.raises(Conflict):
        admit_member(world.alice, person=world.alice.person or 0, role="none")
