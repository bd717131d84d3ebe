"""Erasure: the text is gone from wherever it stood, and every digest, proof and shape is what it was."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest
from django.apps import apps

from memory.ledger.kernel import commitment
from memory.ledger.models import Content, Entry, Item, Name
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.verification import scan
from memory.lineage.models import Derivation
from memory.lineage.queries.ancestry import ancestry, descendants
from memory.records.models import Record, RecordState
from memory.records.queries import detail, lists, recall
from tests.erasures.canary import database_files, holds, new_canary, tables_with
from tests.every_table import stored_rows
from tests.states import evidence, projected, rebuilt
from tests.world import CORRECTION, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def canary() -> str:
    return new_canary()


def indexed_text(world: World, canary: str) -> list[object]:
    return [row for row in projected(world.namespace)["record_texts"] if canary in str(row)]


def sung_by(world: World, canary: str) -> UUID:
    """A record that says the canary in every place a record has, and all that was said about it."""
    saved = world.save(
        f"The password is {canary}.", summary=f"about {canary}", tags=(canary,), metadata={"k": {canary: [canary]}},
        origin=canary, pointer=f"https://example.org/{canary}",
    )  # fmt: skip
    world.withdraw(saved.id, reason=f"{canary} leaked")
    world.restore(saved.id, reason=f"{canary} was old")
    return saved.id


def test_no_table_holds_the_text_after_an_erasure(canary: str) -> None:
    world = World()
    record = sung_by(world, canary)
    assert tables_with(canary)[0] == "memory_content"
    assert any("recordtext" in table for table in tables_with(canary))
    world.erase(record)
    assert tables_with(canary) == []
    assert indexed_text(world, canary) == []


def test_what_a_merge_quotes_of_the_metadata_of_its_sources_goes_with_them(canary: str) -> None:
    world = World()
    first, second = world.save("one", metadata={"who": canary}), world.save("two", metadata={"who": "somebody else"})
    merge = world.merge(first.id, second.id)
    assert Derivation.objects.get(namespace=world.namespace).n_conflicts == 1
    world.erase(first.id)
    assert tables_with(canary) == []
    assert detail.record(world.now(), id=merge).content is not None


def test_the_note_of_the_derivation_that_made_a_record_goes_with_it(canary: str) -> None:
    world = World()
    newer = world.evolve(world.save("one").id, content="two", cause=replace(CORRECTION, note=f"because of {canary}"))
    assert "memory_content" in tables_with(canary)
    world.erase(newer)
    assert tables_with(canary) == []


def test_the_note_of_an_erasure_is_a_text_like_any_other(canary: str) -> None:
    world = World()
    gone = world.erase(world.save("one").id, note=canary)
    assert tables_with(canary) == ["memory_content"]
    erase(world.alice, items=[(gone.seq, 0)], reason="mistake")
    assert tables_with(canary) == []


def test_a_name_that_a_client_chose_can_be_erased_and_chosen_again(canary: str) -> None:
    world = World()
    by = replace(world.scout, host=canary)
    saved = world.save("a note", by=by)
    name = Name.objects.get(namespace=world.namespace, text=canary)
    erase(world.alice, items=[(name.seq, name.item)], reason="request")
    assert tables_with(canary) == []
    assert Entry.objects.get(namespace=world.namespace, seq=saved.seq).host == name.id
    world.save("another", by=by)
    assert Name.objects.get(namespace=world.namespace, text=canary).id != name.id
    assert scan(world.namespace).is_clean


@pytest.mark.sqlite_only
@pytest.mark.django_db(transaction=True)
def test_neither_the_file_nor_its_log_holds_the_text_after_an_erasure(canary: str) -> None:
    world = World()
    record = sung_by(world, canary)
    for number in range(40):
        world.save(f"other text of many words {number} {secrets.token_hex(200)}")
    assert traces_of(canary) != []
    world.erase(record)
    assert traces_of(canary) == []


def traces_of(canary: str) -> list[str]:
    """The files of the database that hold the canary."""
    return [path.name for path in database_files() if holds(path, canary)]


# What stays.


def family(world: World) -> list[UUID]:
    """A chain, a merge and a split around the middle."""
    grandparent = world.save("the first words").id
    parent = world.evolve(grandparent, content="the second words")
    child = world.evolve(parent, content="the third words")
    other = world.save("other words").id
    return [grandparent, parent, child, other, world.merge(child, other), *world.split(parent, "the", "second words")]


def shapes(world: World) -> dict[UUID, object]:
    at = world.now()
    return {
        row.id: (
            bytes(row.ancestry_digest), ancestry(at, record=row.id).items, descendants(at, record=row.id).items,
            detail.record(at, id=row.id).digest,
        )
        for row in Record.objects.filter(namespace=world.namespace)
    }  # fmt: skip


def test_every_row_of_evidence_stays_byte_for_byte() -> None:
    world = World()
    _, parent, *_ = family(world)
    texts = ("Content ", "Name ")
    before = [line for line in evidence(world.namespace) if not line.startswith(texts)]
    world.erase(parent, note="asked for")
    after = [line for line in evidence(world.namespace) if not line.startswith(texts)]
    assert set(before) <= set(after)
    assert {line.split()[0] for line in set(after) - set(before)} == {"Entry", "Item", "Erasure"}


def test_ancestors_descendants_and_digests_stay_when_the_middle_of_a_chain_goes() -> None:
    world = World()
    grandparent, parent, child, *_ = family(world)
    before = shapes(world)
    world.erase(parent)
    assert shapes(world) == before
    assert [step.id for step in ancestry(world.now(), record=child).items] == [parent, grandparent]


def test_erasing_everything_in_a_namespace_leaves_every_record_and_edge_where_it_was() -> None:
    world = World()
    records = family(world)
    before = shapes(world)
    world.erase(*records)
    assert shapes(world) == before
    kinds = Content.objects.filter(namespace=world.namespace).values_list("part", flat=True)
    assert "content" not in set(kinds)
    assert scan(world.namespace).faults == []


def test_only_the_erased_content_is_gone_and_the_scan_says_which() -> None:
    world = World()
    records = family(world)
    before = {(row.seq, row.item, row.part) for row in Content.objects.filter(namespace=world.namespace)}
    gone = world.erase(records[1])
    after = {(row.seq, row.item, row.part) for row in Content.objects.filter(namespace=world.namespace)}
    assert before - after == set(gone.refs)
    found = scan(world.namespace)
    assert (found.content, found.n_erased, found.faults) == ("erased", len(gone.refs), [])


def test_without_the_salt_the_true_text_cannot_be_tested_against_the_commitment() -> None:
    world = World()
    saved = world.save("yes")
    row = Item.objects.get(namespace=world.namespace, seq=saved.seq, kind="record")
    stored = Content.objects.get(namespace=world.namespace, seq=saved.seq, part="content")
    commit = bytes(row.parts)[1:33]
    assert commitment.part_commitment("content", bytes(stored.salt), b'"yes"') == commit
    assert commitment.part_commitment("content", bytes(32), b'"yes"') != commit
    world.erase(saved.id)
    salts = [bytes(v) for m in tables() for r in stored_rows(m, world.namespace) for v in r.values() if is_salt(v)]
    assert all(commitment.part_commitment("content", salt, b'"yes"') != commit for salt in salts)


def tables() -> Iterator[type]:
    return (model for model in apps.get_app_config("memory").get_models() if model.__name__ in ("Content", "Name"))


def is_salt(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == commitment.SALT_BYTES


def test_an_erased_record_is_shown_as_such_at_every_recorded_time() -> None:
    world = World()
    saved = world.save("the words", summary="words")
    before = world.now().seq
    gone = world.erase(saved.id)
    for at in (world.now(), world.at(before)):
        shown = detail.record(at, id=saved.id)
        assert (shown.row.state, shown.content, shown.summary, shown.row.first_line) == ("erased", None, "", "")
        assert shown.erased_seq == gone.seq
        assert lists.records(at, where=lists.Filter()).hidden == {"erased": 1}
        assert recall.recall(at, query="words").items == ()


def test_a_rebuild_brings_no_text_back(canary: str) -> None:
    world = World()
    record = sung_by(world, canary)
    world.erase(record)
    before = projected(world.namespace)
    assert rebuilt(world.namespace) == before
    assert tables_with(canary) == []
    assert RecordState.objects.get(namespace=world.namespace, id=record).erased_seq is not None


def test_equal_text_saved_after_an_erasure_is_not_said_to_be_the_same(canary: str) -> None:
    world = World()
    first = world.save(canary)
    world.erase(first.id)
    again = world.save(canary).id
    assert detail.record(world.now(), id=again).same_text_as == ()
