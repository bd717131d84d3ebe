"""Rows of one namespace in the order of its log, a bounded number at a time.

Invariants
- A window holds whole entries, at most WINDOW_ITEMS items or one entry; nothing of earlier windows is kept. So memory
  follows the largest entry, not the store.
- Tables are read by statements of this module. What wrote them is not asked, and what reads them for others neither.
- Rows up to the point never change while they are read, except by an erasure: content is read before erasures are.
- Identifiers are 32 hexadecimal digits on both databases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from audit.laws.statements import as_hex, rows

WINDOW_ITEMS = 4_000
WINDOW_ENTRIES = 500
CHUNK = 400
BEFORE_ALL = -(2**62)

Address = tuple[int, int]


class EntryRow(NamedTuple):
    seq: int
    n_items: int
    recorded_at: Any
    leaf: bytes


class ItemRow(NamedTuple):
    seq: int
    item: int
    kind: str
    object: str
    parts: bytes
    commitment: bytes


class RecordRow(NamedTuple):
    seq: int
    item: int
    id: str
    type: str
    line: str
    source_class: str
    valid_from: Any
    valid_to: Any
    source_recorded_at: Any
    n_quarantined: int
    ancestry_digest: bytes


class EdgeRow(NamedTuple):
    """An edge with what is known of the record at its target, all None where there is none in the namespace."""

    seq: int
    item: int
    source: str
    relation: str
    target: str
    ordinal: int
    derivation: str | None
    target_seq: int | None
    target_item: int | None
    target_type: str | None
    target_digest: bytes | None


class DerivationRow(NamedTuple):
    seq: int
    item: int
    id: str
    kind: str
    type_rule: str


@dataclass(frozen=True, slots=True)
class Window:
    """Whole entries with all rows of lineage that stand at their places, entered in the log or not."""

    entries: list[EntryRow]
    items: dict[Address, ItemRow]
    records: dict[Address, RecordRow]
    edges: list[EdgeRow]
    derivations: list[DerivationRow]
    contents: dict[Address, dict[str, tuple[bytes, str]]]


_KINDS = "('record', 'edge')"
_SPAN = "{table}.namespace_id = %s AND {table}.seq > %s AND {table}.seq <= %s ORDER BY {table}.seq, {table}.item"
_ENTRIES = (
    "SELECT seq, n_items, recorded_at, leaf FROM memory_entry"
    " WHERE namespace_id = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT %s"
)
_ITEMS = (
    "SELECT seq, item, kind, object, parts, commitment FROM memory_item"
    f" WHERE kind IN {_KINDS} AND {_SPAN.format(table='memory_item')}"
)
_RECORDS = (
    "SELECT seq, item, id, type, line, source_class, {valid_from}, {valid_to}, source_recorded_at, n_quarantined,"
    f" ancestry_digest FROM memory_record WHERE {_SPAN.format(table='memory_record')}"
)
VALID_TIME = ("valid_from", "valid_to")
_EDGES = (
    "SELECT e.seq, e.item, e.source, e.relation, e.target, e.ordinal, e.derivation, t.seq, t.item, t.type,"
    " t.ancestry_digest FROM memory_edge e LEFT JOIN memory_record t"
    f" ON t.namespace_id = e.namespace_id AND t.id = e.target WHERE {_SPAN.format(table='e')}"
)
_DERIVATIONS = (
    f"SELECT seq, item, id, kind, type_rule FROM memory_derivation WHERE {_SPAN.format(table='memory_derivation')}"
)
_CONTENTS = (
    "SELECT c.seq, c.item, c.part, c.salt, c.payload FROM memory_content c JOIN memory_item i"
    " ON i.namespace_id = c.namespace_id AND i.seq = c.seq AND i.item = c.item AND i.kind = 'record'"
    f" WHERE {_SPAN.format(table='c')}"
)


def windows(namespace: int, *, upto: int) -> Iterator[Window]:
    """Everything up to the entry `upto`, in order. The last window reaches `upto` even where no entry does."""
    there = record_columns()
    records = _RECORDS.format(**{name: name if name in there else "NULL" for name in VALID_TIME})
    after = BEFORE_ALL
    while True:
        found = rows(_ENTRIES, [namespace, after, upto, WINDOW_ENTRIES])
        entries: list[EntryRow] = []
        n_items = 0
        for row in found:
            if entries and n_items + row[1] > WINDOW_ITEMS:
                break
            entries.append(EntryRow(row[0], row[1], row[2], bytes(row[3])))
            n_items += row[1]
        is_last = len(entries) == len(found) < WINDOW_ENTRIES
        last = upto if is_last else entries[-1].seq
        yield _window(entries, records, [namespace, after, last])
        if is_last:
            return
        after = last


def _window(entries: list[EntryRow], records_statement: str, span: Sequence[int]) -> Window:
    contents: dict[Address, dict[str, tuple[bytes, str]]] = defaultdict(dict)
    for seq, item, part, salt, payload in rows(_CONTENTS, span):
        contents[seq, item][part] = (bytes(salt), payload)
    return Window(
        entries=entries,
        items={(row[0], row[1]): _item(row) for row in rows(_ITEMS, span)},
        records={(row[0], row[1]): _record(row) for row in rows(records_statement, span)},
        edges=[_edge(row) for row in rows(_EDGES, span)],
        derivations=[DerivationRow(row[0], row[1], as_hex(row[2]), row[3], row[4]) for row in rows(_DERIVATIONS, span)],
        contents=contents,
    )


def _item(row: Sequence[Any]) -> ItemRow:
    return ItemRow(row[0], row[1], row[2], as_hex(row[3]), bytes(row[4]), bytes(row[5]))


def _record(row: Sequence[Any]) -> RecordRow:
    seq, item, id, type, line, source_class, valid_from, valid_to, source_at, n_quarantined, digest = row
    return RecordRow(
        seq, item, as_hex(id), as_hex(type), as_hex(line), source_class, valid_from, valid_to, source_at, n_quarantined,
        bytes(digest),
    )  # fmt: skip


def _edge(row: Sequence[Any]) -> EdgeRow:
    seq, item, source, relation, target, ordinal, derivation, target_seq, target_item, type, digest = row
    return EdgeRow(
        seq, item, as_hex(source), relation, as_hex(target), ordinal,
        None if derivation is None else as_hex(derivation), target_seq, target_item,
        None if type is None else as_hex(type), None if digest is None else bytes(digest),
    )  # fmt: skip


def known(namespace: int, ids: Iterable[str]) -> set[str]:
    """Which of the identifiers are records of the namespace."""
    return {id for _, id in _owned("namespace_id = %s AND", [namespace], ids)}


def owners(ids: Iterable[str]) -> dict[str, str]:
    """The name of a namespace that holds a record of the identifier, for those that any namespace holds."""
    names = {row[0]: row[1] for row in rows("SELECT id, name FROM memory_namespace ORDER BY id", [])}
    marks = ", ".join(["%s"] * len(names))
    # Named one by one: the key of a record begins with its namespace, and nothing else finds it without a scan.
    found = _owned(f"namespace_id IN ({marks}) AND", list(names), ids)
    return {id: names[namespace] for namespace, id in sorted(found, reverse=True)}


def _owned(condition: str, values: Sequence[int], ids: Iterable[str]) -> set[tuple[int, str]]:
    wanted = sorted(set(ids))
    found: set[tuple[int, str]] = set()
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        marks = ", ".join(["%s"] * len(chunk))
        statement = f"SELECT namespace_id, id FROM memory_record WHERE {condition} id IN ({marks})"
        found.update((row[0], as_hex(row[1])) for row in rows(statement, [*values, *map(_key, chunk)]))
    return found


def erased(namespace: int, addresses: Iterable[Address]) -> set[tuple[int, int, str]]:
    """(seq, item, part) of what erasures name at the addresses."""
    seqs = sorted({seq for seq, _ in addresses})
    found: set[tuple[int, int, str]] = set()
    for start in range(0, len(seqs), CHUNK):
        chunk = seqs[start : start + CHUNK]
        statement = (
            "SELECT target_seq, target_item, target_part FROM memory_erasure"
            f" WHERE namespace_id = %s AND target_seq IN ({', '.join(['%s'] * len(chunk))})"
        )
        found.update((row[0], row[1], row[2]) for row in rows(statement, [namespace, *chunk]))
    return found


def type_names(namespace: int, ids: Iterable[str]) -> dict[str, str]:
    """The names of types; one that was erased is not among them."""
    wanted = sorted(set(ids))
    found: dict[str, str] = {}
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        marks = ", ".join(["%s"] * len(chunk))
        statement = f"SELECT id, text FROM memory_name WHERE namespace_id = %s AND id IN ({marks})"
        found.update((as_hex(row[0]), row[1]) for row in rows(statement, [namespace, *map(_key, chunk)]))
    return found


def namespace_name(namespace: int) -> str:
    """What people call the namespace."""
    return str(rows("SELECT name FROM memory_namespace WHERE id = %s", [namespace])[0][0])


def record_columns() -> set[str]:
    """The columns that the table of records has now."""
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, "memory_record")}


def _key(id: str) -> Any:
    return UUID(hex=id) if connection.vendor == "postgresql" else id
