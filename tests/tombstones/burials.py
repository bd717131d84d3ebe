"""Dead ends for tests, through operations: a route that is buried, checked, spoken for, revived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from memory.agents.operations import change_setting
from memory.base import clock
from memory.base.actor import Actor
from memory.tombstones.content import NewTombstone, Revival
from memory.tombstones.operations.burying import Answered, bury, check_route
from memory.tombstones.operations.living import file_evidence, judge_block, retest, revive
from tests.world import World

ROUTE = "deploy xz from the 5.6 series"
SCOPE = {"package": "xz", "series": "5.6"}
REVIVAL = "a release without the backdoor"
HOUR = timedelta(hours=1)
MONTH = timedelta(days=30)


def a_burial(**given: Any) -> NewTombstone:
    """Everything that a burial needs; what is given takes the place of its part."""
    whole = NewTombstone(
        route=ROUTE, scope=SCOPE, retest="build it on build-1 and compare hashes", review_at=clock.now() + MONTH,
        revival=(Revival(REVIVAL),), evidence="the tarball holds a backdoor",
    )  # fmt: skip
    return replace(whole, **given)


def buried(world: World, *, by: Actor | None = None, revival: Sequence[Revival | str] = (), **given: Any) -> UUID:
    conditions = tuple(one if isinstance(one, Revival) else Revival(one) for one in revival)
    new = a_burial(**given, **({"revival": conditions} if conditions else {}))
    return bury(by or world.scout, new=new).id


def asked(world: World, *, route: str = ROUTE, scope: Any = SCOPE, by: Actor | None = None) -> Answered:
    return check_route(by or world.scout, route=route, scope=scope)


def blocked(world: World, **given: Any) -> UUID:
    """The id of a check that was blocked."""
    answer = asked(world, **given)
    assert answer.checked.verdict == "blocked"
    assert answer.id is not None
    return answer.id


def spoken_for(world: World, tombstone: UUID, *conditions: str, life: timedelta = HOUR, origin: str = "") -> None:
    """Evidence for each of the conditions."""
    for condition in conditions or ("#1",):
        file_evidence(
            world.scout, tombstone=tombstone, condition=condition, valid_until=clock.now() + life, origin=origin
        )  # fmt: skip


def revived(world: World, tombstone: UUID) -> None:
    spoken_for(world, tombstone)
    revive(world.alice, tombstone=tombstone)


def whole_life(world: World) -> UUID:
    """A tombstone to which everything happened once: it is retired in the end."""
    record = world.save("the tarball differs from the repository").id
    tombstone = buried(world, references=(record,), out_of_scope={"upstream_code": "<5.6"})
    check = blocked(world)
    judge_block(world.scout, tombstone=tombstone, is_false=True, check=check, note="it was the old code")
    file_evidence(
        world.scout, tombstone=tombstone, condition="#1", valid_until=clock.now() + HOUR, origin="upstream",
        note="released today", references=[record],
    )  # fmt: skip
    revive(world.alice, tombstone=tombstone, note="both agree")
    retest(world.alice, tombstone=tombstone, passed=True, note="hashes match", references=[record])
    change_setting(world.alice, name="false_block_limit", value="5")
    return tombstone
