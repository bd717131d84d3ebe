"""Runs of the laws, written down: by name over the API, as a job, and what they hold."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from audit.laws import recording, tasks
from audit.laws.clauses import LAWS
from audit.laws.values import CLAUSE_NAMES
from memory.agents.operations import admit_member
from memory.base import jobs
from memory.base.actor import Actor
from memory.base.errors import Forbidden
from memory.checks import queries, running
from memory.checks import tasks as scans
from memory.checks.models import CheckRun, Finding
from memory.ledger.models import Content, Entry, Node
from memory.ledger.operations.founding import found
from tests.contract.callers import caller
from tests.laws.planting import Scene, foreign_parent, overwritten_row, planted
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_every_clause_is_a_check_that_can_be_run_by_name(scene: Scene) -> None:
    auditor = caller(scene.world, scene.world.charlie)
    names = {law.name for law in LAWS}
    assert names <= set(running.names())
    assert {law.clause for law in LAWS} == set(CLAUSE_NAMES)
    for law in LAWS:
        answer = auditor.post(f"/checks/{law.name}/run").json()
        assert answer["verdict"] == ("undecidable" if law.clause == "L5" else "holds")
    assert names == set(CheckRun.objects.values_list("check_name", flat=True))


def test_one_pass_writes_one_run_for_each_clause_over_the_same_entries(scene: Scene) -> None:
    at = scene.world.now()
    report, written = recording.run(scene.world.charlie)
    runs = CheckRun.objects.order_by("seq", "item")
    assert [row.id for row in runs] == [each.id for each in written]
    assert [row.check_name for row in runs] == [law.name for law in LAWS]
    assert {row.at_seq for row in runs} == {at.seq}
    assert {bytes(row.input_digest) for row in runs} == {report.input_digest}
    assert {row.n_checked for row in runs} == {report.n_records + report.n_edges}


def test_a_broken_clause_is_written_down_with_where_it_breaks(scene: Scene) -> None:
    with planted():
        record = foreign_parent(scene)
        _, (written,) = recording.run(scene.world.charlie, clauses=["L4ii"])
        detail = queries.check_run(scene.world.now(), id=written.id)
    assert (detail.row.verdict, detail.row.n_findings) == ("violated", 1)
    assert [(each.kind, each.object, each.seq) for each in detail.findings] == [
        ("cross_namespace_ancestry", record, None)
    ]
    scopes = {each["scope"]: each["verdict"] for each in detail.report["scopes"]}
    assert scopes == {"fragment": "holds", "store": "violated"}
    (witness,) = [each for scope in detail.report["scopes"] for each in scope["witnesses"]]
    assert (witness["namespace"], witness["target_namespace"]) == ("lab", "annex")


def test_evidence_of_a_run_holds_no_text_and_its_report_none_of_a_record(scene: Scene) -> None:
    with planted():
        overwritten_row(scene)
        recording.run(scene.world.charlie)
        told = " ".join(Content.objects.filter(part="report").values_list("payload", flat=True))
        kinds = set(Finding.objects.values_list("kind", flat=True))
    assert kinds == {"record_altered"}
    assert "the limit is 40" not in told


def test_more_findings_than_are_kept_are_counted(scene: Scene) -> None:
    with planted():
        for number in range(120):
            scene.edge(source=scene.fact, relation="references", target=UUID(int=number + 1), item=50 + number)
        _, (written,) = recording.run(scene.world.charlie, clauses=["L7"])
        detail = queries.check_run(scene.world.now(), id=written.id)
    assert detail.row.n_findings == 120
    assert sum(each.count for each in detail.findings) == 120


def test_what_only_might_be_is_in_the_report_and_no_finding(scene: Scene) -> None:
    scene.world.link(scene.parts[0], "depends_on", scene.plain)
    _, (written,) = recording.run(scene.world.charlie, clauses=["L3"])
    detail = queries.check_run(scene.world.now(), id=written.id)
    assert (detail.row.verdict, detail.row.n_findings, detail.findings) == ("holds", 0, ())
    assert [each["kinds"] for each in detail.report["scopes"]] == [{}, {"no_inverse": 1}]


@pytest.mark.parametrize("who", ["alice", "bob", "charlie", "scout"])
def test_whoever_reads_may_ask_and_a_short_log_is_checked_at_once(who: str) -> None:
    world = World()
    world.save("a note")
    job = tasks.ask_laws(getattr(world, who), clauses=["L1", "L7"])
    assert job.state == "done"
    assert job.outcome["runs"].keys() == {"L1", "L7"}
    assert {str(row.id) for row in CheckRun.objects.all()} == set(job.outcome["runs"].values())


def test_who_may_not_read_may_not_ask() -> None:
    world = World()
    stranger = Actor(world.namespace, "person", person=9)
    with pytest.raises(Forbidden):
        tasks.ask_laws(stranger)
    with pytest.raises(Forbidden):
        recording.run(stranger)
    assert jobs.jobs(namespace=world.namespace, kind=tasks.KIND) == []


def test_a_long_log_waits_for_a_worker_that_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    enqueued: list[str] = []

    class Queue:
        def enqueue(self, job: str) -> None:
            enqueued.append(job)

    monkeypatch.setattr(scans, "IN_REQUEST_ITEMS", 0)
    monkeypatch.setattr(tasks, "check_laws", Queue())
    job = tasks.ask_laws(world.charlie)
    assert (job.state, enqueued) == ("waiting", [str(job.id)])
    assert not CheckRun.objects.exists()
    n_entries = Entry.objects.filter(namespace=world.namespace).count()
    tasks.run_laws(job.id)
    done = jobs.job(job.id, namespace=world.namespace, kind=tasks.KIND)
    assert (done.state, done.stage, done.n_done, done.n_total) == ("done", "reading", n_entries, n_entries)
    assert {(entry.principal, entry.person) for entry in Entry.objects.filter(verb="record_check")} == {
        ("person", world.charlie.person)
    }


def test_a_log_that_takes_no_entry_still_tells_what_was_found(scene: Scene) -> None:
    world = scene.world
    while Entry.objects.filter(namespace=world.namespace).count() % 2 == 0:
        world.save("so that the next leaf completes a node")
    Node.objects.filter(namespace=world.namespace, level=0).delete()
    job = tasks.ask_laws(world.alice)
    assert (job.state, job.outcome["runs"], job.outcome["report"]["store"]) == ("done", {}, "lab")
    assert caller(world, world.charlie).post("/checks/law.L1/run").status_code == 503
    assert not CheckRun.objects.exists()


def test_a_replayed_namespace_takes_the_runs_from_the_system() -> None:
    replay = found(Actor(0, "system"), name="told", host_clock="replay")
    person = World().alice.person or 0
    last_at = Entry.objects.get(namespace=replay).recorded_at
    admit_member(Actor(replay.pk, "system", event_at=last_at), person=person, role="auditor")
    by = Actor(replay.pk, "person", person=person, role="auditor", powers=frozenset({"read"}))
    assert tasks.ask_laws(by, clauses=["L1"]).state == "done"
    assert Entry.objects.get(namespace=replay, verb="record_check").principal == "system"
