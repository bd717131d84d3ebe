"""What is worth saying about single rows, besides what became of them.

Invariants
- A note never changes the plan: it can be left out without another record, edge or quarantine.
- A note on an edge is filed where the edge was placed.

Source: laws of the store 2.1 (L1, L3, L7), 2.3 (scope), 5.2, 5.3, 5.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel import clocks
from memory.interchange.contextfs.kernel.cells import JsonObject
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.reconcile import Ancestry
from memory.interchange.contextfs.kernel.rows import EdgeRow, KeptRows, MemoryRow, UnusableRow
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.view import StoreView
from memory.interchange.contextfs.kernel.vocabulary import (
    DERIVATION_RELATIONS,
    MEMORY_TYPES,
    RELATIONS,
    SUPERSEDES,
    inverse_of,
    stored_direction,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an edge row ended: its namespace, and whether it became part of what is stored."""

    namespace: str | None
    is_accepted: bool


def record_notes(view: StoreView) -> Iterator[Finding]:
    """Notes on every record."""
    for row in view.records.values():
        for code, before in _record_cases(row, view=view):
            yield Finding(code, row.namespace, (row.id,), before=before, rows=(row.ref,))


def _record_cases(row: MemoryRow, *, view: StoreView) -> Iterator[tuple[str, JsonObject | None]]:
    if row.has_stale_hash:
        yield "stale-content-hash", None
    if row.deleted_text is not None:
        yield "record-withdrawn", {"deleted_at": row.deleted_text}
        if clocks.parsed(row.deleted_text) is None:
            yield "clock-unreadable", {"column": "deleted_at"}
    if row.type not in MEMORY_TYPES:
        yield "type-unknown", {"type": row.type}
    if clocks.parsed(view.recorded[row.id].text) is None:
        yield "clock-unreadable", {"column": "created_at"}
    for key in row.claims.unreadable_clocks:
        yield "clock-unreadable", {"column": "metadata", "key": key}
    for column in row.bad_json:
        yield "bad-json", {"column": column}


def edge_notes(
    view: StoreView,
    *,
    edges: Iterable[EdgeRow],
    ancestry: Mapping[str, Ancestry],
    places: Mapping[RowRef, Place],
) -> Iterator[Finding]:
    """Notes on every usable edge row. places : where each of them ended."""
    rows = {row.ref.key: row for row in edges}
    for row in rows.values():
        place = places[row.ref]
        ends = (row.from_id, row.to_id)
        cases = [*_pairing(row, rows=rows, ancestry=ancestry, place=place), *_end_cases(row, view=view)]
        for code, before in cases:
            yield Finding(code, place.namespace, ends, row.relation, before, rows=(row.ref,))


def _pairing(
    row: EdgeRow, *, rows: Mapping[tuple[str, ...], EdgeRow], ancestry: Mapping[str, Ancestry], place: Place
) -> Iterator[tuple[str, JsonObject | None]]:
    if row.relation not in RELATIONS:
        return
    inverse = inverse_of(row.relation)
    if inverse is None:
        yield "label-has-no-inverse", None
    elif (row.to_id, row.from_id, inverse) not in rows:
        relation, is_inverse = stored_direction(row.relation)
        if relation not in DERIVATION_RELATIONS:
            yield "one-way-link", None
            return
        is_derivation = _is_of_a_derivation(row, relation=relation, is_inverse=is_inverse, ancestry=ancestry)
        scope: JsonObject = {"scope": "derivation fragment" if is_derivation else "whole store"}
        yield "unpaired" if place.is_accepted else "unpaired-outside", scope


def _is_of_a_derivation(row: EdgeRow, *, relation: str, is_inverse: bool, ancestry: Mapping[str, Ancestry]) -> bool:
    """An own claim of the newer end, or the clock key of a supersede, says that a derivation wrote the edge."""
    if relation == SUPERSEDES:
        return row.superseded_text is not None
    child, text = (row.to_id, row.from_id) if is_inverse else (row.from_id, row.to_id)
    own = ancestry[child].own if child in ancestry else None
    return own is not None and own.relation == relation and text in own.targets


def _end_cases(row: EdgeRow, *, view: StoreView) -> Iterator[tuple[str, JsonObject | None]]:
    records = view.records
    withdrawn = [end for end in (row.from_id, row.to_id) if end in records and records[end].deleted_text is not None]
    if withdrawn:
        yield "endpoint-withdrawn", {"withdrawn": [*withdrawn]}
    elif row.deleted_text is not None:
        yield "edge-withdrawn", {"deleted_at": row.deleted_text}
    for column in row.bad_json:
        yield "bad-json", {"column": column}


def unusable_rows(view: StoreView, *, rows: Iterable[UnusableRow]) -> Iterator[Finding]:
    """Quarantine what cannot be stored; an edge is filed with the first of its ends that is a record."""
    for row in rows:
        namespace = row.namespace
        for end in row.ref.key if namespace is None else ():
            namespace = namespace or view.index.namespace_of(end)
        faults: JsonObject = {"table": row.ref.table, "faults": [f"{column}: {fault}" for column, fault in row.faults]}
        yield Finding("row-unusable", namespace, row.ref.key, before=faults, rows=(row.ref,))


def other_tables(*, kept: Iterable[KeptRows], counted: Mapping[str, int]) -> Iterator[Finding]:
    """One note for each table and namespace that is not imported. counted : tables whose rows were not even read."""
    for rows in kept:
        before: JsonObject = {"table": rows.table, "rows": len(rows.refs), "kept": True}
        yield Finding("not-imported", rows.namespace, before=before, rows=rows.refs)
    for table, n_rows in counted.items():
        yield Finding("not-imported", None, before={"table": table, "rows": n_rows, "kept": False})
