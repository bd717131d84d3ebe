"""The peer's file, opened read-only: its schema, and its rows.

Invariants
- Nothing is written, neither into the file nor beside it; a file that a program has open is refused.
- The schema is what `user_version` says, and for 0 the first one if the columns fit; a newer one is refused.
- All rows are read in one transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory.base.canonical import canonical
from memory.interchange.contextfs.kernel.cells import decoded_text, encode_cell
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError, Limits
from memory.interchange.contextfs.reader import read_only_address, refusing_broken, sha256_of
from memory.interchange.posterior.kernel.findings import Row

NEWEST = 3
# Table: the columns that tell its rows apart, and the order in which they are read.
KEYS: Mapping[str, tuple[str, ...]] = {
    "observations": ("observation_id",), "relation_laws": ("relation_type",), "monitor_runs": ("run_id",),
    "monitor_laws": ("run_id", "relation_type"), "monitor_predictions": ("observation_id",),
    "monitor_outcomes": ("outcome_event_id",),
}  # fmt: skip
ORDERS = {"monitor_predictions": "prediction_seq", "monitor_outcomes": "outcome_seq"}
_FIRST = (
    "observation_id", "namespace", "relation_type", "source", "target", "posterior_json", "prior_json",
    "evidence_family", "provenance_json", "observed_at", "valid_from", "valid_until", "independent_evidence", "trust",
    "tags_json", "revoked_at",
)  # fmt: skip
_LINEAGE = ("source_event_id", "lineage_root_id", "derived_from_json", "encoder_revision", "calibration_revision")


@dataclass(frozen=True, slots=True)
class PeerStore:
    """A store as it was read. `fingerprint` names it for good: it hangs on its first observation alone."""

    version: int
    fingerprint: str
    file_sha256: str
    rows: Mapping[str, tuple[Row, ...]]


def read_store(path: Path) -> PeerStore:
    """Read the whole store.   Raises ForeignStoreError."""
    path = path.resolve()
    address = read_only_address(path, Limits())
    with refusing_broken(path), closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
        connection.text_factory = decoded_text
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        version = _version(connection)
        tables = KEYS if version > 1 else {"observations": KEYS["observations"]}
        rows = {table: _rows(connection, table) for table in tables}
    return PeerStore(version, _fingerprint(rows["observations"]), sha256_of(path), rows)


def _version(connection: sqlite3.Connection) -> int:
    told = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if told > NEWEST:
        raise ForeignStoreError("schema_revision_newer", expected=f"schema 1 to {NEWEST}", got=str(told))
    version = max(told, 1)
    standing = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in KEYS if version > 1 else ("observations",):
        if table not in standing:
            raise ForeignStoreError("missing_table", expected=f"the table {table}", got="none")
    columns = _columns(connection, "observations")
    expected = (*_FIRST, *(_LINEAGE if version > 2 else ()))
    if missing := [name for name in expected if name not in columns]:
        raise ForeignStoreError("missing_column", expected=f"observations.{missing[0]}", got="none")
    return version


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]


def _rows(connection: sqlite3.Connection, table: str) -> tuple[Row, ...]:
    columns = _columns(connection, table)
    listed = ", ".join(f'"{column}"' for column in columns)
    found = connection.execute(f"SELECT {listed} FROM {table} ORDER BY {ORDERS.get(table, 'rowid')}")
    rows = []
    for values in found:
        cells = dict(zip(columns, values, strict=True))
        key = tuple(canonical(encode_cell(cells[column])).decode() for column in KEYS[table])
        rows.append(Row(table, key, cells))
    return tuple(rows)


def _fingerprint(observations: tuple[Row, ...]) -> str:
    first = observations[0].cells if observations else {}
    told = [encode_cell(first.get(column)) for column in ("observation_id", "namespace", "observed_at")]
    return hashlib.sha256(canonical(["posterior-memory-harness", *told])).hexdigest()[:32]
