"""A sound archive written verbatim into a namespace of its own, in one transaction.

Invariants
- The archive was verified; here its lines are read again and must be the same, so that no other file gets in.
- The rows keep their seq, instants, ids and salts. What is on the list of erased commitments is never inserted: an
  erasure of this store names it, as the next entry.
- Projections are derived, digests of ancestry are computed again, and only then is anything there to be seen.
- Keys of the former host stay as keys that are trusted and sign no more.

Locks: the rows of a namespace that nobody else can see. Appends: `erase` where the list reaches something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO
from uuid import UUID

from django.db import DatabaseError, IntegrityError, connection, transaction

from memory.base import clock, gate, ids, instants, projections, sql
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import Conflict, Invalid
from memory.base.schemas import is_id
from memory.interchange.jsonl.columns import stored
from memory.interchange.jsonl.lines import Line, Tally, fault, read_lines
from memory.interchange.jsonl.verifying import Archive, Progress, Ref
from memory.ledger.drafts import Draft, pack
from memory.ledger.models import Checkpoint, Content, Entry, Erasure, Head, Item, Name, Namespace, Restoration
from memory.ledger.operations.appending import opened
from memory.ledger.projection import Heads, Nodes
from memory.ledger.queries.proofs import evidence_models
from memory.lineage.queries.digests import digest_faults

ROWS = 2_000
ERASE_SYSTEM = gate.Requirement(("own",))


@dataclass(frozen=True, slots=True)
class Restored:
    """What stands now. `erased` are parts that the archive held and this store did not take."""

    namespace: int
    name: str
    uid: UUID
    size: int
    root: bytes
    archive: bytes
    erased: tuple[Ref, ...]
    seq: int


@contextmanager
def whole(archive: Archive) -> Iterator[None]:
    """One transaction; where rows contradict each other, also when it ends, the refusal says so and nothing stands.

    Raises Conflict (somebody restored or founded the namespace meanwhile), Invalid.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        require_free(archive.namespace, archive.origin)
        raise Invalid(f"Rows of the archive contradict each other: {error}. Nothing was restored.") from error
    except DatabaseError as error:
        raise Invalid(f"The database refuses a row of the archive: {error}. Nothing was restored.") from error


def require_free(namespace: str, origin: str) -> None:
    """Raise Conflict where the namespace stands in this store, under its name or, by its origin, under another."""
    _, _, uid = origin.rpartition("/")
    rows = Namespace.objects.filter(name=namespace)
    if is_id(uid):
        rows |= Namespace.objects.filter(uid=uid)
    for row in rows:
        size = Head.objects.filter(namespace=row).values_list("size", flat=True).first() or 0
        raise Conflict(
            f"The namespace {row.name} stands here with {size} entries. An archive is restored under its own name into "
            "an empty one, which this is not; nothing was restored."
        )


def apply(
    stream: BinaryIO, archive: Archive, *, person: int | None, keeps_people: bool, file_digest: bytes,
    progress: Progress | None = None,
) -> Restored:  # fmt: skip
    """Write the verified archive, read again from the start of the stream, inside `whole`.

    person : who restores; of the archive's memberships only theirs counts here.   keeps_people : all of them count.
    file_digest : SHA-256 of the whole file.
    Raises Conflict (the namespace stands here already), Invalid (a line; a row that the database refuses).
    """
    stream.seek(0)
    require_free(archive.namespace, archive.origin)
    writer = _Writer(archive)
    for line in read_lines(stream):
        writer.take(line)
        if progress is not None and line.type == "entry":
            progress("restoring", writer.seq, archive.size)
    store = writer.ended()
    Heads().rebuild(store.pk)
    Nodes().rebuild(store.pk)
    Restoration.objects.create(
        namespace=store, seq=archive.size, archive=file_digest, restored_at=clock.read(), person=person,
        keeps_people=keeps_people,
    )  # fmt: skip
    seq = _erase(store, person, archive)
    for projector in projections.registered():
        if progress is not None:
            progress("deriving", 0, None)
        projector.rebuild(store.pk)
    for wrong in digest_faults(store.pk):
        raise fault(writer.lines[wrong.seq], wrong.code, expected=wrong.expected, got=wrong.got)
    return Restored(
        store.pk, store.name, store.uid, archive.size, archive.root, file_digest, tuple(sorted(archive.parts)), seq
    )


def _erase(store: Namespace, person: int | None, archive: Archive) -> int:
    """Name what was left out, as the erasure that it is; answers the last entry of the log."""
    if not archive.parts:
        return archive.size
    event_at = Head.objects.get(namespace=store).last_at if store.clock == "replay" else None
    by = Actor(store.pk, "system", person=person, event_at=event_at)
    with opened(by, verb="erase", need=ERASE_SYSTEM) as entry:
        refs = sorted(archive.parts)
        n_names = sum(part == "name" for _, _, part in refs)
        report = {
            "engine": connection.vendor, "content": len(refs) - n_names, "names": n_names, "salts": len(refs),
            "projections": {}, "swept": {},
        }  # fmt: skip
        for index, (seq, item, part) in enumerate(refs):
            row = {"target_seq": seq, "target_item": item, "target_part": part, "reason": "policy"}
            entry.add(Draft("erasure", ids.new_id(), Erasure, row, {"report": report} if index == 0 else {}))
    return entry.seq


class _Writer:
    """Turns lines into rows, a few thousand to a statement."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.seq = archive, 0
        self.lines: dict[int, int] = {}
        self._tally = Tally()
        self._store: Namespace | None = None
        self._rows: dict[type[Any], list[tuple[Any, ...]]] = defaultdict(list)
        self._n_rows = 0

    def take(self, line: Line) -> None:
        """One line, in order.   Raises Invalid (it is not the line that was verified)."""
        if line.type == "trailer":
            if (
                self._tally.trailer() != dict(line.value)
                or self._tally.trailer()["sha256"] != self.archive.sha256.hex()
            ):
                raise fault(line.number, "archive_mismatch", expected="the file as it was verified", got="another")
            return
        self._tally.add(line.raw)
        if line.type == "entry":
            self._entry(line)
        elif line.type == "content":
            self._content(line.value)
        elif line.type == "name":
            self._name(line.value)
        elif line.type == "checkpoint":
            value = line.value
            signed_at = instants.read(value["signed_at"])
            values = {"seq": value["seq"], "root": bytes.fromhex(value["root"]), "signed_at": signed_at}
            self._add(Checkpoint, {**values, "note": value["note"]})

    def ended(self) -> Namespace:
        self._flush()
        if self._store is None:
            raise fault(1, "archive_mismatch", expected="the file as it was verified", got="another")
        return self._store

    def _entry(self, line: Line) -> None:
        value = line.value
        self.seq = value["seq"]
        self.lines[self.seq] = line.number
        if self._store is None:
            self._found(value["items"][0]["row"])
        skipped = ("type", "namespace", "seq", "items")
        own = {name: one for name, one in value.items() if name not in skipped}
        self._add(Entry, {**stored(Entry, own), "seq": self.seq})
        for item in value["items"]:
            self._item(item)

    def _found(self, row: Mapping[str, Any]) -> None:
        is_known = row["secret"] is not None
        values = stored(Namespace, row if is_known else {**row, "secret": ids.new_secret().hex()})
        self._store = Namespace.objects.create(**values)

    def _item(self, item: Mapping[str, Any]) -> None:
        address = {"seq": self.seq, "item": item["item"]}
        parts = pack({name: bytes.fromhex(digest) for name, digest in item["parts"].items()})
        values = {
            "kind": item["kind"], "object": UUID(item["object"]), "parts": parts,
            "commitment": bytes.fromhex(item["commitment"]), "hash": bytes.fromhex(item["hash"]),
        }  # fmt: skip
        self._add(Item, {**address, **values})
        model = evidence_models().get(item["kind"])
        if model is not None and model is not Namespace:
            self._add(model, {**address, **stored(model, item["row"])})

    def _content(self, value: Mapping[str, Any]) -> None:
        if (value["seq"], value["item"], value["part"]) not in self.archive.parts:
            payload = canonical(value["payload"]).decode()
            self._add(Content, {**_address(value), "part": value["part"], "payload": payload})

    def _name(self, value: Mapping[str, Any]) -> None:
        if (value["seq"], value["item"], "name") not in self.archive.parts:
            self._add(Name, {**_address(value), "id": UUID(value["id"]), "text": value["text"]})

    def _add(self, model: type[Any], values: Mapping[str, Any]) -> None:
        assert self._store is not None
        named = {**values, "namespace_id": self._store.pk}
        self._rows[model].append(tuple(named[name] for name in sql.columns(model)))
        self._n_rows += 1
        if self._n_rows >= ROWS:
            self._flush()

    def _flush(self) -> None:
        for model, rows in self._rows.items():
            sql.insert(model, rows)
        self._rows.clear()
        self._n_rows = 0


def _address(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"seq": value["seq"], "item": value["item"], "salt": bytes.fromhex(value["salt"])}
