"""The structure of a store in memory: for each row who it is, when, and whom it names; no texts.

Invariants
- Rows are sorted by key, so that nothing after this depends on their order in the file.
- A row that cannot become a record or an edge stands under `unusable` with its faults; none is left out.
- Memory grows with the number of rows, not with the length of their texts.

Source: laws of the store 5.1, 5.2, 5.10 (I12, I13).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.interchange.contextfs.kernel import vocabulary as words
from memory.interchange.contextfs.kernel.cells import parsed_object, parsed_tags, text_fault
from memory.interchange.contextfs.kernel.claims import NO_CLAIMS, Claims, claims_of
from memory.interchange.contextfs.kernel.source import RowRef, Rows, SourceRow


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A usable row of `memories`. `bad_json` names the columns whose JSON could not be read."""

    ref: RowRef
    id: str
    namespace: str
    type: str
    created_text: str
    deleted_text: str | None
    claims: Claims
    row_hash: str
    bad_json: tuple[str, ...]
    has_stale_hash: bool


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A usable row of `memory_edges`. `superseded_text` is the clock key that a supersede writes on its edge."""

    ref: RowRef
    from_id: str
    relation: str
    to_id: str
    created_text: str
    deleted_text: str | None
    superseded_text: str | None
    row_hash: str
    bad_json: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnusableRow:
    """A row of either table that cannot be stored, with (column, reason) for each fault."""

    ref: RowRef
    namespace: str | None
    row_hash: str
    faults: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Rows of a table that is not imported. `namespace` is None where the source names none."""

    table: str
    namespace: str | None
    refs: tuple[RowRef, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    memories: tuple[MemoryRow, ...]
    edges: tuple[EdgeRow, ...]
    unusable: tuple[UnusableRow, ...]
    kept: tuple[KeptRows, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The source namespaces that hold a usable record, sorted."""
        return tuple(sorted({row.namespace for row in self.memories}))

    def refs(self) -> Iterator[RowRef]:
        """Every row that was read."""
        yield from (row.ref for row in self.memories)
        yield from (row.ref for row in self.edges)
        yield from (row.ref for row in self.unusable)
        yield from (ref for kept in self.kept for ref in kept.refs)


def survey(store: Rows) -> Survey:
    """Read every row once and keep its structure."""
    memories: list[MemoryRow] = []
    edges: list[EdgeRow] = []
    unusable: list[UnusableRow] = []
    for row in store.rows(words.MEMORIES):
        faults = _faults(row)
        if faults:
            unusable.append(UnusableRow(row.ref, row.text("namespace_id"), row.digest(), faults))
        else:
            memories.append(_memory(row))
    for row in store.rows(words.EDGES):
        faults = _faults(row)
        if faults:
            unusable.append(UnusableRow(row.ref, None, row.digest(), faults))
        else:
            edges.append(_edge(row))
    memories, repeated_memories = _first_of_each_key(memories)
    edges, repeated_edges = _first_of_each_key(edges)
    repeats = (("key", "repeats that of another row"),)
    unusable += [UnusableRow(row.ref, row.namespace, row.row_hash, repeats) for row in repeated_memories]
    unusable += [UnusableRow(row.ref, None, row.row_hash, repeats) for row in repeated_edges]
    unusable.sort(key=lambda row: (row.ref.table, row.ref.key, row.row_hash))
    return Survey(tuple(memories), tuple(edges), tuple(unusable), _kept(store))


def _first_of_each_key[R: (MemoryRow, EdgeRow)](rows: Iterable[R]) -> tuple[list[R], list[R]]:
    """The rows in key order, and apart those that repeat a key: a copied table may have lost its primary key."""
    kept: list[R] = []
    repeated: list[R] = []
    for row in sorted(rows, key=lambda row: (row.ref.key, row.row_hash, row.ref.rowid)):
        (repeated if kept and kept[-1].ref.key == row.ref.key else kept).append(row)
    return kept, repeated


def _faults(row: SourceRow) -> tuple[tuple[str, str], ...]:
    table = row.ref.table
    faults = []
    for column in words.TEXT_COLUMNS[table]:
        cell = row.cells.get(column)
        if cell is None and column in words.REQUIRED_COLUMNS[table]:
            faults.append((column, "missing"))
        reason = text_fault(cell)
        if reason is not None:
            faults.append((column, reason))
    named = (*words.KEY_COLUMNS[table], "namespace_id")
    faults += [(column, "empty") for column in named if row.cells.get(column) == ""]
    return tuple(faults)


def _memory(row: SourceRow) -> MemoryRow:
    metadata = parsed_object(row.text("metadata"))
    readable = {
        "tags": parsed_tags(row.text("tags")) is not None,
        "metadata": metadata is not None,
        "structured_data": parsed_object(row.text("structured_data")) is not None,
    }
    return MemoryRow(
        ref=row.ref,
        id=_required(row, "id"),
        namespace=_required(row, "namespace_id"),
        type=_required(row, "type"),
        created_text=_required(row, "created_at"),
        deleted_text=row.text("deleted_at"),
        claims=NO_CLAIMS if metadata is None else claims_of(metadata),
        row_hash=row.digest(),
        bad_json=tuple(column for column, is_readable in readable.items() if not is_readable),
        has_stale_hash=_has_stale_hash(row),
    )


def _edge(row: SourceRow) -> EdgeRow:
    metadata = parsed_object(row.text("metadata"))
    superseded = None if metadata is None else metadata.get("superseded_at")
    return EdgeRow(
        ref=row.ref,
        from_id=_required(row, "from_id"),
        relation=_required(row, "relation"),
        to_id=_required(row, "to_id"),
        created_text=_required(row, "created_at"),
        deleted_text=row.text("deleted_at"),
        superseded_text=superseded if isinstance(superseded, str) else None,
        row_hash=row.digest(),
        bad_json=("metadata",) if metadata is None else (),
    )


def _has_stale_hash(row: SourceRow) -> bool:
    stored = row.text("content_hash")
    if not stored:
        return False
    return stored != hashlib.sha256(_required(row, "content").encode("utf-8")).hexdigest()[:16]


def _required(row: SourceRow, column: str) -> str:
    cell = row.text(column)
    assert cell is not None, "a row with faults is not read further"
    return cell


def _kept(store: Rows) -> tuple[KeptRows, ...]:
    """The rows of tables that are not imported, by table and namespace; a message belongs where its session does."""
    session_namespaces: dict[str, str | None] = {}
    found: dict[tuple[str, str | None], list[RowRef]] = {}
    for table in words.KEPT_TABLES:
        for row in store.rows(table):
            if table == words.MESSAGES:
                namespace = session_namespaces.get(row.text("session_id") or "")
            else:
                namespace = row.text("id" if table == "namespaces" else "namespace_id")
            if table == words.SESSIONS:
                session_namespaces[row.text("id") or ""] = namespace
            found.setdefault((table, namespace), []).append(row.ref)
    return tuple(
        KeptRows(table, namespace, tuple(sorted(refs, key=lambda ref: (ref.key, ref.rowid))))
        for (table, namespace), refs in sorted(found.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    )
