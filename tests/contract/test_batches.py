"""Many records in one request: as an array or line by line, all or nothing or as far as it goes."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse

from memory.base import text
from memory.ledger.models import Entry
from tests.contract.callers import Caller, caller, places
from tests.contract.stage import Stage

pytestmark = pytest.mark.django_db

NDJSON = "application/x-ndjson"


@pytest.fixture
def agent(stage: Stage) -> Caller:
    return caller(stage, stage.scout)


def note(content: str = "a note", **more: Any) -> dict[str, Any]:
    return {"type": "note", "content": content, **more}


def lines(*items: Any) -> bytes:
    return b"\n".join(item if isinstance(item, bytes) else json.dumps(item).encode() for item in items)


def n_entries(stage: Stage) -> int:
    return Entry.objects.filter(namespace=stage.namespace).count()


def send(agent: Caller, body: Any, *, atomic: bool = True, **more: Any) -> HttpResponse:
    kind = {"content_type": NDJSON} if isinstance(body, bytes) else {}
    query = {} if atomic else {"atomic": "false"}
    return agent.post("/records/batch", body, query=query, **kind, **more)


@pytest.mark.parametrize("atomic", [True, False])
def test_both_forms_are_one_entry_of_n_items(stage: Stage, agent: Caller, atomic: bool) -> None:
    items = [note(f"text {index}") for index in range(3)]
    for body in (items, lines(*items), b"\n\r\n" + lines(*items) + b"\n\n"):
        before = n_entries(stage)
        answer = send(agent, body, atomic=atomic)
        assert answer.status_code == 201
        told = answer.json()
        assert [one["index"] for one in told["accepted"]] == [0, 1, 2]
        assert (told["duplicates"], told["errors"], told["replayed"]) == ([], [], False)
        assert told["seq"] == n_entries(stage) == before + 1
        assert {one["seq"] for one in told["accepted"]} == {told["seq"]}
        shown = agent.get(f"/records/{told['accepted'][2]['id']}").json()
        assert (shown["content"], shown["digest"]) == ("text 2", told["accepted"][2]["digest"])


WRONG = [
    (note(""), ["content"], "invalid"),
    (note(bogus=1), ["bogus"], "invalid"),
    ("text", [], "invalid"),
    (note("x" * (text.CONTENT_CHARS + 1)), ["content"], "too_large"),
    (note(tags=["ok", ""]), ["tags", 1], "invalid"),
    (note(valid_from="2026-01-02T00:00:00Z", valid_to="2026-01-02T00:00:00Z"), ["valid_to"], "invalid"),
]


@pytest.mark.parametrize(("wrong", "at", "code"), WRONG, ids=[str(row[1]) for row in WRONG])
def test_one_wrong_item_is_named_and_nothing_is_written(
    stage: Stage, agent: Caller, wrong: Any, at: list[Any], code: str
) -> None:
    before = n_entries(stage)
    for body in ([note(), wrong, note()], lines(note(), wrong, note())):
        answer = send(agent, body)
        assert (answer.json()["code"], places(answer)) == (code, [[1, *at]]), answer.content
    assert n_entries(stage) == before


@pytest.mark.parametrize(("wrong", "at", "code"), WRONG, ids=[str(row[1]) for row in WRONG])
def test_if_asked_the_other_items_are_saved(stage: Stage, agent: Caller, wrong: Any, at: list[Any], code: str) -> None:
    answer = send(agent, [note("first"), wrong, note("third")], atomic=False)
    assert answer.status_code == 201
    told = answer.json()
    assert [one["index"] for one in told["accepted"]] == [0, 2]
    assert [(error["index"], error["code"]) for error in told["errors"]] == [(1, code)]
    assert (at[0] if at else "the body") in told["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "malformed"),
        (b"\xff", "malformed"),
        (b'{"type": "note", "type": "note", "content": "x"}', "invalid"),
        (rb'{"type": "note", "content": "\u0000"}', "invalid"),
        (b"[" * 50 + b"]" * 50, "invalid"),
    ],
)
def test_a_line_that_cannot_be_read_is_the_fault_of_that_line(
    stage: Stage, agent: Caller, line: bytes, code: str
) -> None:
    before = n_entries(stage)
    body = lines(note(), line, note())
    whole = send(agent, body)
    assert (whole.json()["code"], places(whole)[0][0]) == (code, 1)
    assert n_entries(stage) == before
    told = send(agent, body, atomic=False).json()
    assert [(error["index"], error["code"]) for error in told["errors"]] == [(1, code)]
    assert len(told["accepted"]) == 2


def test_ids_that_stand_are_duplicates_or_conflicts(stage: Stage, agent: Caller) -> None:
    same, other, fresh = (str(uuid4()) for _ in range(3))
    agent.post("/records", note("stands", id=same))
    agent.post("/records", note("stands otherwise", id=other))
    body = [note("stands", id=same), note("another text", id=other), note("new", id=fresh), note("unnamed")]
    before = n_entries(stage)
    whole = send(agent, body)
    assert (whole.status_code, whole.json()["code"], places(whole)) == (409, "conflict", [[1]])
    assert whole.json()["id"] == other
    assert n_entries(stage) == before
    told = send(agent, body, atomic=False).json()
    assert [(one["index"], one["id"]) for one in told["duplicates"]] == [(0, same)]
    assert [one["index"] for one in told["accepted"]] == [2, 3]
    assert [(error["index"], error["code"]) for error in told["errors"]] == [(1, "conflict")]


def test_an_id_may_come_once(stage: Stage, agent: Caller) -> None:
    identity = str(uuid4())
    body = [note("x", id=identity), note("y"), note("x", id=identity)]
    whole = send(agent, body)
    assert (whole.status_code, places(whole)) == (422, [[2, "id"]])
    told = send(agent, body, atomic=False).json()
    assert [one["index"] for one in told["accepted"]] == [0, 1]
    assert [(error["index"], error["code"]) for error in told["errors"]] == [(2, "invalid")]


def test_an_erased_record_is_gone_in_a_batch_too(stage: Stage, agent: Caller) -> None:
    identity = str(uuid4())
    agent.post("/records", note("x", id=identity))
    stage.erase(UUID(identity))
    whole = send(agent, [note("y"), note("x", id=identity)])
    assert (whole.status_code, whole.json()["code"], places(whole)) == (410, "erased", [[1]])
    told = send(agent, [note("y"), note("x", id=identity)], atomic=False).json()
    assert [(error["index"], error["code"]) for error in told["errors"]] == [(1, "erased")]


def test_where_nothing_can_be_saved_nothing_is_written_and_all_is_told(stage: Stage, agent: Caller) -> None:
    before = n_entries(stage)
    answer = send(agent, [note(""), note(bogus=1)], atomic=False)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["accepted"], told["duplicates"], len(told["errors"]), told["seq"]) == ([], [], 2, before)
    assert n_entries(stage) == before


def test_a_batch_of_what_stands_writes_nothing(stage: Stage, agent: Caller) -> None:
    items = [note("x", id=str(uuid4())), note("y", id=str(uuid4()))]
    first = send(agent, items).json()
    before = n_entries(stage)
    answer = send(agent, items)
    assert (answer.status_code, answer.json()["replayed"]) == (200, True)
    assert answer.json()["duplicates"] == first["accepted"]
    assert n_entries(stage) == before


def test_a_repeated_batch_that_went_as_far_as_it_could_is_answered_as_before(stage: Stage, agent: Caller) -> None:
    standing, own = str(uuid4()), str(uuid4())
    agent.post("/records", note("stands", id=standing))
    body = [note("one"), note("stands", id=standing), note("two", id=own), note(""), note("other", id=standing)]
    headers = {"Idempotency-Key": "a batch"}
    first = send(agent, body, atomic=False, headers=headers).json()
    before = n_entries(stage)
    again = send(agent, body, atomic=False, headers=headers)
    assert (again.status_code, again.json()["replayed"]) == (200, True)
    assert n_entries(stage) == before
    answered = sorted([*first["accepted"], *first["duplicates"]], key=lambda one: one["index"])
    assert again.json()["duplicates"] == answered
    assert again.json()["errors"] == first["errors"]


def test_a_batch_belongs_to_one_run(stage: Stage, agent: Caller) -> None:
    run = {"id": str(stage.run)}
    told = send(agent, [note("x"), note("y", run=run), note("z", run=run)]).json()
    assert Entry.objects.get(namespace=stage.namespace, seq=told["seq"]).run == stage.run
    answer = send(agent, [note("x", run=run), note("y", run={"title": "another"})])
    assert (answer.status_code, places(answer)) == (422, [[1, "run"]])


def test_a_batch_has_a_limit_and_at_least_one_item(
    stage: Stage, agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.base.bodies.BATCH_ITEMS", 2)
    assert send(agent, [note(), note()]).status_code == 201
    for body in ([note()] * 3, lines(*[note()] * 3)):
        answer = send(agent, body)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    for empty in ([], b"", b"\n\n"):
        answer = send(agent, empty)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), empty


def test_one_item_alone_is_sent_to_the_other_address(stage: Stage, agent: Caller) -> None:
    answer = send(agent, note())
    assert answer.status_code == 422
    assert "without /batch" in answer.json()["detail"]
