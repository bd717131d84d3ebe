"""What the kernel knows of a foreign store: its rows by reference, and the store as something to ask for them.

The file itself is opened by `contextfs.reader`; nothing here reads or writes one.

Source: laws of the store 5.1, 5.10 (I2, I5).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from memory.base.canonical import canonical
from memory.interchange.contextfs.kernel.cells import Cell, JsonObject, encode_cell, text_fault


@dataclass(frozen=True, slots=True)
class RowRef:
    """Which source row: table, row number in this file, primary key as text."""

    table: str
    rowid: int
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row as it stands in the source."""

    ref: RowRef
    cells: Mapping[str, Cell]

    def encoded(self) -> JsonObject:
        """All columns, as a value with a canonical form."""
        return {column: encode_cell(cell) for column, cell in self.cells.items()}

    def digest(self) -> str:
        """SHA-256 of the canonical row, in hex. It is unsalted: keep it where erasure reaches."""
        return digest_of(self.encoded())

    def text(self, column: str) -> str | None:
        """A text cell; None if it is NULL, absent or no text that can be stored."""
        cell = self.cells.get(column)
        return cell if isinstance(cell, str) and text_fault(cell) is None else None


def digest_of(encoded: JsonObject) -> str:
    """The digest of a row, from its encoded columns."""
    return hashlib.sha256(canonical(encoded)).hexdigest()


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns of a table in declared order, those of its key, and a name for the row number."""

    name: str
    columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    rowid_name: str


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """What tells one source from another. `fingerprint` stays the same while the store grows (I5)."""

    fingerprint: str
    file_sha256: str
    size_bytes: int
    revision: str | None


class Rows(Protocol):
    """What rows can be read from: a file, or what an import has kept of one."""

    def rows(self, table: str) -> Iterator[SourceRow]: ...


class Store(Rows, Protocol):
    """An open foreign store. Every pass over it sees the same rows."""

    @property
    def identity(self) -> SourceIdentity: ...
    @property
    def shapes(self) -> Mapping[str, TableShape]: ...

    def n_rows(self, table: str) -> int: ...

    def unread_tables(self) -> tuple[str, ...]: ...

    def rows_of(self, refs: Iterable[RowRef]) -> Iterator[SourceRow]: ...
