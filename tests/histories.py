"""Random histories: the same operations for the same seed, though not on the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from uuid import UUID

from memory.lineage.models import Edge
from memory.records.models import RecordState
from tests.world import World

KINDS = {"save": 2, "evolve": 5, "merge": 5, "split": 2, "supersede": 1, "link": 1, "erase": 1}


def act(world: World, random: Random, ids: list[UUID], number: int) -> None:
    """One random operation on the records; new ones are added to `ids`."""
    one, two = random.sample(ids, 2)
    (kind,) = random.choices(list(KINDS), weights=list(KINDS.values()))
    if kind == "save":
        ids.append(world.save(f"fresh {number}").id)
    elif kind == "evolve":
        ids.append(world.evolve(one, content=f"evolved {number}"))
    elif kind == "merge":
        ids.append(world.merge(one, two, content=f"merged {number}"))
    elif kind == "split":
        ids.extend(world.split(one, f"left {number}", f"right {number}"))
    elif kind == "supersede" and not superseded(world, one, two):
        world.supersede(one, two)
    elif kind == "link" and not Edge.objects.filter(namespace=world.namespace, source=one, target=two).exists():
        world.link(one, "references", two)
    elif kind == "erase":
        world.erase(one)


def superseded(world: World, *records: UUID) -> bool:
    rows = RecordState.objects.filter(namespace=world.namespace, id__in=records, superseded_seq__isnull=False)
    return rows.exists()


def history(world: World, *, seed: int, n_acts: int) -> Iterator[int]:
    """Random acts, one at each step."""
    random = Random(seed)
    ids = [saved.id for saved in world.save_all("one", "two", "three")]
    for number in range(n_acts):
        act(world, random, ids, number)
        yield number
