"""One chunk of entries with all that they commit to, and the faults of one entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from memory.base.canonical import canonical
from memory.base.models import Evidence
from memory.ledger.drafts import row_of, unpack
from memory.ledger.kernel import commitment, merkle
from memory.ledger.models import Content, Entry, Erasure, Item, Name, Namespace
from memory.ledger.queries.proofs import evidence_models

Address = tuple[int, int]

Verdict = Literal["ok", "failed", "not_checked", "erased"]
CONTENT_CODES = frozenset({
    "payload_mismatch", "salt_invalid", "content_missing", "content_unlisted", "row_mismatch", "row_missing",
    "row_unlisted",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong and where, with both sides. `is_about_kept`: against the checkpoint that the reader saved."""

    code: str
    seq: int
    item: int | None = None
    part: str = ""
    expected: str = ""
    got: str = ""
    place: str = ""
    is_about_kept: bool = False


@dataclass(slots=True)
class Scan:
    """What a scan found. The three verdicts are never folded into one."""

    namespace: str
    size: int = 0
    n_entries: int = 0
    n_items: int = 0
    n_contents: int = 0
    n_erased: int = 0
    n_checkpoints: int = 0
    root: bytes = merkle.EMPTY_ROOT
    faults: list[Fault] = field(default_factory=list)
    has_kept: bool = False
    missing: set[int] = field(default_factory=set)

    @property
    def content(self) -> Verdict:
        """Verdict 1: content and rows equal their commitments."""
        if any(fault.code in CONTENT_CODES for fault in self.faults):
            return "failed"
        return "erased" if self.n_erased else "ok"

    @property
    def inclusion(self) -> Verdict:
        """Verdict 2: items are in their entries, entries in the tree and in every signed checkpoint."""
        structural = [fault for fault in self.faults if fault.code not in CONTENT_CODES and not fault.is_about_kept]
        if structural:
            return "failed"
        return "ok" if self.n_checkpoints else "not_checked"

    @property
    def consistency(self) -> Verdict:
        """Verdict 3: the log begins with the checkpoint that the reader kept."""
        if not self.has_kept:
            return "not_checked"
        return "failed" if any(fault.is_about_kept for fault in self.faults) else "ok"

    @property
    def is_clean(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True)
class Chunk:
    """Entries in order, and by address their items, rows, contents and erasures."""

    namespace: int
    entries: list[Entry]
    items: dict[int, list[Item]]
    rows: dict[tuple[str, int, int], Evidence]
    contents: dict[Address, dict[str, tuple[bytes, bytes]]]
    names: dict[Address, UUID]
    erased: dict[tuple[int, int, str], int]

    @property
    def first(self) -> int:
        return self.entries[0].seq

    @property
    def last(self) -> int:
        return self.entries[-1].seq


def load_chunk(namespace: int, after: int, limit: int) -> Chunk | None:
    """The next entries after a seq with all that belongs to them; None at the end."""
    entries = list(Entry.objects.filter(namespace=namespace, seq__gt=after).order_by("seq")[:limit])
    if not entries:
        return None
    span = {"namespace": namespace, "seq__gte": entries[0].seq, "seq__lte": entries[-1].seq}
    items: dict[int, list[Item]] = defaultdict(list)
    kinds: set[str] = set()
    for item in Item.objects.filter(**span).order_by("seq", "item"):
        items[item.seq].append(item)
        kinds.add(item.kind)
    gone = Erasure.objects.filter(namespace=namespace, target_seq__gte=entries[0].seq, target_seq__lte=entries[-1].seq)
    erased = {(row.target_seq, row.target_item, row.target_part): row.seq for row in gone}
    names = {(row.seq, row.item): row.id for row in Name.objects.filter(**span)}
    return Chunk(namespace, entries, items, _rows(namespace, span, kinds), _contents(span), names, erased)


def _rows(namespace: int, span: dict[str, Any], kinds: set[str]) -> dict[tuple[str, int, int], Evidence]:
    rows: dict[tuple[str, int, int], Evidence] = {}
    for kind, model in evidence_models().items():
        if kind not in kinds:
            continue
        if model is Namespace:
            rows[kind, 1, 0] = Namespace.objects.get(pk=namespace)
            continue
        for row in model._default_manager.filter(**span):
            rows[kind, row.seq, row.item] = row
    return rows


def _contents(span: dict[str, Any]) -> dict[Address, dict[str, tuple[bytes, bytes]]]:
    contents: dict[Address, dict[str, tuple[bytes, bytes]]] = defaultdict(dict)
    for row in Content.objects.filter(**span):
        # As it is stored: what is no canonical JSON any more cannot equal its commitment.
        contents[row.seq, row.item][row.part] = (bytes(row.salt), row.payload.encode())
    for name in Name.objects.filter(**span):
        contents[name.seq, name.item]["name"] = (bytes(name.salt), canonical(name.text))
    return contents


def faults_of_entry(chunk: Chunk, entry: Entry, result: Scan) -> Iterator[Fault]:
    """The faults below an entry whose leaf holds, from the top down: items, rows, content."""
    items = chunk.items.get(entry.seq, [])
    hashes = [commitment.item_hash(item.item, item.kind, str(item.object), bytes(item.commitment)) for item in items]
    for index, (item, digest) in enumerate(zip(items, hashes, strict=True)):
        if item.item != index or bytes(item.hash) != digest:
            yield Fault("items_mismatch", entry.seq, item.item, expected=digest.hex(), got=bytes(item.hash).hex())
    root = merkle.root(hashes)
    if len(items) != entry.n_items or root != bytes(entry.items_root):
        yield Fault("items_mismatch", entry.seq, expected=bytes(entry.items_root).hex(), got=root.hex())
    for item in items:
        result.n_items += 1
        yield from _faults_of_item(chunk, item, result)


def _faults_of_item(chunk: Chunk, item: Item, result: Scan) -> Iterator[Fault]:
    row = chunk.rows.get((item.kind, item.seq, item.item))
    if row is None and item.kind != "name":
        yield Fault("row_missing", item.seq, item.item, expected=f"a row of kind {item.kind}", got="no row")
        return
    # The row of a name is erasable and commits to nothing; what it names is the object of its item.
    named = chunk.names.get((item.seq, item.item), item.object)
    if named != item.object:
        yield Fault("row_mismatch", item.seq, item.item, expected=str(item.object), got=str(named))
        return
    parts = unpack(item.parts)
    digest = commitment.item_commitment(row_of(row) if row is not None else {}, parts)
    if digest != bytes(item.commitment):
        yield Fault("row_mismatch", item.seq, item.item, expected=bytes(item.commitment).hex(), got=digest.hex())
        return
    stored = chunk.contents.get((item.seq, item.item), {})
    for part in sorted(stored.keys() - parts.keys()):
        yield Fault("content_unlisted", item.seq, item.item, part, expected="no such part", got="content")
    for part, expected in parts.items():
        erased = (item.seq, item.item, part) in chunk.erased
        result.n_contents += 1
        result.n_erased += erased
        fault = _fault_of_part(item, part, expected, stored.get(part), erased=erased)
        if fault is not None:
            yield fault


def _fault_of_part(
    item: Item, part: str, expected: bytes, found: tuple[bytes, bytes] | None, *, erased: bool
) -> Fault | None:
    at = (item.seq, item.item, part)
    if found is None:
        return None if erased else Fault("content_missing", *at, expected=expected.hex(), got="no content")
    if erased:
        return Fault("content_unlisted", *at, expected="no content: it is erased", got="content")
    salt, payload = found
    if len(salt) != commitment.SALT_BYTES:
        return Fault("salt_invalid", *at, expected=f"{commitment.SALT_BYTES} bytes", got=f"{len(salt)} bytes")
    digest = commitment.part_commitment(part, salt, payload)
    if digest != expected:
        return Fault("payload_mismatch", *at, expected=expected.hex(), got=digest.hex())
    return None


def unlisted(namespace: int) -> Iterator[Fault]:
    """Evidence and content that no item lists: rows put in behind the ledger's back."""
    listed: dict[str, set[Address]] = defaultdict(set)
    for kind, seq, item in Item.objects.filter(namespace=namespace).values_list("kind", "seq", "item").iterator():
        listed[kind].add((seq, item))
    for kind, model in evidence_models().items():
        if model is Namespace:
            continue
        for address in model._default_manager.filter(namespace=namespace).values_list("seq", "item").iterator():
            if address not in listed[kind]:
                yield Fault("row_unlisted", *address, expected="no row", got=f"a row of kind {kind}")
    known = set().union(*listed.values()) if listed else set()
    for seq, item, part in Content.objects.filter(namespace=namespace).values_list("seq", "item", "part").iterator():
        if (seq, item) not in known:
            yield Fault("content_unlisted", seq, item, part, expected="no content", got="content of no item")
    for address in Name.objects.filter(namespace=namespace).values_list("seq", "item").iterator():
        if address not in listed["name"]:
            yield Fault("content_unlisted", *address, "name", expected="no name", got="a name of no item")
