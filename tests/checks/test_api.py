"""What the routes of checks answer."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from memory.base import clock, instants
from memory.checks import queries
from memory.checks.board import board
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
