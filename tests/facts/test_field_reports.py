"""Faults that users of other stores have reported about facts and time, as scenarios played through the API."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from memory.agents import operations as agents
from tests.browsers import browser
from tests.contract.callers import Caller, caller, places
from tests.states import everything, projected, rebuilt
from tests.world import World

pytestmark = pytest.mark.django_db

SAME_INSTANT = (
    "2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00", "2026-03-01T05:00:00-07:00", "2026-03-01T17:30:00+05:30",
)  # fmt: skip
BEFORE, AFTER = "2026-03-01T11:59:59.999999Z", "2026-03-01T12:00:00.000001Z"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def asserted(who: Caller, value: object, *, subject: str = "ada", attribute: str = "name", **more: Any) -> str:
    """The id of a new fact."""
    answer = who.post("/facts", {"subject": subject, "attribute": attribute, "value": value, **more})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def status(who: Caller, *, subject: str = "ada", attribute: str = "name", **query: Any) -> dict[str, Any]:
    """What is said of the subject and attribute."""
    answer = who.get("/facts", subject=subject, attribute=attribute, **query)
    assert answer.status_code == 200, answer.content
    (one,) = answer.json()["items"]
    return dict(one)


def values(one: dict[str, Any]) -> list[object]:
    return [side["value"] for side in one["values"]]


def superseded(who: Caller, old: str, new: str, *, at: str) -> None:
    answer = who.post(f"/facts/{old}/supersede", {"at": at, "by": new, "reason": "it changed"})
    assert answer.status_code == 200, answer.content


def test_d02_a_contradiction_keeps_both_and_the_list_is_never_empty(world: World, agent: Caller) -> None:
    agent.put("/attributes/feeling", {"cardinality": "one"})
    likes = asserted(agent, "likes X", attribute="feeling", valid_from="2026-01-01T00:00:00Z")
    assert values(status(agent, attribute="feeling")) == ["likes X"]
    hates = asserted(agent, "hates X", attribute="feeling", valid_from="2026-02-01T00:00:00Z")
    both = status(agent, attribute="feeling")
    assert (both["status"], set(values(both))) == ("conflict", {"likes X", "hates X"})
    page = browser(world.alice).get("/facts/conflicts").text
    assert "likes X" in page
    assert "hates X" in page
    superseded(agent, likes, hates, at="2026-02-01T00:00:00Z")
    one = status(agent, attribute="feeling")
    assert (one["status"], values(one), one["superseded"], one["hidden"]) == (
        "known", ["hates X"], [likes], {"superseded": 1},
    )  # fmt: skip
    assert values(status(agent, attribute="feeling", valid_at="2026-01-15T00:00:00Z")) == ["likes X"]


def test_d03_the_newest_correction_alone_is_answered_and_the_chain_can_be_seen(world: World, agent: Caller) -> None:
    agent.put("/attributes/name", {"cardinality": "one"})
    facts: list[str] = []
    for month, value in enumerate("ABC", start=1):
        start = f"2026-0{month}-01T00:00:00Z"
        facts.append(asserted(agent, value, valid_from=start))
        if len(facts) > 1:
            superseded(agent, facts[-2], facts[-1], at=start)
    one = status(agent)
    assert (one["status"], values(one), one["hidden"]) == ("known", ["C"], {"superseded": 2})
    a, b, c = facts
    chain = [agent.get(f"/facts/{fact}", include="superseded").json() for fact in facts]
    assert [told["fact"]["superseded_by"] for told in chain] == [b, c, None]
    assert [told["replaces"] for told in chain] == [[], [a], [b]]
    pieces = agent.get("/facts/timeline", subject="ada", attribute="name", include="superseded").json()["items"]
    assert {piece["value"] for piece in pieces} == {"A", "B", "C"}
    exported = caller(world, world.alice).get("/export", format="jsonl").getvalue().decode()
    assert all(fact in exported for fact in facts)


def test_d11_what_no_longer_holds_is_left_out_counted_and_shown_by_its_own_word(world: World, agent: Caller) -> None:
    alice = caller(world, world.alice)
    agent.put("/attributes/name", {"cardinality": "one"})
    facts: list[str] = []
    for day in range(1, 12):
        facts.append(asserted(agent, f"name {day}", valid_from=f"2026-01-{day:02}T00:00:00Z"))
        if day > 1:
            superseded(agent, facts[-2], facts[-1], at=f"2026-01-{day:02}T00:00:00Z")
    wrong = asserted(agent, "wrong", valid_from="2026-01-20T00:00:00Z")
    agent.post(f"/facts/{wrong}/retract", {"as": "wrong", "reason": "a slip"})
    gone = asserted(agent, "gone", valid_from="2026-01-20T00:00:00Z")
    assert alice.post("/erasures", {"facts": [gone], "reason": "request"}).status_code == 201
    agents.change_setting(world.alice, name="review_policy", value="kind=fact -> hold 14 d")
    waits = asserted(agent, "waits", valid_from="2026-01-20T00:00:00Z")

    plain = status(alice)
    assert (values(plain), plain["hidden"]) == (
        ["name 11"], {"superseded": 10, "withdrawn": 1, "erased": 1, "held": 1},
    )  # fmt: skip
    shown = {word: [fact["id"] for fact in status(alice, include=word)["facts"]] for word in plain["hidden"]}
    assert {word: set(ids) - {facts[-1]} for word, ids in shown.items()} == {
        "superseded": set(facts[:-1]), "withdrawn": {wrong}, "erased": {gone}, "held": {waits},
    }  # fmt: skip
    assert len(shown["superseded"]) == 11
    assert values(status(alice, include="superseded,withdrawn,erased,held")) == ["name 11"]
    for path in ("/facts", f"/facts/{facts[0]}"):
        refused = alice.get(path, include="outdated")
        assert (refused.status_code, refused.json()["code"], places(refused)) == (422, "invalid", [["include"]])


def test_d17_of_95_facts_two_are_taken_back_in_different_ways_and_stay_so_when_all_is_rebuilt(
    world: World, agent: Caller
) -> None:
    body = [{"subject": f"city {n}", "attribute": "mayor", "value": f"mayor {n}"} for n in range(95)]
    made = agent.post("/facts/batch", body).json()["accepted"]
    agent.post(f"/facts/{made[3]['id']}/retract", {"as": "wrong", "reason": "never was"})
    agent.post(f"/facts/{made[7]['id']}/retract", {"as": "outdated", "reason": "was replaced"})
    expected = ["wrong" if n == 3 else "outdated" if n == 7 else None for n in range(95)]

    def told() -> list[str | None]:
        found = [agent.get(f"/facts/{one['id']}", include="withdrawn").json()["fact"] for one in made]
        assert [fact["state"] for fact in found] == ["retracted" if way else "standing" for way in expected]
        return [fact["retracted_as"] for fact in found]

    assert told() == expected
    assert agent.get(f"/facts/{made[3]['id']}").json()["code"] == "withdrawn"
    stood = projected(world.namespace)
    assert rebuilt(world.namespace) == stood
    assert told() == expected
    listed = agent.get("/facts", limit=200).json()["items"]
    assert sorted(row["status"] for row in listed) == ["known"] * 93 + ["unknown"] * 2


def test_s07_a_second_assignment_is_a_conflict_until_somebody_settles_it_and_many_may_hold(
    world: World, agent: Caller
) -> None:
    assert agent.put("/attributes/assigned_to", {"cardinality": "one"}).status_code == 201
    first = asserted(agent, "ada", subject="T-1", attribute="assigned_to", valid_from="2026-01-01T00:00:00Z")
    second = asserted(agent, "bo", subject="T-1", attribute="assigned_to", valid_from="2026-02-01T00:00:00Z")
    clash = status(agent, subject="T-1", attribute="assigned_to")
    assert (clash["status"], set(values(clash))) == ("conflict", {"ada", "bo"})
    bob = caller(world, world.bob)
    case = agent.get(f"/facts/conflicts/{clash['conflict']}").json()
    assert case["id"] == clash["conflict"]
    verdict = {"verdict": "keep_b", "reason": "the board says so", "a": first, "b": second}
    settled = bob.post(f"/facts/conflicts/{clash['conflict']}/verdict", verdict)
    assert (settled.status_code, settled.json()["is_open"]) == (200, False)
    assert values(status(agent, subject="T-1", attribute="assigned_to")) == ["bo"]
    assert agent.post(f"/facts/conflicts/{clash['conflict']}/verdict", verdict).status_code == 403

    third = asserted(agent, "cy", subject="T-1", attribute="assigned_to", valid_from="2026-03-01T00:00:00Z")
    assert status(agent, subject="T-1", attribute="assigned_to")["status"] == "conflict"
    superseded(agent, second, third, at="2026-03-01T00:00:00Z")
    assert values(status(agent, subject="T-1", attribute="assigned_to")) == ["cy"]

    agent.put("/attributes/watched_by", {"cardinality": "many"})
    for attribute in ("watched_by", "never_declared"):
        for value in ("ada", "bo"):
            asserted(agent, value, subject="T-1", attribute=attribute)
        both = status(agent, subject="T-1", attribute=attribute)
        assert (both["status"], set(values(both)), both["hidden"]) == ("known", {"ada", "bo"}, {})


def test_s10_one_value_from_two_origins_is_one_value_with_two_and_a_repeat_adds_none(agent: Caller) -> None:
    agent.put("/attributes/name", {"cardinality": "one"})
    for origin in ("registry", "badge", "registry"):
        asserted(agent, "Ada", source={"class": "first_hand", "origin": origin})
    (side,) = status(agent)["values"]
    assert (side["value"], set(side["origins"]), len(side["facts"])) == ("Ada", {"registry", "badge"}, 3)
    assert status(agent)["status"] == "known"


def test_s14_all_that_is_derived_agrees_after_every_way_to_end_a_fact_and_nothing_is_removed(
    world: World, agent: Caller
) -> None:
    alice = caller(world, world.alice)
    agent.put("/attributes/name", {"cardinality": "one"})
    facts = [asserted(agent, value, valid_from="2026-01-01T00:00:00Z") for value in "ABCD"]
    superseded(agent, facts[0], facts[1], at="2026-02-01T00:00:00Z")
    n_rows = len(everything(world.namespace)[1])
    assert rebuilt(world.namespace) == everything(world.namespace)[2]
    agent.post(f"/facts/{facts[2]}/retract", {"as": "wrong", "reason": "a slip"})
    assert rebuilt(world.namespace) == everything(world.namespace)[2]
    assert len(everything(world.namespace)[1]) > n_rows
    assert agent.get(f"/facts/{facts[0]}", include="superseded").json()["fact"]["value"] == "A"
    alice.post("/erasures", {"facts": [facts[3]], "reason": "request"})
    assert rebuilt(world.namespace) == everything(world.namespace)[2]
    erased = agent.get(f"/facts/{facts[3]}", include="erased").json()["fact"]
    assert (erased["value"], erased["state"]) == (None, "erased")
    assert values(status(agent)) == ["B"]


@pytest.mark.parametrize("instant", SAME_INSTANT)
def test_d07_same_instant_any_offset(agent: Caller, instant: str) -> None:
    agent.put("/attributes/name", {"cardinality": "one"})
    first = asserted(agent, "before", valid_from="2026-01-01T00:00:00Z", valid_to=instant)
    second = asserted(agent, "from then on", valid_from=instant)
    assert agent.get(f"/facts/{second}").json()["fact"]["valid_from"] == "2026-03-01T12:00:00.000000Z"
    assert agent.get(f"/facts/{first}").json()["fact"]["valid_to"] == "2026-03-01T12:00:00.000000Z"
    for asked in SAME_INSTANT:
        assert values(status(agent, valid_at=asked)) == ["from then on"], asked
    assert values(status(agent, valid_at=BEFORE)) == ["before"]
    assert values(status(agent, valid_at=AFTER)) == ["from then on"]
    # The other clock: by an instant before anything was recorded nothing was known, whatever is true then.
    by_recorded = [
        agent.get("/facts", subject="ada", attribute="name", known_at=asked).json() for asked in SAME_INSTANT
    ]
    assert all(answer == by_recorded[0] for answer in by_recorded)
    assert all(not values(one) for one in by_recorded[0]["items"])


@pytest.mark.parametrize("named", ["valid_from", "valid_to"])
@pytest.mark.parametrize(
    "instant",
    ["2026-01-01T10:00:00", "2026-01-01", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-06-30T23:59:60Z", 5],
)
def test_d10_an_instant_that_is_none_is_refused_by_its_name(
    world: World, agent: Caller, named: str, instant: object
) -> None:
    before = everything(world.namespace)
    refused = agent.post("/facts", {"subject": "ada", "attribute": "name", "value": "A", named: instant})
    assert (refused.status_code, refused.json()["code"], places(refused)) == (422, "invalid", [[named]])
    assert everything(world.namespace) == before


def test_d10_the_last_year_is_an_instant_and_is_compared_as_one(agent: Caller) -> None:
    asserted(agent, "A", valid_from="9999-12-31T00:00:00Z", valid_to="9999-12-31T23:59:59.999999Z")
    assert status(agent)["status"] == "unknown"
    assert values(status(agent, valid_at="9999-12-31T12:00:00Z")) == ["A"]
    fact = asserted(agent, "B")
    for instant in ("2026-01-01T10:00:00", "2026-02-30T00:00:00Z"):
        refused = agent.post(f"/facts/{fact}/supersede", {"at": instant, "reason": "it changed"})
        assert (refused.status_code, places(refused)) == (422, [["at"]])
        assert agent.get("/facts", subject="ada", valid_at=instant).status_code == 422


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_d06_a_fact_near_midnight_stands_under_its_utc_day_wherever_the_server_is(
    world: World, agent: Caller, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        fact = asserted(agent, "night shift", attribute="shift", valid_from="2026-03-01T23:30:00Z")
        assert agent.get(f"/facts/{fact}").json()["fact"]["valid_from"] == "2026-03-01T23:30:00.000000Z"
        day, next_day = "2026-03-01T23:59:59Z", "2026-03-01T23:29:59Z"
        assert values(status(agent, attribute="shift", valid_at=day)) == ["night shift"]
        assert values(status(agent, attribute="shift", valid_at=next_day)) == []
        lines = caller(world, world.alice).get("/export", format="jsonl").getvalue().decode().splitlines()
        (row,) = [line for line in map(json.loads, lines) if fact in json.dumps(line) and "23:30" in json.dumps(line)]
        assert "2026-03-01T23:30:00" in json.dumps(row)
        page = browser(world.alice).get(f"/facts/{fact}").text
        assert "2026-03-01T23:30:00" in page
        assert "2026-03-02" not in page
    finally:
        monkeypatch.undo()
        time.tzset()
