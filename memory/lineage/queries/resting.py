"""What was derived from records: what an erasure of these leaves without its ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.ledger.models import Item
from memory.ledger.queries.radius import Affected
from memory.lineage.models import ANCESTRY

CHUNK = 400


def derived_records(at: AsOf, items: Sequence[Item]) -> Iterator[Affected]:
    """Every record that came from those among the items, in the order of the ledger; they themselves are left out."""
    for record, relation in descendants_of(at, [item.object for item in items if item.kind == "record"]).items():
        yield Affected("record", str(record), relation)


def descendants_of(at: AsOf, records: Sequence[UUID]) -> dict[UUID, str]:
    """{record: how it came from another of them} of all that came from the records by the point, oldest first.

    One recursive query for each CHUNK of records. The plus keeps the bound on `seq` out of SQLite's choice of an index:
    it would read all edges of the namespace.
    """
    found: dict[UUID, tuple[int, int, str]] = {}
    for start in range(0, len(records), CHUNK):
        for record, relation, seq, item in _below(at, records[start : start + CHUNK]):
            found.setdefault(record, (seq, item, relation))
    named = set(records)
    ordered = sorted(found.items(), key=lambda pair: pair[1])
    return {record: relation for record, (_, _, relation) in ordered if record not in named}


def _below(at: AsOf, records: Sequence[UUID]) -> Iterator[tuple[UUID, str, int, int]]:
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    mark = "(%s::uuid)" if connection.vendor == "postgresql" else "(%s)"
    filters = f"e.namespace_id = %s AND e.relation IN ({labels}) AND +e.seq <= %s"
    statement = (
        f"WITH RECURSIVE named(id) AS (VALUES {', '.join([mark] * len(records))}),"
        " reached(id) AS (SELECT id FROM named UNION"
        f" SELECT e.source FROM memory_edge e JOIN reached ON e.target = reached.id WHERE {filters})"
        " SELECT e.source, e.relation, e.seq, e.item FROM reached"
        f" JOIN memory_edge e ON e.target = reached.id WHERE {filters} ORDER BY e.seq, e.item"
    )
    point = [at.namespace, at.seq]
    for record, relation, seq, item in sql.fetch(statement, [*records, *point, *point]):
        yield sql.as_id(record), relation, seq, item
