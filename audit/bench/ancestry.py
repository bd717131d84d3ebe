"""Ancestry: the query of the product against a bare recursive one, and against asking node by node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection

from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records, text
from memory.agents.setup import ensure_namespace, system
from memory.base.actor import Actor
from memory.ledger.queries import asof
from memory.lineage.maintenance import forget_edge_statistics
from memory.lineage.operations.derivations import evolve, split
from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.ancestry import ancestry
from memory.records.operations import save

DEPTHS = (10, 20, 100, 1_000)
N_RECORDS = 100_000
N_PARTS = 100
BATCH = 5_000
ROUNDS = 40
LABELS = "('evolved_from', 'merged_from', 'split_from')"


def run(scale: Scale) -> Iterator[Figure]:
    """A chain of the greatest depth among as many other records, half of which have an ancestor of their own."""
    by = system(ensure_namespace("ancestry"))
    depths = [scale.size(depth, least=5) for depth in DEPTHS]
    chain = chain_of(by, max(depths))
    crowd(by, scale.size(N_RECORDS, least=200))
    yield from _figures(by.namespace, chain, depths, scale, when="")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    # What every start does.
    forget_edge_statistics(connection)
    # The planner of a connection keeps the statistics that it opened with.
    connection.close()
    yield from _figures(by.namespace, chain, depths, scale, when=", after ANALYZE and a start")


def _figures(
    namespace: int, chain: Sequence[UUID], depths: Sequence[int], scale: Scale, *, when: str
) -> Iterator[Figure]:
    at, rounds = asof.now(namespace), scale.rounds(ROUNDS)
    for depth in depths:
        record = chain[depth]
        timing = side_by_side(partial(ancestry, at, record=record), _recursive(namespace, record), rounds=rounds)
        note = "≤ 1 ms asked for" if depth <= 20 else ""
        yield Figure("ancestry", f"{depth} ancestors / bare recursive query{when}", timing, "", note)
    depth = max(depths)
    timing = side_by_side(
        partial(ancestry, at, record=chain[depth]), _one_by_one(namespace, chain[depth], depth), rounds=scale.rounds(10)
    )
    yield Figure("ancestry", f"{depth} ancestors / {depth} bare queries{when}", timing, "≤ 0.5")


def chain_of(by: Actor, depth: int) -> list[UUID]:
    """Ids from the oldest to the newest version."""
    ids = [save(by, records=list(islice(records("chain"), 1)))[0].id]
    for number in range(depth):
        changes = {"content": text(f"version/{number}")}
        ids.append(evolve(by, record=ids[-1], base="", changes=changes, cause=Cause("correction")).records[0])
    return ids


def crowd(by: Actor, n_records: int) -> None:
    """As many records, half of them saved, half parts of others."""
    fresh = records("crowd")
    n_plain, n_parts = n_records // 2, min(N_PARTS, n_records // 4)
    for start in range(0, n_plain, BATCH):
        save(by, records=list(islice(fresh, min(BATCH, n_plain - start))))
    for _ in range((n_records - n_plain) // n_parts):
        (whole,) = save(by, records=list(islice(fresh, 1)))
        parts = [{"content": new.content} for new in islice(fresh, n_parts)]
        split(by, record=whole.id, parts=parts, cause=Cause())


def _as_parameter(record: UUID) -> Any:
    return record if connection.vendor == "postgresql" else record.hex


def _recursive(namespace: int, record: UUID) -> Work:
    start = "%s::uuid" if connection.vendor == "postgresql" else "%s"
    statement = (
        f"WITH RECURSIVE above(id) AS (SELECT {start} UNION SELECT e.target FROM memory_edge e"
        f" JOIN above ON e.source = above.id WHERE e.namespace_id = %s AND e.relation IN {LABELS}) SELECT id FROM above"
    )

    def ask() -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, [_as_parameter(record), namespace])
            cursor.fetchall()

    return ask


def _one_by_one(namespace: int, record: UUID, depth: int) -> Work:
    statement = f"SELECT target FROM memory_edge WHERE namespace_id = %s AND source = %s AND relation IN {LABELS}"

    def ask() -> None:
        here = _as_parameter(record)
        with connection.cursor() as cursor:
            for _ in range(depth):
                cursor.execute(statement, [namespace, here])
                ((here,),) = cursor.fetchall()

    return ask
