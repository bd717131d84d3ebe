"""What a check found is written down once, by ids and counts, and a waiver never changes a verdict."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection

from memory.base import clock
from memory.base.errors import DomainError, Forbidden, IdempotencyMismatch, Invalid, NotFound, Stopped, Unavailable
from memory.checks import queries
from memory.checks.ledger_scan import verify
from memory.checks.models import CheckRun, Finding
from memory.checks.operations import FINDINGS_KEPT, Found, as_far_as_it_takes, record_run, waive
from memory.ledger.models import Content, Entry
from memory.ledger.queries.verification import scan
from tests.conftest import lifted_triggers
from tests.states import row_counts
from tests.world import World

pytestmark = pytest.mark.django_db


def recorded(world: World, found: list[Found], *, verdict: str = "failed") -> queries.CheckDetail:
    made = record_run(
        world.charlie,
        name="ledger_scan",
        version=1,
        verdict=verdict,
        at_seq=3,
        n_checked=9,
        found=found,
        report={"n": 1},
    )
    return queries.check_run(world.now(), id=made.id)


def test_a_run_is_one_entry_with_its_findings_and_its_report() -> None:
    world = World()
    about = uuid4()
    detail = recorded(world, [Found("row_mismatch", object=about, seq=1, item=0)])
    assert (detail.row.verdict, detail.row.at_seq, detail.row.n_checked, detail.row.n_findings) == ("failed", 3, 9, 1)
    assert detail.report == {"n": 1}
    (finding,) = detail.findings
    assert (finding.kind, finding.object, finding.seq, finding.item, finding.count) == ("row_mismatch", about, 1, 0, 1)
    assert Entry.objects.get(namespace=world.namespace, seq=detail.row.seq).verb == "record_check"
    assert scan(world.namespace).is_clean


def test_findings_of_one_kind_at_one_place_are_counted_and_only_the_first_are_kept() -> None:
    world = World()
    same = [Found("dangling", seq=1, item=0)] * 3
    many = [Found("dangling", seq=number, item=0) for number in range(2, FINDINGS_KEPT + 50)]
    detail = recorded(world, [*same, *many])
    assert detail.row.n_findings == len(same) + len(many)
    rows = Finding.objects.filter(namespace=world.namespace)
    assert rows.count() == FINDINGS_KEPT
    assert rows.order_by("item")[0].count == 3


def test_a_verdict_that_is_none_is_refused() -> None:
    world = World()
    before = row_counts()
    with pytest.raises(Invalid):
        recorded(world, [], verdict="fine")
    assert row_counts() == before


def test_runs_are_listed_newest_first_as_of_a_point() -> None:
    world = World()
    first, second = recorded(world, []).row, recorded(world, []).row
    assert [row.id for row in queries.check_runs(world.now())] == [second.id, first.id]
    assert [row.id for row in queries.check_runs(world.at(first.seq))] == [first.id]
    assert queries.check_runs(world.now(), name="another") == []
    with pytest.raises(NotFound):
        queries.check_run(world.at(first.seq), id=second.id)


def test_verifying_writes_down_what_the_scan_found() -> None:
    world = World()
    saved = world.save("a note")
    _, clean = verify(world.charlie)
    assert (clean["verdicts"]["content"], clean["n_faults"]) == ("ok", 0)
    with lifted_triggers(connection):
        Content.objects.filter(namespace=world.namespace, seq=saved.seq).update(payload='"another"')
    run, report = verify(world.charlie)
    assert (report["codes"], report["verdicts"]["content"]) == ({"payload_mismatch": 1}, "failed")
    row = CheckRun.objects.get(namespace=world.namespace, id=run.id)
    assert (row.verdict, row.n_findings, row.at_seq) == ("failed", 1, run.seq - 1)
    finding = Finding.objects.get(namespace=world.namespace, run=run.id)
    assert (finding.kind, finding.at_seq, finding.at_item) == ("payload_mismatch", saved.seq, 0)


def test_the_report_of_a_scan_holds_no_text_of_the_store() -> None:
    world = World()
    saved = world.save("the secret words")
    with lifted_triggers(connection):
        Content.objects.filter(namespace=world.namespace, seq=saved.seq).update(payload='"other secret words"')
    _, report = verify(world.charlie)
    assert "secret" not in str(report)


def test_a_waiver_is_an_owners_has_a_reason_and_an_end_and_changes_no_verdict() -> None:
    world = World()
    row = recorded(world, [Found("dangling")]).row
    ends = clock.now() + timedelta(days=1)
    waive(world.alice, name="ledger_scan", reason="known since March", expires_at=ends)
    assert queries.check_run(world.now(), id=row.id).row.verdict == "failed"
    with pytest.raises(Forbidden):
        waive(world.bob, name="ledger_scan", reason="known", expires_at=ends)
    with pytest.raises(Invalid):
        waive(world.alice, name="ledger_scan", reason=" ", expires_at=ends)
    with pytest.raises(Invalid):
        waive(world.alice, name="ledger_scan", reason="known", expires_at=clock.now())


def test_a_waiver_asked_for_again_after_its_end_is_answered_as_before() -> None:
    world = World()
    by = replace(world.alice, idempotency_key="once")
    ends = clock.now() + timedelta(days=1)
    first = waive(by, name="ledger_scan", reason="known", expires_at=ends)
    with clock.fixed(ends + timedelta(days=1)):
        again = waive(by, name="ledger_scan", reason="known", expires_at=ends)
    assert (again.seq, again.replayed) == (first.seq, True)


@pytest.mark.parametrize(
    "fault", [Unavailable("a node is gone"), KeyError(7), DatabaseError("no"), Entry.DoesNotExist()]
)
def test_what_was_found_is_not_lost_where_the_log_takes_no_entry(fault: Exception) -> None:
    def write() -> int:
        raise fault

    assert as_far_as_it_takes(1, write) is None
    assert as_far_as_it_takes(1, lambda: 7) == 7


@pytest.mark.parametrize("refusal", [Forbidden("no"), IdempotencyMismatch("another request"), Stopped("frozen")])
def test_who_may_not_write_a_run_down_is_told_so(refusal: DomainError) -> None:
    def write() -> int:
        raise refusal

    with pytest.raises(type(refusal)):
        as_far_as_it_takes(1, write)
