"""What the stronger durability of SQLite costs: synchronous FULL against NORMAL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db import connection

from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records
from memory.agents.setup import ensure_namespace, system
from memory.records.operations import save

ROUNDS = 40


def run(scale: Scale) -> Iterator[Figure]:
    """Batches of 1,000, then single writes. PostgreSQL has no such choice here."""
    if connection.vendor != "sqlite":
        return
    n_batch = scale.size(1_000, least=20)
    for n_rows, rounds, bar in ((n_batch, ROUNDS, "≤ 1.2"), (1, 5 * ROUNDS, "")):
        timing = side_by_side(_saver("FULL", n_rows), _saver("NORMAL", n_rows), rounds=scale.rounds(rounds))
        yield Figure("durability", f"FULL / NORMAL, saves of {n_rows}", timing, bar)


def _saver(level: str, n_rows: int) -> Work:
    by = system(ensure_namespace(f"durability-{level.lower()}-{n_rows}"))
    fresh = records(level)

    def save_some() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA synchronous = {level}")
        save(by, records=list(islice(fresh, n_rows)))

    return save_some
