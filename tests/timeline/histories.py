"""Facts of one subject to which everything has happened that may happen to one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from memory.base.errors import DomainError
from memory.facts.models import Fact
from memory.facts.operations import ending
from memory.ledger.operations.erasing import erase
from tests.world import World

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
SUBJECT = "customer 4411"
ACTS = ("tell", "tell", "tell", "deny", "candidate", "supersede", "supersede", "retract", "erase")


def on(day: float) -> datetime:
    return FIRST + timedelta(days=day)


def interval(random: Random) -> dict[str, datetime | None]:
    start = random.randrange(0, 6)
    end = random.choice([None, *range(start + 1, 9)])
    return {"valid_from": on(start), "valid_to": None if end is None else on(end)}


def history(world: World, random: Random, *, attribute: str, n_acts: int) -> list[UUID]:
    """Random acts on facts of one attribute; what is refused is left out."""
    facts: list[UUID] = []
    for number in range(n_acts):
        try:
            act(world, random, facts, attribute, number)
        except DomainError:
            continue
    return facts


def act(world: World, random: Random, facts: list[UUID], attribute: str, number: int) -> None:
    one = random.choice(facts) if facts else None
    value = random.choice(("red", "green", "blue"))
    kind = random.choice(ACTS)
    given = {"origin": random.choice(("", "form", "call")), **interval(random)}
    if kind == "supersede" and one is not None:
        ending.supersede(world.bob, fact=one, at=on(random.randrange(-1, 9)), new=None, reason="no longer")
    elif kind == "retract" and one is not None:
        ending.retract(world.bob, fact=one, retracted_as="wrong", reason="never so")
    elif kind == "erase" and one is not None and random.random() < 0.4:
        row = Fact.objects.get(namespace=world.namespace, id=one)
        erase(world.alice, items=[(row.seq, row.item)], reason="request")
    elif kind == "candidate":
        facts.append(world.tell(SUBJECT, attribute, value, candidate=True, **given).id)
    else:
        stance = "denies" if kind == "deny" else "asserts"
        facts.append(world.tell(SUBJECT, attribute, value, stance=stance, **given).id)
