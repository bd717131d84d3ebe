"""What the routes of checks answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from audit.laws import tasks as laws
from memory.base import clock, instants
from memory.checks import queries
from memory.checks import tasks as scans
from memory.checks.board import board
from memory.checks.models import CheckRun
from memory.checks.operations import Outcome, record_runs
from tests.contract.callers import caller, places
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def test_a_check_is_run_by_name_and_its_report_is_kept(world: World) -> None:
    world.save("a note")
    auditor = caller(world, world.charlie)
    done = auditor.post("/checks/ledger_scan/run").json()
    assert (done["verdict"], done["n_findings"]) == ("ok", 0)
    shown = auditor.get(f"/checks/{done['id']}").json()
    assert shown["check"]["seq"] == done["seq"]
    assert shown["report"]["verdicts"]["content"] == "ok"
    listed = auditor.get("/checks").json()
    assert ([row["id"] for row in listed["items"]], listed["total"]) == ([done["id"]], 1)
    assert "ledger_scan" in listed["names"]
    assert auditor.get("/checks", name="other").json()["items"] == []


def test_pages_of_checks_meet(world: World) -> None:
    auditor = caller(world, world.charlie)
    ids = [auditor.post("/checks/ledger_scan/run").json()["id"] for _ in range(3)]
    first = auditor.get("/checks", limit=2).json()
    second = auditor.get("/checks", limit=2, after=first["next"]).json()
    assert [row["id"] for row in [*first["items"], *second["items"]]] == ids[::-1]
    assert (first["total"], second["next"]) == (3, None)


def test_pages_of_checks_meet_where_one_entry_holds_several_runs(world: World) -> None:
    names = [f"probe.{letter}" for letter in "abc"]
    outcomes = [Outcome(name, 1, "ok", 1, 0, [], {}) for name in names]
    told = [record_runs(world.charlie, outcomes=outcomes) for _ in range(2)]
    auditor = caller(world, world.charlie)
    first = auditor.get("/checks", limit=2).json()
    second = auditor.get("/checks", limit=2, after=first["next"]).json()
    seen = [[(row["seq"], row["name"]) for row in page["items"]] for page in (first, second)]
    assert seen == [[(runs[0].seq, name) for name in names] for runs in told[::-1]]
    assert second["next"] is None


def test_what_is_no_check_is_not_found(world: World) -> None:
    auditor = caller(world, world.charlie)
    assert auditor.post("/checks/astrology/run").status_code == 404
    assert auditor.get(f"/checks/{uuid4()}").status_code == 404


def test_a_law_is_waived_and_run_by_its_clause_and_one_that_is_none_is_not_found(world: World) -> None:
    owner = caller(world, world.alice)
    body = {"reason": "known and harmless", "expires_at": instants.text(clock.now() + timedelta(days=30))}
    assert owner.post("/laws/L4ii/waive", body).status_code == 200
    assert owner.post("/laws/ledger_scan/waive", body).status_code == 200
    assert list(board(world.now())) == ["law.L4ii", "ledger_scan"]
    assert owner.post("/laws/L9/waive", body).status_code == 404
    done = owner.post("/checks/L7/run").json()
    assert owner.get(f"/checks/{done['id']}").json()["check"]["name"] == "law.L7"


def test_an_owner_waives_until_a_date_to_come_and_not_for_ever(world: World) -> None:
    owner = caller(world, world.alice)
    body = {"reason": "known and harmless", "expires_at": instants.text(clock.now() + timedelta(days=30))}
    assert owner.post("/laws/L4ii/waive", body).status_code == 200
    for at in ("2020-01-01T00:00:00Z", instants.text(clock.now() + timedelta(days=367)), "9999-12-31T23:59:59Z"):
        refused = owner.post("/laws/L4ii/waive", {**body, "expires_at": at})
        assert (refused.status_code, places(refused)) == (422, [["expires_at"]])
    for who in (world.bob, world.charlie):
        assert caller(world, who).post("/laws/L4ii/waive", body).status_code == 403
    assert queries.check_runs(world.now()) == []


def test_a_check_that_has_run_and_can_run_no_more_is_waived_by_its_name(world: World) -> None:
    record_runs(world.charlie, outcomes=[Outcome("probe.clock", 1, "failed", 1, 1, [], {})])
    owner = caller(world, world.alice)
    body = {"reason": "known and harmless", "expires_at": instants.text(clock.now() + timedelta(days=30))}
    assert owner.post("/laws/probe.clock/waive", body).status_code == 200
    assert list(board(world.now())) == ["probe.clock"]
    assert owner.post("/laws/probe.dial/waive", body).status_code == 404
    assert owner.post("/checks/probe.clock/run").status_code == 404


class TestALongLog:
    """Whoever asks is told to wait, and finds what came of it by asking again."""

    @pytest.fixture
    def queue(self, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[str]:
        enqueued: list[str] = []

        class Queue:
            def enqueue(self, job: str) -> None:
                enqueued.append(job)

        settings.PALIMPSEST_HOME = tmp_path
        monkeypatch.setattr(scans, "IN_REQUEST_ITEMS", 0)
        monkeypatch.setattr(scans, "scan_ledger", Queue())
        monkeypatch.setattr(laws, "check_laws", Queue())
        return enqueued

    @pytest.mark.parametrize(
        ("name", "work", "page"),
        [("ledger_scan", scans.run_scan, "/ledger/scans/"), ("law.L7", laws.run_laws, "/laws/runs/")],
    )
    @pytest.mark.parametrize("key", ["", "once"])
    def test_is_checked_by_a_worker_and_answered_when_asked_again(
        self, world: World, queue: list[str], name: str, work: Callable[[UUID], None], page: str, key: str
    ) -> None:
        auditor = caller(world, world.charlie)
        headers = {"Idempotency-Key": key} if key else {}

        def ask() -> Any:
            return auditor.post(f"/checks/{name}/run", headers=headers)

        answers = [ask(), ask()]
        assert [(answer.status_code, answer.headers["Retry-After"]) for answer in answers] == [(503, "1")] * 2
        (job,) = queue
        for answer in answers:
            told = answer.json()
            assert (told["code"], told["job"]) == ("unavailable", job)
            assert told["url"].startswith(f"{page}{job}?ns=")
        work(UUID(job))
        with clock.fixed(clock.now() + timedelta(hours=1 if key else 0)):
            done = ask()
        assert (done.status_code, done.json()["replayed"]) == (200, True)
        assert CheckRun.objects.get().id == UUID(done.json()["id"])
        assert len(queue) == 1

    def test_is_checked_anew_where_no_key_says_that_it_is_the_same_request(
        self, world: World, queue: list[str]
    ) -> None:
        auditor = caller(world, world.charlie)
        auditor.post("/checks/ledger_scan/run")
        scans.run_scan(UUID(queue[0]))
        with clock.fixed(clock.now() + timedelta(hours=1)):
            assert auditor.post("/checks/ledger_scan/run").status_code == 503
        assert caller(world, world.alice).post("/checks/ledger_scan/run").status_code == 503
        assert auditor.post("/checks/ledger_scan/run", headers={"Idempotency-Key": "other"}).status_code == 503
        assert len(queue) == 4

    def test_tells_why_a_worker_could_not_check_it(self, world: World, queue: list[str]) -> None:
        reviewer = caller(world, world.bob)
        world.save("a note")
        headers = {"Idempotency-Key": "once"}
        reviewer.post("/checks/law.L7/run", headers=headers)
        laws.run_laws(UUID(queue[0]))
        reviewer.post("/checks/law.L6/run", headers=headers)
        laws.run_laws(UUID(queue[1]))
        refused = reviewer.post("/checks/law.L6/run", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_mismatch")
