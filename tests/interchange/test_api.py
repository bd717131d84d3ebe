"""Imports over REST: an upload, what it says, and what can be read of it afterwards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from memory.base import jobs
from memory.interchange.api import RAW
from memory.ledger.models import Entry, Namespace
from memory.records.models import Record
from tests.contract.callers import Caller, caller, places
from tests.interchange.foreign import foreign_bytes
from tests.interchange.importing import imported, n_rows
from tests.world import World

pytestmark = pytest.mark.django_db

Store = Callable[[str], Path]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World()


def upload(by: Caller, body: bytes, **query: Any) -> HttpResponse:
    return by.post("/imports", body, query={"format": "contextfs", **query}, content_type=RAW)


def test_a_dry_run_answers_what_would_stand_and_writes_nothing(world: World, contextfs_store: Store) -> None:
    before = n_rows()
    answer = upload(caller(world, world.alice), contextfs_store("violations").read_bytes(), dry_run="true")
    assert answer.status_code == 200
    told = answer.json()
    assert (told["state"], told["dry_run"]) == ("done", True)
    assert told["report"]["targets"]["infra"] == "lab.infra"
    assert len(told["report"]["preview"]) == 50
    assert {one["run"] for one in told["report"]["applied"]} == {None}
    assert n_rows() == before


def test_an_upload_becomes_records_of_its_targets(world: World, contextfs_store: Store) -> None:
    body = contextfs_store("violations").read_bytes()
    answer = upload(caller(world, world.alice), body, source="team", map="infra=lab-metal")
    assert answer.status_code == 201
    applied = {one["namespace"]: one for one in answer.json()["report"]["applied"]}
    assert applied["lab-metal"]["n_records"] == 2
    assert Record.objects.count() == 64
    read = Caller("lab-metal", person=world.alice.person).get(f"/imports/{applied['lab-metal']['run']}").json()
    assert read["report"]["targets"] == {"infra": "lab-metal"}
    assert read["report"]["source"] == "team"
    assert read["report"]["applied"][0]["seq"] == applied["lab-metal"]["seq"]


def test_sent_again_it_adds_nothing_and_answers_200(world: World) -> None:
    by = caller(world, world.alice)
    assert upload(by, foreign_bytes()).status_code == 201
    before = n_rows()
    again = upload(by, foreign_bytes())
    assert again.status_code == 200
    assert again.json()["report"]["applied"][0]["n_skipped"] == 1
    assert n_rows() == before


def test_a_key_of_one_upload_is_no_key_of_another(world: World, home: Path) -> None:
    by = caller(world, world.alice)
    query = {"format": "contextfs"}
    sent = {"query": query, "content_type": RAW, "headers": {"Idempotency-Key": "k"}}
    first = by.post("/imports", foreign_bytes(), **sent)
    assert first.status_code == 201
    assert by.post("/imports", foreign_bytes(), **sent).json()["id"] == first.json()["id"]
    other = by.post("/imports", foreign_bytes("another text"), **sent)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")
    assert [path.name for path in (home / "jobs").iterdir()] == [first.json()["id"]]


def test_a_form_with_the_file_in_it_is_the_same(world: World) -> None:
    client = caller(world, world.alice).client
    file = SimpleUploadedFile("team.db", foreign_bytes())
    answer = client.post("/api/v1/namespaces/lab/imports?format=contextfs", {"file": file})
    assert answer.status_code == 201
    assert Record.objects.count() == 1
    without = client.post("/api/v1/namespaces/lab/imports?format=contextfs", {"other": "x"})
    assert (without.status_code, places(without)) == (422, [["file"]])


def test_the_task_is_read_by_its_id_and_by_nobody_from_elsewhere(world: World) -> None:
    made = upload(caller(world, world.alice), foreign_bytes(), dry_run="true").json()
    for who in (world.bob, world.charlie, world.scout):
        read = caller(world, who).get(f"/imports/{made['id']}").json()
        assert (read["state"], read["report"]) == ("done", made["report"])
    other = World("elsewhere")
    assert caller(other, other.alice).get(f"/imports/{made['id']}").status_code == 404
    assert caller(world, world.alice).get(f"/imports/{uuid4()}").status_code == 404


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"format": "none"}, "format"),
        ({"namespace": "Not A Name"}, "namespace"),
        ({"map": "app"}, "map"),
        ({"map": "none=lab"}, "source_namespace"),
        ({"source_namespace": "none"}, "source_namespace"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_written(query: dict[str, str], place: str, world: World) -> None:
    before = n_rows()
    answer = upload(caller(world, world.alice), foreign_bytes(), **query)
    assert answer.status_code == 422
    assert places(answer)[0][0] == place
    assert n_rows() == before


def test_a_file_that_is_no_store_is_refused_with_what_it_is(world: World, home: Path) -> None:
    answer = upload(caller(world, world.alice), b"not a database")
    assert answer.status_code == 422
    (place,) = answer.json()["errors"]
    assert (place["loc"], place["code"], place["got"]) == (["file"], "not_sqlite", "14 bytes of other data")


def test_a_large_file_is_a_task_that_a_worker_takes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.interchange import tasks

    enqueued: list[str] = []
    monkeypatch.setattr(tasks, "IN_REQUEST_BYTES", 100)
    monkeypatch.setattr(tasks, "import_upload", _Queue(enqueued))
    by = caller(world, world.alice)
    answer = upload(by, foreign_bytes())
    assert (answer.status_code, answer.json()["state"], answer.json()["report"]) == (201, "waiting", None)
    assert not Entry.objects.filter(verb="import").exists()
    (job,) = enqueued
    tasks.run_import(jobs.UUID(job))
    read = by.get(f"/imports/{job}").json()
    assert (read["state"], read["report"]["applied"][0]["n_records"]) == ("done", 1)


class _Queue:
    """Stands where a task is put into the queue of another process."""

    def __init__(self, enqueued: list[str]) -> None:
        self._enqueued = enqueued

    def enqueue(self, job: str) -> None:
        self._enqueued.append(job)


def test_a_task_whose_asker_lost_the_role_does_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.agents.operations import admit_member
    from memory.interchange import tasks

    enqueued: list[str] = []
    monkeypatch.setattr(tasks, "IN_REQUEST_BYTES", 100)
    monkeypatch.setattr(tasks, "import_upload", _Queue(enqueued))
    upload(caller(world, world.alice), foreign_bytes())
    dora = world.person("dora", role="owner")
    admit_member(dora, person=world.alice.person or 0, role="reviewer")
    tasks.run_import(jobs.UUID(enqueued[0]))
    read = caller(world, dora).get(f"/imports/{enqueued[0]}").json()
    assert (read["state"], read["problem"]["code"]) == ("failed", "forbidden")
    assert not Record.objects.exists()


@pytest.mark.parametrize("who", ["bob", "charlie", "scout"])
def test_only_an_owner_imports(who: str, world: World) -> None:
    before = n_rows()
    assert upload(caller(world, getattr(world, who)), foreign_bytes()).status_code == 403
    assert n_rows() == before


def test_an_owner_here_imports_nothing_into_what_another_owns(world: World, tmp_path: Path) -> None:
    store = tmp_path / "theirs.db"
    store.write_bytes(foreign_bytes())
    imported(store, "theirs")
    before = n_rows()
    answer = upload(caller(world, world.alice), foreign_bytes(), namespace="theirs")
    assert answer.status_code == 403
    assert n_rows() == before
    assert Namespace.objects.count() == 2


def test_an_uploaded_file_is_gone_once_it_is_imported(world: World, home: Path) -> None:
    by = caller(world, world.alice)
    dry = upload(by, foreign_bytes(), dry_run="true").json()
    folder = home / "jobs" / dry["id"]
    assert (folder / "store").exists()
    done = upload(by, foreign_bytes()).json()
    assert not (home / "jobs" / done["id"] / "store").exists()


def test_an_upload_above_the_limit_is_413(world: World, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    from memory.interchange import tasks

    monkeypatch.setattr(tasks, "MOST_BYTES", 1_000)
    answer = upload(caller(world, world.alice), foreign_bytes())
    assert answer.status_code == 413
    assert list((home / "jobs").iterdir()) == []
