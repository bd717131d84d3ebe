"""Lines of records to which everything has happened that may happen to one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from memory.base.errors import DomainError
from tests.world import World

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
ACTS = ("evolve", "evolve", "withdraw", "restore", "supersede", "erase", "elsewhere")


def on(day: int) -> datetime:
    return FIRST + timedelta(days=day)


def interval(random: Random) -> dict[str, datetime | None]:
    """A half-open interval within nine days; either end may be open."""
    start = random.choice([None, *range(6)])
    end = random.choice([None, *range((start or 0) + 1, 9)])
    return {"valid_from": None if start is None else on(start), "valid_to": None if end is None else on(end)}


def line(world: World, random: Random, *, n_acts: int) -> UUID:
    """The first record of a line that was evolved, hidden, shown again and replaced at random."""
    heads = [world.save("version 1", **interval(random)).id]
    for number in range(n_acts):
        record = random.choice(heads)
        try:
            match random.choice(ACTS):
                case "evolve":
                    heads.append(world.evolve(heads[-1], content=f"version {number + 2}", **interval(random)))
                case "withdraw":
                    world.withdraw(record)
                case "restore":
                    world.restore(record)
                case "supersede":
                    world.supersede(record, world.save(f"instead of it {number}").id)
                case "erase" if random.random() < 0.4:
                    world.erase(record)
                case _:
                    world.save("something else")
        except DomainError:
            continue
    return heads[0]
