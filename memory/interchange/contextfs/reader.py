"""The foreign file, opened read-only: its identity, the shape of its tables, and its rows one at a time.

Invariants
- Nothing is written: the file is opened `mode=ro`, and refused where SQLite would have to leave a journal beside it.
- Columns are selected by name; each row carries all its columns, those this module has never heard of included.
- At most one row is held at a time, and no cell above the limit enters memory.
- One read transaction spans the life of the store, so that every pass sees the same rows.
- No view, virtual table or search index is read, and no function named in the file's schema runs.

Source: laws of the store 5.1, 5.9, 5.10 (I1, I2, I5, I13); SQLite documentation, "Defense Against The Dark Arts".
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from memory.base.canonical import canonical
from memory.interchange.contextfs.kernel import vocabulary as words
from memory.interchange.contextfs.kernel.cells import (
    Cell,
    OversizeCell,
    decoded_text,
    encode_cell,
)
from memory.interchange.contextfs.kernel.source import RowRef, SourceIdentity, SourceRow, TableShape
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError, Limits

_HEADER = b"SQLite format 3\x00"
_WAL_FORMAT = b"\x02\x02"
_HASH_CHUNK_BYTES = 1024**2
_ROWID_NAMES = ("rowid", "_rowid_", "oid")
_SHOWN_NAMES = 40
_SHOWN_CHARS = 60


def read_store(path: Path, *, limits: Limits | None = None) -> ForeignStore:
    """Open a store for reading. Use it as a context manager: rows can be read until it is closed.

    Raises ForeignStoreError if the file is not such a store, is of a newer revision or is above the limits.
    """
    bounds = limits or Limits()
    # SQLite puts its journals beside the file that a link points to.
    path = path.resolve()
    uri = read_only_address(path, bounds)
    with refusing_broken(path):
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        with refusing_broken(path):
            return ForeignStore(path, connection, limits=bounds)
    except BaseException:
        connection.close()
        raise


class ForeignStore:
    """An open store. `identity` and `shapes` are read once; rows are streamed."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, limits: Limits) -> None:
        self._path = path
        self._connection = connection
        self._limits = limits
        connection.text_factory = decoded_text
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("BEGIN")
        self._table_names = self._read_table_names()
        self.shapes = self._read_shapes()
        self._check_size()
        revision = self._read_revision()
        self.identity = SourceIdentity(
            fingerprint=self._read_fingerprint(revision),
            file_sha256=sha256_of(path),
            size_bytes=path.stat().st_size,
            revision=revision,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def n_rows(self, table: str) -> int:
        """The number of rows of a table; 0 if the store has no such table."""
        if table not in self._table_names:
            return 0
        with refusing_broken(self._path):
            return int(self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()[0])

    def unread_tables(self) -> tuple[str, ...]:
        """Ordinary tables of the file whose rows are never read, sorted. The search index is no ordinary table."""
        read = {*self.shapes, words.REVISIONS}
        return tuple(
            name for name in self._table_names if name not in read and not name.startswith(("sqlite_", "memories_fts"))
        )

    def rows(self, table: str) -> Iterator[SourceRow]:
        """Every row of a table in row order; nothing if the store has no such table."""
        shape = self.shapes.get(table)
        if shape is None:
            return
        with refusing_broken(self._path):
            cursor = self._connection.execute(self._selection(shape) + f" ORDER BY {shape.rowid_name}")
            for values in cursor:
                yield self._source_row(shape, values)

    def rows_of(self, refs: Iterable[RowRef]) -> Iterator[SourceRow]:
        """The rows of these references, in their order, read again from the file."""
        statements = {
            name: self._selection(shape) + f" WHERE {shape.rowid_name} = ?" for name, shape in self.shapes.items()
        }
        with refusing_broken(self._path):
            for ref in refs:
                values = self._connection.execute(statements[ref.table], (ref.rowid,)).fetchone()
                assert values is not None, "the read transaction keeps every row in place"
                yield self._source_row(self.shapes[ref.table], values)

    def _selection(self, shape: TableShape) -> str:
        # The size is asked before the cell is fetched: a cell above the limit never leaves SQLite.
        limit = self._limits.cell_bytes
        sizes = [f"length(CAST({_quoted(column)} AS BLOB))" for column in shape.columns]
        cells = [
            f"CASE WHEN {size} > {limit} THEN NULL ELSE {_quoted(column)} END"
            for column, size in zip(shape.columns, sizes, strict=True)
        ]
        oversize = " + ".join(f"IFNULL({size} > {limit}, 0)" for size in sizes)
        return f"SELECT {shape.rowid_name}, {oversize}, {', '.join(cells)} FROM {_quoted(shape.name)}"

    def _source_row(self, shape: TableShape, values: tuple[Cell, ...]) -> SourceRow:
        rowid, n_oversize, *cells = values
        assert isinstance(rowid, int)
        row: dict[str, Cell] = dict(zip(shape.columns, cells, strict=True))
        if n_oversize:
            row.update(self._oversize_cells(shape, rowid))
        key = tuple(_key_text(row[column]) for column in shape.key_columns)
        return SourceRow(RowRef(shape.name, rowid, key), row)

    def _oversize_cells(self, shape: TableShape, rowid: int) -> dict[str, Cell]:
        sizes = ", ".join(f"length(CAST({_quoted(column)} AS BLOB))" for column in shape.columns)
        found = self._connection.execute(
            f"SELECT {sizes} FROM {_quoted(shape.name)} WHERE {shape.rowid_name} = ?",
            (rowid,),
        ).fetchone()
        oversize: dict[str, Cell] = {}
        for column, size_bytes in zip(shape.columns, found, strict=True):
            if size_bytes is not None and size_bytes > self._limits.cell_bytes:
                digest = hashlib.sha256()
                with self._connection.blobopen(shape.name, column, rowid, readonly=True) as blob:
                    while piece := blob.read(_HASH_CHUNK_BYTES):
                        digest.update(piece)
                oversize[column] = OversizeCell(size_bytes, digest.hexdigest())
        return oversize

    def _read_table_names(self) -> tuple[str, ...]:
        found = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        )
        return tuple(str(name) for (name,) in found)

    def _read_shapes(self) -> dict[str, TableShape]:
        shapes = {}
        for table in (*words.REQUIRED_COLUMNS, *words.KEPT_TABLES):
            if table in self._table_names:
                shapes[table] = self._read_shape(table)
            elif table in words.REQUIRED_COLUMNS:
                raise ForeignStoreError("missing_table", expected=f"a table {table}", got=_listed(self._table_names))
        return shapes

    def _read_shape(self, table: str) -> TableShape:
        # table_info leaves generated columns out: they hold nothing of their own, and computing them would run
        # expressions of the file.
        found = self._connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
        columns = tuple(str(name) for _, name, *_ in found)
        if len(columns) > self._limits.columns:
            raise ForeignStoreError(
                "too_many_columns", expected=f"at most {self._limits.columns} in {table}", got=str(len(columns))
            )
        missing = [column for column in words.REQUIRED_COLUMNS.get(table, ()) if column not in columns]
        if missing:
            raise ForeignStoreError(
                "missing_column", expected=f"{table} with {_listed(missing)}", got=f"the columns {_listed(columns)}"
            )
        key_columns = words.KEY_COLUMNS.get(table) or tuple(str(row[1]) for row in found if row[5])
        folded = {column.lower() for column in columns}
        rowid_name = next((name for name in _ROWID_NAMES if name not in folded), None)
        if rowid_name is None:
            raise ForeignStoreError("unreadable", expected=f"{table} with row numbers", got="columns that hide them")
        return TableShape(table, columns, key_columns, rowid_name)

    def _check_size(self) -> None:
        n_rows = sum(self.n_rows(table) for table in words.REQUIRED_COLUMNS)
        if n_rows > self._limits.rows:
            raise ForeignStoreError("too_many_rows", expected=f"at most {self._limits.rows}", got=str(n_rows))

    def _read_revision(self) -> str | None:
        if words.REVISIONS not in self._table_names:
            return None
        found = self._connection.execute(f"SELECT version_num FROM {words.REVISIONS} LIMIT 2").fetchall()
        if not found:
            return None
        revision = found[0][0]
        known = words.KNOWN_REVISION
        is_numbered = isinstance(revision, str) and len(revision) == len(known) and revision.isdecimal()
        if len(found) > 1 or not is_numbered:
            shown = [str(row[0]) for row in found]
            raise ForeignStoreError("schema_revision_unknown", expected=f"001 to {known}", got=_listed(shown))
        if revision > known:
            raise ForeignStoreError("schema_revision_newer", expected=f"at most {known}", got=revision)
        return str(revision)

    def _read_fingerprint(self, revision: str | None) -> str:
        oldest = self._connection.execute(
            f"SELECT substr(id, 1, 1000), substr(created_at, 1, 1000) FROM {words.MEMORIES}"
            " ORDER BY CAST(created_at AS TEXT) COLLATE BINARY, CAST(id AS TEXT) COLLATE BINARY LIMIT 1"
        ).fetchone()
        named = [revision, *(encode_cell(cell) for cell in oldest or (None, None))]
        return hashlib.sha256(canonical(named)).hexdigest()


def read_only_address(path: Path, limits: Limits) -> str:
    """The address under which the file is opened without a write beside it.   Raises ForeignStoreError."""
    if not path.exists():
        raise ForeignStoreError("not_a_file", expected="a file, and there is none of this name", got=path.name)
    if not path.is_file():
        raise ForeignStoreError("not_a_file", expected="a regular file", got=path.name)
    size_bytes = path.stat().st_size
    if size_bytes > limits.file_bytes:
        raise ForeignStoreError("file_too_large", expected=f"at most {limits.file_bytes} bytes", got=str(size_bytes))
    with path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or not head.startswith(_HEADER):
        raise ForeignStoreError("not_sqlite", expected="an SQLite 3 database", got=f"{size_bytes} bytes of other data")
    uri = path.as_uri() + "?mode=ro"
    if head[18:20] != _WAL_FORMAT:
        return uri
    log = path.with_name(path.name + "-wal")
    if log.is_file() and log.stat().st_size:
        raise ForeignStoreError(
            "journal_left",
            expected="a store that no program has open",
            got=f"{log.name} with {log.stat().st_size} bytes not yet in the file",
        )
    # Nobody writes where no log stands, and an ordinary reader of this format would create one.
    return uri + "&immutable=1"


@contextmanager
def refusing_broken(path: Path) -> Iterator[None]:
    """What SQLite finds wrong inside is a ForeignStoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise ForeignStoreError(
            "unreadable", expected="a sound SQLite database", got=f"{path.name}: {error}"
        ) from error


def sha256_of(path: Path) -> str:
    """The SHA-256 of the whole file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _key_text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return canonical(encode_cell(cell)).decode()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _listed(names: Sequence[str]) -> str:
    """Names as part of a message; the file chooses them, so their number and length are bounded."""
    shown = [name[:_SHOWN_CHARS] for name in names[:_SHOWN_NAMES]]
    more = [f"{len(names) - _SHOWN_NAMES} more"] if len(names) > _SHOWN_NAMES else []
    return ", ".join([*shown, *more]) or "none"
