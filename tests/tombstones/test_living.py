"""What becomes of a dead end: origins, verdicts, turns, what waits for an owner, and what an erasure leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memory.agents.attention import attention
from memory.agents.operations import change_setting
from memory.agents.waiting import waits
from memory.base import clock
from memory.base.errors import Conflict, Invalid
from memory.ledger.models import Entry, Name
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.verification import scan
from memory.tombstones import queries
from memory.tombstones.content import Revival
from memory.tombstones.models import RouteCheck, Tombstone
from memory.tombstones.operations import living
from memory.tombstones.story import story
from tests.contract.callers import caller, places
from tests.erasures.canary import new_canary, tables_with
from tests.tombstones.burials import HOUR, MONTH, ROUTE, SCOPE, asked, blocked, buried, revived, spoken_for
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def mark(world: World, tombstone: UUID, *, later: timedelta = timedelta(0)) -> str:
    at = world.at(world.now().seq, valid_at=clock.now() + later)
    return queries.tombstone(at, id=tombstone).standing.conditions[0].mark


def file(world: World, tombstone: UUID, *, by: Any = None, origin: str = "", life: timedelta = HOUR) -> None:
    living.file_evidence(
        by or world.scout, tombstone=tombstone, condition="#1", valid_until=clock.now() + life, origin=origin
    )  # fmt: skip


def test_a_condition_that_asks_for_two_origins_counts_roots_and_not_messages(world: World) -> None:
    other = world.agent("other")
    tombstone = buried(world, revival=[Revival("seen by two sources", 2)])
    file(world, tombstone, origin="upstream")
    file(world, tombstone, origin="upstream", by=other)
    assert mark(world, tombstone) == "unmet"
    file(world, tombstone, origin="a packager", life=2 * HOUR)
    assert mark(world, tombstone) == "met"
    assert mark(world, tombstone, later=HOUR + timedelta(minutes=1)) == "lapsed"
    assert asked(world).checked.verdict == "blocked"


def test_whoever_tells_no_origin_is_one(world: World) -> None:
    tombstone = buried(world, revival=[Revival("seen by two", 2)])
    file(world, tombstone)
    file(world, tombstone)
    assert mark(world, tombstone) == "unmet"
    file(world, tombstone, by=world.agent("other"))
    assert mark(world, tombstone) == "met"


def test_evidence_that_a_failed_retest_saw_counts_no_more(world: World) -> None:
    tombstone = buried(world)
    revived(world, tombstone)
    living.retest(world.alice, tombstone=tombstone, passed=False, next_at=clock.now() + 2 * MONTH)
    row = queries.tombstone(world.now(), id=tombstone)
    assert (row.state, row.standing.n_failures, mark(world, tombstone)) == ("active", 2, "unmet")
    assert row.standing.due_at is not None
    assert row.standing.due_at > row.sign.review_at
    told = story(world.now(), id=tombstone)
    assert [(one.is_valid, one.is_cleared) for one in told.evidence] == [(True, True)]
    assert [step.kind for step in told.steps] == ["revive", "retest_failed"]


def test_a_check_names_all_that_it_met_and_writes_nothing_where_it_met_nothing(world: World) -> None:
    here = buried(world)
    elsewhere = buried(world, scope={"package": "xz", "series": "5.4"})
    n_entries = Entry.objects.filter(namespace=world.namespace).count()
    answer = asked(world, route=f"  {ROUTE.upper()} ")
    assert [(one.sign.id, one.reason) for one in answer.checked.met] == [(here, "blocked"), (elsewhere, "out_of_scope")]
    nothing = asked(world, route="deploy zlib")
    assert (nothing.checked.verdict, nothing.checked.reason, nothing.id) == ("clear", "none", None)
    assert Entry.objects.filter(namespace=world.namespace).count() == n_entries + 1
    assert not Name.objects.filter(namespace=world.namespace, text="deploy zlib").exists()
    living.retire(world.alice, tombstone=here, reason="unused")
    assert asked(world).checked.reason == "retired"


def test_the_newest_verdict_on_a_block_counts_and_the_limit_is_a_setting(world: World) -> None:
    tombstone = buried(world)
    checks = [blocked(world) for _ in range(3)]
    for check in checks:
        living.judge_block(world.scout, tombstone=tombstone, is_false=True, check=check)
    assert asked(world).checked.reason == "audit_only"
    with pytest.raises(Conflict):
        living.judge_block(world.scout, tombstone=tombstone, is_false=True, check=checks[0])
    living.judge_block(world.scout, tombstone=tombstone, is_false=False, check=checks[0])
    assert [block.verdict for block in story(world.now(), id=tombstone).blocks] == ["", "false", "false", "right"]
    assert asked(world).checked.verdict == "blocked"
    living.judge_block(world.scout, tombstone=tombstone, is_false=True)
    before = world.now()
    change_setting(world.alice, name="false_block_limit", value="5")
    assert queries.tombstone(world.now(), id=tombstone).state == "active"
    assert queries.tombstone(before, id=tombstone).state == "audit_only"


@pytest.mark.parametrize("value", ["0", "1001", "three", "03", ""])
def test_a_limit_that_is_no_number_from_1_to_1000_is_refused(world: World, value: str) -> None:
    with pytest.raises(Invalid, match="1 to 1000"):
        change_setting(world.alice, name="false_block_limit", value=value)


def test_a_verdict_is_about_a_check_that_this_dead_end_blocked(world: World) -> None:
    tombstone, other = buried(world), buried(world, route="another")
    outside = asked(world, scope={"package": "zlib"}).id
    for check in (outside, blocked(world, route="another")):
        with pytest.raises(Invalid, match="check"):
            living.judge_block(world.scout, tombstone=tombstone, is_false=True, check=check)
    with pytest.raises(Invalid, match="check"):
        living.judge_block(world.scout, tombstone=other, is_false=False)


def test_what_waits_for_an_owner_is_counted_by_the_frame_as_the_list_has_it(world: World) -> None:
    soon, never = clock.now() + HOUR, clock.now() + 10 * MONTH
    reviewed = buried(world, route="one", review_at=soon)
    retested = buried(world, route="two", retest_at=soon, review_at=never)
    testing = buried(world, route="three", review_at=never)
    kept, retired = (buried(world, route=name, review_at=soon) for name in ("four", "five"))
    buried(world, route="six", review_at=never)
    revived(world, testing)
    living.keep(world.alice, tombstone=kept, review_at=never, reason="still so")
    living.retire(world.alice, tombstone=retired, reason="unused")
    for later, expected in (
        (timedelta(0), {testing: "re-test to report"}),
        (2 * HOUR, {testing: "re-test to report", reviewed: "review due", retested: "re-test due"}),
    ):
        now = clock.now() + later
        waiting = {one.id: one.kind for one in queries.due(world.at(world.now().seq, valid_at=now))}
        assert waiting == expected
        assert attention(world.namespace, now=now).waiting["tombstones"].count == len(expected)
        queued = waits(world.namespace, now=now, keys=["tombstones"])
        assert {one.about for one in queued} == set(expected)
        assert queued == sorted(queued, key=lambda one: one.since)


def test_a_list_leaves_out_what_is_retired_and_says_how_many(world: World) -> None:
    late, soon, done = (buried(world, route=name, review_at=clock.now() + n * HOUR) for name, n in
                        (("late", 3), ("soon", 1), ("done", 2)))  # fmt: skip
    living.retire(world.alice, tombstone=done, reason="unused")
    at = world.at(world.now().seq, valid_at=clock.now() + 2 * HOUR)
    page = queries.tombstones(at)
    assert [(row.id, row.standing.is_overdue) for row in page.items] == [(soon, True), (late, False)]
    assert page.hidden == {"retired": 1}
    first = queries.tombstones(at, retired=True, limit=2)
    rest = queries.tombstones(at, retired=True, after=first.next)
    assert [row.id for row in (*first.items, *rest.items)] == [soon, late, done]
    assert [row.id for row in queries.tombstones(at, route="SOON").items] == [soon]


def test_after_an_erasure_the_stub_and_its_life_stay_and_no_word_of_it(world: World) -> None:
    canary = new_canary()
    record = world.save(f"about {canary}").id
    tombstone = buried(
        world, route=f"deploy {canary}", scope={"package": canary}, evidence=canary, retest=canary,
        revival=[canary], references=(record,),
    )  # fmt: skip
    check = blocked(world, route=f"deploy {canary}", scope={"package": canary, "note": canary})
    living.judge_block(world.scout, tombstone=tombstone, is_false=True, check=check, note=canary)
    spoken_for(world, tombstone, canary, origin=canary)
    living.revive(world.alice, tombstone=tombstone, note=canary)
    living.retest(world.alice, tombstone=tombstone, passed=False, note=canary)
    row = Tombstone.objects.get(namespace=world.namespace, id=tombstone)
    erase(world.alice, items=[(row.seq, row.item)], reason="request")
    world.erase(record)
    assert tables_with(canary) == []
    left = queries.tombstone(world.now(), id=tombstone)
    assert (left.is_erased, left.sign.route, left.sign.revival, left.state) == (True, None, (None,), "active")
    assert (left.standing.n_failures, left.n_hits, left.standing.n_false) == (2, 1, 1)
    assert [one.is_erased for one in left.mentions] == [True]
    assert [step.note for step in story(world.now(), id=tombstone).steps] == [None, None, None]
    assert asked(world, route=f"deploy {canary}", scope={"package": canary}).checked.verdict == "clear"
    assert RouteCheck.objects.filter(namespace=world.namespace, id=check).exists()
    assert scan(world.namespace).is_clean


def test_the_dead_end_of_the_demonstration_lives_as_it_is_told(world: World) -> None:
    """Sentences of the story: blocked by a version string, exempt by content, three false blocks, revived, retired."""
    change_setting(world.alice, name="false_block_limit", value="5")
    agent, owner = caller(world, world.scout), caller(world, world.alice)
    posted = [world.save(text).id for text in ("a backdoor in the tarball", "not in the repository")]
    body = {
        "route": ROUTE, "scope": SCOPE, "out_of_scope": {"upstream_code": "<5.6"},
        "evidence": [str(one) for one in posted],
        "revival": [{"condition": "upstream release with the backdoor removed, seen by two sources", "origins": 2}],
        "retest": {"plan": "build on build-1", "at": "2030-04-30T00:00:00Z"}, "review_at": "2030-06-30T00:00:00Z",
    }  # fmt: skip
    made = agent.post("/tombstones", body).json()["id"]
    deploy = {"route": ROUTE, "scope": {**SCOPE, "version": "5.6.1+really5.4.5-1"}}
    first = agent.post("/tombstones/check", deploy).json()
    assert (first["verdict"], [one["id"] for one in first["tombstones"]]) == ("blocked", [made])
    told = {"check": first["check"], "evidence": {"text": "the string says 5.6.1", "references": [str(posted[0])]}}
    assert agent.post(f"/tombstones/{made}/false-block", told).status_code == 200
    deploy["scope"]["upstream_code"] = "5.4.5"  # type: ignore[index]
    again = agent.post("/tombstones/check", deploy).json()
    assert (again["verdict"], again["reason"]) == ("clear", "out_of_scope")
    for reason in ("patched 5.6.1-2", "patched 5.6.1-3"):
        agent.post(f"/tombstones/{made}/false-block", {"reason": reason})
    assert owner.post(f"/tombstones/{made}/revive", {}).status_code == 422
    until = (clock.now() + MONTH).isoformat()
    for origin in ("upstream", "a packager"):
        filed = {"condition": body["revival"][0]["condition"], "valid_until": until, "origin": origin}  # type: ignore[index]
        assert agent.post(f"/tombstones/{made}/evidence", filed).status_code == 201
    shown = agent.get(f"/tombstones/{made}").json()["tombstone"]
    assert (shown["state"], shown["false_blocks"], shown["conditions"][0]["state"]) == ("active", 3, "met")
    assert agent.post(f"/tombstones/{made}/revive", {}).status_code == 403
    assert owner.post(f"/tombstones/{made}/revive", {}).status_code == 200
    assert owner.post(f"/tombstones/{made}/retest", {"passed": True, "reason": "on build-1"}).status_code == 200
    whole = agent.get(f"/tombstones/{made}").json()
    assert (whole["tombstone"]["state"], len(whole["steps"]), len(whole["evidence"])) == ("retired", 5, 2)
    assert [block["verdict"] for block in whole["blocks"]] == ["", "false"]


def test_wrong_conditions_of_a_scope_are_named_in_their_place(world: World) -> None:
    agent = caller(world, world.scout)
    whole = {
        "route": "r", "scope": {"a": ["1", "<"], "b": ">x"}, "evidence": "e", "revival": ["again", "Again "],
        "retest": "t", "review_at": "2030-01-01T00:00:00Z",
    }  # fmt: skip
    answer = agent.post("/tombstones", whole)
    assert places(answer) == [["scope", "a", 1], ["scope", "b"], ["revival", 1]]
    answer = agent.post("/tombstones", {**whole, "scope": "text", "revival": ["again"], "out_of_scope": {"a": "1"}})
    assert places(answer) == [["out_of_scope"]]
    for scope, place in (({}, ["scope"]), ({"A key": 1}, ["scope", "A key"]), ({"a": [None]}, ["scope", "a", 0])):
        answer = agent.post("/tombstones", {**whole, "scope": scope})
        assert place in places(answer), answer.content
