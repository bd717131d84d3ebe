"""An id is an id and a prefix is a prefix: what a prefix names never depends on other namespaces or on row order."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.errors import Ambiguous, DomainError, Invalid, NotFound
from memory.lineage.queries.ancestry import descendants
from memory.records.queries.detail import resolved
from tests.world import World

pytestmark = pytest.mark.django_db

ONE = UUID("abcd1234-0000-4000-8000-000000000001")
TWO = UUID("abcd1234-0000-4000-8000-000000000002")
OTHER = UUID("abce0000-0000-4000-8000-000000000003")


def test_a_unique_prefix_of_four_or_more_digits_names_its_record() -> None:
    world = World()
    world.save(id=ONE)
    for length in (4, 8, 9, 13, 14, 18, 23, 24, 35, 36):
        assert resolved(world.now(), prefix=str(ONE)[:length]) == ONE
    assert resolved(world.now(), prefix=ONE.hex) == resolved(world.now(), prefix=ONE.hex[:20]) == ONE


NO_PREFIX = [
    "", "abc", "%", "_", "abc%", "abcd%", "abcd_", "abcd*", "ABCD", "abcD1234", "abcd-1234", "abcdg", "abcd1234--0",
    "ticket-1", f"{ONE.hex}0", f"{ONE}0", "abcd 1234", "'abcd", "abcd\0",
]  # fmt: skip


@pytest.mark.parametrize("prefix", NO_PREFIX)
def test_what_is_neither_an_id_nor_a_prefix_is_refused(prefix: str) -> None:
    world = World()
    world.save(id=ONE)
    with pytest.raises(Invalid):
        resolved(world.now(), prefix=prefix)


def test_an_ambiguous_prefix_is_refused_with_the_candidates_of_this_namespace() -> None:
    here, there = World("here"), World("there")
    for id in (TWO, ONE):
        here.save(id=id)
    there.save(id=UUID("abcd1234-0000-4000-8000-000000000009"))
    with pytest.raises(Ambiguous) as refusal:
        resolved(here.now(), prefix="abcd")
    assert refusal.value.extra == {"candidates": [str(ONE), str(TWO)]}


def test_a_record_of_another_namespace_changes_no_answer() -> None:
    here, there = World("here"), World("there")
    here.save(id=ONE)
    for id in (ONE, TWO, OTHER):
        there.save(id=id)
    assert resolved(here.now(), prefix="abcd") == ONE
    with pytest.raises(NotFound):
        resolved(here.now(), prefix="abce")


@pytest.mark.parametrize("order", [(ONE, TWO), (TWO, ONE)], ids=["one first", "two first"])
def test_the_order_in_which_records_were_saved_changes_no_answer(order: tuple[UUID, UUID]) -> None:
    world = World()
    for id in order:
        world.save(id=id)
    assert resolved(world.now(), prefix=str(ONE)) == ONE
    assert resolved(world.now(), prefix=str(TWO)) == TWO
    with pytest.raises(Ambiguous):
        resolved(world.now(), prefix=str(ONE)[:35])


def test_a_new_record_can_turn_an_answer_into_a_refusal_and_never_into_another_record() -> None:
    world = World()
    first = world.save(id=ONE)
    assert resolved(world.now(), prefix="abcd1234") == ONE
    world.save(id=TWO)
    with pytest.raises(Ambiguous):
        resolved(world.now(), prefix="abcd1234")
    assert resolved(world.at(first.seq), prefix="abcd1234") == ONE


def test_erased_and_withdrawn_records_count() -> None:
    world = World()
    world.save(id=ONE)
    world.save(id=TWO)
    world.erase(ONE)
    world.withdraw(TWO)
    assert resolved(world.now(), prefix=str(ONE)) == ONE
    with pytest.raises(Ambiguous):
        resolved(world.now(), prefix="abcd")


def test_no_more_than_twenty_candidates_are_listed() -> None:
    world = World()
    for number in range(25):
        world.save(id=UUID(int=0xABCD << 112 | number))
    with pytest.raises(Ambiguous) as refusal:
        resolved(world.now(), prefix="abcd")
    assert len(refusal.value.extra["candidates"]) == 20


def test_a_derivation_by_a_prefix_stores_the_whole_id() -> None:
    """Trap: the abbreviation stored in the place of an id, so that the original shows no descendant."""
    world = World()
    world.save(id=ONE)
    newer = world.evolve(resolved(world.now(), prefix="abcd"), content="newer")
    assert [step.id for step in descendants(world.now(), record=ONE).items] == [newer]


def test_any_text_is_answered_or_refused() -> None:
    world = World()
    world.save(id=ONE)
    at = world.now()

    @given(st.text(max_size=40) | st.text("0123456789abcdefABCDEF-%_* ", max_size=40))
    def ask(prefix: str) -> None:
        try:
            answer = resolved(at, prefix=prefix)
        except DomainError:
            return
        assert answer == ONE
        assert ONE.hex.startswith(prefix.strip().replace("-", ""))

    ask()
