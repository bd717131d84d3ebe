"""An archive that was written on another machine, on SQLite: restored here, whatever the engine, it is the same log."""

from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import pytest

from memory.agents.setup import system
from memory.checks.rebuilding import rebuild
from memory.ledger.models import Checkpoint, Entry, Erasure
from memory.ledger.queries import asof, trees
from memory.ledger.queries.verification import scan
from memory.records.queries.lists import Filter, records
from memory.records.queries.recall import recall
from tests.interchange.archives import archive_of, lines_of, namespace_named, restored

pytestmark = pytest.mark.django_db

ARCHIVE = Path(__file__).parent / "fixtures" / "travelled.jsonl.xz"
ROOT = "765aca7150566e161b969cfc380d969e5243b02f63a6eb65f258711e7525ae92"


@pytest.fixture
def archive() -> bytes:
    return lzma.decompress(ARCHIVE.read_bytes())


@pytest.fixture
def here(archive: bytes) -> int:
    restored(archive)
    return namespace_named("travelled")


def test_it_is_archived_again_byte_for_byte_and_has_the_root_that_it_had(archive: bytes, here: int) -> None:
    assert archive_of(here) == archive
    assert trees.root(here, Entry.objects.filter(namespace=here).count()).hex() == ROOT


def test_it_verifies_and_every_projection_follows(here: int) -> None:
    found = scan(here)
    assert found.faults == []
    assert (found.n_checkpoints, found.inclusion) == (1, "ok")
    assert Checkpoint.objects.filter(namespace=here).count() == 1
    assert [each for each in rebuild(system(here), check=True).comparisons if each.n_differences] == []


def test_it_is_read_as_it_was(archive: bytes, here: int) -> None:
    verbs = Counter(line["verb"] for line in lines_of(archive) if line["type"] == "entry")
    assert Counter(Entry.objects.filter(namespace=here).values_list("verb", flat=True)) == verbs
    page = records(asof.now(here), where=Filter(include=frozenset({"superseded", "withdrawn", "erased"})))
    assert {row.state for row in page.items} == {"current", "superseded", "erased"}
    assert recall(asof.now(here), query="porto").items
    assert Erasure.objects.filter(namespace=here).exists()
