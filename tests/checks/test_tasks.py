"""Scans as jobs: who may ask, what runs at once, and what a log that takes no entry still tells."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memory.agents.operations import admit_member
from memory.base import clock, jobs
from memory.base.actor import Actor
from memory.base.errors import Forbidden, Invalid
from memory.checks import tasks
from memory.checks.models import CheckRun
from memory.ledger.models import Checkpoint, Entry, Node
from memory.ledger.operations import checkpoints
from memory.ledger.operations.founding import found
from tests.conftest import lifted_triggers
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every log counts as long, and what is enqueued is kept here."""
    enqueued: list[str] = []

    class Queue:
        def enqueue(self, job: str) -> None:
            enqueued.append(job)

    monkeypatch.setattr(tasks, "IN_REQUEST_ITEMS", 0)
    monkeypatch.setattr(tasks, "scan_ledger", Queue())
    return enqueued


@pytest.mark.parametrize("who", ["alice", "bob", "charlie", "scout"])
def test_whoever_reads_may_ask_and_a_short_log_is_scanned_at_once(who: str, world: World) -> None:
    job = tasks.ask_scan(getattr(world, who))
    assert job.state == "done"
    (run,) = CheckRun.objects.filter(namespace=world.namespace)
    assert (str(run.id), run.verdict) == (job.outcome["run"], "ok")


def test_who_may_not_read_may_not_ask(world: World) -> None:
    with pytest.raises(Forbidden):
        tasks.ask_scan(Actor(world.namespace, "person", person=9))
    assert jobs.jobs(namespace=world.namespace, kind=tasks.KIND) == []


def test_a_long_log_waits_for_a_worker(world: World, queue: list[str]) -> None:
    job = tasks.ask_scan(world.charlie)
    assert job.state == "waiting"
    assert queue == [str(job.id)]
    assert not CheckRun.objects.exists()
    tasks.run_scan(job.id)
    done = jobs.job(job.id, namespace=world.namespace, kind=tasks.KIND)
    assert (done.state, done.stage, done.n_total) == ("done", "hashing", Entry.objects.count() - 1)


def test_the_entry_of_a_scan_names_who_asked(world: World, queue: list[str]) -> None:
    tasks.run_scan(tasks.ask_scan(world.charlie).id)
    entry = Entry.objects.get(verb="record_check")
    assert (entry.principal, entry.person) == ("person", world.charlie.person)


def test_a_role_that_ended_meanwhile_scans_nothing(world: World, queue: list[str]) -> None:
    job = tasks.ask_scan(world.bob)
    admit_member(world.alice, person=world.bob.person or 0, role="none")
    tasks.run_scan(job.id)
    ended = jobs.job(job.id, namespace=world.namespace, kind=tasks.KIND)
    assert (ended.state, jobs.refusal(ended).code) == ("failed", "not_found")


def test_the_checkpoint_that_the_asker_kept_is_held_against_the_log(world: World) -> None:
    checkpoints.checkpoint(world.namespace, make_key=True)
    kept = Checkpoint.objects.get(namespace=world.namespace).note
    world.save("written later")
    job = tasks.ask_scan(world.alice, kept=kept)
    from memory.checks.queries import check_run

    report = check_run(world.now(), id=jobs.UUID(job.outcome["run"])).report
    assert report["verdicts"] == {"content": "ok", "inclusion": "ok", "consistency": "ok"}


def test_text_that_is_no_checkpoint_is_refused_before_anything_is_asked(world: World, home: Path) -> None:
    with pytest.raises(Invalid):
        tasks.ask_scan(world.alice, kept="hello")
    assert not (home / "jobs").exists()


def test_a_log_that_takes_no_entry_still_tells_what_was_found(world: World) -> None:
    while Entry.objects.filter(namespace=world.namespace).count() % 2 == 0:
        world.save("so that the next leaf completes a node")
    Node.objects.filter(namespace=world.namespace, level=0).delete()
    job = tasks.ask_scan(world.alice)
    assert (job.state, job.outcome["run"]) == ("done", None)
    assert job.outcome["report"]["codes"]["node_mismatch"] > 0
    assert not CheckRun.objects.exists()


def test_an_edit_behind_the_ledgers_back_is_found_and_written_down(world: World) -> None:
    saved = world.save("as it was")
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_content SET payload = '\"as it never was\"' WHERE namespace_id = %s AND seq = %s",
            [world.namespace, saved.seq],
        )
    job = tasks.ask_scan(world.charlie)
    run = CheckRun.objects.get(id=job.outcome["run"])
    assert (run.verdict, run.n_findings) == ("failed", 1)


def test_a_namespace_that_replays_is_scanned_in_the_name_of_the_system() -> None:
    replay = found(Actor(0, "system"), name="told", host_clock="replay")
    person = World("lab").alice.person or 0
    last_at = Entry.objects.get(namespace=replay).recorded_at
    admit_member(Actor(replay.pk, "system", event_at=last_at), person=person, role="auditor")
    job = tasks.ask_scan(Actor(replay.pk, "person", person=person, role="auditor", powers=frozenset({"read"})))
    assert job.state == "done"
    entry = Entry.objects.filter(namespace=replay).order_by("-seq")[0]
    assert (entry.verb, entry.principal) == ("record_check", "system")
    assert (entry.recorded_at - last_at).total_seconds() < 1


def test_a_scan_that_the_host_asks_for_is_written_down_in_a_namespace_that_replays_too(queue: list[str]) -> None:
    replay = found(Actor(0, "system"), name="told", host_clock="replay")
    last_at = Entry.objects.get(namespace=replay).recorded_at
    with clock.fixed(last_at + timedelta(days=3)):
        job = jobs.ask(Actor(replay.pk, "system"), kind=tasks.KIND, given={"kept": "", "namespace": "told"})
        tasks.run_scan(job.id)
    run = CheckRun.objects.get(namespace=replay)
    assert str(run.id) == jobs.job(job.id, namespace=replay.pk, kind=tasks.KIND).outcome["run"]
    assert Entry.objects.get(namespace=replay, seq=run.seq).recorded_at - last_at < timedelta(seconds=1)
