"""Every code that the API can answer with is met here, once, in the one shape of a refusal."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.http import HttpResponse

from audit.logs import JsonFormatter
from memory.base.errors import CODES
from tests.contract.callers import Caller, caller
from tests.contract.routes import routes
from tests.contract.stage import Stage

NOTE = {"type": "note", "content": "a note"}
# Given by the site and not by a route, or by no route yet.
BESIDES = {"method_not_allowed", "internal"}
NOT_HERE = {"rate_limited"}


def agent(stage: Stage) -> Caller:
    return caller(stage, stage.scout)


def owner(stage: Stage) -> Caller:
    return caller(stage, stage.alice)


def ambiguous(stage: Stage) -> HttpResponse:
    for last in (1, 2):
        agent(stage).post("/records", {**NOTE, "id": str(UUID(f"abcdef00-0000-4000-8000-00000000000{last}"))})
    return agent(stage).get("/records/resolve", prefix="abcdef")


def conflict(stage: Stage) -> HttpResponse:
    return agent(stage).post(f"/records/{stage.withdrawn}/withdraw", {"reason": "again"})


def erased(stage: Stage) -> HttpResponse:
    stage.erase(stage.first.id)
    return agent(stage).get(f"/records/{stage.first.id}")


def idempotency_mismatch(stage: Stage) -> HttpResponse:
    headers = {"Idempotency-Key": "one"}
    agent(stage).post("/records", NOTE, headers=headers)
    return agent(stage).post("/records", {**NOTE, "content": "another"}, headers=headers)


def on_hold(stage: Stage) -> HttpResponse:
    owner(stage).put("/hold", {"held": True, "reason": "an audit", "until": "2099-01-01T00:00:00Z"})
    return owner(stage).post("/erasures", {"records": [str(stage.first.id)], "reason": "request"})


def stale_version(stage: Stage) -> HttpResponse:
    body = {"kind": "evolve", "record": str(stage.first.id), "base": stage.first.digest.hex(), "content": "reworded"}
    agent(stage).post("/derivations", body)
    return agent(stage).post("/derivations", {**body, "content": "reworded by somebody else"})


def stopped(stage: Stage) -> HttpResponse:
    owner(stage).post(f"/agents/{stage.scout.agent}/freeze", {"reason": "on leave"})
    return agent(stage).post("/records", NOTE)


def internal(stage: Stage) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_recordstate RENAME TO memory_recordstate_gone")
    return agent(stage).get("/records")


CASES: dict[str, Callable[[Stage], HttpResponse]] = {
    "malformed": lambda stage: agent(stage).post("/records", b"{"),
    "unauthorized": lambda stage: Caller("lab", token="plm_unknown").get("/records"),
    "forbidden": lambda stage: caller(stage, stage.charlie).post("/records", NOTE),
    "not_found": lambda stage: agent(stage).get(f"/records/{stage.run}"),
    "method_not_allowed": lambda stage: agent(stage).call("DELETE", "/records"),
    "conflict": conflict,
    "idempotency_mismatch": idempotency_mismatch,
    "ambiguous": ambiguous,
    "on_hold": on_hold,
    "withdrawn": lambda stage: agent(stage).get(f"/records/{stage.withdrawn}"),
    "erased": erased,
    "stale_version": stale_version,
    "too_large": lambda stage: agent(stage).post("/records", {**NOTE, "content": "x" * 200_001}),
    "invalid": lambda stage: agent(stage).post("/records", {**NOTE, "bogus": 1}),
    "stopped": stopped,
    "internal": internal,
}
# What a refusal brings along for the client to go on with.
EXTRA = {
    "ambiguous": {"candidates"}, "stale_version": {"current", "differs", "since"}, "on_hold": {"hold"},
    "idempotency_mismatch": {"seq"},
}  # fmt: skip


def test_every_code_of_the_api_is_met() -> None:
    given = {code for route in routes() for code in route.document["x-codes"]} | BESIDES
    assert given == CODES.keys() - NOT_HERE
    assert given - {"unavailable"} == CASES.keys()


@pytest.mark.django_db
@pytest.mark.parametrize("code", CASES)
def test_a_refusal_has_one_shape(stage: Stage, code: str) -> None:
    answer = CASES[code](stage)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (CODES[code].status, code), answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    shown = {name: problem[name] for name in ("type", "title", "status", "request_id")}
    assert shown == {
        "type": "about:blank",
        "title": CODES[code].title,
        "status": CODES[code].status,
        "request_id": answer.headers["X-Request-ID"],
    }
    assert problem["detail"].endswith((".", "]")) or problem["errors"]
    assert all(error.keys() == {"loc", "code", "expected", "got"} for error in problem["errors"])
    beside = problem.keys() - {*shown, "detail", "code", "errors"}
    assert beside == EXTRA.get(code, beside & {"id"})


@pytest.mark.django_db
def test_a_fault_of_ours_is_logged_by_its_request_and_not_shown(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="memory.api"):
        answer = internal(stage)
    assert "recordstate" not in answer.text
    (record,) = [record for record in caplog.records if record.name == "memory.api"]
    line = JsonFormatter(shows_exception_text=False).format(record)
    assert "memory_recordstate" not in line
    assert "request failed" in line
    assert '"path": "/api/v1/namespaces/lab/records"' in line


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nothing", "/records/x/y/z", "/beliefs/nothing"])
def test_an_address_that_is_none_is_a_problem_document(stage: Stage, path: str) -> None:
    answer = agent(stage).get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.headers["Content-Type"] == "application/problem+json"


def recorded(stage: Stage) -> list[Any]:
    entries = caller(stage, stage.alice).get("/ledger/entries", verb="refuse").json()
    return [entry["seq"] for entry in entries["items"]]


@pytest.mark.django_db
def test_a_refused_write_of_a_frozen_agent_leaves_an_entry(stage: Stage) -> None:
    from django.core.cache import cache

    cache.clear()
    before = recorded(stage)
    assert stopped(stage).status_code == 423
    assert len(recorded(stage)) == len(before) + 1
    again = agent(stage).post("/records", NOTE, headers={"Palimpsest-Run": str(stage.first.id)})
    assert again.status_code == 423
    assert len(recorded(stage)) == len(before) + 1
    cache.clear()
    unknown_run = agent(stage).post("/records", NOTE, headers={"Palimpsest-Run": str(stage.first.id)})
    assert unknown_run.status_code == 423
    assert len(recorded(stage)) == len(before) + 2
    assert agent(stage).get("/records").status_code == 200
    (row,) = [row for row in agent(stage).get("/agents").json()["items"] if row["name"] == "scout"]
    assert (row["is_frozen"], row["n_refusals"]) == (True, 2)
