"""Reads a ContextFS 0.2.35 file as a snapshot, by a reader of its own: the importer is one of the things it checks.

Invariants
- The file is opened immutable and read-only: nothing is written, nothing is left beside it. A file with a journal that
  waits to be applied is refused, because reading it would change it.
- Columns are found by name, in whatever order they stand; no view, virtual table or search index is read.
- No text is kept: of a record there remain identifiers, its claims, digests and marks.
- Cells may hold anything; what is no text where text is due is told by its digest and claims nothing.

Source: laws of the store, 4.3 (newest own claim), 5.1, 5.2, 5.9.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from audit.laws.relations import CLOCK_KEY
from audit.laws.values import Claim, Snapshot, SnapshotEdge, SnapshotRecord

RECORDS, EDGES = "memories", "memory_edges"
NEEDED = {
    RECORDS: ("id", "content", "type", "namespace_id", "created_at"),
    EDGES: ("from_id", "to_id", "relation"),
}  # fmt: skip
MARK = "deleted_at"
SUPERSEDED_AT = "superseded_at"
HASH_CHARS = 16

_TIME = re.compile(r"(_at|_time|_date|_clock|timestamp)$|^(valid|effective)_")
_VALID_TIME = re.compile(r"^(valid|effective)_|_valid_(from|to|at|time)$")


class NoSuchStore(ValueError):
    """The file is no store of this kind, or cannot be read without changing it."""


def load(path: Path) -> Snapshot:
    """The store in the file.   Raises NoSuchStore."""
    try:
        with opened(path) as connection:
            return _snapshot(connection, store=path.name)
    except sqlite3.Error as error:
        raise NoSuchStore(f"{path.name} cannot be read as a SQLite file: {error}.") from error


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads the file and changes neither it nor its folder.   Raises NoSuchStore, sqlite3.Error."""
    path = path.resolve()
    if not path.is_file():
        raise NoSuchStore(f"There is no file {path}.")
    for suffix in ("-wal", "-journal"):
        beside = path.with_name(path.name + suffix)
        if beside.exists() and beside.stat().st_size:
            raise NoSuchStore(f"{path.name} has unfinished writes in {beside.name}; close what writes to it first.")
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


def _snapshot(connection: sqlite3.Connection, *, store: str) -> Snapshot:
    columns = {table: _columns(connection, table, store=store) for table in NEEDED}
    records = {record.id: record for record in map(_record, _rows(connection, RECORDS, columns[RECORDS]))}
    edges = tuple(map(_edge, _rows(connection, EDGES, columns[EDGES])))
    named = [(table, column) for table, names in columns.items() for column in names]
    return Snapshot(
        store=store,
        records=records,
        edges=edges,
        time_columns=tuple(f"{table}.{column}" for table, column in named if _TIME.search(column)),
        valid_time_columns=tuple(f"{table}.{column}" for table, column in named if _VALID_TIME.search(column)),
    )


def _columns(connection: sqlite3.Connection, table: str, *, store: str) -> tuple[str, ...]:
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'", [table]
    ).fetchone()
    names = tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) if found else ()
    missing = [name for name in NEEDED[table] if name not in names]
    if missing:
        raise NoSuchStore(f"{store} is no ContextFS store: the table {table} lacks {', '.join(missing)}.")
    return names


def _rows(connection: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    names = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
    for row in connection.execute(f"SELECT {names} FROM {table}"):
        yield dict(zip(columns, row, strict=True))


def _record(row: Mapping[str, Any]) -> SnapshotRecord:
    return SnapshotRecord(
        id=_text(row["id"]),
        namespace=_text(row["namespace_id"]),
        type=_text(row["type"]),
        payload=_digest(row),
        claims=_claims(_json(row.get("metadata"))),
        is_marked_deleted=row.get(MARK) is not None,
        is_stale=_is_stale(row["content"], row.get("content_hash")),
        created_at=_instant(row["created_at"]),
    )


def _edge(row: Mapping[str, Any]) -> SnapshotEdge:
    return SnapshotEdge(
        source=_text(row["from_id"]),
        relation=_text(row["relation"]),
        target=_text(row["to_id"]),
        payload=_digest(row),
        is_marked_deleted=row.get(MARK) is not None,
        has_derivation_mark=SUPERSEDED_AT in _json(row.get("metadata")),
        created_at=_instant(row.get("created_at")),
    )


def _claims(metadata: Mapping[str, Any]) -> tuple[Claim, ...]:
    """What a record says of its ancestry; its own is what its newest derivation wrote."""
    clocks = {relation: str(metadata.get(key, "")) for relation, key in CLOCK_KEY.items() if relation in metadata}
    newest = max(clocks.values(), default="")
    return tuple(
        Claim(relation, _text(target), is_own=clocks[relation] == newest)
        for relation in clocks
        for target in _listed(metadata[relation])
    )


def _listed(value: Any) -> list[Any]:
    return [target for target in (value if isinstance(value, list) else [value]) if target not in (None, "")]


def _json(cell: Any) -> dict[str, Any]:
    """A cell of JSON as an object; nothing where it is none."""
    if not isinstance(cell, str):
        return {}
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_stale(content: Any, stored: Any) -> bool | None:
    """Whether the content was changed after its hash was taken: the store never renews one."""
    if not isinstance(content, str) or not isinstance(stored, str) or not stored:
        return None
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS] != stored


def _instant(cell: Any) -> datetime | None:
    """An instant as it is written, with its offset or without one; None where it is none."""
    try:
        return datetime.fromisoformat(cell) if isinstance(cell, str) else None
    except ValueError:
        return None


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else repr(cell)


def _digest(row: Mapping[str, Any]) -> bytes:
    """SHA-256 over all columns by name but the deletion mark, each cell with its type and length."""
    hashed = hashlib.sha256()
    for name in sorted(row.keys() - {MARK}):
        cell = row[name]
        raw = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
        hashed.update(f"{name}\x00{type(cell).__name__}\x00{len(raw)}\x00".encode())
        hashed.update(raw)
    return hashed.digest()
