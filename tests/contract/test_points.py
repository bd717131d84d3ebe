"""Reads at a point in time: what was known then, whatever has come since."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory.base import clock, instants
from memory.ledger.models import Entry
from tests.contract.callers import Caller, caller, places
from tests.contract.stage import Stage

pytestmark = pytest.mark.django_db

NEVER = "2099-01-01T00:00:00Z"


@pytest.fixture
def agent(stage: Stage) -> Caller:
    return caller(stage, stage.scout)


def save(agent: Caller, **more: Any) -> dict[str, Any]:
    return agent.post("/records", {"type": "note", "content": "a dated note", **more}).json()


def test_a_record_is_as_it_was_at_an_entry(stage: Stage, agent: Caller) -> None:
    saved = save(agent)
    seq, record = saved["seq"], saved["id"]
    evolved = agent.post(
        "/derivations", {"kind": "evolve", "record": record, "base": saved["digest"], "content": "reworded"}
    ).json()
    withdrawn = agent.post(f"/records/{record}/withdraw", {"reason": "wrong"}).json()
    states = [
        agent.get(f"/records/{record}", known_at=f"seq:{at}", include="withdrawn").json()["state"]
        for at in (seq, evolved["seq"], withdrawn["seq"])
    ]
    assert states == ["current", "superseded", "withdrawn"]
    assert agent.get(f"/records/{record}", known_at=f"seq:{seq - 1}").status_code == 404
    assert agent.get(f"/records/{evolved['records'][0]}", known_at=f"seq:{seq}").status_code == 404


def test_an_instant_is_resolved_to_the_last_entry_by_then(stage: Stage, agent: Caller) -> None:
    first, second = save(agent)["seq"], save(agent)["seq"]
    instant = Entry.objects.get(namespace=stage.namespace, seq=first).recorded_at
    for shown in (instants.text(instant), instants.text(instant).replace("Z", "+00:00")):
        answer = agent.get("/records", known_at=shown).json()
        assert (answer["seq"], answer["provisional"]) == (first, False)
    before = agent.get("/records", known_at=instants.text(instant - timedelta(microseconds=1))).json()
    assert before["seq"] == first - 1
    assert agent.get("/records", known_at="1970-01-01T00:00:00Z").json()["total"] == 0
    after = agent.get("/records", known_at=NEVER).json()
    assert (after["seq"], after["provisional"]) == (second, True)


def test_what_is_true_later_or_no_longer_is_left_out_and_counted(stage: Stage, agent: Caller) -> None:
    saved = save(agent, type="dated", valid_from="2030-01-01T00:00:00Z", valid_to="2031-01-01T00:00:00Z")
    within = agent.get("/records", type="dated", valid_at="2030-06-01T00:00:00Z").json()
    assert [row["id"] for row in within["items"]] == [saved["id"]]
    for other in ("2029-12-31T23:59:59Z", "2031-01-01T00:00:00Z"):
        answer = agent.get("/records", type="dated", valid_at=other).json()
        assert (answer["items"], answer["hidden"]) == ([], {"not_valid": 1})
    shown = agent.get("/records", type="dated", valid_at="2029-01-01T00:00:00Z", include="not_valid").json()
    assert shown["total"] == 1


def test_recall_answers_of_the_point(stage: Stage, agent: Caller) -> None:
    seq = save(agent, content="zebras have stripes")["seq"]
    save(agent, content="zebras live in herds")
    now = agent.post("/recall", {"query": "zebras"}).json()
    then = agent.post("/recall", {"query": "zebras"}, query={"known_at": f"seq:{seq}"}).json()
    assert [len(answer["items"]) for answer in (now, then)] == [2, 1]
    assert (then["seq"], then["items"][0]["text"]) == (seq, "zebras have stripes")


def test_agents_and_runs_are_those_of_the_point(stage: Stage, agent: Caller) -> None:
    seq = Entry.objects.filter(namespace=stage.namespace).count()
    owner = caller(stage, stage.alice)
    owner.post("/agents", {"name": "latecomer"})
    owner.post(f"/agents/{stage.scout.agent}/freeze", {"reason": "on leave"})
    then, now = (
        {row["name"]: row for row in agent.get("/agents", known_at=at).json()["items"]} for at in (f"seq:{seq}", NEVER)
    )
    assert ("latecomer" in then, "latecomer" in now) == (False, True)
    assert (then["scout"]["is_frozen"], now["scout"]["is_frozen"]) == (False, True)


def test_an_unquoted_plus_is_understood(stage: Stage, agent: Caller) -> None:
    instant = instants.text(clock.now())[:-1]
    answer = agent.client.get(f"/api/v1/namespaces/lab/records?known_at={instant}+00:00")
    assert answer.status_code == 200


@pytest.mark.parametrize("name", ["valid_at", "known_at"])
@pytest.mark.parametrize(
    "value", ["now", "2026-01-01", "2026-01-01T00:00:00", "0", "seq:", "seq:1.5", "seq:99999999", "source:"]
)
def test_what_is_no_point_is_named(stage: Stage, agent: Caller, name: str, value: str) -> None:
    answer = agent.get("/records", **{name: value})
    assert (answer.status_code, places(answer)) == (422, [[name]])
