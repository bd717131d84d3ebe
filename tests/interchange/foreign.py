"""A small ContextFS store, written row by row by a test, with the schema of revision 009."""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, Self

INVERSES = {
    "evolved_from": "evolved_into",
    "merged_from": "merged_into",
    "split_from": "split_into",
    "supersedes": "superseded_by",
    "references": "referenced_by",
}
CLOCKS = {
    "evolved_from": "evolution_timestamp",
    "merged_from": "merge_timestamp",
    "split_from": "split_timestamp",
}
MEMORY_COLUMNS = (
    "id TEXT NOT NULL PRIMARY KEY",
    "content TEXT NOT NULL",
    "type TEXT NOT NULL",
    "tags TEXT",
    "summary TEXT",
    "namespace_id TEXT NOT NULL",
    "source_file TEXT",
    "source_repo TEXT",
    "source_tool TEXT",
    "project TEXT",
    "session_id TEXT",
    "created_at TEXT NOT NULL",
    "updated_at TEXT NOT NULL",
    "metadata TEXT",
    "vector_clock TEXT",
    "content_hash TEXT",
    "deleted_at TEXT",
    "last_modified_by TEXT",
    "repo_url TEXT",
    "repo_name TEXT",
    "relative_path TEXT",
    "structured_data TEXT",
    "authoritative INTEGER DEFAULT 0",
)
EDGE_COLUMNS = (
    "from_id TEXT NOT NULL",
    "to_id TEXT NOT NULL",
    "relation TEXT NOT NULL",
    "weight FLOAT DEFAULT '1.0' NOT NULL",
    "created_at TEXT NOT NULL",
    "created_by TEXT",
    "metadata TEXT",
    "vector_clock TEXT",
    "deleted_at TEXT",
    "last_modified_by TEXT",
    "PRIMARY KEY (from_id, to_id, relation)",
)


def foreign_bytes(content: str = "a note of another memory") -> bytes:
    """A whole store of one record, as it would be uploaded."""
    with tempfile.TemporaryDirectory() as folder:
        return ForeignFile(Path(folder) / "store.db").memory("only", content=content).done().read_bytes()


class ForeignFile:
    """Rows are written at once; `done()` closes the file for the reader."""

    def __init__(
        self,
        path: Path,
        *,
        memory_columns: tuple[str, ...] = MEMORY_COLUMNS,
        edge_columns: tuple[str, ...] = EDGE_COLUMNS,
        revision: str | None = "009",
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        # What a test writes need not survive a power cut.
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute(f"CREATE TABLE memories ({', '.join(memory_columns)})")
        self.db.execute(f"CREATE TABLE memory_edges ({', '.join(edge_columns)})")
        if revision is not None:
            self.db.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            self.db.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
        self._minute = 0

    def done(self) -> Path:
        self.db.close()
        return self.path

    def row(self, table: str, **cells: Any) -> Self:
        columns = ", ".join(f'"{column}"' for column in cells)
        marks = ", ".join("?" * len(cells))
        self.db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(cells.values()))
        return self

    def clock(self) -> str:
        self._minute += 1
        return f"2026-03-{2 + self._minute // 1440:02d}T{self._minute // 60 % 24:02d}:{self._minute % 60:02d}:07.250000"

    def memory(self, identifier: Any, namespace: Any = "app", **cells: Any) -> Self:
        """A record as the facade saves it: an aware creation, no lineage."""
        at = self.clock() + "+00:00"
        metadata = cells.pop("metadata", {})
        given = {
            "id": identifier,
            "content": f"text of {identifier}",
            "type": "fact",
            "tags": "[]",
            "namespace_id": namespace,
            "created_at": at,
            "updated_at": at,
            "metadata": metadata if isinstance(metadata, str | bytes | None) else json.dumps(metadata),
        }
        return self.row("memories", **{**given, **cells})

    def derived(
        self,
        identifier: str,
        relation: str,
        *parents: str,
        namespace: str = "app",
        edges: bool = True,
        metadata: dict[str, Any] | None = None,
        **cells: Any,
    ) -> Self:
        """A record as evolve, merge or split write it: naive local creation (UTC here), claim, and both edges."""
        at = self.clock()
        claim: Any = list(parents) if relation == "merged_from" else parents[0]
        keys = {**(metadata or {}), relation: claim, CLOCKS[relation]: at + "+00:00"}
        self.memory(identifier, namespace, **{"created_at": at, "updated_at": at, "metadata": keys, **cells})
        for parent in dict.fromkeys(parents) if edges else ():
            self.pair(identifier, relation, parent, created_at=at)
        return self

    def edge(self, from_id: Any, relation: Any, to_id: Any, **cells: Any) -> Self:
        metadata = cells.pop("metadata", {})
        given = {
            "from_id": from_id,
            "to_id": to_id,
            "relation": relation,
            "created_at": self.clock(),
            "created_by": "contextfs",
            "metadata": metadata if isinstance(metadata, str | bytes | None) else json.dumps(metadata),
        }
        return self.row("memory_edges", **{**given, **cells})

    def pair(self, from_id: str, relation: str, to_id: str, **cells: Any) -> Self:
        self.edge(from_id, relation, to_id, **cells)
        return self.edge(to_id, INVERSES[relation], from_id, **{**cells, "metadata": {}})
