"""A namespace as the lines of its archive.

Invariants
- The archive is of one moment: an erasure that ends while it is written would tear it, so it is written again.
- Nothing is locked and nothing is written but the file; a namespace of any size is read in chunks of entries.
- What stands in the store and is no canonical JSON any more is refused: a damaged store is to be verified, not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from memory.base import instants
from memory.base.canonical import CanonicalError, MalformedJson, canonical, strict_loads
from memory.base.errors import Conflict, Unavailable
from memory.interchange.jsonl.columns import spelled as spelled_row
from memory.interchange.jsonl.lines import FORMAT, VERSION, Tally, spelled
from memory.ledger.drafts import unpack
from memory.ledger.kernel import note
from memory.ledger.models import Checkpoint, Content, Entry, Erasure, Head, Item, Name, Namespace, PublicKey
from memory.ledger.queries.scanning import Chunk, load_chunk

CHUNK = 200
ATTEMPTS = 5

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Written:
    """An archive as it was written: of the first `size` entries."""

    size: int
    n_items: int
    sha256: bytes


def write(stream: BinaryIO, *, namespace: int, with_secret: bool = True, progress: Progress | None = None) -> Written:
    """Write the archive of the namespace as it stands into the seekable stream, from its start.

    with_secret : put the namespace's secret in, by which repeated requests and imported rows are recognised.

    Raises Conflict (a content that is not what was stored), Unavailable (erasures did not end while it was written).
    """
    store = Namespace.objects.get(pk=namespace)
    for _ in range(ATTEMPTS):
        stream.seek(0)
        stream.truncate()
        size = Head.objects.values_list("size", flat=True).get(namespace=namespace)
        written = _write(stream, store, size, progress, with_secret=with_secret)
        if not Erasure.objects.filter(namespace=namespace, seq__gt=size).exists():
            return written
    raise Unavailable("Content is being erased while it is exported. Try again.")


def _write(stream: BinaryIO, store: Namespace, size: int, progress: Progress | None, *, with_secret: bool) -> Written:
    tally, n_items = Tally(), 0
    signed = list(Checkpoint.objects.filter(namespace=store, seq__lte=size).order_by("seq"))
    header = {
        "type": "header", "format": FORMAT, "version": VERSION, "namespace": store.name, "origin": store.origin,
        "size": size, "checkpoint": signed[-1].note if signed else "",
    }  # fmt: skip
    stream.write(tally.add(spelled(header)))
    last = 0
    while last < size and (chunk := load_chunk(store.pk, last, min(CHUNK, size - last))) is not None:
        last = chunk.last
        values = _chunk_lines(store, chunk)
        if chunk.first == 1 and not with_secret:
            values = _without_secret(values)
        stream.writelines(tally.add(_line(value)) for value in values)
        n_items += sum(len(chunk.items.get(entry.seq, ())) for entry in chunk.entries)
        if progress is not None:
            progress("exporting", last, size)
    stream.writelines(tally.add(spelled(_checkpoint(row))) for row in signed)
    stream.writelines(tally.add(spelled(_public_key(store, row))) for row in _published(store, size))
    trailer = tally.trailer()
    stream.write(spelled(trailer))
    return Written(size, n_items, bytes.fromhex(trailer["sha256"]))


def _without_secret(values: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of the first entries, of which the first holds the row of the namespace."""
    first = next(values)
    first["items"][0]["row"]["secret"] = None
    yield first
    yield from values


def _line(value: Mapping[str, Any]) -> bytes:
    try:
        return spelled(value)
    except CanonicalError as error:
        raise _damaged(value, str(error)) from error


def _damaged(value: Mapping[str, Any], detail: str) -> Conflict:
    return Conflict(f"Entry {value['seq']} holds what has no canonical form ({detail}); verify the ledger first.")


def _chunk_lines(store: Namespace, chunk: Chunk) -> Iterator[dict[str, Any]]:
    """Entries, each followed by its contents and its names."""
    span = {"namespace": store, "seq__gte": chunk.first, "seq__lte": chunk.last}
    contents = _by_seq(Content.objects.filter(**span).order_by("seq", "item", "part"))
    names = _by_seq(Name.objects.filter(**span).order_by("seq", "item"))
    for entry in chunk.entries:
        yield _entry(store, chunk, entry)
        for row in sorted(contents.get(entry.seq, ()), key=lambda one: (one.item, one.part)):
            yield {**_address(row), "type": "content", "part": row.part, "payload": _payload(row)}
        for row in names.get(entry.seq, ()):
            yield {**_address(row), "type": "name", "id": str(row.id), "text": row.text}


def _by_seq(rows: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in rows.iterator():
        found.setdefault(row.seq, []).append(row)
    return found


def _address(row: Any) -> dict[str, Any]:
    return {"seq": row.seq, "item": row.item, "salt": bytes(row.salt).hex()}


def _payload(row: Content) -> Any:
    try:
        value = strict_loads(row.payload)
        if canonical(value).decode() == row.payload:
            return value
    except (MalformedJson, CanonicalError) as error:
        raise _damaged({"seq": row.seq}, str(error)) from error
    raise _damaged({"seq": row.seq}, "another spelling of a content")


def _entry(store: Namespace, chunk: Chunk, entry: Entry) -> dict[str, Any]:
    items = [_item(chunk, item) for item in chunk.items.get(entry.seq, ())]
    own = {"type": "entry", "namespace": store.name, "seq": entry.seq, "items": items}
    return {**spelled_row(entry), **own}


def _item(chunk: Chunk, item: Item) -> dict[str, Any]:
    row = chunk.rows.get((item.kind, item.seq, item.item))
    return {
        "item": item.item, "kind": item.kind, "object": str(item.object),
        "row": spelled_row(row) if row is not None else {},
        "parts": {name: digest.hex() for name, digest in unpack(item.parts).items()},
        "commitment": bytes(item.commitment).hex(), "hash": bytes(item.hash).hex(),
    }  # fmt: skip


def _checkpoint(row: Checkpoint) -> dict[str, Any]:
    return {
        "type": "checkpoint", "seq": row.seq, "root": bytes(row.root).hex(),
        "signed_at": instants.text(row.signed_at), "note": row.note,
    }  # fmt: skip


def _published(store: Namespace, size: int) -> Any:
    return PublicKey.objects.filter(namespace=store, seq__lte=size).order_by("seq", "item")


def _public_key(store: Namespace, row: PublicKey) -> dict[str, Any]:
    return {"type": "public_key", "key": str(note.VerificationKey(store.origin, bytes(row.key)))}
