"""Jobs: what a page, a worker and the next day find of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from memory.base import clock, jobs
from memory.base.actor import Actor
from memory.base.errors import Invalid, NotFound

START = datetime(2026, 11, 2, 14, 0, tzinfo=UTC)
ALICE = Actor(7, "person", person=3)


@pytest.fixture(autouse=True)
def home(settings: object, tmp_path: Path) -> Iterator[Path]:
    settings.PALIMPSEST_HOME = tmp_path  # type: ignore[attr-defined]
    with clock.fixed(START):
        yield tmp_path


def found(job: jobs.Job) -> jobs.Job:
    return jobs.job(job.id, namespace=7, kind="scan")


def test_a_job_waits_with_what_was_asked() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={"kept": "text"})
    assert found(asked) == asked
    assert (asked.state, asked.person, asked.asked_at, asked.given) == ("waiting", 3, START, {"kept": "text"})


def test_a_job_is_found_by_nobody_from_another_namespace_or_as_another_kind() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    for namespace, kind in ((8, "scan"), (7, "import")):
        with pytest.raises(NotFound):
            jobs.job(asked.id, namespace=namespace, kind=kind)
    with pytest.raises(NotFound):
        jobs.job(uuid4(), namespace=7, kind="scan")
    assert jobs.jobs(namespace=8, kind="scan") == []


def test_work_tells_how_far_it_is_and_how_it_ended() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    with jobs.running(asked.id) as work:
        work.tell("reading", 3, 10)
        seen = found(asked)
        assert (seen.state, seen.stage, seen.n_done, seen.n_total) == ("running", "reading", 3, 10)
        work.end({"run": "x"})
    assert (found(asked).state, found(asked).outcome) == ("done", {"run": "x"})


def test_steps_of_one_stage_are_not_all_written_down() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    with jobs.running(asked.id) as work:
        for step in range(1000):
            work.tell("reading", step, 1000)
        assert found(asked).n_done < 999
        work.tell("applying", 1, 2)
        assert (found(asked).stage, found(asked).n_done) == ("applying", 1)
        work.end({})


def test_a_refusal_ends_the_job_and_is_told_as_it_was_raised() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    refused = Invalid.at("file", 3, expected="a store", got="text", code="not_sqlite")
    with jobs.running(asked.id):
        raise refused
    assert found(asked).state == "failed"
    told = jobs.refusal(found(asked))
    assert (type(told), told.detail, told.errors) == (Invalid, refused.detail, refused.errors)


def test_a_fault_of_ours_ends_the_job_and_is_raised() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    with pytest.raises(ZeroDivisionError), jobs.running(asked.id):
        _ = 1 / 0
    assert jobs.refusal(found(asked)).status == 500
    assert "division" not in str(found(asked).problem)


def test_work_that_ends_without_an_answer_has_failed() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    with jobs.running(asked.id):
        pass
    assert found(asked).state == "failed"


def test_a_worker_that_died_is_told_by_its_silence() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    assert not asked.is_silent(START + timedelta(hours=1))
    with jobs.running(asked.id) as work:
        work.tell("reading", 0, 10)
        seen = found(asked)
        assert not seen.is_silent(START + timedelta(minutes=1))
        assert seen.is_silent(START + timedelta(minutes=3))
        work.end({})
    assert not found(asked).is_silent(START + timedelta(hours=1))


def test_a_job_takes_another_turn_with_the_same_files() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={"dry_run": True})
    (asked.folder / "store.db").write_text("kept")
    with jobs.running(asked.id) as work:
        work.end({"would": 3})
    again = jobs.again(found(asked), given={"dry_run": False})
    assert (again.state, again.id, again.given) == ("waiting", asked.id, {"dry_run": False})
    assert (again.folder / "store.db").read_text() == "kept"


def test_folders_go_a_day_after_they_were_asked_unless_their_work_still_runs(home: Path) -> None:
    old = jobs.ask(ALICE, kind="scan", given={})
    (old.folder / "store.db").write_text("text")
    busy = jobs.ask(ALICE, kind="scan", given={})
    (home / "jobs" / "notes").mkdir()
    later = START + timedelta(days=1, seconds=1)
    with clock.fixed(later), jobs.running(busy.id) as work:
        jobs.ask(ALICE, kind="scan", given={})
        assert not old.folder.exists()
        assert found(busy).state == "running"
        work.end({})
    assert len(jobs.jobs(namespace=7, kind="scan")) == 2


def test_what_a_job_holds_is_for_this_user_of_the_host_alone() -> None:
    asked = jobs.ask(ALICE, kind="scan", given={})
    assert asked.folder.stat().st_mode & 0o077 == 0
