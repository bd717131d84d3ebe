"""What is left of erased records: who erased them, when and for what reason, and the hash that still proves them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.ledger.models import Entry, Erasure, Item
from memory.records.models import Record, RecordState


@dataclass(frozen=True, slots=True)
class Stub:
    """An erased record. `seq` is the entry that erased it; `leaf` the hash of its item, which stands in the log."""

    seq: int
    recorded_at: datetime
    reason: str
    person: int | None
    leaf: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """The first and the last entry that recorded something, with their instants."""

    first_seq: int
    first_at: datetime
    last_seq: int
    last_at: datetime


def stubs(namespace: int, records: Iterable[UUID]) -> dict[UUID, Stub]:
    """The stubs of those of the records whose content is erased. An erasure holds at every recorded time."""
    wanted = list(records)
    if not wanted:
        return {}
    record = Record.objects.filter(namespace=namespace, seq=OuterRef("target_seq"), item=OuterRef("target_item"))
    item = Item.objects.filter(namespace=namespace, seq=OuterRef("target_seq"), item=OuterRef("target_item"))
    entry = Entry.objects.filter(namespace=namespace, seq=OuterRef("seq"))
    addresses = RecordState.objects.filter(namespace=namespace, id__in=wanted, erased_seq__isnull=False)
    rows = (
        Erasure.objects.filter(
            namespace=namespace, target_part="content", seq__in=Subquery(addresses.values("erased_seq"))
        )
        .annotate(
            record=Subquery(record.values("id")[:1]),
            erased_at=Subquery(entry.values("recorded_at")[:1]),
            person=Subquery(entry.values("person")[:1]),
            leaf=Subquery(item.values("hash")[:1]),
        )
        .values_list("record", "seq", "erased_at", "reason", "person", "leaf")
    )
    kept = set(wanted)
    return {row[0]: Stub(row[1], row[2], row[3], row[4], bytes(row[5])) for row in rows if row[0] in kept}


def span(at: AsOf) -> Span | None:
    """Where the records of the namespace begin and end, whatever the point; None where there are none."""
    rows = RecordState.objects.filter(namespace=at.namespace).order_by("doc").values_list("seq", "recorded_at")
    first, last = rows.first(), rows.last()
    return Span(*first, *last) if first and last else None
