"""Verdicts on sides of several statements: what they end, what goes on, and what they must not make of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.base import clock
from memory.checks.rebuilding import rebuild
from memory.facts.models import Fact, FactState
from memory.facts.operations import ending
from memory.facts.operations.adjudicating import Asked, adjudicate
from memory.facts.queries import conflicts
from memory.ledger.models import Content
from memory.ledger.operations.erasing import erase
from tests.facts.stating import SHOP, declare, state
from tests.world import World

pytestmark = pytest.mark.django_db

JANUARY, MARCH, MAY, JULY, AUTUMN = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 5, 7, 9))
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)


def settle(world: World, verdict: str, **given: Any) -> None:
    """The verdict on the only case, of the oldest pair unless two facts are named."""
    (case,) = conflicts.cases(world.now()).items
    adjudicate(world.alice, case=case.id, asked=Asked(verdict, "the register says so", **given))


def cities(world: World, *instants: datetime) -> list[list[object]]:
    """What holds at each of the instants, as known now."""
    seq = world.now().seq
    told = (world.status(SHOP, "city", at=world.at(seq, valid_at=instant)) for instant in instants)
    return [[one.value for one in status.values] for status in told]


def test_a_split_cuts_every_statement_of_both_sides_at_its_instant() -> None:
    """Some end before it, some begin after it, and some were closed by a supersession before."""
    world = World()
    declare(world, "city")
    first = state(world, "city", "Bonn", valid_from=JANUARY)
    closed = state(world, "city", "Bonn", valid_from=JANUARY)
    state(world, "city", "Bonn", valid_from=JANUARY, valid_to=MARCH + DAY)
    state(world, "city", "Bonn", valid_from=JULY)
    second = state(world, "city", "Kiel", valid_from=MARCH)
    state(world, "city", "Kiel", valid_from=MARCH, valid_to=MARCH + 2 * DAY)
    gone = state(world, "city", "Kiel", valid_from=MARCH)
    state(world, "city", "Kiel", valid_from=JULY)
    for old in (closed, gone):
        ending.supersede(world.scout, fact=old, at=AUTUMN, new=None, reason="it moved")
    before = world.now().seq

    settle(world, "split_at", split_at=MAY, a=first, b=second)

    assert conflicts.cases(world.now()).items == ()
    assert world.now().seq == before + 1
    instants = (JANUARY - TICK, JANUARY, MARCH, MAY - TICK, MAY, JULY, AUTUMN)
    assert cities(world, *instants) == [[], ["Bonn"], ["Bonn"], ["Bonn"], ["Kiel"], ["Kiel"], ["Kiel"]]
    told = [
        len(world.status(SHOP, "city", at=world.at(before + 1, valid_at=instant)).values[0].facts)
        for instant in (MAY - TICK, AUTUMN - TICK, AUTUMN)
    ]
    # What a supersession had closed goes on no longer than it did.
    assert told == [2, 3, 2]
    assert not [one.projector for one in rebuild(world.system, check=True).comparisons if one.n_differences]


def test_a_split_makes_no_old_statement_fresh_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    declare(world, "city", freshness_seconds=86_400)
    for value, since in (("Bonn", JANUARY), ("Kiel", MARCH)):
        state(world, "city", value, valid_from=since)
    later = clock.now() + 10 * DAY
    monkeypatch.setattr(clock, "read", lambda: later)
    assert cities(world, later) == [[]]
    settle(world, "split_at", split_at=MAY)
    assert cities(world, MARCH, MAY, later) == [["Bonn"], ["Kiel"], []]


def test_a_statement_and_what_a_split_stated_anew_of_it_are_erased_together_and_relays_of_others_stay() -> None:
    world = World()
    declare(world, "city")
    first = state(world, "city", "Bonn", valid_from=JANUARY)
    second, relay = (state(world, "city", "Kiel", valid_from=MARCH, origin=origin) for origin in ("anna", "bert"))
    settle(world, "split_at", split_at=MAY, a=first, b=second)
    verdict = world.now().seq
    row = Fact.objects.get(namespace=world.namespace, id=second)
    erase(world.alice, items=[(row.seq, row.item)], reason="request", note="")
    states = FactState.objects.filter(namespace=world.namespace, value__isnull=False)
    copy_of_relay = FactState.objects.get(namespace=world.namespace, id=relay).superseded_by
    assert set(states.values_list("id", flat=True)) == {first, relay, copy_of_relay}
    # The reason was copied to all that the verdict ended, and may tell what is gone.
    parts = Content.objects.filter(namespace=world.namespace, seq=verdict).values_list("part", flat=True)
    assert sorted(parts) == ["value"]
    assert not [one.projector for one in rebuild(world.system, check=True).comparisons if one.n_differences]
