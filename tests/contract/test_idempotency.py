"""A write that is sent twice: the same key, the same payload, the same answer, one entry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from memory.ledger.models import Entry
from memory.ledger.operations.erasing import erase
from tests.contract.callers import NOTHING, caller
from tests.contract.routes import Route, put, routes
from tests.contract.stage import EXAMPLES, Stage

pytestmark = pytest.mark.django_db

WRITES = [route for route in routes() if route.is_write]
NO_OTHER_PAYLOAD = {
    "agents_rotate_token",
    "agents_revoke_token",
    "checks_run",
    "interchange_start",
    "interchange_restore",
}
# Another payload for each of the others: the place that differs, and how.
ANOTHER: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "ledger_erase": (("note",), "another reason"),
    "agents_open_run": (("title",), "another title"),
    "agents_end_run": (("note",), "another note"),
    "agents_create_agent": (("name",), "yet another"),
    "agents_issue_token": (("scopes",), ["write"]),
    "agents_freeze": (("reason",), "another reason"),
    "agents_unfreeze": (("reason",), "another reason"),
    "agents_admit_member": (("role",), "reviewer"),
    "agents_change_setting": (("value",), "two_person"),
    "agents_hold": (("reason",), "another reason"),
    "checks_waive": (("reason",), "another reason"),
    "records_save": (("content",), "water freezes"),
    "records_save_batch": ((1, "content"), "three"),
    "records_withdraw": (("reason",), "another reason"),
    "records_restore": (("reason",), "another reason"),
    "records_review": (("reason",), "another reason"),
    "records_confirm": (("reason",), "another reason"),
    "records_reject": (("reason",), "another reason"),
    "facts_declare": (("freshness_seconds",), 3600),
    "facts_assert_fact": (("value",), 180),
    "facts_assert_batch": ((1, "value"), "de"),
    "facts_verdict": (("reason",), "another reason"),
    "facts_supersede": (("reason",), "another reason"),
    "facts_retract": (("reason",), "another reason"),
    "lineage_derive": (("content",), "the first, reworded again"),
    "lineage_link": (("relation",), "related_to"),
    "beliefs_register": (("lineage_key",), "global"),
    "beliefs_observe": (("trust",), 0.5),
    "beliefs_observe_batch": ((0, "trust"), 0.5),
    "beliefs_revoke": (("reason",), "another reason"),
    "beliefs_save_query": (("name",), "other hosts"),
    "beliefs_open_monitor": (("reference_size",), 21),
    "calibration_record": (("labeled_at",), 301),
    "calibration_label": (("labeled_at",), 301),
    "calibration_record_batch": ((0, "labeled_at"), 301),
    "calibration_label_batch": ((0, "labeled_at"), 301),
    "calibration_acknowledge": (("reason",), "another reason"),
    "calibration_close": (("reason",), "another reason"),
    "tombstones_bury": (("retest",), "another plan"),
    "tombstones_check": (("scope",), "elsewhere"),
    "tombstones_file_evidence": (("origin",), "somebody else"),
    "tombstones_false_block": (("reason",), "another reason"),
    "tombstones_right_block": (("reason",), "another reason"),
    "tombstones_revive": (("reason",), "another reason"),
    "tombstones_retest": (("reason",), "another reason"),
    "tombstones_retire": (("reason",), "another reason"),
    "tombstones_keep": (("reason",), "another reason"),
}


def n_entries(stage: Stage) -> int:
    return Entry.objects.filter(namespace=stage.namespace).count()


def send(stage: Stage, route: Route, *, key: str, body: Any = None) -> Any:
    example = EXAMPLES[route.operation](stage)
    sent = body if body is not None else NOTHING if example.body is None else example.body
    by = caller(stage, example.by(stage))
    told: dict[str, Any] = {"query": example.query, "content_type": example.content_type}
    return by.call(route.method, example.path, sent, headers={"Idempotency-Key": key}, **told)


@pytest.mark.parametrize("route", WRITES, ids=lambda route: route.operation)
def test_the_same_request_is_answered_as_before_and_written_once(stage: Stage, route: Route) -> None:
    first = send(stage, route, key="the same")
    before = n_entries(stage)
    second = send(stage, route, key="the same")
    assert first.status_code == EXAMPLES[route.operation](stage).status, first.content
    assert second.status_code == 200, second.content
    assert n_entries(stage) == before
    told, again = first.json(), second.json()
    assert (told.pop("replayed"), again.pop("replayed")) == (False, True)
    if "secret" in told:
        assert told.pop("secret").startswith("plm_")
        assert again.pop("secret") is None
    if route.operation.endswith("_batch"):
        assert (told.pop("duplicates"), again.pop("accepted")) == ([], [])
        told["duplicates"] = told.pop("accepted")
    assert told == again


def test_every_write_is_tried_with_another_payload() -> None:
    assert {route.operation for route in WRITES} - NO_OTHER_PAYLOAD == ANOTHER.keys()


@pytest.mark.parametrize("route", [one for one in WRITES if one.operation in ANOTHER], ids=lambda one: one.operation)
def test_the_same_key_for_another_payload_is_refused(stage: Stage, route: Route) -> None:
    assert send(stage, route, key="the same").status_code < 300
    before = n_entries(stage)
    at, value = ANOTHER[route.operation]
    body = put(EXAMPLES[route.operation](stage).body, at, value)
    answer = send(stage, route, key="the same", body=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_mismatch"), answer.content
    assert n_entries(stage) == before


def test_the_same_key_for_another_act_is_refused(stage: Stage) -> None:
    by = caller(stage, stage.scout)
    headers = {"Idempotency-Key": "one key"}
    assert by.post("/runs", {"title": "x"}, headers=headers).status_code == 201
    answer = by.post("/records", {"type": "note", "content": "x"}, headers=headers)
    assert answer.json()["code"] == "idempotency_mismatch"


def test_a_key_belongs_to_whoever_used_it(stage: Stage) -> None:
    other = stage.agent("other")
    body = {"type": "note", "content": "said by two"}
    headers = {"Idempotency-Key": "one key"}
    answers = [caller(stage, who).post("/records", body, headers=headers) for who in (stage.scout, other)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["id"] != answers[1].json()["id"]


def test_after_an_erasure_the_first_answer_is_gone(stage: Stage) -> None:
    by = caller(stage, stage.scout)
    body, headers = {"type": "note", "content": "to be forgotten"}, {"Idempotency-Key": "one key"}
    first = by.post("/records", body, headers=headers).json()
    stage.erase(UUID(first["id"]))
    before = n_entries(stage)
    answer = by.post("/records", body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (410, "erased")
    assert n_entries(stage) == before


def test_an_evolve_is_answered_again_though_the_first_has_moved_the_record_on(stage: Stage) -> None:
    by, headers = caller(stage, stage.scout), {"Idempotency-Key": "one key"}
    body = EXAMPLES["lineage_derive"](stage).body
    first = by.post("/derivations", body, headers=headers)
    again = by.post("/derivations", body, headers=headers)
    unkeyed = by.post("/derivations", body)
    assert (first.status_code, again.status_code, unkeyed.status_code) == (201, 200, 412)
    assert again.json()["records"] == first.json()["records"]


def test_a_frozen_agent_gets_no_earlier_answer(stage: Stage) -> None:
    by = caller(stage, stage.scout)
    for path, body in (
        ("/records", {"type": "note", "content": "x"}),
        ("/derivations", EXAMPLES["lineage_derive"](stage).body),
    ):
        assert by.post(path, body, headers={"Idempotency-Key": path}).status_code == 201
    caller(stage, stage.alice).post(f"/agents/{stage.scout.agent}/freeze", {})
    for path, body in (
        ("/records", {"type": "note", "content": "x"}),
        ("/derivations", EXAMPLES["lineage_derive"](stage).body),
    ):
        assert by.post(path, body, headers={"Idempotency-Key": path}).json()["code"] == "stopped"


def test_an_erasure_under_a_key_used_for_another_one_erases_nothing(stage: Stage) -> None:
    owner = replace(stage.alice, idempotency_key="one key")
    first = erase(owner, items=[stage.address(stage.first.id)], reason="request")
    answer = caller(stage, stage.alice).post(
        "/erasures", {"records": [str(stage.second.id)], "reason": "request"}, headers={"Idempotency-Key": "one key"}
    )
    assert answer.json()["code"] == "idempotency_mismatch"
    assert first.refs
    assert caller(stage, stage.scout).get(f"/records/{stage.second.id}").status_code == 200


def test_a_record_under_its_own_id_is_answered_as_before(stage: Stage) -> None:
    by, identity = caller(stage, stage.scout), str(uuid4())
    body = {"id": identity, "type": "note", "content": "under its own id"}
    first, again = by.post("/records", body), by.post("/records", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {**first.json(), "replayed": True}
    other = by.post("/records", {**body, "content": "otherwise"})
    assert (other.status_code, other.json()["code"], other.json()["id"]) == (409, "conflict", identity)


def test_a_run_under_its_own_id_is_answered_as_before(stage: Stage) -> None:
    by, identity = caller(stage, stage.scout), str(uuid4())
    body = {"id": identity, "title": "night build", "refs": {"ticket": "4412"}}
    first, again = by.post("/runs", body), by.post("/runs", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {**first.json(), "replayed": True}
    other = by.post("/runs", {**body, "title": "day build"})
    assert (other.status_code, other.json()["run"]) == (409, identity)


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a\0b", b"\xff".decode("latin-1")])
def test_a_key_that_is_no_text_of_1_to_200_characters_is_named(stage: Stage, key: str) -> None:
    answer = caller(stage, stage.scout).post(
        "/records", {"type": "note", "content": "x"}, headers={"Idempotency-Key": key}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["Idempotency-Key"]


def test_a_key_may_be_any_text(stage: Stage) -> None:
    by = caller(stage, stage.scout)
    for key in ("x" * 200, "größe 7 ☕"):
        sent = key.encode().decode("latin-1")
        body = json.dumps({"type": "note", "content": key}).encode()
        answers = [by.post("/records", body, headers={"Idempotency-Key": sent}) for _ in range(2)]
        assert [answer.json()["replayed"] for answer in answers] == [False, True]
