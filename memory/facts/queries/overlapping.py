"""What a fact must be compared with: whatever else counts and shares an instant with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import batched

from django.db import connection

from memory.base import sql
from memory.facts import space
from memory.facts.models import FactState
from memory.facts.rectangles import entity_key, micros

CHUNK = 400


def overlapping(namespace: int, rows: Sequence[FactState], *, seq: int) -> Iterator[tuple[FactState, list[FactState]]]:
    """Each row with the other facts of its entity that count once entry `seq` is written and overlap its interval.

    Facts that say the very same are left out: they never exclude each other, however many there are. One statement for
    each CHUNK of rows, which must be stored.
    """
    for chunk in batched(rows, CHUNK):
        others = _others(namespace, chunk, seq)
        for row in chunk:
            yield row, [one for one in others[row.doc] if (one.subject, one.attribute) == (row.subject, row.attribute)]


def _others(namespace: int, rows: Sequence[FactState], seq: int) -> dict[int, list[FactState]]:
    mark = (
        "(%s::bigint, %s::bigint, %s::bigint, %s::bigint)" if connection.vendor == "postgresql" else "(%s, %s, %s, %s)"
    )
    asked = [value for row in rows for value in _asked(namespace, row)]
    told = sql.fetch(
        f"WITH asked(doc, entity, low, high) AS (VALUES {', '.join([mark] * len(rows))}), hit AS MATERIALIZED"
        f" (SELECT v.doc, r.doc AS other FROM asked v CROSS JOIN {space.rectangles()} WHERE"
        f" {space.within('v.entity', low='v.low', high='v.high', known=str(seq))} AND r.doc <> v.doc)"
        f" SELECT hit.doc, {sql.selected(FactState, 'f')} FROM hit CROSS JOIN memory_factstate o"
        " CROSS JOIN memory_factstate f WHERE o.namespace_id = %s AND o.doc = hit.doc AND f.namespace_id = %s"
        " AND f.doc = hit.other AND (o.stance <> f.stance OR o.value_key <> f.value_key) ORDER BY f.doc",
        [*asked, namespace, namespace],
    )
    found: dict[int, list[FactState]] = {row.doc: [] for row in rows}
    for doc, *values in told:
        found[doc].append(sql.loaded(FactState, values))
    return found


def _asked(namespace: int, row: FactState) -> tuple[int, int, int, int]:
    """The document, its lane, and the interval as first and last microsecond."""
    key = entity_key(namespace, row.subject, row.attribute, "standing")
    last = space.LAST if row.valid_to is None else micros(row.valid_to) - 1
    return row.doc, key, micros(row.valid_from), last
