"""Clock work: what is due, and the loop that does it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.tasks import task

from memory import worker
from memory.agents import operations
from memory.agents.setup import ensure_agent, ensure_namespace, system
from memory.base import clock
from memory.base.actor import Actor
from memory.ledger.models import Checkpoint, Entry, Head
from memory.ledger.operations.checkpoints import checkpoint, signing_key
from memory.records.content import NewRecord
from memory.records.operations import save

START = datetime(2026, 11, 2, 14, 0, tzinfo=UTC)

pytestmark = pytest.mark.django_db(databases="__all__")
# A round closes connections that have grown old, and with them the transaction of an ordinary test.
in_rounds = pytest.mark.django_db(databases="__all__", transaction=True)


@pytest.fixture(autouse=True)
def key(settings: object, tmp_path: Path) -> None:
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "signing.key"  # type: ignore[attr-defined]
    signing_key(make=True)


@pytest.fixture
def store() -> int:
    with clock.fixed(START):
        return ensure_namespace("lab")


def write(store: int, count: int = 1) -> None:
    for number in range(count):
        save(system(store), records=[NewRecord("note", f"text {number}")])


def acts(now: datetime, folder: Path | None = None) -> list[tuple[str, int]]:
    return [(each.act, each.namespace) for each in worker.due(now, deliver_to=folder)]


def test_a_log_that_was_never_signed_is_due(store: int) -> None:
    assert acts(START) == [("checkpoint", store)]


def test_a_signed_log_is_due_again_a_minute_after_something_was_written(store: int) -> None:
    with clock.fixed(START):
        checkpoint(store)
        assert acts(START + timedelta(hours=1)) == []
        write(store)
    assert acts(START + timedelta(seconds=59)) == []
    assert acts(START + timedelta(seconds=60)) == [("checkpoint", store)]


def test_a_busy_log_is_due_at_once_after_256_entries(store: int) -> None:
    with clock.fixed(START):
        checkpoint(store)
        size = Head.objects.get(namespace=store).size
        write(store, 255)
        assert acts(START) == []
        write(store)
    assert Head.objects.get(namespace=store).size - size == 256
    assert acts(START) == [("checkpoint", store)]


def test_a_node_without_the_key_has_nothing_to_sign(store: int, tmp_path: Path) -> None:
    (tmp_path / "signing.key").unlink()
    assert acts(START) == []


def test_each_log_is_due_by_itself(store: int) -> None:
    with clock.fixed(START):
        other = ensure_namespace("mill")
        checkpoint(store)
        assert acts(START) == [("checkpoint", other)]


def delivered(store: int, folder: Path, at: datetime) -> None:
    """Do what is due until nothing is, with the file as old as the act."""
    with clock.fixed(at):
        for each in worker.due(at, deliver_to=folder):
            each.run()
    newest = max(folder.glob("*.txt"))
    seconds = at.timestamp()
    import os

    os.utime(newest, (seconds, seconds))


def test_a_checkpoint_goes_out_an_hour_after_the_last_one(store: int, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    delivered(store, folder, START)
    assert [path.name for path in folder.iterdir()] == [f"lab-{Head.objects.get(namespace=store).size:012d}.txt"]
    with clock.fixed(START):
        write(store)
    assert ("delivery", store) not in acts(START + timedelta(minutes=59), folder)
    assert ("delivery", store) in acts(START + timedelta(minutes=60), folder)


def test_nothing_goes_out_twice(store: int, tmp_path: Path) -> None:
    delivered(store, tmp_path / "kept", START)
    assert ("delivery", store) not in acts(START + timedelta(days=9), tmp_path / "kept")


def test_an_owner_s_act_goes_out_at_once(store: int, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    delivered(store, folder, START)
    with clock.fixed(START):
        operations.freeze(system(store), agent=ensure_agent(system(store), name="scout"))
    assert ("delivery", store) in acts(START + timedelta(seconds=1), folder)


def test_the_files_of_one_namespace_say_nothing_of_another(store: int, tmp_path: Path) -> None:
    with clock.fixed(START):
        other = ensure_namespace("lab-000000000009")
    folder = tmp_path / "kept"
    delivered(store, folder, START)
    for path in folder.glob("lab-000000000009-*"):
        path.unlink()
    assert [each for each in acts(START, folder) if each[0] == "delivery"] == [("delivery", other)]


@in_rounds
def test_a_round_signs_and_delivers_what_is_due(store: int, tmp_path: Path, settings: object) -> None:
    settings.PALIMPSEST_CHECKPOINT_TO = str(tmp_path / "kept")  # type: ignore[attr-defined]
    loop = worker.Worker()
    loop.round()
    assert Checkpoint.objects.filter(namespace=store).exists()
    assert len(list((tmp_path / "kept").glob("lab-*.txt"))) == 1
    before = Entry.objects.filter(namespace=store).count()
    loop.round()
    assert Entry.objects.filter(namespace=store).count() == before


@in_rounds
def test_an_act_that_fails_is_left_alone_for_a_minute_and_the_others_go_on(
    store: int, tmp_path: Path, settings: object, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "kept"
    blocked.write_text("a file stands where the folder should be")
    settings.PALIMPSEST_CHECKPOINT_TO = str(blocked)  # type: ignore[attr-defined]
    loop = worker.Worker()
    with clock.fixed(START):
        loop.round()
        loop.round()
    assert Checkpoint.objects.filter(namespace=store).exists()
    assert [record.getMessage() for record in caplog.records].count("due act failed") == 1
    blocked.unlink()
    with clock.fixed(START + worker.RETRY_AFTER):
        loop.round()
    assert list(blocked.glob("lab-*.txt"))


@pytest.mark.parametrize("named", ["https://example.org/hook", "ssh://git@example.org/x", "git@example.org:x.git"])
def test_only_a_folder_receives_checkpoints(named: str, settings: object) -> None:
    settings.PALIMPSEST_CHECKPOINT_TO = named  # type: ignore[attr-defined]
    with pytest.raises(ImproperlyConfigured, match="folder"):
        worker.Worker()


@task
def remember(text: str) -> None:
    save(Actor(ensure_namespace("lab"), "system"), records=[NewRecord("note", text)])


@in_rounds
def test_a_round_runs_the_tasks_that_were_queued(store: int, settings: object) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}  # type: ignore[attr-defined]
    queued = remember.enqueue("later")
    before = Entry.objects.filter(namespace=store).count()
    worker.Worker().round()
    queued.refresh()
    assert queued.status.name == "SUCCESSFUL"
    assert Entry.objects.filter(namespace=store, verb="save").count() == 1
    assert Entry.objects.filter(namespace=store).count() > before


def test_a_stopped_worker_begins_nothing_new(store: int) -> None:
    loop = worker.Worker()
    loop.stop()
    loop.round()
    loop.run()
    assert not Checkpoint.objects.filter(namespace=store).exists()
