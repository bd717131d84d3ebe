"""Which jobs, staged rows and results of tasks an erasure takes along, and which it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest
from django_tasks_db.models import DBTaskResult

from memory.agents import operations as agents
from memory.base import jobs
from memory.base.actor import Actor
from memory.base.errors import OnHold
from memory.base.jobs import Job
from memory.interchange import staging, sweeping
from memory.interchange.models import StagedRow
from memory.interchange.tasks import KIND, Asked
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_jobs() -> Iterator[None]:
    """None stand before, and none are left to another test."""
    for job in jobs.every():
        jobs.drop(job)
    yield
    for job in jobs.every():
        jobs.drop(job)


@pytest.fixture
def world() -> World:
    return World()


def asked_import(by: Actor, *, base: str, **more: object) -> Job:
    asked = asdict(Asked(name="store.db", base=base, **more))  # type: ignore[arg-type]
    return jobs.ask(by, kind=KIND, given={"asked": asked, "namespace": "lab"})


def ended(job: Job) -> Job:
    with jobs.running(job.id) as work:
        work.end({"preview": []})
    return job


def left(world: World) -> set[object]:
    """The jobs that stand after an erasure."""
    world.erase(world.save("a note").id)
    return {job.id for job in jobs.every()}


def test_an_import_that_waits_and_one_that_has_ended_go(world: World) -> None:
    asked_import(world.alice, base="lab")
    ended(asked_import(world.alice, base="lab"))
    assert left(world) == set()


def test_whatever_has_ended_here_goes_and_what_waits_without_a_file_stays(world: World) -> None:
    ended(jobs.ask(world.charlie, kind="ledger_scan", given={"kept": "", "namespace": "lab"}))
    waiting = jobs.ask(world.charlie, kind="ledger_scan", given={"kept": "", "namespace": "lab"})
    assert left(world) == {waiting.id}


def test_an_import_that_runs_is_left_to_its_end(world: World) -> None:
    job = asked_import(world.alice, base="lab")
    with jobs.running(job.id) as work:
        work.tell("staging", 1, 2)
        assert left(world) == {job.id}
        work.end({})


@pytest.mark.parametrize(
    ("base", "mapping", "leads_here"),
    [
        ("lab", {}, True),
        ("la", {}, False),
        ("mill", {}, False),
        ("mill", {"source": "lab"}, True),
        ("mill", {"lab": "mill"}, False),
    ],
)
def test_an_import_asked_for_elsewhere_goes_where_it_leads_here(
    world: World, base: str, mapping: dict[str, str], leads_here: bool
) -> None:
    mill = World("mill")
    job = asked_import(mill.alice, base=base, mapping=mapping)
    assert (job.id not in left(world)) == leads_here


def test_an_import_into_the_namespace_above_may_lead_below(world: World) -> None:
    below = World("lab.billing")
    job = asked_import(world.alice, base="lab")
    assert job.id not in left(below)


def test_what_has_ended_in_another_namespace_stays(world: World) -> None:
    mill = World("mill")
    job = ended(jobs.ask(mill.charlie, kind="ledger_scan", given={"kept": "", "namespace": "mill"}))
    assert left(world) == {job.id}


def test_staged_rows_of_this_namespace_alone_go(world: World) -> None:
    mill = World("mill")
    for each in (world, mill):
        staging.stage(each.namespace, bytes(32), [("memories", {"key": ["memories", "1"]})])
    left(world)
    assert set(StagedRow.objects.values_list("namespace", flat=True)) == {mill.namespace}


@pytest.mark.django_db(databases="__all__")
def test_results_of_tasks_that_ended_go_and_tasks_that_wait_stay(settings: object) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}  # type: ignore[attr-defined]
    row = {
        "task_path": "t", "args_kwargs": {"args": [], "kwargs": {}}, "backend_name": "default",
        "run_after": "2026-01-01T00:00:00Z", "exception_class_path": "", "traceback": "",
    }  # fmt: skip
    DBTaskResult.objects.create(status="FAILED", finished_at="2026-01-01T00:00:01Z", **row)
    DBTaskResult.objects.create(status="SUCCESSFUL", finished_at="2026-01-01T00:00:01Z", **row)
    waiting = DBTaskResult.objects.create(status="READY", **row)
    assert sweeping.task_results(1, ()) == 2
    assert set(DBTaskResult.objects.values_list("id", flat=True)) == {waiting.id}


def test_a_refused_erasure_sweeps_nothing(world: World) -> None:
    job = asked_import(world.alice, base="lab")
    agents.hold(world.alice, held=True, reason="an audit")
    with pytest.raises(OnHold):
        left(world)
    assert {one.id for one in jobs.every()} == {job.id}
