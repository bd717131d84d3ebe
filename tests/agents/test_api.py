"""What the routes of agents, people, runs and settings answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from memory.agents import queries
from memory.base import clock, instants
from tests.contract.callers import Caller, caller, places
from tests.world import World

pytestmark = pytest.mark.django_db

NOTE = {"type": "note", "content": "a note"}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def owner(world: World) -> Caller:
    return caller(world, world.alice)


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def test_a_new_agent_works_with_the_token_that_is_shown_once(world: World, owner: Caller) -> None:
    made = owner.post("/agents", {"name": "builder", "operator": "Bob@Example.org"}).json()
    issued = owner.post(f"/agents/{made['id']}/tokens", {"scopes": ["read"], "life_days": 7}).json()
    builder = Caller("lab", token=issued["secret"])
    assert builder.get("/records").status_code == 200
    assert builder.post("/records", NOTE).status_code == 403
    row = next(row for row in builder.get("/agents").json()["items"] if row["id"] == made["id"])
    assert (row["name"], row["operator"], row["last_seq"], row["n_writes"]) == ("builder", world.bob.person, None, 0)
    (token,) = row["tokens"]
    assert token["prefix"] == issued["prefix"] == issued["secret"][:10]
    assert token["scopes"] == ["read"]
    assert issued["secret"] not in str(row)
    lasts = instants.read(issued["expires_at"]) - clock.now()
    assert timedelta(days=6, hours=23) < lasts <= timedelta(days=7)


def test_names_are_taken_once_and_operators_have_accounts(owner: Caller) -> None:
    taken = owner.post("/agents", {"name": "scout"})
    assert (taken.status_code, taken.json()["code"]) == (409, "conflict")
    unknown = owner.post("/agents", {"name": "x", "operator": "nobody@example.org"})
    assert (unknown.status_code, places(unknown)) == (422, [["operator"]])


def test_a_token_ends_by_rotation_revocation_and_time(world: World, owner: Caller) -> None:
    first = owner.post(f"/agents/{world.scout.agent}/tokens").json()
    second = owner.post(f"/tokens/{first['id']}/rotate").json()
    holders = [Caller("lab", token=each["secret"]) for each in (first, second)]
    assert [holder.get("/records").status_code for holder in holders] == [401, 200]
    assert owner.post(f"/tokens/{first['id']}/rotate").status_code == 409
    assert owner.post(f"/tokens/{second['id']}/revoke").status_code == 200
    assert holders[1].get("/records").status_code == 401
    assert owner.post(f"/tokens/{second['id']}/revoke").status_code == 409
    short = Caller("lab", token=owner.post(f"/agents/{world.scout.agent}/tokens", {"life_days": 1}).json()["secret"])
    assert short.get("/records").status_code == 200
    with clock.fixed(clock.now() + timedelta(days=1, seconds=1)):
        assert short.get("/records").status_code == 401


def test_a_token_that_ended_here_is_unknown_and_one_of_elsewhere_finds_nothing(world: World) -> None:
    other = World("elsewhere")
    stranger = Caller("lab", token=other.secrets[other.scout_id])
    assert stranger.get("/records").status_code == 404
    token = queries.token_with(other.namespace, _hash(other.secrets[other.scout_id]), clock.now())
    assert token is not None
    caller(other, other.alice).post(f"/tokens/{token.id}/revoke")
    assert stranger.get("/records").status_code == 401


def _hash(secret: str) -> bytes:
    from memory.agents.operations import secret_hash

    return secret_hash(secret)


def test_a_frozen_agent_reads_and_does_not_write_until_it_is_let_go(world: World, owner: Caller, agent: Caller) -> None:
    path = f"/agents/{world.scout.agent}"
    assert owner.post(f"{path}/freeze", {"reason": "wrote to the wrong tenant"}).status_code == 200
    assert owner.post(f"{path}/freeze").status_code == 409
    answer = agent.post("/records", NOTE)
    assert (answer.status_code, answer.json()["code"]) == (423, "stopped")
    assert agent.get("/records").status_code == 200
    assert owner.post(f"{path}/unfreeze").status_code == 200
    assert owner.post(f"{path}/unfreeze").status_code == 409
    assert agent.post("/records", NOTE).status_code == 201


def test_a_person_gets_a_role_by_address_and_loses_it(world: World, owner: Caller) -> None:
    assert owner.post("/members", {"email": " Dora@Example.org ", "role": "reviewer"}).status_code == 200
    dora = User.objects.get(username="dora@example.org")
    reader = Caller("lab", person=dora.pk)
    assert reader.get("/records").status_code == 200
    assert owner.post("/members", {"email": "dora@example.org", "role": "none"}).status_code == 200
    assert reader.get("/records").status_code == 404
    unknown = owner.post("/members", {"email": "nobody@example.org", "role": "none"})
    assert (unknown.status_code, places(unknown)) == (422, [["email"]])
    assert not User.objects.filter(username="nobody@example.org").exists()
    wrong = owner.post("/members", {"email": "no address", "role": "reviewer"})
    assert (wrong.status_code, places(wrong)) == (422, [["email"]])


def test_an_auditor_ends_by_itself(owner: Caller) -> None:
    owner.post("/members", {"email": "dora@example.org", "role": "auditor"})
    owner.post("/members", {"email": "ed@example.org", "role": "auditor", "expires_at": "2999-01-01T00:00:00Z"})
    readers = [Caller("lab", person=User.objects.get(username=f"{name}@example.org").pk) for name in ("dora", "ed")]
    assert [reader.get("/records").status_code for reader in readers] == [200, 200]
    with clock.fixed(clock.now() + timedelta(days=91)):
        assert [reader.get("/records").status_code for reader in readers] == [404, 200]


def test_the_last_owner_stays(owner: Caller) -> None:
    answer = owner.post("/members", {"email": "alice@example.org", "role": "none"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_setting_has_its_values(world: World, owner: Caller) -> None:
    assert owner.put("/settings/approval_mode", {"value": "single_owner"}).status_code == 200
    assert queries.setting(world.namespace, "approval_mode", "two_person") == "single_owner"
    wrong = owner.put("/settings/approval_mode", {"value": "nobody"})
    assert (wrong.status_code, places(wrong)) == (422, [["value"]])
    unknown = owner.put("/settings/colour", {"value": "red"})
    assert (unknown.status_code, places(unknown)) == (422, [["name"]])


def test_a_hold_forbids_erasing_until_it_is_lifted_or_ends(world: World, owner: Caller, agent: Caller) -> None:
    record = agent.post("/records", NOTE).json()["id"]
    body = {"records": [record], "reason": "request"}
    owner.put("/hold", {"held": True, "reason": "litigation", "until": instants.text(clock.now() + timedelta(days=1))})
    assert owner.post("/erasures", body).json()["code"] == "on_hold"
    assert owner.post("/erasures", {**body, "dry_run": True}).json()["refusal"] == "on_hold"
    with clock.fixed(clock.now() + timedelta(days=2)):
        assert owner.post("/erasures", {**body, "dry_run": True}).json()["refusal"] is None
    owner.put("/hold", {"held": False, "reason": "settled"})
    assert owner.post("/erasures", body).status_code == 201


def test_a_run_is_listed_opened_and_ended(world: World, agent: Caller) -> None:
    told = {"kind": "task", "title": "night build", "refs": {"ticket": "T-4411"}, "runtime": {"model": "m-1"}}
    made = agent.post("/runs", told).json()
    agent.post("/records", NOTE, headers={"Palimpsest-Run": made["id"]})
    ended = agent.post(f"/runs/{made['id']}/end", {"note": "all green"}).json()
    assert agent.post(f"/runs/{made['id']}/end").status_code == 409
    for q in ("4411", "t-4411", "NIGHT", made["id"], made["id"][:8]):
        page = agent.get("/runs", q=q).json()
        assert [row["id"] for row in page["items"]] == [made["id"]], q
    (row,) = page["items"]
    assert {name: row[name] for name in told} == told
    assert (row["agent_name"], row["n_entries"], row["seq"], row["ended_seq"]) == (
        "scout",
        3,
        made["seq"],
        ended["seq"],
    )
    for q in ("model", "%", "task", "m-1", "nothing"):
        assert agent.get("/runs", q=q).json()["items"] == []
    story = agent.get(f"/runs/{made['id']}", limit=2).json()
    assert [one["entry"]["verb"] for one in story["items"]] == ["open_run", "save"]
    assert story["items"][0]["since_start_seconds"] == 0
    assert (story["total"], story["next"]) == (3, story["items"][1]["entry"]["seq"])
    rest = agent.get(f"/runs/{made['id']}", after=story["next"]).json()
    assert [one["entry"]["verb"] for one in rest["items"]] == ["end_run"]
    assert rest["next"] is None


def test_pages_of_runs_meet(agent: Caller) -> None:
    ids = [agent.post("/runs", {"title": f"run {index}"}).json()["id"] for index in range(5)]
    found, after = [], ""
    while after is not None:
        page = agent.get("/runs", limit=2, after=after).json()
        found += [row["id"] for row in page["items"]]
        after = page["next"]
    assert found == ids[::-1]
    wrong = agent.get("/runs", after="yesterday")
    assert (wrong.status_code, places(wrong)) == (422, [["after"]])


def test_a_run_of_an_erased_title_stays_listed(world: World, agent: Caller) -> None:
    made = agent.post("/runs", {"title": "private matters", "refs": {"ticket": "4411"}}).json()
    owner = caller(world, world.alice)
    owner.post("/erasures", {"items": [[made["seq"], 0]], "reason": "request"})
    row = agent.get(f"/runs/{made['id']}").json()["run"]
    assert (row["title"], row["refs"], row["kind"]) == ("", {}, "task")
    assert agent.get("/runs", q="private").json()["items"] == agent.get("/runs", q="4411").json()["items"] == []


def test_the_day_of_an_agent_is_counted_at_the_point(world: World, agent: Caller) -> None:
    with clock.fixed(clock.now() + timedelta(days=3)):
        agent.post("/records", NOTE)
        (row,) = [row for row in agent.get("/agents").json()["items"] if row["id"] == str(world.scout.agent)]
        assert row["n_writes"] == 1
        seq = row["last_seq"]
    with clock.fixed(clock.now() + timedelta(days=6)):
        (later,) = [row for row in agent.get("/agents").json()["items"] if row["id"] == str(world.scout.agent)]
        (then,) = [
            row
            for row in agent.get("/agents", known_at=f"seq:{seq}").json()["items"]
            if row["id"] == str(world.scout.agent)
        ]
    assert (later["n_writes"], then["n_writes"]) == (0, 1)


def test_lists_of_agents_and_runs_cost_the_same_whatever_their_length(
    world: World, django_assert_num_queries: Any
) -> None:
    for index in range(5):
        made = world.agent(f"agent {index}")
        caller(world, made).post("/runs", {"title": f"run {index}", "refs": {"ticket": str(uuid4())}})
    at = world.now()
    with django_assert_num_queries(3):
        assert len(queries.agent_rows(at)) == 6
    with django_assert_num_queries(3):
        listed = queries.run_rows(at, q="run")
    assert listed.total == 5
    with django_assert_num_queries(4):
        queries.run_page(at, run=listed.items[0].id)
