"""The archive of a namespace: what stands in it, line by line, and what comes back from it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.db import connection

from memory.agents.setup import system
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.canonical import canonical
from memory.base.errors import Conflict, Forbidden, Invalid
from memory.checks.rebuilding import rebuild
from memory.interchange.contextfs.operations import Options
from memory.interchange.exporting import export
from memory.interchange.jsonl import writing
from memory.interchange.operations import import_file
from memory.interchange.slices import Selection
from memory.ledger.models import Checkpoint, Content, Entry, Item, Name, Namespace, PublicKey
from memory.ledger.operations.checkpoints import checkpoint
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof, trees
from memory.ledger.queries.verification import scan
from memory.records import operations as records
from memory.records.content import NewRecord
from memory.records.queries.detail import record
from tests.conftest import lifted_triggers
from tests.every_table import GUARDED, populate, stored_rows
from tests.interchange.archives import archive_of, lines_of, lose, namespace_named, restored
from tests.interchange.foreign import foreign_bytes
from tests.world import World

pytestmark = pytest.mark.django_db

NOT_IN_AN_ARCHIVE = {"Restoration"}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def lived(world: World) -> World:
    """A namespace in which everything was done once."""
    note = world.save("a note that is erased")
    world.erase(note.id)
    first, second = world.save_all("the first", "the second")
    world.merge(first.id, world.evolve(second.id, content="the second, reworded"))
    world.withdraw(first.id)
    world.save("said for somebody", summary="short", tags=("a",), metadata={"deep": {"er": [1, 2.5, None]}})
    checkpoint(world.namespace, make_key=True)
    world.save("after the checkpoint")
    return world


def root_of(namespace: int) -> bytes:
    return trees.root(namespace, Entry.objects.filter(namespace=namespace).count())


def test_every_line_is_canonical_and_the_last_one_counts_and_digests_the_others(lived: World) -> None:
    archive = archive_of(lived.namespace)
    assert archive.endswith(b"\n")
    lines = archive.splitlines(keepends=True)
    assert [canonical(json.loads(line)) + b"\n" for line in lines] == lines
    trailer = json.loads(lines[-1])
    assert trailer == {
        "type": "trailer", "lines": len(lines) - 1, "sha256": hashlib.sha256(b"".join(lines[:-1])).hexdigest(),
    }  # fmt: skip


def test_the_header_names_the_log_its_size_and_its_newest_checkpoint(lived: World) -> None:
    header = lines_of(archive_of(lived.namespace))[0]
    newest = Checkpoint.objects.filter(namespace=lived.namespace).latest("seq")
    assert header == {
        "type": "header", "format": "palimpsest", "version": 1, "namespace": "lab",
        "origin": newest.namespace.origin, "size": lived.now().seq, "checkpoint": newest.note,
    }  # fmt: skip


def test_everything_stands_once_and_in_the_order_of_the_log(lived: World) -> None:
    lines = lines_of(archive_of(lived.namespace))
    counted = Counter(line["type"] for line in lines)
    of_it = {"namespace": lived.namespace}
    assert counted == {
        "header": 1, "trailer": 1, "entry": Entry.objects.filter(**of_it).count(),
        "content": Content.objects.filter(**of_it).count(), "name": Name.objects.filter(**of_it).count(),
        "checkpoint": Checkpoint.objects.filter(**of_it).count(),
        "public_key": PublicKey.objects.filter(**of_it).count(),
    }  # fmt: skip
    seqs = [line["seq"] for line in lines if line["type"] in ("entry", "content", "name")]
    assert seqs == sorted(seqs)
    n_items = sum(len(line["items"]) for line in lines if line["type"] == "entry")
    assert n_items == Item.objects.filter(**of_it).count()


def test_what_was_erased_is_there_as_a_commitment_alone(world: World) -> None:
    canary = "canary-7c1f0a"
    note = world.save(f"the word is {canary}")
    assert canary.encode() in archive_of(world.namespace)
    seq, item = world.address(note.id)
    world.erase(note.id)
    archive = archive_of(world.namespace)
    assert canary.encode() not in archive
    (entry,) = [line for line in lines_of(archive) if line["type"] == "entry" and line["seq"] == seq]
    assert len(entry["items"][item]["parts"]["content"]) == 64
    assert not [
        one for one in lines_of(archive) if one["type"] == "content" and (one["seq"], one["item"]) == (seq, item)
    ]


def test_an_archive_restored_and_archived_again_has_the_same_bytes_and_the_same_root(lived: World) -> None:
    first, root = archive_of(lived.namespace), root_of(lived.namespace)
    lose(lived)
    done = restored(first)
    assert (done.namespace, done.root) == ("lab", root)
    here = namespace_named("lab")
    assert archive_of(here) == first
    assert root_of(here) == root


def test_every_row_of_evidence_and_content_comes_back_as_it_was(world: World) -> None:
    populate(world)
    # Rows that no entry lists are no part of a log: they were put in beside it.
    listed = set(Item.objects.filter(namespace=world.namespace).values_list("seq", "item"))

    def rows(namespace: int) -> dict[str, list[dict[str, object]]]:
        kept = {}
        for model in GUARDED:
            if model.__name__ not in NOT_IN_AN_ARCHIVE:
                found = list(stored_rows(model, namespace))
                kept[model.__name__] = [
                    {name: value for name, value in row.items() if name not in ("namespace_id", "id")}
                    | {"id": row.get("id") if model.__name__ != "Namespace" else None}
                    for row in found
                    if "item" not in row or (row["seq"], row["item"]) in listed
                ]
        return kept

    before, archive = rows(world.namespace), archive_of(world.namespace)
    lose(world)
    restored(archive)
    assert rows(namespace_named("lab")) == before


def test_a_restored_namespace_verifies_and_its_projections_are_what_they_should_be(lived: World) -> None:
    archive = archive_of(lived.namespace)
    lose(lived)
    restored(archive)
    here = namespace_named("lab")
    found = scan(here)
    assert found.faults == []
    assert found.n_checkpoints == 1
    assert all(each.n_differences == 0 for each in rebuild(system(here), check=True).comparisons)


def test_reads_of_the_past_answer_as_they_did(lived: World) -> None:
    note = lived.save("what was known then")
    seq = lived.now().seq
    lived.evolve(note.id, content="what is known now")
    archive = archive_of(lived.namespace)

    def told(at: AsOf) -> tuple[object, ...]:
        found = record(at, id=note.id)
        return found.content, found.row.state, found.digest, found.ancestry_digest, found.row.recorded_at

    before = told(lived.at(seq)), told(lived.now())
    lose(lived)
    restored(archive)
    here = namespace_named("lab")
    assert (told(asof.resolve(here, known_at=f"seq:{seq}")), told(asof.now(here))) == before


def test_writes_go_on_where_the_archive_ended_and_this_node_signs(lived: World, settings: Any, tmp_path: Path) -> None:
    archive, size = archive_of(lived.namespace), lived.now().seq
    former = PublicKey.objects.get(namespace=lived.namespace)
    lose(lived)
    restored(archive)
    lived.namespace = namespace_named("lab")
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "another.pem"
    signed = checkpoint(lived.namespace, make_key=True)
    assert signed.seq == size + 1
    keys = [bytes(row.key) for row in PublicKey.objects.filter(namespace=lived.namespace).order_by("seq")]
    assert keys[0] == bytes(former.key)
    assert len(set(keys)) == 2
    assert scan(lived.namespace).faults == []


def test_an_idempotency_key_of_the_former_host_still_answers(world: World) -> None:
    by = world.keyed("once")
    (first,) = records.save(by, records=[NewRecord("note", "asked once")])
    archive = archive_of(world.namespace)
    lose(world)
    restored(archive)
    (again,) = records.save(replace(by, namespace=namespace_named("lab")), records=[NewRecord("note", "asked once")])
    assert (again.id, again.seq, again.replayed) == (first.id, first.seq, True)


def test_a_chain_of_restores_changes_nothing(lived: World) -> None:
    archive = archive_of(lived.namespace)
    for _ in range(2):
        lose(lived)
        restored(archive)
        lived.namespace = namespace_named("lab")
        assert archive_of(lived.namespace) == archive


def test_an_erasure_that_ends_while_the_archive_is_written_does_not_tear_it(lived: World) -> None:
    note = lived.save("erased meanwhile")
    is_done = []

    def meanwhile(_stage: str, _done: int, _total: int | None) -> None:
        if not is_done:
            is_done.append(erase(lived.alice, items=[lived.address(note.id)], reason="request"))

    stream = BytesIO()
    written = writing.write(stream, namespace=lived.namespace, progress=meanwhile)
    assert written.size == lived.now().seq
    archive = stream.getvalue()
    assert archive == archive_of(lived.namespace)
    assert b"erased meanwhile" not in archive


def test_an_archive_takes_no_filter_and_no_past_point(lived: World) -> None:
    at = lived.now()
    with pytest.raises(Invalid, match="run"):
        export(lived.alice, at, BytesIO(), format="jsonl", selection=Selection(run=lived.scout_id))
    with pytest.raises(Invalid, match="known_at"):
        export(lived.alice, lived.at(2), BytesIO(), format="jsonl", selection=Selection())


def test_the_secret_is_in_an_owners_archive_alone(lived: World) -> None:
    secret = bytes(Namespace.objects.get(pk=lived.namespace).secret).hex().encode()

    def archive(by: Actor) -> bytes:
        stream = BytesIO()
        export(by, lived.now(), stream, format="jsonl", selection=Selection())
        return stream.getvalue()

    assert secret in archive(lived.alice)
    for reader in (lived.bob, lived.charlie, lived.scout):
        assert secret not in archive(reader)
    with pytest.raises(Forbidden):
        archive(replace(lived.scout, powers=frozenset({"control"})))


def test_a_readers_archive_restores_to_the_same_log_with_a_secret_of_its_own(lived: World) -> None:
    stream = BytesIO()
    export(lived.charlie, lived.now(), stream, format="jsonl", selection=Selection())
    secret, root = bytes(Namespace.objects.get(pk=lived.namespace).secret), root_of(lived.namespace)
    lose(lived)
    restored(stream.getvalue())
    here = namespace_named("lab")
    assert root_of(here) == root
    assert bytes(Namespace.objects.get(pk=here).secret) not in (secret, bytes(32))
    again = BytesIO()
    export(replace(lived.charlie, namespace=here), asof.now(here), again, format="jsonl", selection=Selection())
    assert again.getvalue() == stream.getvalue()


def test_a_readers_archive_of_imported_rows_is_refused(world: World) -> None:
    """Without the secret, a second import would take them, and what was erased of them, for new."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "other.db"
        path.write_bytes(foreign_bytes("a note of another memory"))
        import_file(world.alice, path, format="contextfs", options=Options("lab", source="other"))
    stream = BytesIO()
    export(world.scout, world.now(), stream, format="jsonl", selection=Selection())
    owners = archive_of(world.namespace)
    lose(world)
    with pytest.raises(Invalid, match="secret_missing"):
        restored(stream.getvalue())
    restored(owners)


def test_content_that_has_no_canonical_form_any_more_is_not_exported(lived: World) -> None:
    row = Content.objects.filter(namespace=lived.namespace).first()
    assert row is not None
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_content SET payload = %s WHERE namespace_id = %s AND seq = %s AND item = %s AND part = %s",
            ['"a"}\n{"type":"entry"', row.namespace_id, row.seq, row.item, row.part],
        )
    with pytest.raises(Conflict, match="verify"):
        archive_of(lived.namespace)


def test_what_is_written_while_an_archive_is_made_is_not_in_it(lived: World) -> None:
    before, size = archive_of(lived.namespace), lived.now().seq

    def meanwhile(_stage: str, _done: int, _total: int | None) -> None:
        lived.save("written meanwhile")
        checkpoint(lived.namespace, make_key=True)

    stream = BytesIO()
    written = writing.write(stream, namespace=lived.namespace, progress=meanwhile)
    assert written.size == size < lived.now().seq
    assert stream.getvalue() == before
