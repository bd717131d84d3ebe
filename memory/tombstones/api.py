"""Routes of tombstones: burying, asking before acting, evidence and verdicts; the turns of owners."""

from __future__ import annotations

from typing import Annotated

from ninja import Path, Query
from ninja.responses import Status

from memory.base import gate
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.schemas import Id
from memory.ledger.schemas import Point, rests_on
from memory.tombstones import queries
from memory.tombstones.answers import TombstoneDetailOut, TombstoneFilter, TombstoneList
from memory.tombstones.operations import burying, living
from memory.tombstones.schemas import (
    BuriedOut,
    CheckIn,
    FalseBlockIn,
    FiledOut,
    FilingIn,
    KeepIn,
    RetestResultIn,
    RetireIn,
    ReviveIn,
    RightBlockIn,
    RouteCheckedOut,
    TombstoneIn,
    TurnOut,
    note_of,
    references_of,
)
from memory.tombstones.story import story

routes = Routes("tombstones")

Tombstone = Annotated[Id, Path()]


@routes.read("/tombstones", answer=TombstoneList)
def index(request: Entered, point: Query[Point], where: Query[TombstoneFilter]) -> TombstoneList:
    """Dead ends by due date: what failed, where, why, and what would open it again."""
    at = point.at(request.auth.namespace)
    found = queries.tombstones(
        at, states=where.state, route=where.route, retired=where.include == "retired", after=where.after,
        limit=where.limit,
    )  # fmt: skip
    return TombstoneList.of(found, **rests_on(at))


@routes.write("/tombstones", need=gate.WRITE, answer=BuriedOut, makes=True)
def bury(request: Entered, body: TombstoneIn) -> Status[BuriedOut]:
    """Bury a route that failed, within bounds and with an exit."""
    done = burying.bury(actor(request, body.run), new=body.given())
    return made(BuriedOut.of(done, url=page(request, f"/tombstones/{done.id}")), is_new=not done.replayed)


@routes.write("/tombstones/check", need=gate.WRITE, answer=RouteCheckedOut)
def check(request: Entered, body: CheckIn) -> RouteCheckedOut:
    """Ask before acting whether a route is blocked in a scope. A check that met nothing is not recorded."""
    done = burying.check_route(actor(request, body.run), route=body.route, scope=body.scope.given())
    urls = {one.sign.id: page(request, f"/tombstones/{one.sign.id}") for one in done.checked.met}
    first = done.checked.met[0].sign.id if done.checked.met else None
    return RouteCheckedOut.of(done, url=urls[first] if first else page(request, "/tombstones"), urls=urls)


@routes.read("/tombstones/{tombstone}", answer=TombstoneDetailOut)
def tombstone(request: Entered, tombstone: Tombstone, point: Query[Point]) -> TombstoneDetailOut:
    """One dead end with its whole life: every block and what was said of it, evidence, turns."""
    at = point.at(request.auth.namespace)
    url = page(request, f"/tombstones/{tombstone}")
    return TombstoneDetailOut.of(story(at, id=tombstone), url=url, **rests_on(at))


@routes.write("/tombstones/{tombstone}/evidence", need=gate.WRITE, answer=FiledOut, makes=True)
def file_evidence(request: Entered, tombstone: Tombstone, body: FilingIn) -> Status[FiledOut]:
    """File evidence that a revival condition holds until an instant."""
    done = living.file_evidence(
        actor(request, body.run), tombstone=tombstone, condition=body.condition, valid_until=body.valid_until,
        origin=body.origin, note=note_of("", body.evidence), references=references_of(body.evidence),
    )  # fmt: skip
    return made(FiledOut.of(done, url=page(request, f"/tombstones/{tombstone}")), is_new=not done.replayed)


@routes.write("/tombstones/{tombstone}/false-block", need=gate.WRITE, answer=TurnOut)
def false_block(request: Entered, tombstone: Tombstone, body: FalseBlockIn | None = None) -> TurnOut:
    """Report that it blocked what it should not have; at the limit of the namespace it only watches."""
    given = body or FalseBlockIn()
    done = living.judge_block(
        actor(request, given.run), tombstone=tombstone, is_false=True, check=given.check,
        note=note_of(given.reason, given.evidence), references=references_of(given.evidence),
    )  # fmt: skip
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))


@routes.write("/tombstones/{tombstone}/right-block", need=gate.WRITE, answer=TurnOut)
def right_block(request: Entered, tombstone: Tombstone, body: RightBlockIn) -> TurnOut:
    """Say that a block was right; it takes back what was said against the same check before."""
    done = living.judge_block(
        actor(request, body.run), tombstone=tombstone, is_false=False, check=body.check,
        note=note_of(body.reason, body.evidence), references=references_of(body.evidence),
    )  # fmt: skip
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))


@routes.write("/tombstones/{tombstone}/revive", need=gate.OWN, answer=TurnOut)
def revive(request: Entered, tombstone: Tombstone, body: ReviveIn | None = None) -> TurnOut:
    """Open the route for its re-test, while every condition is met."""
    given = body or ReviveIn()
    done = living.revive(actor(request, given.run), tombstone=tombstone, note=given.reason)
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))


@routes.write("/tombstones/{tombstone}/retest", need=gate.OWN, answer=TurnOut)
def retest(request: Entered, tombstone: Tombstone, body: RetestResultIn) -> TurnOut:
    """Say what the re-test showed: retired if it passed, else active again."""
    done = living.retest(
        actor(request, body.run), tombstone=tombstone, passed=body.passed, note=note_of(body.reason, body.evidence),
        next_at=body.next_at, references=references_of(body.evidence),
    )  # fmt: skip
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))


@routes.write("/tombstones/{tombstone}/retire", need=gate.OWN, answer=TurnOut)
def retire(request: Entered, tombstone: Tombstone, body: RetireIn) -> TurnOut:
    """End a dead end without a re-test; its life stays."""
    done = living.retire(actor(request, body.run), tombstone=tombstone, reason=body.reason)
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))


@routes.write("/tombstones/{tombstone}/keep", need=gate.OWN, answer=TurnOut)
def keep(request: Entered, tombstone: Tombstone, body: KeepIn) -> TurnOut:
    """Let a dead end stand after its review, until another date."""
    done = living.keep(actor(request, body.run), tombstone=tombstone, review_at=body.review_at, reason=body.reason)
    return TurnOut.of(tombstone, done, url=page(request, f"/tombstones/{tombstone}"))
