"""Exports and restores by the API: files with their digest, and archives that come back whole or not at all."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from memory.interchange import api
from memory.interchange.api import RAW
from memory.ledger.models import Entry, Namespace
from memory.ledger.queries.erased import commitments
from tests.contract.callers import Caller, caller, places
from tests.interchange.archives import archive_of, lose, namespace_named
from tests.interchange.provenance import faults, read_event
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def alice(world: World) -> Caller:
    return caller(world, world.alice)


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def other(content: str = "to be restored", name: str = "other") -> bytes:
    """The archive of a namespace that is gone from this store."""
    made = World(name)
    made.save(content)
    archive = archive_of(made.namespace)
    lose(made)
    return archive


def restore(by: Caller, archive: bytes, **more: Any) -> Any:
    return by.post("/restore", archive, content_type=RAW, **more)


def test_an_owner_gets_the_archive_whole(world: World, alice: Caller) -> None:
    world.save("taken along")
    expected = archive_of(world.namespace)
    answer = alice.get("/export", format="jsonl")
    assert answer.content == expected
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="lab-seq-{world.now().seq}.jsonl"'
    assert int(answer.headers["Palimpsest-Seq"]) == world.now().seq
    algorithm, _, digest = answer.headers["Repr-Digest"].partition("=")
    assert algorithm == "sha-256"
    assert b64decode(digest.strip(":")) == hashlib.sha256(expected).digest()


def test_a_large_export_is_streamed_and_is_the_same(
    world: World, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.save("taken along")
    whole = alice.get("/export", format="jsonl").content
    monkeypatch.setattr(api, "STREAMED_BYTES", 10)
    answer: Any = alice.get("/export", format="jsonl")
    assert b"".join(answer.streaming_content) == whole
    head = alice.call("HEAD", "/export", query={"format": "jsonl"})
    assert int(head.headers["Content-Length"]) == len(whole)


def test_reading_an_export_writes_nothing(world: World, agent: Caller) -> None:
    before = Entry.objects.count()
    for format in ("jsonl", "prov", "openlineage"):
        assert agent.get("/export", format=format).status_code == 200
    assert Entry.objects.count() == before


def test_provenance_is_narrowed_by_the_same_words_as_everywhere(world: World, agent: Caller) -> None:
    first = world.save("the first")
    world.save("by a person", by=world.alice)

    def entities(**narrowed: Any) -> int:
        document = agent.get("/export", format="prov", **narrowed).json()
        assert faults(document) == []
        return len(document.get("entity", {}))

    assert entities() == 2
    assert entities(agent="scout") == entities(agent=world.scout_id) == entities(focus=first.id) == 1
    assert entities(known_at=f"seq:{first.seq}") == 1
    assert entities(**{"from": "2999-01-01T00:00:00Z"}) == 0
    assert entities(to="2999-01-01T00:00:00Z") == 2
    events = agent.get("/export", format="openlineage", agent="scout").content.splitlines()
    assert [read_event(json.loads(line)).kind for line in events] == ["START", "COMPLETE"]


@pytest.mark.parametrize(
    ("query", "status", "place"),
    [
        ({}, 422, "format"),
        ({"format": "turtle"}, 422, "format"),
        ({"format": "prov", "from": "yesterday"}, 422, "from"),
        ({"format": "prov", "from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, 422, "to"),
        ({"format": "prov", "run": "12"}, 422, "run"),
        ({"format": "jsonl", "agent": "scout"}, 422, "agent"),
        ({"format": "jsonl", "known_at": "seq:2"}, 422, "known_at"),
        ({"format": "prov", "subject": "Ana"}, 422, "subject"),
    ],
)
def test_what_cannot_be_exported_is_named(agent: Caller, query: dict[str, str], status: int, place: str) -> None:
    answer = agent.call("GET", "/export", query=query)
    assert answer.status_code == status
    assert places(answer)[0][0] == place


def test_what_is_not_here_is_not_found(world: World, agent: Caller) -> None:
    theirs = World("theirs").save("not yours").id
    assert agent.get("/export", format="prov", focus=theirs).status_code == 404
    assert agent.get("/export", format="prov", agent="nobody").status_code == 404
    assert agent.get("/export", format="prov", run=theirs).status_code == 404


def test_an_archive_is_restored_and_then_exported_byte_for_byte(world: World, alice: Caller) -> None:
    archive = other()
    answer = restore(alice, archive)
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["namespace"], told["n_erased"], told["replayed"]) == ("other", 0, False)
    assert told["sha256"] == hashlib.sha256(archive).hexdigest()
    # Alice owns it by the archive, for her number in it is hers: nothing had to be added.
    there = Caller("other", person=world.alice.person)
    assert there.get("/export", format="jsonl").content == archive


def test_what_stands_here_is_a_conflict(world: World, alice: Caller) -> None:
    before = Entry.objects.count()
    answer = restore(alice, archive_of(world.namespace))
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert Entry.objects.count() == before


def test_a_changed_line_is_named_by_its_number_and_cause(alice: Caller) -> None:
    archive = other().replace(b"to be restored", b"to be replaced")
    answer = restore(alice, archive)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    number = next(n for n, line in enumerate(archive.splitlines(), 1) if b"to be replaced" in line)
    assert (error["loc"], error["code"]) == (["line", number], "payload_mismatch")
    assert not Namespace.objects.filter(name="other").exists()


@pytest.mark.parametrize("body", [b"", b"nothing", b"{}\n", b"\x00\xff", b"[" * 5_000])
def test_what_is_no_archive_is_refused_in_words(alice: Caller, body: bytes) -> None:
    answer = restore(alice, body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_an_archive_over_the_limit_goes_by_the_command(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = other()
    monkeypatch.setattr(api, "MOST_RESTORED_BYTES", len(archive) - 1)
    answer = restore(alice, archive)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "manage.py restore" in answer.json()["detail"]


def test_a_form_takes_the_list_of_what_was_erased(world: World, alice: Caller) -> None:
    made = World("other")
    note = made.save("canary 3308")
    archive = archive_of(made.namespace)
    gone = made.erase(note.id)
    listed = json.dumps({"commitments": [one.hex() for one in commitments(made.namespace, seq=gone.seq).values()]})
    lose(made)
    given = {"file": SimpleUploadedFile("a", archive), "erased": SimpleUploadedFile("b", listed.encode())}
    answer: Any = alice.client.post("/api/v1/namespaces/lab/restore", given)
    assert answer.status_code == 201, answer.content
    assert answer.json()["n_erased"] > 0
    assert b"canary" not in archive_of(namespace_named("other"))


def test_a_token_never_restores_whatever_its_scopes(world: World) -> None:
    strong = world.agent("strong", scopes=("read", "write", "control"))
    assert restore(caller(world, strong), other()).status_code == 403
    assert not Namespace.objects.filter(name="other").exists()
