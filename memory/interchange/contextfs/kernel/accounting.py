"""Two proofs about a plan: each source row became exactly one thing, and the source tables can be built again.

Invariants
- Nothing here decides anything; it reads what the plan says.

Source: laws of the store 5.10 (I4, I7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memory.interchange.contextfs.kernel.cells import Cell, decode_cell
from memory.interchange.contextfs.kernel.plan import Plan
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.texts import RawRow

type Fate = Literal["record", "parent", "derivation", "inverse", "link", "quarantined", "kept", "known"]


@dataclass(frozen=True, slots=True)
class Accounting:
    """What the rows of each table became.

    fates : table -> what -> number of rows.   n_unaccounted : rows of the file that the plan does not name.
    contested : rows that became two things. Both are 0 and empty if the plan is complete.
    """

    fates: Mapping[str, Mapping[Fate, int]]
    n_unaccounted: int
    contested: tuple[RowRef, ...]


def accounting(plan: Plan) -> Accounting:
    """Follow each source row to what it became.

    `derivation` is the edge of a supersede, `inverse` a row folded into the edge it says backwards, `kept` a row of a
    table that is not imported, `known` one that was imported before and has not changed.
    """
    fates: dict[RowRef, set[Fate]] = {}
    for ref, fate in _named(plan):
        fates.setdefault(ref, set()).add(fate)
    settled: dict[RowRef, set[Fate]] = fates | {ref: {"quarantined"} for ref in plan.comparison.altered}
    settled |= {ref: {"known"} for ref in plan.comparison.known}
    counted: dict[str, Counter[Fate]] = {table: Counter() for table in plan.n_rows}
    for ref, found in settled.items():
        for fate in found:
            counted[ref.table][fate] += 1
    return Accounting(
        fates={table: dict(sorted(counts.items())) for table, counts in counted.items()},
        n_unaccounted=sum(plan.n_rows.values()) - len(settled),
        contested=tuple(sorted((ref for ref, found in settled.items() if len(found) > 1), key=lambda ref: ref.key)),
    )


def all_refs(plan: Plan) -> tuple[RowRef, ...]:
    """Every source row that the plan names, sorted by table and key."""
    named = {ref for ref, _ in _named(plan)} | {*plan.comparison.altered, *plan.comparison.known}
    return tuple(sorted(named, key=lambda ref: (ref.table, ref.key, ref.rowid)))


def rebuild_tables(rows: Iterable[RawRow]) -> dict[str, list[dict[str, Cell]]]:
    """The source tables from their raw rows: table -> rows, each column -> cell, sorted by key."""
    tables: dict[str, list[RawRow]] = {}
    for row in rows:
        tables.setdefault(row.ref.table, []).append(row)
    return {
        table: [
            {column: decode_cell(value) for column, value in row.cells.items()}
            for row in sorted(kept, key=lambda row: (row.ref.key, row.ref.rowid))
        ]
        for table, kept in sorted(tables.items())
    }


def _named(plan: Plan) -> Iterator[tuple[RowRef, Fate]]:
    for part in plan.namespaces:
        for record in part.records:
            yield record.ref, "record"
            for parent in record.parents:
                yield from ((ref, "parent") for ref in parent.rows)
                yield from ((ref, "inverse") for ref in parent.inverse_rows)
        for link in part.links:
            fate: Fate = "derivation" if link.edge.kind == "supersede" else "link"
            yield from ((ref, fate) for ref in link.edge.rows)
            yield from ((ref, "inverse") for ref in link.edge.inverse_rows)
    for finding in plan.every_finding():
        if finding.is_quarantine:
            yield from ((ref, "quarantined") for ref in finding.rows)
        elif finding.code == "not-imported":
            yield from ((ref, "kept") for ref in finding.rows)
