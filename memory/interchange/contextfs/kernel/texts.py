"""The texts of planned rows, read again from the source when they are needed.

Invariants
- One row is in memory at a time; cut the stream in chunks to store it.
- What cannot be read as JSON is handed on as the text it is, under `unread`.
- The raw row is complete: all columns, unknown ones too.

Source: laws of the store 5.5, 5.10 (I2, I4, I12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel.cells import JsonObject, decode_cell, parsed_object, parsed_tags
from memory.interchange.contextfs.kernel.source import RowRef, SourceRow, Store, digest_of
from memory.interchange.contextfs.kernel.vocabulary import RESERVED_METADATA_KEYS, SOURCE_COLUMNS


@dataclass(frozen=True, slots=True)
class RawRow:
    """A source row as it is kept: `cells` has a canonical form, `row_hash` is the SHA-256 of it, in hex."""

    ref: RowRef
    cells: JsonObject
    row_hash: str


@dataclass(frozen=True, slots=True)
class RecordText:
    """What a record says. `metadata` is without the reserved lineage keys.

    `unread` maps columns that should hold JSON to the text that they hold instead.
    """

    raw: RawRow
    content: str
    summary: str | None
    tags: tuple[str, ...]
    metadata: JsonObject
    structured: JsonObject | None
    source_fields: Mapping[str, str]
    is_authoritative: bool
    unread: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EdgeText:
    """What the row of an edge says besides its ends: why, and whatever else its metadata holds."""

    raw: RawRow
    reason: str | None
    metadata: JsonObject
    weight: float | None
    created_by: str | None
    unread: Mapping[str, str]


def raw_rows(store: Store, *, refs: Iterable[RowRef]) -> Iterator[RawRow]:
    """The raw rows of these references, in their order."""
    return (_raw(row) for row in store.rows_of(refs))


def record_texts(store: Store, *, refs: Iterable[RowRef]) -> Iterator[RecordText]:
    """The texts of records, in the order of these references to `memories`."""
    return (_record_text(row) for row in store.rows_of(refs))


def record_text(ref: RowRef, cells: JsonObject) -> RecordText:
    """The text of a record from the cells that a RawRow keeps."""
    return _record_text(SourceRow(ref, {column: decode_cell(value) for column, value in cells.items()}))


def edge_texts(store: Store, *, refs: Iterable[RowRef]) -> Iterator[EdgeText]:
    """The texts of edges, in the order of these references to `memory_edges`."""
    return (_edge_text(row) for row in store.rows_of(refs))


def _raw(row: SourceRow) -> RawRow:
    cells = row.encoded()
    return RawRow(row.ref, cells, digest_of(cells))


def _record_text(row: SourceRow) -> RecordText:
    tags = parsed_tags(row.text("tags"))
    metadata = parsed_object(row.text("metadata"))
    structured = parsed_object(row.text("structured_data"))
    read = {"tags": tags, "metadata": metadata, "structured_data": structured}
    fields = {column: row.text(column) for column in SOURCE_COLUMNS}
    return RecordText(
        raw=_raw(row),
        content=row.text("content") or "",
        summary=row.text("summary"),
        tags=tags or (),
        metadata={key: value for key, value in (metadata or {}).items() if key not in RESERVED_METADATA_KEYS},
        structured=structured or None,
        source_fields={column: value for column, value in fields.items() if value is not None},
        is_authoritative=row.cells.get("authoritative") == 1,
        unread={column: row.text(column) or "" for column, value in read.items() if value is None},
    )


def _edge_text(row: SourceRow) -> EdgeText:
    metadata = parsed_object(row.text("metadata"))
    reason = (metadata or {}).get("reason")
    weight = row.cells.get("weight")
    return EdgeText(
        raw=_raw(row),
        reason=reason if isinstance(reason, str) else None,
        metadata=metadata or {},
        weight=float(weight) if isinstance(weight, int | float) else None,
        created_by=row.text("created_by"),
        unread={} if metadata is not None else {"metadata": row.text("metadata") or ""},
    )
