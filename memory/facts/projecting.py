"""What a write of facts does to the derived tables, in its own transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.facts import cases, rectangles, tallies
from memory.facts.kernel.values import Spec
from memory.facts.models import FactState
from memory.facts.specs import specs_at
from memory.facts.states import Entity, mark_first, rows_with, tuples, word


def project_new(
    namespace: int, seq: int, rows: Sequence[FactState], specs: Mapping[UUID, Spec], *, unknown: Iterable[Entity] = ()
) -> None:
    """Rows of fresh facts. `unknown` are entities that cannot have had a fact before."""
    unknown = set(unknown)
    mark_first(namespace, rows, unknown=unknown)
    sql.insert(FactState, tuples(rows, sql.columns(FactState)))
    rectangles.add(rows)
    counts = tallies.extend(namespace, seq, rows, {}, unknown=unknown)
    cases.after(namespace, seq, rows, specs, counts, may_close=False)


def project_change(namespace: int, seq: int, changes: Mapping[UUID, Mapping[str, Any]]) -> None:
    """Facts of which entry `seq` says more: {fact: the columns of its state row that it sets}."""
    rows = list(rows_with(namespace, changes).values())
    before = {row.id: word(row, seq - 1) for row in rows}
    for row in rows:
        for name, value in changes[row.id].items():
            setattr(row, name, value)
        FactState.objects.filter(namespace=namespace, id=row.id).update(**changes[row.id])
    rectangles.renew(namespace, rows)
    counts = tallies.extend(namespace, seq, rows, before)
    specs = specs_at(namespace, {row.attribute for row in rows}, seq)
    readable = [row for row in rows if row.erased_seq is None]
    cases.after(namespace, seq, readable, specs, counts, may_close=True)
