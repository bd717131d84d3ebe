"""Answers for a pinned entry while others write: recorded at the head of their moment, asked again when all is done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from memory.base.errors import DomainError
from memory.facts.content import NewFact
from memory.facts.models import FactState
from memory.facts.operations.asserting import assert_facts
from memory.facts.operations.declaring import Declaration, declare
from memory.facts.operations.ending import retract, supersede
from memory.facts.queries.status import EntityStatus, statuses
from memory.facts.states import Entity
from memory.ledger.queries import asof
from tests.world import World

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
N_SUBJECTS, N_WRITERS, N_READS = 12, 8, 1_000
Asked = tuple[int, datetime]


def write(world: World, number: int, is_over: Event) -> int:
    """Assert, supersede and retract until told to stop; answers how many entries that made."""
    random, own, n_written = Random(number), list[Any](), 0
    try:
        while not is_over.is_set():
            start = NOON + random.randrange(24) * HOUR
            end = start + random.randrange(1, 9) * HOUR if random.random() < 0.3 else None
            subject = f"S{random.randrange(N_SUBJECTS)}"
            try:
                (made,) = assert_facts(
                    world.scout, facts=[NewFact(subject, "city", random.randrange(4), valid_from=start, valid_to=end)]
                )
                own.append(made.id)
                ended = random.choice(own)
                if random.random() < 0.5:
                    supersede(world.scout, fact=ended, at=start + HOUR, new=None, reason="moved")
                else:
                    retract(world.scout, fact=ended, retracted_as="wrong", reason="misread")
                n_written += 1
            except (DomainError, OperationalError):
                # On a busy machine a writer waits too long for the lock, which its client is told as 503.
                pass
            finally:
                # As after each request: readers and writers share the connections of a pool.
                connections.close_all()
            n_written += 1
    finally:
        connections.close_all()
    return n_written


def read(world: World, entities: list[Entity], asked: Asked) -> list[EntityStatus]:
    seq, valid_at = asked
    at = asof.resolve(world.namespace, known_at=f"seq:{seq}", valid_at=valid_at.isoformat())
    return statuses(at, entities)


@pytest.mark.django_db(transaction=True)
def test_a_thousand_answers_for_pinned_entries_stay_while_eight_writers_post() -> None:
    """Each read asks for every entity, so that a thousand answers are a hundred reads or fewer."""
    if connection.vendor != "postgresql":
        pytest.skip("one writer at a time is all that SQLite has")
    world, random, is_over = World(), Random(5), Event()
    declare(world.alice, attribute="city", declaration=Declaration("one"))
    assert_facts(world.scout, facts=[NewFact(f"S{number}", "city", 0, valid_from=NOON) for number in range(N_SUBJECTS)])
    rows = FactState.objects.filter(namespace=world.namespace).order_by("doc")
    entities = list(rows.values_list("subject", "attribute"))
    told: dict[Asked, list[EntityStatus]] = {}
    with ThreadPoolExecutor(N_WRITERS) as pool:
        writers = [pool.submit(write, world, number, is_over) for number in range(N_WRITERS)]
        try:
            while len(told) * N_SUBJECTS < N_READS:
                asked = asof.now(world.namespace).seq, NOON + random.randrange(-4, 26) * HOUR
                told[asked] = read(world, entities, asked)
        finally:
            is_over.set()
        n_written = sum(writer.result() for writer in writers)
    assert n_written > N_WRITERS
    assert len({seq for seq, _ in told}) > 10
    assert {answer.status for answers in told.values() for answer in answers} == {"known", "conflict", "unknown"}
    for asked, before in told.items():
        assert read(world, entities, asked) == before
