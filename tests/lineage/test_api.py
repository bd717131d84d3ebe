"""What the routes of lineage answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.contract.callers import Caller, caller, places
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def save(agent: Caller, content: str, **more: Any) -> dict[str, Any]:
    return agent.post("/records", {"type": "note", "content": content, **more}).json()


def derive(agent: Caller, **body: Any) -> Any:
    return agent.post("/derivations", body)


def test_an_evolve_carries_over_what_it_does_not_name(agent: Caller) -> None:
    old = save(agent, "old text", tags=["a"], summary="old", metadata={"k": 1}, valid_to="2030-01-01T00:00:00Z")
    answer = derive(
        agent, kind="evolve", record=old["id"], base=old["digest"], content="new text", tags=["c", "b"], valid_to=None,
        reason="correction", note="a typo",
    )  # fmt: skip
    assert answer.status_code == 201
    (new,) = answer.json()["records"]
    assert answer.json()["url"] == f"/records/{new}?ns=lab"
    shown = agent.get(f"/records/{new}").json()
    assert (shown["content"], shown["tags"], shown["summary"], shown["metadata"], shown["valid_to"]) == (
        "new text",
        ["b", "c"],
        "old",
        {"k": 1},
        None,
    )
    before = agent.get(f"/records/{old['id']}").json()
    assert (before["state"], before["superseded_by"], before["content"]) == ("superseded", new, "old text")


def test_an_evolve_on_a_stale_base_is_told_the_current_version(agent: Caller) -> None:
    first = save(agent, "one")
    second = derive(agent, kind="evolve", record=first["id"], base=first["digest"], content="two").json()["records"][0]
    current = agent.get(f"/records/{second}").json()
    third = derive(agent, kind="evolve", record=second, base=current["digest"], content="three").json()["records"][0]
    for record, base in ((first["id"], first["digest"]), (second, current["digest"]), (first["id"], "0" * 64)):
        answer = derive(agent, kind="evolve", record=record, base=base, content="other")
        assert (answer.status_code, answer.json()["code"]) == (412, "stale_version")
        told = answer.json()["current"]
        assert told == {"record": third, "digest": agent.get(f"/records/{third}").json()["digest"]}
    assert derive(agent, kind="evolve", **answer.json()["current"] | {"base": told["digest"]}).status_code == 422


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({}, ["content"]),
        ({"content": "one"}, ["content"]),
        ({"valid_to": "2020-01-01T00:00:00Z"}, ["valid_to"]),
        ({"valid_from": "2031-01-01T00:00:00Z", "valid_to": "2030-01-01T00:00:00Z"}, ["valid_to"]),
    ],
)
def test_an_evolve_that_changes_nothing_or_turns_time_round_is_refused(agent: Caller, changes: Any, at: Any) -> None:
    old = save(agent, "one", valid_from="2025-01-01T00:00:00Z")
    answer = derive(agent, kind="evolve", record=old["id"], base=old["digest"], **changes)
    assert (answer.status_code, places(answer)) == (422, [at])


def test_a_merge_names_its_sources_and_lets_them_stand(agent: Caller) -> None:
    sources = [save(agent, text, tags=[text])["id"] for text in ("one", "two", "three")]
    answer = derive(agent, kind="merge", records=sources, strategy="union", valid_time="hull")
    (new,) = answer.json()["records"]
    walk = agent.get(f"/records/{new}/ancestry").json()
    assert {item["id"] for item in walk["items"]} == set(sources)
    assert {(item["relation"], item["from"], item["depth"]) for item in walk["items"]} == {("merged_from", new, 1)}
    assert agent.get(f"/records/{new}").json()["tags"] == ["one", "three", "two"]
    assert agent.get(f"/records/{sources[0]}").json()["state"] == "current"


def test_sources_without_a_common_time_need_the_hull(agent: Caller) -> None:
    early = save(agent, "early", valid_to="2020-01-01T00:00:00Z")["id"]
    late = save(agent, "late", valid_from="2021-01-01T00:00:00Z")["id"]
    answer = derive(agent, kind="merge", records=[early, late])
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert derive(agent, kind="merge", records=[early, late], valid_time="hull").status_code == 201
    twice = derive(agent, kind="merge", records=[early, early])
    assert (twice.status_code, places(twice)) == (422, [["records"]])


def test_a_split_makes_its_parts_in_order(agent: Caller) -> None:
    whole = save(agent, "one and two")["id"]
    parts = derive(agent, kind="split", record=whole, parts=[{"content": "one"}, {"content": "two"}]).json()["records"]
    assert [agent.get(f"/records/{part}").json()["content"] for part in parts] == ["one", "two"]
    below = agent.get(f"/records/{whole}/descendants").json()
    assert ({item["id"] for item in below["items"]}, below["total"]) == (set(parts), 2)


def test_a_supersession_is_made_once(agent: Caller) -> None:
    old, new = save(agent, "old")["id"], save(agent, "new")["id"]
    answer = derive(agent, kind="supersede", old=old, new=new)
    assert (answer.status_code, answer.json()["records"]) == (201, [])
    assert answer.json()["url"] == f"/records/{new}?ns=lab"
    assert derive(agent, kind="supersede", old=old, new=new).status_code == 409
    assert derive(agent, kind="supersede", old=new, new=old).status_code == 409
    itself = derive(agent, kind="supersede", old=old, new=old)
    assert (itself.status_code, places(itself)) == (422, [["new"]])


def test_a_withdrawn_or_erased_source_is_gone(world: World, agent: Caller) -> None:
    withdrawn, erased, other = (save(agent, text) for text in ("one", "two", "three"))
    world.withdraw(UUID(withdrawn["id"]))
    world.erase(UUID(erased["id"]))
    for source, code in ((withdrawn, "withdrawn"), (erased, "erased")):
        answer = derive(agent, kind="merge", records=[source["id"], other["id"]])
        assert (answer.status_code, answer.json()["code"], answer.json()["id"]) == (410, code, source["id"])


def test_a_link_is_stored_one_way_and_once(agent: Caller) -> None:
    one, two = save(agent, "one")["id"], save(agent, "two")["id"]
    body = {"source": one, "relation": "referenced_by", "target": two}
    answer = agent.post("/edges", body)
    assert answer.status_code == 201
    assert {name: answer.json()[name] for name in body} == {"source": two, "relation": "references", "target": one}
    assert agent.post("/edges", {"source": two, "relation": "references", "target": one}).status_code == 409
    for relation in ("evolved_from", "supersedes", "likes"):
        refused = agent.post("/edges", {"source": one, "relation": relation, "target": two})
        assert (refused.status_code, places(refused)) == (422, [["relation"]])


def test_ancestry_is_tagged_by_its_digest_and_never_changes(agent: Caller) -> None:
    old = save(agent, "one")
    new = derive(agent, kind="evolve", record=old["id"], base=old["digest"], content="two").json()["records"][0]
    answer = agent.get(f"/records/{new}/ancestry")
    tag = answer.headers["ETag"]
    assert tag == f'"{answer.json()["digest"]}"' == f'"{agent.get(f"/records/{new}").json()["ancestry_digest"]}"'
    save(agent, "another")
    for match in (tag, f'"x", {tag}', f"W/{tag}"):
        unchanged = agent.call("GET", f"/records/{new}/ancestry", headers={"If-None-Match": match})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    assert agent.call("GET", f"/records/{new}/ancestry", headers={"If-None-Match": '"x"'}).status_code == 200


def test_a_walk_is_cut_and_says_so(world: World, agent: Caller) -> None:
    record = world.save("v0").id
    for version in range(1, 6):
        record = world.evolve(record, content=f"v{version}")
    walk = agent.get(f"/records/{record}/ancestry", limit=2).json()
    assert ([item["depth"] for item in walk["items"]], walk["total"], walk["truncated"]) == ([1, 2], 5, True)
    whole = agent.get(f"/records/{record}/ancestry").json()
    assert (len(whole["items"]), whole["truncated"]) == (5, False)
    timeline = agent.get(f"/records/{record}/timeline").json()
    assert [row["first_line"] for row in timeline["items"]] == [f"v{version}" for version in range(6)]
    assert [row["state"] for row in timeline["items"]] == ["superseded"] * 5 + ["current"]


def test_a_slice_of_the_lineage_counts_what_it_leaves_out(world: World, agent: Caller) -> None:
    first = world.save("first").id
    second = world.evolve(first, content="second")
    third = world.evolve(second, content="third")
    found = agent.get("/lineage", focus=str(second), up=1, down=0).json()
    assert {node["id"]: (node["depth"], node["n_hidden_down"]) for node in found["nodes"]} == {
        str(first): (-1, 0),
        str(second): (0, 1),
    }
    assert found["links"] == [
        {"older": str(first), "newer": str(second), "relation": "evolved_from", "group": "derived", "change": None}
    ]
    assert (found["total"], found["truncated"], found["n_ancestors"], found["n_descendants"]) == (3, True, 1, 1)
    whole = agent.get("/lineage", focus=str(second), relations="derived").json()
    assert (len(whole["nodes"]), whole["truncated"]) == (3, False)
    assert str(third) in {node["id"] for node in whole["nodes"]}
    answer = agent.get("/lineage", focus=str(second), relations="friends")
    assert (answer.status_code, places(answer)) == (422, [["relations"]])


def test_two_records_are_compared_field_by_field_and_word_by_word(world: World, agent: Caller) -> None:
    one = save(agent, "the limit is 100 EUR", tags=["a"], metadata={"k": 1})["id"]
    two = save(agent, "the limit is 200 EUR", tags=["b"], metadata={"k": 1})["id"]
    found = {row["field"]: row for row in agent.get(f"/records/{one}/diff", **{"with": two}).json()["differs"]}
    assert set(found) == {"content", "tags"}
    assert (found["tags"]["before"], found["tags"]["after"]) == (["a"], ["b"])
    changed = [(part["kind"], part["text"]) for part in found["content"]["words"] if part["kind"] != "kept"]
    assert changed == [("removed", "100"), ("added", "200")]
    assert agent.get(f"/records/{one}/diff", **{"with": one}).json()["differs"] == []
    assert agent.get(f"/records/{one}/diff", known_at="seq:1", **{"with": two}).status_code == 404
    assert places(agent.get(f"/records/{one}/diff")) == [["with"]]
    world.erase(UUID(one))
    (gone, _) = agent.get(f"/records/{two}/diff", **{"with": one}).json()["differs"][:2] * 2
    assert (gone["field"], gone["erased"], gone["words"]) == ("content", True, None)
