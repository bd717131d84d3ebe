"""Copies: what repeats a line of a text that goes is listed, and goes along where that is chosen."""

from __future__ import annotations

from uuid import UUID

import pytest

from memory.ledger.models import Erasure
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import radius
from memory.ledger.queries.addressed import items_at
from memory.ledger.queries.radius import Quote
from memory.records.queries import detail
from tests.erasures.canary import new_canary, tables_with
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def quotes(world: World, *records: UUID) -> dict[UUID, Quote]:
    items = items_at(world.namespace, [world.address(record) for record in records])
    return {quote.object: quote for quote in radius.quotes_of(world.now(), items=items)}


def test_a_generated_merge_quotes_its_sources(world: World) -> None:
    one, two = world.save("the first of two lines\nand another").id, world.save("something else").id
    merge = world.merge(one, two)
    found = quotes(world, one)
    assert found.keys() == {merge}
    assert (found[merge].relation, found[merge].n_lines) == ("merged_from", 2)
    assert found[merge].line in ("the first of two lines", "and another")


@pytest.mark.parametrize(
    ("source", "other", "n_lines"),
    [
        ("a line of some length", "it said: a line of some length, and more", 1),
        ("  a line of some length  ", "before\n\ta line of some length\nafter", 1),
        ("yes", "yes", 1),
        ("yes", "no\nyes\nno", 1),
        ("yes", "yesterday, yes or no", 0),
        ("1234567", "01234567", 0),
        ("12345678", "012345678", 1),
        ("---\n--------", "---\n--------", 0),
        ("a line of some length", "a line of Some length", 0),
    ],
)
def test_a_line_is_found_word_for_word(world: World, source: str, other: str, n_lines: int) -> None:
    record = world.save(source).id
    child = world.evolve(record, content=other, tags=("changed",))
    found = quotes(world, record)
    assert (found[child].n_lines if child in found else 0) == n_lines


@pytest.mark.parametrize("given", [{"summary": "in a few words"}, {"metadata": {"k": ["in a few words"]}}])
def test_what_an_evolve_carries_over_is_a_copy_too(world: World, given: dict[str, object]) -> None:
    record = world.save("the first text", **given).id
    child = world.evolve(record, content="a wholly new one")
    assert quotes(world, record)[child].line == "in a few words"


def test_a_label_that_a_descendant_shares_is_no_copy(world: World) -> None:
    record = world.save("the first text", tags=("a long tag",), origin="the handbook", metadata={"a long key": 1}).id
    world.evolve(record, content="a wholly new one")
    assert quotes(world, record) == {}


def test_a_quotation_is_found_beyond_a_descendant_that_quotes_nothing(world: World) -> None:
    record = world.save("a line of some length").id
    between = world.evolve(record, content="reworded")
    last = world.evolve(between, content="as was said: a line of some length")
    assert quotes(world, record).keys() == {last}


def test_a_record_that_says_the_same_is_listed_though_it_came_from_elsewhere(world: World) -> None:
    one, two, other = world.save_all("the same text", "the same text", "the same text, and more")
    found = quotes(world, one.id)
    assert {record: quote.relation for record, quote in found.items()} == {two.id: "same_text"}
    assert other.id not in found


def test_what_is_named_too_or_gone_before_is_no_copy(world: World) -> None:
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    assert quotes(world, record, merge) == {}
    world.erase(merge)
    assert quotes(world, record) == {}


def test_copies_go_in_the_same_operation_and_share_its_entry(world: World) -> None:
    canary = new_canary()
    record = world.save(f"the key is {canary}").id
    merge = world.merge(record, world.save("another").id)
    evolved = world.evolve(merge, content=f"as was said: the key is {canary}")
    kept = world.evolve(evolved, content="without it")
    done = erase(world.alice, items=[world.address(record)], reason="secret", quoting=True)
    assert tables_with(canary) == []
    gone = {detail.record(world.now(), id=one).erased_seq for one in (record, merge, evolved)}
    assert gone == {done.seq}
    assert {row.seq for row in Erasure.objects.filter(namespace=world.namespace)} == {done.seq}
    assert detail.record(world.now(), id=kept).content == "without it"


def test_copies_stay_where_they_are_not_chosen(world: World) -> None:
    record = world.save("a line of some length").id
    merge = world.merge(record, world.save("another").id)
    world.erase(record)
    assert "a line of some length" in (detail.record(world.now(), id=merge).content or "")


def test_a_copy_that_came_before_the_lock_goes_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    record, other = world.save("a line of some length").id, world.save("another").id
    real, made = radius.quotes_of, []

    def first_without(at: object, *, items: object) -> object:
        found = real(at, items=items)  # type: ignore[arg-type]
        if not made:
            made.append(world.merge(record, other))
        return found

    monkeypatch.setattr(radius, "quotes_of", first_without)
    erase(world.alice, items=[world.address(record)], reason="secret", quoting=True)
    assert detail.record(world.now(), id=made[0]).content is None
