"""What the routes of records answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from memory.records.content import LINEAGE_KEYS
from tests.contract.callers import Caller, caller, places
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def save(agent: Caller, content: str = "a note", **more: Any) -> dict[str, Any]:
    answer = agent.post("/records", {"type": "note", "content": content, **more})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_record_is_read_as_it_was_given(agent: Caller) -> None:
    given = {
        "id": str(uuid4()),
        "type": "decision",
        "content": "we take the train\nnot the plane ☕",
        "summary": "train, not plane",
        "tags": ["travel", "climate", "travel"],
        "valid_from": "2026-03-01T00:00:00+02:00",
        "valid_to": None,
        "metadata": {"cost": 12.5, "nested": {"a": [1, None, True]}, "n": 9007199254740991},
        "source": {"class": "relayed", "origin": "mail:7", "pointer": "line 3"},
    }
    saved = agent.post("/records", given).json()
    shown = agent.get(f"/records/{given['id']}").json()
    expected = {
        **{name: given[name] for name in ("id", "type", "content", "summary", "metadata", "source", "valid_to")},
        "tags": ["climate", "travel"],
        "valid_from": "2026-02-28T22:00:00.000000Z",
        "state": "current",
        "digest": saved["digest"],
        "ancestry_digest": saved["ancestry_digest"],
        "entry": saved["seq"],
        "url": saved["url"],
    }
    assert {name: shown[name] for name in expected} == expected


@pytest.mark.parametrize("key", sorted(LINEAGE_KEYS))
def test_metadata_tells_no_lineage_of_its_own(key: str, agent: Caller) -> None:
    old = save(agent)
    given = {"metadata": {key: old["id"], "kept": 1}}
    evolve = {"kind": "evolve", "record": old["id"], "base": old["digest"], "reason": "correction"}
    answers = [
        agent.post("/records", {"type": "note", "content": "another", **given}),
        agent.post("/derivations", {**evolve, **given}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert (error["loc"], error["expected"]) == (["metadata"], f"no key {key}: post a derivation")


def test_a_source_that_is_not_named_is_derived(agent: Caller) -> None:
    saved = save(agent)
    assert agent.get(f"/records/{saved['id']}").json()["source"] == {"class": "derived", "origin": "", "pointer": ""}


def test_a_list_is_filtered_by_what_it_says(world: World, agent: Caller) -> None:
    other = world.agent("other")
    mine = save(agent, "apples", source={"class": "first_hand"})["id"]
    theirs = save(caller(world, other), "pears", type="task")["id"]

    def ids(**query: Any) -> set[str]:
        return {row["id"] for row in agent.get("/records", **query).json()["items"]}

    assert ids() == {mine, theirs}
    assert ids(agent="scout") == ids(agent=str(world.scout.agent)) == ids(source_class="first_hand") == {mine}
    assert ids(type="task") == ids(q="pears") == ids(agent="other") == {theirs}
    assert ids(type=["task", "note"]) == ids(agent=["scout", "other"]) == {mine, theirs}
    assert ids(agent="nobody") == ids(type="unheard_of") == ids(run=str(uuid4())) == ids(q="unheard") == set()


def test_what_is_hidden_is_counted_and_shown_when_asked_for(world: World, agent: Caller) -> None:
    shown, withdrawn, old, erased = (save(agent, text)["id"] for text in ("one", "two", "three", "four"))
    world.withdraw(UUID(withdrawn))
    new = str(world.evolve(UUID(old), content="three, reworded"))
    world.erase(UUID(erased))
    listed = agent.get("/records").json()
    assert {row["id"] for row in listed["items"]} == {shown, new}
    assert listed["hidden"] == {"erased": 1, "superseded": 1, "withdrawn": 1}
    everything = agent.get("/records", include="superseded, withdrawn,erased,held").json()
    states = {row["id"]: row["state"] for row in everything["items"]}
    assert states == {shown: "current", new: "current", withdrawn: "withdrawn", old: "superseded", erased: "erased"}
    assert (everything["total"], everything["hidden"]) == (5, {})
    assert next(row for row in everything["items"] if row["id"] == erased)["first_line"] == ""
    only = agent.get("/records", state="withdrawn").json()
    assert [row["id"] for row in only["items"]] == [withdrawn]


@pytest.mark.parametrize("include", ["gone", "erased,gone", "ERASED"])
def test_a_word_that_hides_nothing_is_named(agent: Caller, include: str) -> None:
    answer = agent.get("/records", include=include)
    assert (answer.status_code, places(answer)) == (422, [["include"]])


def test_pages_meet_and_cover_everything(agent: Caller) -> None:
    ids = [save(agent, f"text {index}")["id"] for index in range(7)]
    for sort, expected in (("-recorded_at", ids[::-1]), ("recorded_at", ids)):
        found, after = [], ""
        while after is not None:
            page = agent.get("/records", sort=sort, limit=3, after=after).json()
            assert page["total"] == 7
            found += [row["id"] for row in page["items"]]
            after = page["next"]
        assert found == expected


def test_a_text_query_says_why_each_answer_ranks(agent: Caller) -> None:
    save(agent, "leases and fences")
    best = save(agent, "leases leases leases")["id"]
    page = agent.get("/records", q="leases", sort="rank").json()
    assert (page["items"][0]["id"], page["items"][0]["why"]) == (best, ["leases"])
    assert page["items"][0]["score"] > page["items"][1]["score"]
    answer = agent.get("/records", sort="rank")
    assert (answer.status_code, places(answer)) == (422, [["sort"]])


def test_a_prefix_names_one_record(agent: Caller) -> None:
    one, two = "ab120000-0000-4000-8000-000000000001", "ab120000-0000-4000-8000-000000000002"
    save(agent, id=one)
    for prefix in ("ab12", "ab120000", "ab120000-0000", "ab1200000000", one, one.replace("-", "")):
        assert agent.get("/records/resolve", prefix=prefix).json()["id"] == one
    save(agent, "another", id=two)
    answer = agent.get("/records/resolve", prefix="ab12")
    assert (answer.status_code, answer.json()["candidates"]) == (409, [one, two])
    assert agent.get("/records/resolve", prefix=two).json()["id"] == two
    assert agent.get("/records/resolve", prefix="ffff").status_code == 404
    for wrong in ("ab1", "AB12", "ab12-0000", "zzzz", "ab120000-0000-4000-8000-0000000000011"):
        answer = agent.get("/records/resolve", prefix=wrong)
        assert (answer.status_code, places(answer)) == (422, [["prefix"]]), wrong


def test_recall_answers_current_records_within_the_budget(world: World, agent: Caller) -> None:
    kept = save(agent, "owls hunt at night", source={"class": "first_hand", "origin": "field notes"})["id"]
    world.withdraw(UUID(save(agent, "owls hunt by day")["id"]))
    save(agent, "owls " * 400)
    answer = agent.post("/recall", {"query": "what do owls do?", "budget_tokens": 100}).json()
    (item,) = answer["items"]
    assert (item["kind"], item["id"], item["text"]) == ("record", kept, "owls hunt at night")
    assert (item["origin"], item["state"], item["type"]) == ("field notes", "current", "note")
    assert [why["term"] for why in item["why"]] == ["owls"]
    assert item["age"] >= 0
    assert answer["hidden"] == {"budget": 1, "withdrawn": 1}
    assert answer["tokens"] == item["tokens"] <= 100
    assert agent.post("/recall", {"query": "owls", "types": ["task"]}).json()["items"] == []
    refused = agent.post("/recall", {"query": "owls", "subjects": ["owl"] * 21})
    assert (refused.status_code, places(refused)) == (422, [["subjects"]])


def test_a_withdrawn_record_is_gone_unless_asked_for(world: World, agent: Caller) -> None:
    record = save(agent)["id"]
    done = agent.post(f"/records/{record}/withdraw", {"reason": "it was wrong"}).json()
    answer = agent.get(f"/records/{record}")
    assert (answer.status_code, answer.json()["code"]) == (410, "withdrawn")
    shown = agent.get(f"/records/{record}", include="withdrawn").json()
    assert (shown["state"], shown["withdrawn_seq"], shown["withdrawal_reason"]) == (
        "withdrawn",
        done["seq"],
        "it was wrong",
    )
    assert shown["content"] == "a note"
    restored = caller(world, world.bob).post(f"/records/{record}/restore", {"reason": "it was right"})
    assert restored.status_code == 200
    assert agent.get(f"/records/{record}").status_code == 200


def test_an_erased_record_shows_what_remains(world: World, agent: Caller) -> None:
    saved = save(agent, "a secret", tags=["private"])
    world.erase(UUID(saved["id"]))
    shown = agent.get(f"/records/{saved['id']}", include="erased").json()
    assert (shown["content"], shown["tags"], shown["state"]) == (None, [], "erased")
    assert shown["digest"] == saved["digest"]
    assert "secret" not in str(shown)


def test_who_may_withdraw(world: World, agent: Caller) -> None:
    for who, status in ((world.alice, 200), (world.bob, 200), (world.charlie, 403), (world.scout, 200)):
        record = save(agent)["id"]
        answer = caller(world, who).post(f"/records/{record}/withdraw", {"reason": "x"})
        assert answer.status_code == status


def test_an_owner_may_save_and_a_reviewer_may_not(world: World) -> None:
    for who, status in ((world.alice, 201), (world.bob, 403)):
        assert caller(world, who).post("/records", {"type": "note", "content": "x"}).status_code == status
