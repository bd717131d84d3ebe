"""A record is saved once and read as it was given, at every point since."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.errors import Conflict, Invalid, NotFound
from memory.ledger.queries import asof
from memory.lineage.queries.ancestry import ancestry
from memory.lineage.queries.graph import graph
from memory.records import operations as records
from memory.records.content import LINEAGE_KEYS, NewRecord
from memory.records.models import Record
from memory.records.operations import SavedRecord
from memory.records.queries import detail, lists
from tests.states import everything, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db

JANUARY, FEBRUARY, MARCH = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
INSTANT = timedelta(microseconds=1)


def test_a_record_is_read_as_it_was_given() -> None:
    world = World()
    saved = world.save(
        "the text", type="decision", summary="short", tags=("a", "b"), metadata={"k": [1, None, {"x": 2.5}]},
        valid_from=JANUARY, valid_to=MARCH, source_class="first_hand", origin="the log", pointer="https://example.org/1",
    )  # fmt: skip
    read = detail.record(world.now(), id=saved.id)
    assert (read.content, read.summary, read.tags, read.metadata) == (
        "the text", "short", ("a", "b"), {"k": [1, None, {"x": 2.5}]},
    )  # fmt: skip
    assert (read.row.type, read.row.valid_from, read.row.valid_to) == ("decision", JANUARY, MARCH)
    assert (read.row.source_class, read.origin, read.pointer) == ("first_hand", "the log", "https://example.org/1")
    assert (read.digest, read.ancestry_digest, read.row.seq) == (saved.digest, saved.ancestry_digest, saved.seq)
    assert (read.row.state, read.row.agent, read.line) == ("current", world.scout_id, saved.id)


def test_the_same_id_and_payload_are_answered_as_before_and_add_nothing() -> None:
    world = World()
    id = uuid4()
    first = world.save("a note", id=id, tags=("a",), valid_from=JANUARY)
    before = everything(world.namespace)
    again = world.save("a note", id=id, tags=("a",), valid_from=JANUARY)
    assert (again.replayed, again.id, again.seq, again.digest) == (True, id, first.seq, first.digest)
    assert everything(world.namespace) == before


@pytest.mark.parametrize(
    "other",
    [
        {"content": "another"},
        {"type": "idea"},
        {"summary": "s"},
        {"tags": ("b",)},
        {"metadata": {"k": 1}},
        {"valid_from": JANUARY},
        {"source_class": "first_hand"},
        {"origin": "elsewhere"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_the_same_id_with_another_payload_is_refused_and_no_child_changes(other: dict[str, object]) -> None:
    world = World()
    id = uuid4()
    world.save("a note", id=id)
    child = world.evolve(id, content="a newer note")
    before = everything(world.namespace)
    with pytest.raises(Conflict):
        world.save(**{"content": "a note", "id": id, **other})
    assert everything(world.namespace) == before
    assert [step.id for step in ancestry(world.now(), record=child).items] == [id]


def test_in_a_batch_the_known_ids_are_answered_and_the_new_ones_written() -> None:
    world = World()
    known = world.save("known", id=uuid4())
    answers = records.save(
        world.scout, records=[NewRecord("note", "known", id=known.id), NewRecord("note", "new", id=uuid4())]
    )
    assert [(one.replayed, one.seq) for one in answers] == [(True, known.seq), (False, known.seq + 1)]
    assert Record.objects.filter(namespace=world.namespace).count() == 2


def test_one_id_may_stand_in_two_namespaces_as_two_records() -> None:
    here, there = World("here"), World("there")
    id = uuid4()
    here.save("mine", id=id)
    there.save("theirs", id=id)
    assert detail.record(here.now(), id=id).content == "mine"
    assert detail.record(there.now(), id=id).content == "theirs"


def test_equal_text_is_saved_again_and_marked_as_the_same() -> None:
    world = World()
    first = world.save("the same words", tags=("a",))
    second = world.save("the same words", tags=("b",))
    assert second.id != first.id
    assert detail.record(world.now(), id=second.id).same_text_as == (first.id,)
    assert detail.record(world.now(), id=second.id).tags == ("b",)
    assert detail.record(world.at(first.seq), id=first.id).same_text_as == ()


def test_text_equal_to_that_of_a_withdrawn_record_is_saved_as_any_other() -> None:
    world = World()
    first = world.save("the same words")
    world.withdraw(first.id)
    second = world.save("the same words")
    assert detail.record(world.now(), id=second.id).row.state == "current"


def test_an_interval_that_ends_before_it_begins_is_refused() -> None:
    world = World()
    before = row_counts()
    for ends in (JANUARY, JANUARY - INSTANT):
        with pytest.raises(Invalid):
            world.save(valid_from=JANUARY, valid_to=ends)
    assert row_counts() == before


def test_an_interval_that_a_change_would_turn_round_is_refused() -> None:
    world = World()
    saved = world.save(valid_from=FEBRUARY)
    before = row_counts()
    with pytest.raises(Invalid):
        world.evolve(saved.id, valid_to=JANUARY)
    with pytest.raises(Invalid):
        world.split(saved.id, "left", "right", valid_to=FEBRUARY)
    assert row_counts() == before


def test_valid_time_is_half_open() -> None:
    world = World()
    saved = world.save(valid_from=JANUARY, valid_to=MARCH)
    shown = {
        instant: lists.records(world.at(saved.seq, valid_at=instant), where=lists.Filter()).total
        for instant in (JANUARY - INSTANT, JANUARY, MARCH - INSTANT, MARCH)
    }
    assert list(shown.values()) == [0, 1, 1, 0]


def test_two_histories_that_differ_in_valid_time_alone_answer_differently() -> None:
    """The same words, recorded at the same instant, true from another day on."""
    answers = []
    for name, valid_from in (("early", datetime(2026, 1, 5, tzinfo=UTC)), ("late", datetime(2026, 3, 1, tzinfo=UTC))):
        world = World(name)
        saved = world.save("the office is in Graz", valid_from=valid_from)
        at = world.at(saved.seq, valid_at=FEBRUARY)
        answers.append([row.first_line for row in lists.records(at, where=lists.Filter()).items])
    assert answers == [["the office is in Graz"], []]


def test_a_record_is_unknown_before_the_entry_that_saved_it() -> None:
    world = World()
    saved = world.save()
    with pytest.raises(NotFound):
        detail.record(world.at(saved.seq - 1), id=saved.id)
    assert detail.record(world.at(saved.seq), id=saved.id).row.state == "current"


@pytest.mark.parametrize("text", ["2026-01-05", "2026-01-05T10:00:00", "yesterday", "2026-13-01T00:00:00Z", "1" * 50])
def test_an_instant_without_its_offset_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        asof.resolve(World().namespace, valid_at=text)


def test_stored_instants_are_aware_and_in_utc() -> None:
    world = World()
    saved = world.save(valid_from=datetime.fromisoformat("2026-01-01T02:00:00+02:00"))
    read = detail.record(world.now(), id=saved.id).row
    assert (read.valid_from, read.recorded_at.tzinfo) == (JANUARY, UTC)


def test_an_instant_before_the_head_names_an_entry_for_ever_and_a_later_one_is_provisional() -> None:
    world = World()
    first = world.save("one")
    recorded_at = detail.record(world.now(), id=first.id).row.recorded_at
    second = world.save("two")
    settled = asof.resolve(world.namespace, known_at=recorded_at.isoformat())
    assert (settled.seq, settled.provisional) == (first.seq, False)
    ahead = asof.resolve(world.namespace, known_at=(recorded_at + timedelta(days=9)).isoformat())
    assert (ahead.seq, ahead.provisional) == (second.seq, True)
    assert asof.resolve(world.namespace, known_at=(recorded_at - INSTANT).isoformat()).seq == first.seq - 1
    with pytest.raises(Invalid):
        asof.resolve(world.namespace, known_at=f"seq:{second.seq + 1}")


@pytest.mark.parametrize("named", ["seq:-1", "seq:99999999999999999999999", "seq:two", "seq:"])
def test_what_names_no_seq_is_answered_about_seqs_and_not_about_instants(named: str) -> None:
    world = World()
    with pytest.raises(Invalid, match=rf"a seq from 0 up to the head, {world.now().seq}, got {named}$"):
        asof.resolve(world.namespace, known_at=named)


def test_a_record_that_the_source_does_not_tell_of_is_named_by_the_instants_of_the_source() -> None:
    world = World()
    saved = world.save("known early", source_recorded_at=JANUARY)
    at = asof.resolve(world.namespace, known_at="source:0001-01-01T00:00:00Z")
    for read in (
        lambda: detail.record(at, id=saved.id), lambda: ancestry(at, record=saved.id, limit=9),
        lambda: graph(at, focus=saved.id),
    ):  # fmt: skip
        with pytest.raises(NotFound, match="by the instants of its source as of 0001-01-01T00:00:00"):
            read()


def test_the_reading_of_the_source_answers_by_its_own_instants() -> None:
    world = World()
    world.save("known early", source_recorded_at=JANUARY)
    world.save("known late", source_recorded_at=MARCH)
    world.save("of no known time")
    at = asof.resolve(world.namespace, known_at=f"source:{FEBRUARY.isoformat()}")
    assert [row.first_line for row in lists.records(at, where=lists.Filter()).items] == ["known early"]


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=300)


@pytest.mark.django_db
def test_any_text_is_read_as_it_was_given() -> None:
    world = World()

    @given(content=TEXT, summary=TEXT, key=TEXT, value=TEXT | st.floats(allow_nan=False, allow_infinity=False))
    def round_trip(content: str, summary: str, key: str, value: object) -> None:
        saved = world.save(content, summary=summary, metadata={key: value})
        read = detail.record(world.now(), id=saved.id)
        assert (read.content, read.summary, read.metadata) == (content, summary, {key: value})

    round_trip()


@pytest.mark.parametrize("key", sorted(LINEAGE_KEYS))
def test_metadata_tells_no_lineage_whatever_door_it_comes_through(key: str) -> None:
    world = World()
    old = world.save("a note").id
    before = everything(world.namespace)
    told = {key: str(old), "kept": 1}
    writes: list[Callable[[], object]] = [
        lambda: world.save("another", metadata=told),
        lambda: world.evolve(old, metadata=told),
        lambda: world.split(old, "one", "two", metadata=told),
    ]
    for write in writes:
        with pytest.raises(Invalid) as refused:
            write()
        assert [(place.loc, place.code) for place in refused.value.errors] == [(("metadata",), "lineage_key")]
    assert everything(world.namespace) == before


def test_of_several_the_one_whose_metadata_tells_lineage_is_refused_in_its_place() -> None:
    world = World()
    news = [NewRecord("note", "one"), NewRecord("note", "two", metadata={"merged_from": []})]
    first, second = records.save_each(world.scout, records=news)
    assert isinstance(first, SavedRecord)
    assert isinstance(second, Invalid)
