"""Evolve, split, supersede and link: what they write, what they carry over, and what they never touch."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, transaction

from memory.base import ids
from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid, NotFound, StaleVersion
from memory.ledger.models import Content, Entry
from memory.ledger.queries import asof
from memory.ledger.queries.asof import namespace_named
from memory.ledger.queries.verification import scan
from memory.lineage.models import ANCESTRY, INVERSE, LINKS, ONE_WAY, SYMMETRIC, Derivation, Edge
from memory.lineage.operations import derivations
from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.ancestry import ancestry, descendants
from memory.lineage.queries.timeline import timeline
from memory.records.models import Record
from memory.records.queries import detail, lists
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import imported
from tests.states import everything, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db

JANUARY, FEBRUARY, MARCH = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
GIVEN = {
    "summary": "short", "tags": ("a", "b"), "metadata": {"rows": [{"x": 1}], "flag": True}, "origin": "the log",
    "pointer": "https://example.org/1", "valid_from": JANUARY, "valid_to": MARCH,
}  # fmt: skip


def read(world: World, record: UUID) -> detail.RecordDetail:
    return detail.record(world.now(), id=record)


def parents(world: World, record: UUID) -> list[tuple[str, UUID]]:
    rows = Edge.objects.filter(namespace=world.namespace, source=record, relation__in=ANCESTRY).order_by("ordinal")
    return list(rows.values_list("relation", "target"))


# Evolve.


def test_a_new_version_carries_everything_that_is_not_changed() -> None:
    world = World()
    old = read(world, world.save("the old words", type="decision", **GIVEN).id)
    new = read(world, world.evolve(old.row.id, content="the new words"))
    assert new.content == "the new words"
    assert (new.row.type, new.summary, new.tags, new.metadata) == ("decision", "short", ("a", "b"), old.metadata)
    assert (new.origin, new.pointer) == ("the log", "https://example.org/1")
    assert (new.row.valid_from, new.row.valid_to) == (JANUARY, MARCH)


def test_what_was_seen_at_first_hand_is_derived_once_it_is_reworded() -> None:
    world = World()
    seen = world.save("seen", source_class="first_hand").id
    assert read(world, world.evolve(seen, content="reworded")).row.source_class == "derived"


def test_the_old_version_stays_readable_and_names_its_successor() -> None:
    world = World()
    old = world.save("the old words").id
    before = read(world, old)
    new = world.evolve(old, content="the new words")
    after = read(world, old)
    assert (after.content, after.digest, after.ancestry_digest) == (
        before.content,
        before.digest,
        before.ancestry_digest,
    )
    assert (after.row.state, after.superseded_by) == ("superseded", new)
    assert [row.id for row in lists.records(world.now(), where=lists.Filter()).items] == [new]
    assert detail.record(world.at(before.row.seq), id=old).row.state == "current"


def test_an_evolve_of_the_head_extends_its_line_and_one_of_an_older_version_opens_another() -> None:
    world = World()
    first = world.save("one").id
    second = world.evolve(first, content="two")
    third = world.evolve(second, content="three")
    branch = world.evolve(first, content="another two")
    lines = dict(Record.objects.filter(namespace=world.namespace).values_list("id", "line"))
    assert (lines[first], lines[second], lines[third], lines[branch]) == (first, first, first, branch)
    assert [entry.row.id for entry in timeline(world.now(), line=first).entries] == [first, second, third]
    assert parents(world, branch) == [("evolved_from", first)]


def test_along_a_line_instants_rise_and_versions_are_distinct() -> None:
    world = World()
    record = first = world.save("one").id
    for number in range(6):
        record = world.evolve(record, content=f"version {number}")
        world.save(f"something else {number}")
    line = [entry.row for entry in timeline(world.now(), line=first).entries]
    assert [row.recorded_at for row in line] == sorted({row.recorded_at for row in line})
    assert len({row.id for row in line}) == len(line) == 7
    at_third = [entry.row for entry in timeline(world.at(line[2].seq), line=first).entries]
    assert [row.id for row in at_third] == [row.id for row in line[:3]]


def test_a_base_that_is_not_the_current_version_is_refused_with_the_current_one() -> None:
    world = World()
    first = world.save("one")
    second = world.evolve(first.id, base=first.digest.hex(), content="two")
    before = row_counts()
    with pytest.raises(StaleVersion) as refusal:
        world.evolve(first.id, base=first.digest.hex(), content="another two")
    current = refusal.value.extra["current"]
    assert current == {"record": str(second), "digest": read(world, second).digest.hex()}
    with pytest.raises(StaleVersion):
        world.evolve(second, base="00" * 32, content="three")
    assert row_counts() == before


def test_a_changed_interval_is_recorded_and_the_old_one_stays() -> None:
    world = World()
    old = world.save(valid_from=JANUARY, valid_to=MARCH).id
    new = world.evolve(old, valid_to=FEBRUARY)
    assert (read(world, old).row.valid_to, read(world, new).row.valid_to) == (MARCH, FEBRUARY)
    assert read(world, new).row.valid_from == JANUARY


# Split.


def test_each_part_of_a_split_carries_all_but_text_and_summary() -> None:
    world = World()
    whole = world.save("left and right", type="decision", **GIVEN).id
    for part, text in zip(world.split(whole, "left", "right"), ("left", "right"), strict=True):
        found = read(world, part)
        assert (found.content, found.summary, found.row.type) == (text, "", "decision")
        assert (found.tags, found.metadata, found.origin) == (("a", "b"), read(world, whole).metadata, "the log")
        assert (found.row.valid_from, found.row.valid_to, found.line) == (JANUARY, MARCH, part)
        assert parents(world, part) == [("split_from", whole)]
    assert read(world, whole).row.state == "superseded"


def test_a_split_takes_from_two_to_a_hundred_parts() -> None:
    world = World()
    whole = world.save("whole").id
    for n_parts in (0, 1, 101):
        with pytest.raises(Invalid):
            world.split(whole, *(f"part {number}" for number in range(n_parts)))
    assert len(world.split(whole, *(f"part {number}" for number in range(100)))) == 100


# Supersede.


def test_supersede_creates_no_record_and_ends_the_currency_of_the_old_one() -> None:
    world = World()
    old, new = world.save("old").id, world.save("new").id
    made = world.supersede(old, new)
    assert made.records == ()
    assert read(world, old).superseded_by == new
    assert read(world, new).row.state == "current"
    assert ancestry(world.now(), record=new).items == ()


def test_two_records_never_replace_each_other_even_by_a_detour() -> None:
    world = World()
    first, second, third = (world.save(text).id for text in ("one", "two", "three"))
    world.supersede(first, second)
    world.supersede(second, third)
    with pytest.raises(Conflict):
        world.supersede(third, first)


@pytest.mark.parametrize("side", ["old", "new"])
def test_neither_an_unknown_record_nor_one_of_another_namespace_supersedes(side: str) -> None:
    here, there = World("here"), World("there")
    mine, theirs = here.save().id, there.save().id
    before = row_counts()
    for stranger in (theirs, uuid4()):
        with pytest.raises(NotFound):
            here.supersede(*((stranger, mine) if side == "old" else (mine, stranger)))
    assert row_counts() == before


# Reasons.


def test_the_reason_and_its_wording_are_kept_and_no_other_word_is_a_reason() -> None:
    world = World()
    world.evolve(world.save().id, content="newer", cause=Cause("decay", "it was true last year"))
    row = Derivation.objects.get(namespace=world.namespace)
    note = Content.objects.get(namespace=world.namespace, seq=row.seq, item=row.item, part="note")
    assert (row.kind, row.reason, row.reason_given, note.payload) == (
        "evolve",
        "decay",
        True,
        '"it was true last year"',
    )
    with pytest.raises(Invalid):
        Cause("because")


def test_a_reason_that_nobody_gave_is_marked_as_such() -> None:
    world = World()
    world.evolve(world.save().id, content="newer", cause=Cause(given=False))
    row = Derivation.objects.get(namespace=world.namespace)
    assert (row.reason, row.reason_given) == ("observation", False)


# What no derivation does.


def test_each_record_claims_exactly_its_own_parents() -> None:
    """Trap: ancestry that children copy from their parents."""
    world = World()
    first, second = world.save("one").id, world.save("two").id
    merge = world.merge(first, second)
    evolved = world.evolve(merge, content="three")
    left, right = world.split(evolved, "left", "right")
    assert parents(world, merge) == [("merged_from", first), ("merged_from", second)]
    assert parents(world, evolved) == [("evolved_from", merge)]
    assert parents(world, left) == parents(world, right) == [("split_from", evolved)]
    assert {row["id"] for row in Record.objects.filter(namespace=world.namespace).values("id")} == {
        first, second, merge, evolved, left, right,
    }  # fmt: skip


def test_metadata_of_an_import_that_looks_like_lineage_is_metadata_and_is_not_carried_on(tmp_path: Path) -> None:
    file = ForeignFile(tmp_path / "store.db").memory("a", metadata={"evolved_into": "elsewhere", "kept": 1})
    (applied,) = imported(file.done()).applied
    here = namespace_named(applied.namespace).pk
    old = Record.objects.get(namespace=here).id
    assert detail.record(asof.now(here), id=old).metadata == {"evolved_into": "elsewhere", "kept": 1}
    assert ancestry(asof.now(here), record=old).items == ()
    (new,) = derivations.evolve(
        Actor(here, "system"), record=old, base="", changes={"content": "anew"}, cause=Cause("correction")
    ).records
    assert detail.record(asof.now(here), id=new).metadata == {"kept": 1}


def test_an_identifier_that_the_allocator_repeats_fails_the_whole_operation() -> None:
    world = World()
    world.save("so that the type has its name")
    with ids.seeded("the same"):
        world.save("one")
    before = everything(world.namespace)
    with ids.seeded("the same"), pytest.raises(DatabaseError), transaction.atomic():
        world.save("another")
    assert everything(world.namespace) == before


def test_no_derivation_names_a_record_of_another_namespace() -> None:
    here, there = World("here"), World("there")
    mine, theirs = here.save("mine").id, there.save("their secret").id
    before = row_counts()
    for act in (
        lambda: here.merge(mine, theirs),
        lambda: here.merge(theirs, mine),
        lambda: here.evolve(theirs, content="taken"),
        lambda: here.split(theirs, "their", "secret"),
        lambda: here.link(mine, "references", theirs),
    ):
        with pytest.raises(NotFound) as refusal:
            act()
        assert "secret" not in str(refusal.value.detail)
    assert row_counts() == before


# Links.


def test_a_link_writes_one_edge_and_no_ancestry() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    before = [bytes(row.ancestry_digest) for row in Record.objects.filter(namespace=world.namespace).order_by("seq")]
    world.link(one, "references", two)
    after = [bytes(row.ancestry_digest) for row in Record.objects.filter(namespace=world.namespace).order_by("seq")]
    assert after == before
    assert Edge.objects.filter(namespace=world.namespace).count() == 1
    assert ancestry(world.now(), record=one).items == descendants(world.now(), record=two).items == ()


@pytest.mark.parametrize("relation", [*ANCESTRY, *(INVERSE[name] for name in ANCESTRY), "supersedes", "superseded_by"])
def test_no_link_carries_ancestry_in_either_direction(relation: str) -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    before = row_counts()
    with pytest.raises(Invalid):
        world.link(one, relation, two)
    assert row_counts() == before


@pytest.mark.parametrize("relation", sorted(set(LINKS) - set(SYMMETRIC) - set(ONE_WAY)))
def test_a_link_said_from_the_other_end_is_the_same_link(relation: str) -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    world.link(one, relation, two)
    with pytest.raises(Conflict):
        world.link(two, INVERSE[relation], one)
    edge = Edge.objects.get(namespace=world.namespace)
    assert (edge.source, edge.relation, edge.target) == (one, relation, two)
    world.link(one, INVERSE[relation], two)
    assert Edge.objects.filter(namespace=world.namespace, source=two, relation=relation, target=one).exists()


@pytest.mark.parametrize("relation", SYMMETRIC)
def test_a_symmetric_link_stands_once_whoever_is_named_first(relation: str) -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    world.link(max(one, two), relation, min(one, two))
    edge = Edge.objects.get(namespace=world.namespace)
    assert (edge.source, edge.target) == (min(one, two), max(one, two))
    with pytest.raises(Conflict):
        world.link(min(one, two), relation, max(one, two))


@pytest.mark.parametrize("relation", ["likes", "", "REFERENCES", "evolved from"])
def test_a_relation_that_is_not_declared_is_refused(relation: str) -> None:
    world = World()
    with pytest.raises(Invalid):
        world.link(world.save("one").id, relation, world.save("two").id)


def test_text_that_names_another_record_makes_no_edge() -> None:
    """Trap: "fixes <id>" in a text that writes a lone supersession."""
    world = World()
    one = world.save("one").id
    world.save(f"fixes {one}, supersedes {one}, evolved_from {one}")
    assert not Edge.objects.filter(namespace=world.namespace).exists()
    assert read(world, one).row.state == "current"


def test_after_everything_at_once_the_ledger_verifies() -> None:
    world = World()
    one, two = world.save("one").id, world.save("two").id
    made = world.merge(one, two)
    world.split(world.evolve(made, tags=("x",)), "left", "right")
    world.supersede(one, two)
    world.link(one, "contradicts", two)
    found = scan(world.namespace)
    assert found.faults == []
    assert found.n_entries == Entry.objects.filter(namespace=world.namespace).count()


def test_a_derivation_runs_in_the_name_of_whoever_asked() -> None:
    world = World()
    by = replace(world.alice, host="laptop")
    made = derivations.evolve(by, record=world.save().id, base="", changes={"content": "mine"}, cause=Cause())
    entry = Entry.objects.get(namespace=world.namespace, seq=made.seq)
    assert (entry.principal, entry.person, entry.verb) == ("person", world.alice.person, "evolve")
