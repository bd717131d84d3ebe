"""The words of the foreign store: tables, columns, relations, enumerations, limits, and the one refusal.

Invariants
- The 22 relations fall into 9 pairs with a stored and an inverse label, 2 symmetric ones and 2 without an inverse.
- Ancestry relations point from the newer record to the older one.

Source: laws of the store 5.1, 5.3, 5.4, 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

KNOWN_REVISION = "009"

MEMORIES = "memories"
EDGES = "memory_edges"
SESSIONS = "sessions"
MESSAGES = "messages"
REVISIONS = "alembic_version"

REQUIRED_COLUMNS = {
    MEMORIES: ("id", "content", "type", "namespace_id", "created_at", "updated_at"),
    EDGES: ("from_id", "to_id", "relation", "created_at"),
}
KEY_COLUMNS = {MEMORIES: ("id",), EDGES: ("from_id", "to_id", "relation")}
# Text that must be storable for the row to become a record or an edge. Further columns live in the raw row alone.
TEXT_COLUMNS = {
    MEMORIES: (
        *("id", "content", "type", "namespace_id", "created_at", "updated_at", "tags", "summary", "metadata"),
        *("source_file", "source_repo", "source_tool", "project", "session_id", "content_hash", "deleted_at"),
        *("repo_url", "repo_name", "relative_path", "structured_data"),
    ),
    EDGES: ("from_id", "to_id", "relation", "created_at", "metadata", "deleted_at"),
}
SOURCE_COLUMNS = (
    *("source_file", "source_repo", "source_tool", "project", "session_id"),
    *("repo_url", "repo_name", "relative_path"),
)
# Read and kept as raw rows, never imported. `sync_state` is absent: it may name a server, so its rows are not read.
KEPT_TABLES = (SESSIONS, MESSAGES, "namespaces", "index_status", "indexed_files", "indexed_commits")

STORED_RELATIONS = {
    "evolved_from": "evolved_into",
    "merged_from": "merged_into",
    "split_from": "split_into",
    "references": "referenced_by",
    "supersedes": "superseded_by",
    "parent_of": "child_of",
    "part_of": "contains",
    "caused_by": "causes",
    "resolves": "resolved_by",
}
SYMMETRIC_RELATIONS = ("contradicts", "related_to")
RELATIONS_WITHOUT_INVERSE = ("depends_on", "implements")
STORED_BY_INVERSE = {inverse: stored for stored, inverse in STORED_RELATIONS.items()}
RELATIONS = (*STORED_RELATIONS, *STORED_BY_INVERSE, *SYMMETRIC_RELATIONS, *RELATIONS_WITHOUT_INVERSE)

ANCESTRY_RELATIONS = ("evolved_from", "merged_from", "split_from")
SUPERSEDES = "supersedes"
DERIVATION_RELATIONS = (*ANCESTRY_RELATIONS, SUPERSEDES)
KIND_BY_RELATION = {"evolved_from": "evolve", "merged_from": "merge", "split_from": "split"}
CLOCK_BY_RELATION = {
    "evolved_from": "evolution_timestamp",
    "merged_from": "merge_timestamp",
    "split_from": "split_timestamp",
}
RESERVED_METADATA_KEYS = (
    *ANCESTRY_RELATIONS,
    *CLOCK_BY_RELATION.values(),
    *("change_reason", "merge_strategy", "split_part", "split_total"),
)

MEMORY_TYPES = (
    *("fact", "decision", "procedural", "episodic", "user", "code", "error", "commit", "todo", "issue", "api"),
    *("schema", "test", "review", "release", "config", "dependency", "doc", "workflow", "task", "step", "agent_run"),
)
# The source maps every reason it does not know to the default, and no public door of it can pass another one.
DEFAULT_REASON = "observation"
CHANGE_REASONS = (DEFAULT_REASON, "inference", "correction", "decay")
MERGE_STRATEGIES = ("union", "intersection", "latest", "oldest", "weighted")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is bounded before anything is parsed. Rows are counted over `memories` and `memory_edges` together."""

    file_bytes: int = 8 * 1024**3
    rows: int = 2_000_000
    columns: int = 256
    cell_bytes: int = 1024**2


class ForeignStoreError(Exception):
    """The file cannot be read as a store of this format: which rule refused it, what it expected and what it got.

    Codes: not_a_file, file_too_large, not_sqlite, journal_left, unreadable, missing_table, missing_column,
    schema_revision_unknown, schema_revision_newer, too_many_rows, too_many_columns.
    """

    def __init__(self, code: str, *, expected: str, got: str) -> None:
        super().__init__(f"{code}: expected {expected}, got {got}")
        self.code = code
        self.expected = expected
        self.got = got


def stored_direction(relation: str) -> tuple[str, bool]:
    """The label under which a relation is stored, and whether its ends change places for that."""
    stored = STORED_BY_INVERSE.get(relation)
    return (relation, False) if stored is None else (stored, True)


def inverse_of(relation: str) -> str | None:
    """The label of the opposite direction; the same label if symmetric; None where the source has none."""
    if relation in SYMMETRIC_RELATIONS:
        return relation
    return STORED_RELATIONS.get(relation) or STORED_BY_INVERSE.get(relation)
