"""What the routes of facts refuse and where they say so, what lists leave out, and what recall could not tell."""

from __future__ import annotations

from typing import Any

import pytest

from memory.agents import operations as agents
from memory.records.reviewing import Target, review
from tests.contract.callers import caller
from tests.facts.stating import SHOP, SPRING, SUMMER, state
from tests.world import World

pytestmark = pytest.mark.django_db

VALUE = "text of 1 to 1000 characters, a number or true/false"
CONFIDENCE = "a number from 0 to 1, or {value, scale}"
TRIMMED = "text without white space at its ends"
NO_VALUES: tuple[Any, ...] = ("x" * 1001, "", " \n", None, {}, [])
NO_CONFIDENCES: tuple[Any, ...] = (2, "0.5", True, {}, [], {"value": 1})
NO_OBJECTS: tuple[Any, ...] = ("staging", None, 5, [])
FACT = {"subject": "staging", "attribute": "port", "value": 5433}
REFUSED: list[tuple[dict[str, Any], list[str], str]] = [
    *(({"value": value}, ["value"], VALUE) for value in NO_VALUES),
    *(({"confidence": one}, ["confidence"], CONFIDENCE) for one in NO_CONFIDENCES),
    ({"confidence": {"value": 2, "scale": "odds"}}, ["confidence", "value"], "less than or equal to 1"),
    *(({"subject": subject}, ["subject"], TRIMMED) for subject in ("  ", " staging", "staging\n")),
    ({"source": {"origin": "desk "}}, ["source", "origin"], TRIMMED),
    ({"confidence": {"value": 1, "scale": " "}}, ["confidence", "scale"], TRIMMED),
    *(({"candidate": word}, ["candidate"], "a valid boolean") for word in ("yes", 1)),
]


@pytest.fixture
def world() -> World:
    return World()


def test_a_fact_that_does_not_fit_is_refused_once_and_where_it_is_wrong(world: World) -> None:
    scout, head = caller(world, world.scout), world.now().seq
    for change, loc, expected in REFUSED:
        wrong = {**FACT, **change}
        for path, body, under in (("/facts", wrong, []), ("/facts/batch", [FACT, wrong], [1])):
            answer = scout.post(path, body)
            told = [(error["loc"], error["expected"]) for error in answer.json()["errors"]]
            assert (answer.status_code, told) == (422, [([*under, *loc], expected)]), change
    for item in NO_OBJECTS:
        (error,) = scout.post("/facts/batch", [FACT, item]).json()["errors"]
        assert (error["loc"], error["expected"]) == ([1], "an object")
    pair = {"cardinality": "many", "exclusive": [["a", None]]}
    (error,) = scout.put("/attributes/port", pair).json()["errors"]
    assert (error["loc"], error["expected"]) == (["exclusive", 0, 1], VALUE)
    assert world.now().seq == head
    for good in ({"confidence": 0.5}, {"confidence": {"value": 1, "scale": "odds"}}, {"value": " padded"},
                 {"value": False}, {"value": -0.5}, {"confidence": None, "candidate": True}):  # fmt: skip
        assert scout.post("/facts", {**FACT, **good}).status_code == 201, good


def test_a_compiled_record_is_redacted_where_that_is_said_and_not_where_it_is_likely(world: World) -> None:
    body = {"kind": "compile", "sources": [str(world.save().id)], "function": {"name": "digest", "version": "1"},
            "content": "short", "redacted": "yes"}  # fmt: skip
    answer = caller(world, world.scout).post("/derivations", body)
    assert (answer.status_code, [error["loc"] for error in answer.json()["errors"]]) == (422, [["redacted"]])


def test_a_fact_is_superseded_from_its_beginning_on_at_the_earliest(world: World) -> None:
    fact = state(world, "city", "Bonn", valid_from=SUMMER)
    scout = caller(world, world.scout)
    early = scout.post(f"/facts/{fact}/supersede", {"at": SPRING.isoformat(), "reason": "it moved"})
    (error,) = early.json()["errors"]
    assert (early.status_code, error["loc"]) == (422, ["at"])
    assert error["expected"] == "an instant from the fact's beginning on, 2026-06-01T00:00:00.000000Z"
    whole = scout.post(f"/facts/{fact}/supersede", {"at": SUMMER.isoformat(), "reason": "it never was there"})
    assert whole.status_code == 200


def hidden_and_shown(who: Any, **query: str) -> tuple[list[tuple[str, str]], int | None]:
    told = who.get("/facts", **query).json()
    return [(item["subject"], item["attribute"]) for item in told["items"]], told["hidden"].get("held")


def test_what_is_held_alone_is_counted_to_all_and_listed_to_people_and_its_author(world: World) -> None:
    state(world, "city", "Bonn", subject="depot")
    agents.change_setting(world.alice, name="review_policy", value="kind=fact -> hold 7 d")
    other = world.agent("other")
    mine, theirs = state(world, "owner", "Anna"), state(world, "owner", "Bert", subject="safe", by=other)
    state(world, "city", "Kiel", subject="depot")
    scout, owner = caller(world, world.scout), caller(world, world.alice)
    shop, safe, depot = (SHOP, "owner"), ("safe", "owner"), ("depot", "city")
    for who in (scout, owner):
        assert hidden_and_shown(who) == ([depot], 3)
        assert hidden_and_shown(who, subject="safe") == ([], 1)
        assert hidden_and_shown(who, status="known") == ([depot], 1)
        assert hidden_and_shown(who, status="conflict") == ([], None)
    assert hidden_and_shown(owner, include="held") == ([safe, shop, depot], 3)
    assert hidden_and_shown(scout, include="held") == ([shop, depot], 3)
    assert hidden_and_shown(scout, include="held", subject="safe") == ([], 1)
    assert (hidden_and_shown(owner, q="af"), hidden_and_shown(scout, q="af")) == (([], 1), ([], None))
    (item,) = owner.get("/facts", subject="safe", include="held").json()["items"]
    assert ([fact["id"] for fact in item["facts"]], item["status"]) == ([str(theirs)], "unknown")
    page = owner.client.get("/facts", {"ns": world.name, "subject": "safe"}).content.decode()
    assert "include=held" in page
    review(world.bob, reject=[Target("fact", theirs)], confirm=[Target("fact", mine)], reason="asked")
    assert hidden_and_shown(owner, include="held") == ([shop, depot], 1)
