"""Entities with long histories, for reads that must not walk them.

State rows are made and projected by the very functions that a write calls, many seqs in one transaction; what a write
adds before that (evidence, hashes, the log) no read of facts asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import batched
from random import Random
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from memory.base import ids, sql
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.facts import rectangles, states, tallies
from memory.facts.content import NewFact
from memory.facts.kernel.values import UNDECLARED
from memory.facts.models import FactState
from memory.facts.operations.asserting import assert_facts
from memory.facts.projecting import project_new
from memory.facts.states import Entity, Stated

SHAPES = ("state", "readings", "corrections")
START = datetime(2020, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
FIRST_SEQ = 1_000
CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class History:
    """An entity with `n_versions`, one each hour of valid time and each seq from FIRST_SEQ on."""

    namespace: int
    entity: Entity
    shape: str
    n_versions: int

    def at(self, hour: float, version: int) -> AsOf:
        """The point at the hour of valid time, known once the version was written."""
        head = FIRST_SEQ + self.n_versions
        return AsOf(self.namespace, FIRST_SEQ + version, head, START + hour * HOUR)


def named(by: Actor, subjects: Sequence[str], attribute: str) -> list[Entity]:
    """Entities of their own names, each with one fact, through the operation."""
    made = [one for chunk in batched(subjects, 5_000)
            for one in assert_facts(by, facts=[NewFact(subject, attribute, "first") for subject in chunk])]  # fmt: skip
    found: dict[UUID, Entity] = {}
    for chunk in batched([one.id for one in made], CHUNK):
        rows = FactState.objects.filter(namespace=by.namespace, id__in=chunk)
        found.update({row: (subject, name) for row, subject, name in rows.values_list("id", "subject", "attribute")})
    return [found[one.id] for one in made]


def grown(namespace: int, entity: Entity, shape: str, n_versions: int, *, item: int) -> History:
    """Write the history of the entity. `item` tells it from other histories of the namespace, whose seqs are the same.

    state : each version holds from its hour on and is superseded by the next. readings : each holds for an hour.
    corrections : each is said of nearly the whole time and replaces the one before it from its beginning on.
    """
    random = Random(n_versions)  # noqa: S311 - a benchmark, no secret
    with transaction.atomic():
        for numbers in batched(range(n_versions), CHUNK):
            rows = [_version(namespace, entity, shape, number, n_versions, random, item) for number in numbers]
            sql.insert(FactState, states.tuples(rows, sql.columns(FactState)))
            rectangles.add(rows)
        stored = FactState.objects.filter(namespace=namespace, subject=entity[0], attribute=entity[1]).order_by("doc")
        tallies.replay(namespace, entity, list(stored))
    return History(namespace, entity, shape, n_versions)


def _version(
    namespace: int, entity: Entity, shape: str, number: int, n_versions: int, random: Random, item: int
) -> FactState:  # fmt: skip
    start, end = START + number * HOUR, None
    if shape == "readings":
        end = start + HOUR
    elif shape == "corrections":
        start = START + random.random() * 0.1 * n_versions * HOUR
        end = START + (0.9 + random.random()) * n_versions * HOUR
    seq = FIRST_SEQ + number
    (row,) = _fresh(namespace, [(entity, number, start, end)], seq, first_item=item)
    if shape != "readings" and number + 1 < n_versions:
        row.superseded_seq = seq + 1
        row.superseded_at = start + HOUR if shape == "state" else start
    return row


def _fresh(
    namespace: int, told: Sequence[tuple[Entity, int, datetime, datetime | None]], seq: int, *, first_item: int = 0
) -> list[FactState]:  # fmt: skip
    stated = [
        Stated(_columns(entity, start, end), value, item)
        for item, (entity, value, start, end) in enumerate(told, first_item)
    ]
    recorded_at = START + timedelta(microseconds=seq)
    return states.fresh(namespace, stated, seq=seq, recorded_at=recorded_at, by=(None, None), run=None)


def _columns(entity: Entity, start: datetime, end: datetime | None) -> dict[str, Any]:
    return {
        "id": ids.new_id(), "subject": entity[0], "attribute": entity[1], "stance": "asserts",
        "source_class": "derived", "origin": None, "authenticated": False, "candidate": False, "confidence": None,
        "scale": None, "valid_from": start, "valid_to": end, "source_recorded_at": None,
    }  # fmt: skip


def crowded(by: Actor, n_subjects: int, per_subject: int) -> list[UUID]:
    """Facts of many subjects, each of an attribute of its own; answers the subjects.

    The attributes have names; the subjects are ids, since no read of one subject looks for another's name.
    """
    attributes = [entity[1] for entity in _attributes(by, per_subject)]
    subjects = ids.new_ids(n_subjects)
    entities = ((subject, attribute) for subject in subjects for attribute in attributes)
    specs = dict.fromkeys(attributes, UNDECLARED)
    for seq, chunk in enumerate(batched(entities, CHUNK), FIRST_SEQ):
        rows = _fresh(by.namespace, [(entity, seq, START, None) for entity in chunk], seq)
        with transaction.atomic():
            project_new(by.namespace, seq, rows, specs, unknown=chunk)
    return subjects


def _attributes(by: Actor, count: int) -> Iterator[Entity]:
    for number in range(count):
        yield from named(by, ["anchor"], f"attribute_{number}")


def analysed() -> None:
    """Let PostgreSQL see what was written; SQLite needs no statistics for any of this."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
