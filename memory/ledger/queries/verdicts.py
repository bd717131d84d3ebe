"""One entry checked on the spot: its content, its place in a checkpoint, and the checkpoint beside the reader's own.

Invariants
- Three verdicts that are never folded into one; each is a list of steps with what was expected and what was found.
- Nothing that is stored is believed: leaves, roots and commitments are computed again.
- Four queries beside those of the entry and its items, and O(log n) nodes of the tree, whatever the size of the log.
- What was not looked at says not_checked, and what is erased says erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import canonical
from memory.base.errors import Invalid, NotFound, Place, Unavailable
from memory.ledger.drafts import row_of, unpack
from memory.ledger.kernel import commitment, merkle, note, signing
from memory.ledger.models import Entry, Item
from memory.ledger.queries import trees
from memory.ledger.queries.entries import ITEMS_SHOWN, EntryRow, ItemRow, entry_rows, item_row
from memory.ledger.queries.leaves import leaf_fields
from memory.ledger.queries.proofs import evidence_row

Verdict = Literal["ok", "failed", "not_checked", "erased"]
ORDER: tuple[Verdict, ...] = ("failed", "not_checked", "erased", "ok")


@dataclass(frozen=True, slots=True)
class Step:
    """One check. `detail` says what was looked at; both sides are given where it failed."""

    name: str
    verdict: Verdict
    detail: str
    expected: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """An entry with one page of its items, and the three answers about the one item that is looked at.

    `canonical` are the bytes that the leaf hashes. `checkpoint` is the size of the one that covers the entry, `key` the
    public key that signed it, as a verifier takes it. `item_path` leads to the entry's items root, `entry_path` to the
    checkpoint's.
    """

    row: EntryRow
    canonical: bytes
    items: tuple[ItemRow, ...]
    item: int
    content: tuple[Step, ...]
    inclusion: tuple[Step, ...]
    consistency: tuple[Step, ...]
    checkpoint: int | None
    key: str
    item_path: tuple[bytes, ...]
    entry_path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Opened:
    """An entry with what its leaf hashes and the hashes of all its items as they are stored.

    `item` is the one that is looked at, `items` those of the page that holds it.
    """

    entry: Entry
    fields: dict[str, Any]
    item: Item
    items: tuple[Item, ...]
    hashes: tuple[bytes, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class _Signed:
    """A checkpoint as it is stored, and every key that was published."""

    size: int | None
    root: bytes
    text: str
    keys: tuple[note.VerificationKey, ...]


def checked(at: AsOf, *, seq: int, item: int = 0, kept: str = "") -> Checked:
    """The entry with its item checked. `kept` is the text of a checkpoint that the reader saved.

    Raises NotFound, Invalid (`kept` is no checkpoint).
    """
    found = _opened(at, seq=seq, item=item)
    signed = _signed(at, found)
    stored, erased = _stored(at.namespace, found.item)
    path = _entry_path(at, found, signed)
    return Checked(
        entry_rows(at.namespace, [found.entry])[0], canonical(found.fields),
        tuple(item_row(row, erased) for row in found.items), item, tuple(_content(at, found, stored, erased)),
        tuple(_inclusion(found, signed, path)), tuple(_consistency(at, signed, kept)), signed.size,
        _signer(signed, found.origin), tuple(merkle.inclusion_path_of(found.hashes, item)), tuple(path or ()),
    )  # fmt: skip


def _opened(at: AsOf, *, seq: int, item: int) -> _Opened:
    """By two queries, or three where the entry has more items than a page."""
    entry = Entry.objects.select_related("namespace").filter(namespace=at.namespace, seq=seq, seq__lte=at.seq).first()
    if entry is None:
        raise NotFound(f"There is no entry {seq} as of entry {at.seq}.")
    first = item // ITEMS_SHOWN * ITEMS_SHOWN
    rows = Item.objects.filter(namespace=at.namespace, seq=seq).order_by("item")
    items = tuple(rows.filter(item__gte=first, item__lt=first + ITEMS_SHOWN))
    chosen = next((one for one in items if one.item == item), None)
    if chosen is None:
        raise NotFound(f"There is no item {item} of entry {seq}.")
    is_whole = not first and len(items) < ITEMS_SHOWN
    hashes = [one.hash for one in items] if is_whole else rows.values_list("hash", flat=True)
    fields = leaf_fields(entry, namespace=entry.namespace.name)
    return _Opened(entry, fields, chosen, items, tuple(map(bytes, hashes)), entry.namespace.origin)


def overall(steps: Sequence[Step]) -> Verdict:
    """The gravest verdict among the steps."""
    return next((verdict for verdict in ORDER if any(step.verdict == verdict for step in steps)), "not_checked")


def _step(name: str, expected: bytes, got: bytes, detail: str) -> Step:
    if expected == got:
        return Step(name, "ok", detail)
    return Step(name, "failed", detail, expected.hex(), got.hex())


def _content(
    at: AsOf, found: _Opened, stored: Mapping[str, tuple[bytes, bytes]], erased: Mapping[tuple[int, str], int]
) -> Iterator[Step]:
    item, entry = found.item, found.entry
    row = evidence_row(at.namespace, item.kind, item.seq, item.item)
    parts = unpack(item.parts)
    for part, expected in parts.items():
        yield _part(part, expected, stored.get(part), erased.get((item.item, part)))
    for part in sorted(stored.keys() - parts.keys()):
        yield Step(f"part {part}", "failed", "the item commits to no such part", "no content", "content")
    digest = commitment.item_commitment(row_of(row) if row is not None else {}, parts)
    yield _step("row", bytes(item.commitment), digest, "its columns and parts give the commitment of the item")
    own = commitment.item_hash(item.item, item.kind, str(item.object), bytes(item.commitment))
    hashes = [own if index == item.item else one for index, one in enumerate(found.hashes)]
    root = merkle.root(hashes)
    yield _step("items", bytes(entry.items_root), root, f"{len(found.hashes)} item hashes give the entry's items root")
    leaf = commitment.entry_leaf(found.fields)
    yield _step("entry", bytes(entry.leaf), leaf, "the canonical bytes give the leaf")


def _part(part: str, expected: bytes, found: tuple[bytes, bytes] | None, erased_by: int | None) -> Step:
    name = f"part {part}"
    if found is None:
        if erased_by is not None:
            return Step(name, "erased", f"text and salt are gone by entry {erased_by}; the commitment stays")
        return Step(name, "failed", "its text is gone and no erasure names it", expected.hex(), "no content")
    salt, payload = found
    if len(salt) != commitment.SALT_BYTES:
        expected_bytes = f"{commitment.SALT_BYTES} bytes"
        return Step(name, "failed", "its salt has another length", expected_bytes, f"{len(salt)} bytes")
    return _step(name, expected, commitment.part_commitment(part, salt, payload), "text and salt give the commitment")


def _stored(namespace: int, item: Item) -> tuple[dict[str, tuple[bytes, bytes]], dict[tuple[int, str], int]]:
    """({part: (salt, payload)} of the item, {(item, part): the entry that erased it} of its entry), by one query."""
    where = "namespace_id = %s AND seq = %s AND item = %s"
    nothing = "NULL::bytea" if connection.vendor == "postgresql" else "NULL"
    statement = (
        f"SELECT part, salt, payload, 0, 0 FROM memory_content WHERE {where}"
        f" UNION ALL SELECT 'name', salt, text, 0, 0 FROM memory_name WHERE {where}"
        f" UNION ALL SELECT target_part, {nothing}, '', target_item, seq FROM memory_erasure"
        " WHERE namespace_id = %s AND target_seq = %s"
    )
    stored: dict[str, tuple[bytes, bytes]] = {}
    erased: dict[tuple[int, str], int] = {}
    values = [namespace, item.seq, item.item] * 2 + [namespace, item.seq]
    for part, salt, text, erased_item, erased_by in sql.fetch(statement, values):
        if erased_by:
            erased[erased_item, part] = erased_by
        else:
            stored[part] = (bytes(salt), canonical(text) if item.kind == "name" else text.encode())
    return stored, erased


def _signed(at: AsOf, found: _Opened) -> _Signed:
    """The newest checkpoint that covers the entry, and the keys, by one query."""
    statement = (
        "SELECT * FROM (SELECT seq, root, note FROM memory_checkpoint WHERE namespace_id = %s AND seq >= %s"
        " ORDER BY seq DESC LIMIT 1) AS newest"
        " UNION ALL SELECT 0, key, '' FROM memory_publickey WHERE namespace_id = %s"
    )
    size, root, text, keys = None, b"", "", []
    for seq, value, body in sql.fetch(statement, [at.namespace, found.entry.seq, at.namespace]):
        if seq:
            size, root, text = int(seq), bytes(value), body
        else:
            keys.append(note.VerificationKey(found.origin, bytes(value)))
    return _Signed(size, root, text, tuple(sorted(keys, key=str)))


def _entry_path(at: AsOf, found: _Opened, signed: _Signed) -> list[bytes] | None:
    """The way to the checkpoint's root; None where the tree lacks a node of it."""
    if signed.size is None:
        return []
    try:
        return trees.inclusion_path(at.namespace, seq=found.entry.seq, size=signed.size)
    except Unavailable:
        return None


def _inclusion(found: _Opened, signed: _Signed, path: list[bytes] | None) -> Iterator[Step]:
    seq, size = found.entry.seq, signed.size
    if size is None:
        yield Step("checkpoint", "not_checked", "no checkpoint covers this entry yet")
        return
    leaf = commitment.entry_leaf(found.fields)
    if path is None:
        yield Step("path", "failed", "the tree lacks a node: rebuild it", "every node on the way", "no node")
    elif merkle.verify_inclusion(seq - 1, size, leaf, path, signed.root):
        yield Step("path", "ok", f"{len(path)} hashes lead from the leaf to the root of checkpoint {size}")
    else:
        detail = f"the leaf does not lead to the root of checkpoint {size}"
        yield Step("path", "failed", detail, signed.root.hex(), leaf.hex())
    yield _signature(signed.text, found.origin, signed)


def _signer(signed: _Signed, origin: str) -> str:
    if signed.size is None:
        return ""
    try:
        verdict = signing.verify(note.parse(signed.text), signed.keys, origin=origin)
    except note.NoteError:
        return ""
    return str(verdict.key) if verdict.key is not None else ""


def _signature(text: str, origin: str, signed: _Signed) -> Step:
    try:
        read = note.parse(text)
    except note.NoteError as error:
        return Step("signature", "failed", "the checkpoint is no signed note", "a signed note", str(error))
    verdict = signing.verify(read, signed.keys, origin=origin)
    here = f"size {signed.size}, root {signed.root.hex()}"
    said = f"size {read.checkpoint.size}, root {read.checkpoint.root.hex()}"
    if verdict.code is None and said != here:
        return Step("signature", "failed", "what was signed is another tree than what is stored", here, said)
    if verdict.key is not None:
        return Step("signature", "ok", f"checkpoint {signed.size} is signed by the published key {_id_of(verdict.key)}")
    return Step("signature", "failed", verdict.detail, "a signature by a published key", verdict.code or "")


def _id_of(key: note.VerificationKey) -> str:
    return key.key_id.hex()


def _consistency(at: AsOf, signed: _Signed, kept: str) -> Iterator[Step]:
    if not kept:
        yield Step("your checkpoint", "not_checked", "paste one that you saved: only it shows that nobody began anew")
        return
    yield from kept_steps(at, read_kept(kept), keys=signed.keys, size=signed.size, root=signed.root)


def read_kept(text: str) -> note.SignedNote:
    """The checkpoint that a reader saved.   Raises Invalid, which says what a whole one looks like."""
    try:
        return note.parse(text)
    except note.NoteError as error:
        place = Place(("kept",), "invalid", "the whole text of a checkpoint", text[:40])
        raise Invalid(f"This is no checkpoint: {error}.", errors=(place,)) from error


def kept_steps(
    at: AsOf, reader: note.SignedNote, *, keys: Sequence[note.VerificationKey], size: int | None, root: bytes
) -> Iterator[Step]:
    """The reader's checkpoint beside the newest of this log: whose it is, and whether the log begins with it.

    size, root : of the newest checkpoint here; None where there is none, then the tree as it stands is taken.
    """
    said = reader.checkpoint
    origin = keys[0].name if keys else ""
    verdict = signing.verify(reader, keys, origin=origin)
    if verdict.code is not None:
        yield Step("signature", "failed", verdict.detail, f"a checkpoint of {origin or 'this log'}", verdict.code)
        return
    signer = _id_of(verdict.key) if verdict.key is not None else ""
    yield Step("signature", "ok", f"yours of {said.size} entries is signed by the published key {signer}")
    if not said.size:
        yield Step("log", "not_checked", "yours is of no entries: every log begins with it")
        return
    if said.size > at.head:
        detail = "the log is shorter than what you saved"
        yield Step("log", "failed", detail, f"at least {said.size} entries", f"{at.head} entries")
        return
    longer, longer_root = (size, root) if size is not None and size >= said.size else (at.head, None)
    yield from _begins_with(at, said, longer, longer_root)


def _begins_with(at: AsOf, said: note.Checkpoint, size: int, root: bytes | None) -> Iterator[Step]:
    whole = trees.root(at.namespace, size) if root is None else root
    path = trees.consistency_path(at.namespace, first=said.size, second=size) if said.size < size else []
    if said.size == size:
        yield _step("log", said.root, whole, f"your root is that of the {size} entries here")
    elif merkle.verify_consistency(said.size, size, said.root, whole, path):
        detail = f"the {size} entries here begin with your {said.size}: {len(path)} hashes lead from root to root"
        yield Step("log", "ok", detail)
    else:
        own = trees.root(at.namespace, said.size)
        detail = f"the log of {size} entries does not begin with your {said.size}"
        yield Step("log", "failed", detail, said.root.hex(), own.hex())
