"""Undoing an import: previewed, one entry, and nothing is deleted."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from memory.agents.accounts import create_person
from memory.base.actor import ROLE_POWERS, SCOPE_POWERS, Actor
from memory.base.errors import Conflict, Forbidden, Invalid, NotFound
from memory.checks.rebuilding import rebuild
from memory.interchange.models import ImportRun
from memory.interchange.operations import undo_import
from memory.interchange.undoing import Undo, undo_of
from memory.ledger.models import Content, Entry
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.ledger.queries.verification import scan
from memory.lineage.operations import derivations
from memory.lineage.operations.deriving import Cause
from memory.records.models import Record
from memory.records.operations import restore
from memory.records.queries.lists import Filter, records
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import SYSTEM, imported, namespaces

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(foreign_file: ForeignFile) -> int:
    foreign_file.memory("a").memory("b").memory("gone", deleted_at="2026-03-05T00:00:00+00:00")
    foreign_file.derived("c", "evolved_from", "a")
    (namespace,) = namespaces(imported(foreign_file.done(), "kept")).values()
    return namespace


def owner(namespace: int) -> Actor:
    account = create_person("olga@example.org").pk
    return Actor(namespace, "person", person=account, role="owner", powers=ROLE_POWERS["owner"])


def run_of(namespace: int) -> UUID:
    return ImportRun.objects.get(namespace=namespace).id


def preview(namespace: int) -> Undo:
    return undo_of(asof.now(namespace), run=run_of(namespace))


def n_shown(namespace: int) -> int:
    return records(asof.now(namespace), where=Filter(include=frozenset({"superseded"}))).total


def test_the_preview_counts_what_would_be_withdrawn_and_writes_nothing(target: int) -> None:
    before = Entry.objects.filter(namespace=target).count()
    found = preview(target)
    assert (len(found.records), found.n_withdrawn, found.n_superseded, found.n_resting) == (3, 1, 1, 0)
    assert Entry.objects.filter(namespace=target).count() == before


def test_undoing_withdraws_what_the_preview_named_by_one_entry(target: int) -> None:
    found = preview(target)
    n_texts = Content.objects.filter(namespace=target, part="content").count()
    before = Entry.objects.filter(namespace=target).count()
    done = undo_import(owner(target), run=run_of(target), reason="the wrong store")
    assert Entry.objects.filter(namespace=target).count() == before + 1 == done.seq
    assert n_shown(target) == 0
    page = records(asof.now(target), where=Filter(states=("withdrawn",)))
    assert {row.id for row in page.items} >= set(found.records)
    # Nothing is deleted: text and rows stay.
    assert Content.objects.filter(namespace=target, part="content").count() == n_texts
    assert scan(target).is_clean
    system = replace(SYSTEM, namespace=target)
    assert all(each.n_differences == 0 for each in rebuild(system, check=True).comparisons)


def test_each_record_can_be_restored_and_withdrawn_by_another_undo(target: int) -> None:
    by, run = owner(target), run_of(target)
    first = preview(target).records[0]
    undo_import(by, run=run, reason="the wrong store")
    restore(by, record=first, reason="this one was right")
    assert preview(target).records == (first,)
    undo_import(by, run=run, reason="it was not")
    with pytest.raises(Conflict):
        undo_import(by, run=run, reason="once more")


def test_what_was_derived_here_is_told_and_stays(target: int) -> None:
    by = owner(target)
    record = preview(target).records[-1]
    made = derivations.evolve(by, record=record, base="", changes={"content": "ours"}, cause=Cause("correction"))
    found = preview(target)
    assert (found.resting, found.n_resting) == (made.records, 1)
    undo_import(by, run=run_of(target), reason="the wrong store")
    assert n_shown(target) == 1


def test_what_is_erased_stays_erased_and_is_counted(target: int) -> None:
    record = preview(target).records[0]
    row = Record.objects.get(namespace=target, id=record)
    erase(owner(target), items=[(row.seq, row.item)], reason="request")
    found = preview(target)
    assert record not in found.records
    assert found.n_erased == 1


def test_the_same_request_is_answered_as_before(target: int) -> None:
    by = replace(owner(target), idempotency_key="once")
    first = undo_import(by, run=run_of(target), reason="the wrong store")
    second = undo_import(by, run=run_of(target), reason="the wrong store")
    assert (second.seq, second.replayed) == (first.seq, True)


def test_a_second_import_of_the_source_does_not_bring_it_back(target: int, foreign_file: ForeignFile) -> None:
    undo_import(owner(target), run=run_of(target), reason="the wrong store")
    imported(foreign_file.path, "kept")
    assert n_shown(target) == 0


def test_only_an_owner_undoes_and_says_why(target: int) -> None:
    by, run = owner(target), run_of(target)
    for other in (
        replace(by, role="reviewer", powers=ROLE_POWERS["reviewer"]),
        Actor(target, "agent", agent=uuid4(), powers=SCOPE_POWERS["write"]),
    ):
        with pytest.raises(Forbidden):
            undo_import(other, run=run, reason="no")
    with pytest.raises(Invalid):
        undo_import(by, run=run, reason=" ")
    with pytest.raises(NotFound):
        undo_import(by, run=uuid4(), reason="of nothing")
