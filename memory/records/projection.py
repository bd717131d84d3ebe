"""The derived tables of records: their state rows and the text index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.base.text import first_line
from memory.ledger.models import Entry, Erasure, Item
from memory.ledger.queries.contents import contents_of
from memory.records import fulltext
from memory.records.content import text_digest, text_of
from memory.records.models import Held, Record, RecordState, Review, Withdrawal, doc_of

CHUNK = 400
Update = dict[str, Any]


class RecordStates:
    """One state row for each record. What other slices know of it (children, successors) comes by `contribute`."""

    name = "record_states"

    def rebuild(self, namespace: int) -> None:
        RecordState.objects.filter(namespace=namespace).delete()
        for chunk in _chunks(namespace):
            sql.insert(RecordState, list(_rows(namespace, chunk)))
        hidden: dict[Any, int | None] = {}
        for row in Withdrawal.objects.filter(namespace=namespace).order_by("seq", "item"):
            hidden[row.record] = row.seq if row.withdrawn else None
        for record, seq in hidden.items():
            RecordState.objects.filter(namespace=namespace, id=record).update(withdrawn_seq=seq)
        _review(namespace)
        for contribute in _contributions:
            contribute(namespace)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        docs = [doc_of(at, item) for at, item, part in refs if part == "content"]
        hit = 0
        for start in range(0, len(docs), CHUNK):
            rows = RecordState.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK])
            hit += rows.update(first_line="", text_digest=None, erased_seq=seq)
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(RecordState, namespace)


def _review(namespace: int) -> None:
    """What is held, until when, and by which entry it was confirmed."""
    confirmed: dict[Any, int] = {}
    words = Review.objects.filter(namespace=namespace, kind="record", confirmed=True).order_by("seq", "item")
    for identity, seq in words.values_list("object", "seq"):
        confirmed.setdefault(identity, seq)
    for row in Held.objects.filter(namespace=namespace, kind="record").order_by("seq", "item"):
        RecordState.objects.filter(namespace=namespace, id=row.object).update(
            held_seq=row.seq, held_until=row.until_at, confirmed_seq=confirmed.get(row.object)
        )


_contributions: list[Any] = []


def contribute(function: Any) -> None:
    """Register what completes rebuilt state rows of a namespace (lineage: parents, children, successors)."""
    if function not in _contributions:
        _contributions.append(function)


def _chunks(namespace: int) -> Iterator[list[Record]]:
    seq, item = 0, -1
    while True:
        later = Record.objects.filter(namespace=namespace).order_by("seq", "item")
        rows = list((later.filter(seq=seq, item__gt=item))[:CHUNK]) or list(later.filter(seq__gt=seq)[:CHUNK])
        if not rows:
            return
        yield rows
        seq, item = rows[-1].seq, rows[-1].item


def _rows(namespace: int, records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    parts = contents_of(namespace, [(record.seq, record.item) for record in records])
    seqs = {record.seq for record in records}
    entries = {entry.seq: entry for entry in Entry.objects.filter(namespace=namespace, seq__in=seqs)}
    gone = Erasure.objects.filter(namespace=namespace, target_seq__in=seqs, target_part="content")
    erased = {(row.target_seq, row.target_item): row.seq for row in gone}
    for record in records:
        address = (record.seq, record.item)
        entry, content = entries[record.seq], parts[address].get("content")
        summary = parts[address].get("details", {}).get("summary", "")
        yield (
            namespace, record.id, doc_of(*address), *address, entry.recorded_at, record.type, entry.agent, entry.run,
            record.source_class, record.valid_from, record.valid_to, record.source_recorded_at,
            "" if content is None else first_line(summary or content),
            None if content is None else text_digest(content), 0, 0, None, None, None, erased.get(address),
            None, None, None,
        )  # fmt: skip


class RecordTexts:
    """The full-text index of a namespace."""

    name = "record_texts"

    def rebuild(self, namespace: int) -> None:
        fulltext.clear(namespace)
        for chunk in _chunks(namespace):
            parts = contents_of(namespace, [(record.seq, record.item) for record in chunk])
            texts = ((doc_of(r.seq, r.item), parts[r.seq, r.item]) for r in chunk)
            fulltext.add(namespace, [(doc, text_of(stored)) for doc, stored in texts if "content" in stored])

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        docs = {doc_of(at, item): (at, item) for at, item, part in refs if part in ("content", "details")}
        wanted, hit = sorted(docs), 0
        for start in range(0, len(wanted), CHUNK):
            rows = RecordState.objects.filter(namespace=namespace, doc__in=wanted[start : start + CHUNK])
            known = sorted(rows.values_list("doc", flat=True))
            parts = contents_of(namespace, [docs[doc] for doc in known])
            texts = [(doc, text) for doc in known if (text := text_of(parts[docs[doc]]))]
            fulltext.remove(namespace, texts)
            hit += len(texts)
        return hit

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return fulltext.dump(namespace)


def notes_of_records(namespace: int, items: Sequence[Item]) -> list[tuple[int, int]]:
    """The items that hold what was said about these record items: an erasure of a record must reach them too."""
    records = [item.object for item in items if item.kind == "record"]
    found: list[tuple[int, int]] = []
    for start in range(0, len(records), CHUNK):
        chunk = records[start : start + CHUNK]
        hidden = Withdrawal.objects.filter(namespace=namespace, record__in=chunk)
        reviewed = Review.objects.filter(namespace=namespace, kind="record", object__in=chunk)
        said = hidden.values_list("seq", "item").union(reviewed.values_list("seq", "item"), all=True)
        found.extend(said.order_by("seq", "item"))
    return found
