"""The pages of exports, archives, reconciliation and undoing, as a browser gets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from memory.interchange.exports import exports
from memory.interchange.models import ExportRun, ImportRun
from memory.ledger.models import Entry, Namespace
from memory.ledger.queries.erased import commitments
from memory.records.queries.lists import Filter, records
from tests.browsers import browser
from tests.interchange.archives import archive_of, lose, namespace_named
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import imported
from tests.interchange.provenance import faults
from tests.ledger.shown import words
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

Store = Callable[[str], Path]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def take(client: Client, format: str, **given: str) -> Any:
    return client.post("/imports/exports?ns=acme", {"format": format, **given})


def one_import(world: World, path: Path) -> ImportRun:
    imported(path, "acme", by=world.alice)
    return ImportRun.objects.get(namespace=world.namespace)


# Taking a copy out.


def test_an_archive_is_taken_out_and_then_listed(world: World, alice: Client) -> None:
    world.save("to be taken along")
    expected = archive_of(world.namespace)
    answer = take(alice, "jsonl")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="acme-seq-{world.now().seq - 1}.jsonl"'
    assert body(answer) == expected
    (row,) = exports(world.now())
    shown = words(alice.get("/imports?ns=acme").text)
    assert f"archive, up to entry {row.at_seq} everything" in shown
    assert row.file_digest[:12] in shown
    assert "alice" in shown


def test_an_auditor_takes_provenance_out_but_no_secret(world: World) -> None:
    world.save("to be looked at")
    charlie = browser(world.charlie)
    assert "Take a copy out" in charlie.get("/imports?ns=acme").text
    assert faults(json.loads(body(take(charlie, "prov")))) == []
    secret = bytes(Namespace.objects.get(pk=world.namespace).secret).hex().encode()
    assert secret not in body(take(charlie, "jsonl"))
    assert secret in body(take(browser(world.alice), "jsonl"))


def test_a_form_sent_twice_is_two_files_that_left(world: World, alice: Client) -> None:
    for _ in range(2):
        assert take(alice, "prov").status_code == 200
    assert ExportRun.objects.filter(namespace=world.namespace).count() == 2


def test_a_part_is_taken_out_by_its_filter(world: World, alice: Client) -> None:
    world.save("by an agent")
    world.save("by a person", by=world.alice)
    document = json.loads(body(take(alice, "prov", agent="scout")))
    assert [one["prov:label"] for one in document["entity"].values()] == ["by an agent"]
    assert f"agent {world.scout_id}"[:36] in words(alice.get("/imports?ns=acme").text)


def test_the_past_is_taken_out_as_it_was(world: World, alice: Client) -> None:
    first = world.save("known then")
    world.save("known now")
    address = f"/imports/exports?ns=acme&known_at=seq:{first.seq}&valid_at=2999-01-01T00:00:00Z"
    document = json.loads(body(alice.post(address, {"format": "prov"})))
    assert len(document["entity"]) == 1


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        ({"format": "turtle"}, 422, "Select a valid choice"),
        ({"format": "prov", "run": "12"}, 422, "full-length id"),
        ({"format": "prov", "since": "yesterday"}, 422, "RFC 3339"),
        ({"format": "prov", "agent": "nobody"}, 404, "no agent"),
        ({"format": "jsonl", "agent": "scout"}, 422, "an archive is of the whole namespace"),
    ],
)
def test_what_cannot_be_taken_out_is_said_beside_the_form(
    world: World, alice: Client, given: dict[str, str], status: int, told: str
) -> None:
    before = Entry.objects.count()
    answer = take(alice, given.pop("format"), **given)
    assert answer.status_code == status
    assert told in words(answer.text)
    assert Entry.objects.count() == before


def test_a_get_takes_nothing_out(world: World, alice: Client) -> None:
    before = Entry.objects.count()
    for path in ("exports", "restore", "uploads"):
        answer = alice.get(f"/imports/{path}?ns=acme")
        assert (answer.status_code, answer.headers["Location"]) == (302, "/imports?ns=acme")
    assert Entry.objects.count() == before


# Bringing an archive back.


def bring_back(client: Client, archive: bytes, **given: Any) -> HttpResponse:
    file = SimpleUploadedFile("lab.jsonl", archive)
    return client.post("/imports/restore?ns=acme", {"restore-archive": file, "restore-key": uuid4().hex, **given})


@pytest.fixture
def archive() -> bytes:
    lab = World("lab")
    lab.save("to be restored")
    found = archive_of(lab.namespace)
    lose(lab)
    return found


def test_an_archive_is_brought_back_by_an_owner(alice: Client, archive: bytes) -> None:
    answer = bring_back(alice, archive)
    assert answer.status_code == 302
    shown = words(alice.get(answer.headers["Location"]).text)
    assert "lab: " in shown
    assert "entries restored" in shown
    assert alice.get("/records?ns=lab").status_code == 200
    assert namespace_named("lab")


def test_an_archive_of_what_stands_is_a_conflict(alice: Client, archive: bytes) -> None:
    assert bring_back(alice, archive).status_code == 302
    answer = bring_back(alice, archive)
    assert answer.status_code == 409
    assert "under its own name" in words(answer.text)


def test_a_changed_line_is_named_on_the_page(alice: Client, archive: bytes) -> None:
    answer = bring_back(alice, archive.replace(b"to be restored", b"to be replaced"))
    assert answer.status_code == 422
    assert "payload_mismatch" in answer.text
    assert not Namespace.objects.filter(name="lab").exists()


def test_what_was_erased_since_stays_out(alice: Client) -> None:
    lab = World("lab")
    note = lab.save("canary 9917")
    archive = archive_of(lab.namespace)
    gone = lab.erase(note.id)
    listed = "\n".join(one.hex() for one in commitments(lab.namespace, seq=gone.seq).values()).encode()
    lose(lab)
    answer = bring_back(alice, archive, **{"restore-erased": SimpleUploadedFile("erased.txt", listed)})
    assert "erased parts did not come back" in words(alice.get(answer.headers["Location"]).text)
    assert b"canary" not in archive_of(namespace_named("lab"))


def test_a_reviewer_brings_nothing_back(world: World, archive: bytes) -> None:
    for reader in (world.bob, world.charlie):
        client = browser(reader)
        assert "Bring an archive back" not in client.get("/imports?ns=acme").text
        assert bring_back(client, archive).status_code == 403
    assert not Namespace.objects.filter(name="lab").exists()


# What can be done about an import.


@pytest.fixture
def quarantined(world: World, foreign_file: ForeignFile) -> ImportRun:
    foreign_file.memory("a").memory("b").edge("b", "evolved_from", "a")
    return one_import(world, foreign_file.done())


def test_a_dry_run_shows_edges_beside_claims_before_anything_is_written(alice: Client, contextfs_store: Store) -> None:
    file = SimpleUploadedFile("team.db", contextfs_store("violations").read_bytes())
    answer = alice.post("/imports/uploads?ns=acme", {"file": file, "base": "acme"})
    shown = words(alice.get(answer.headers["Location"]).text)
    assert "8 → 5 records of 22 derived disagree" in shown
    assert "Each of those left is explained" in shown
    assert "edge-write-lost" in shown


def test_the_reconciliation_of_an_import_leads_to_the_record_and_its_reason(
    world: World, contextfs_store: Store
) -> None:
    imported(contextfs_store("violations"), "acme", by=world.alice)
    run = ImportRun.objects.get(namespace__name="acme.app-core")
    owner = browser(world.alice)
    answer = owner.get(f"/imports/{run.id}?ns=acme.app-core")
    assert f"/imports/{run.id}/reconciliation?ns=acme.app-core" in unescape(answer.text)
    page = owner.get(f"/imports/{run.id}/reconciliation?ns=acme.app-core")
    assert page.status_code == 200
    shown = words(page.text)
    assert "edge-write-lost" in shown
    record = re.search(r'href="(/records/[^"]*)"', page.text)
    assert record is not None
    assert owner.get(unescape(record[1])).status_code == 200


def test_a_chosen_tie_becomes_a_link_and_says_by_which_entry(
    world: World, alice: Client, quarantined: ImportRun
) -> None:
    address = f"/imports/{quarantined.id}/reconciliation?ns=acme"
    text = alice.get(address).text
    (finding,) = re.findall(r'name="finding" value="([^"]*)"', text)
    key = re.search(r'name="key" value="([^"]*)"', text)
    assert key is not None
    for _ in range(2):
        answer = alice.post(address, {"finding": finding, "key": key[1]}, follow=True)
        assert "1 tie linked" in words(answer.text)
    assert f"linked by entry {world.now().seq}" in words(alice.get(address).text)
    assert alice.post(address, {"finding": finding}).status_code == 422
    assert alice.post(address, {"finding": "x"}).status_code == 422
    assert alice.post(address, {}).status_code == 422


def test_a_reader_sees_the_reconciliation_and_links_nothing(world: World, quarantined: ImportRun) -> None:
    address = f"/imports/{quarantined.id}/reconciliation?ns=acme"
    for reader in (world.bob, world.charlie):
        answer = browser(reader).get(address)
        assert answer.status_code == 200
        assert "Link the chosen ones" not in answer.text
        assert browser(reader).post(address, {"finding": str(uuid4())}).status_code == 403


def test_an_import_is_undone_after_a_preview(world: World, alice: Client, quarantined: ImportRun) -> None:
    address = f"/imports/{quarantined.id}/undo?ns=acme"
    before = world.now().seq
    shown = words(alice.get(address).text)
    assert "2 records" in shown
    assert "Withdraw 2 records" in shown
    assert alice.post(address, {"reason": ""}).status_code == 422
    assert world.now().seq == before
    answer = alice.post(address, {"reason": "the wrong store", "key": "once"}, follow=True)
    assert "its records are withdrawn" in words(answer.text)
    assert records(world.now(), where=Filter()).total == 0
    assert "Nothing of it stands any more" in words(alice.get(address).text)
    assert alice.post(address, {"reason": "again"}).status_code == 409


def test_only_an_owner_undoes(world: World, quarantined: ImportRun) -> None:
    address = f"/imports/{quarantined.id}/undo?ns=acme"
    for reader in (world.bob, world.charlie):
        assert browser(reader).get(address).status_code == 403
        assert browser(reader).post(address, {"reason": "no"}).status_code == 403
    assert "Undo this import" not in browser(world.bob).get(f"/imports/{quarantined.id}?ns=acme").text


def test_what_is_not_there_is_not_found(world: World, alice: Client) -> None:
    for tail in ("reconciliation", "undo"):
        assert alice.get(f"/imports/{uuid4()}/{tail}?ns=acme").status_code == 404


def test_texts_of_the_source_are_never_markup(world: World, alice: Client, foreign_file: ForeignFile) -> None:
    script = "<script>alert(1)</script>"
    foreign_file.memory("a", content=script).memory(f"b{script}", content=script)
    foreign_file.edge(f"b{script}", "evolved_from", "a")
    run = one_import(world, foreign_file.done())
    for tail in ("reconciliation", "undo"):
        text = alice.get(f"/imports/{run.id}/{tail}?ns=acme").text
        assert script not in text
        assert "&lt;script&gt;" in text


def test_the_pages_cost_the_same_whatever_they_hold(
    world: World, alice: Client, foreign_file: ForeignFile, quarantined: ImportRun, tmp_path: Path
) -> None:
    found = {"now 1": count_queries(alice, f"/imports/{quarantined.id}/reconciliation?ns=acme")}
    undone = {"now 1": count_queries(alice, f"/imports/{quarantined.id}/undo?ns=acme")}
    many = ForeignFile(tmp_path / "many" / "many.db")
    for n in range(25):
        many.memory(f"x{n}").memory(f"y{n}").edge(f"y{n}", "evolved_from", f"x{n}")
    imported(many.done(), "acme", by=world.alice, source="many")
    run = ImportRun.objects.filter(namespace=world.namespace).latest("seq")
    found["now 50"] = count_queries(alice, f"/imports/{run.id}/reconciliation?ns=acme")
    undone["now 50"] = count_queries(alice, f"/imports/{run.id}/undo?ns=acme")
    assert_baseline("imports:reconciliation", found)
    assert_baseline("imports:undo", undone)


def test_the_erasure_of_a_restore_has_a_receipt_like_any_other(alice: Client) -> None:
    lab = World("lab")
    note = lab.save("canary 2208")
    archive = archive_of(lab.namespace)
    gone = lab.erase(note.id)
    listed = "\n".join(one.hex() for one in commitments(lab.namespace, seq=gone.seq).values()).encode()
    lose(lab)
    size = len(re.findall(rb'"type":"entry"', archive))
    bring_back(alice, archive, **{"restore-erased": SimpleUploadedFile("erased.txt", listed)})
    answer = alice.get(f"/erasures/{size + 1}?ns=lab")
    assert answer.status_code == 200
    assert "canary" not in answer.text
    # Its list keeps the text out of the next restore as well.
    told = alice.get(f"/erasures/{size + 1}.txt?ns=lab")
    assert {line for line in told.text.split() if len(line) == 64} >= set(listed.decode().split())
