"""The queue of open conflicts, by name alone: what stands beside a case that is being settled. One query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery

from memory.base.asof import AsOf
from memory.facts.models import ConflictCase
from memory.ledger.models import Entry, Name

MOST = 200


@dataclass(frozen=True, slots=True)
class Queued:
    """One open case; a name that is erased is empty."""

    id: UUID
    subject: str
    attribute: str
    opened_seq: int
    opened_at: datetime


def queue(at: AsOf) -> tuple[Queued, ...]:
    """The cases open at the point, the one that waits longest first, at most MOST and one more."""
    rows = ConflictCase.objects.filter(
        Q(closed_seq__isnull=True) | Q(closed_seq__gt=at.seq), namespace=at.namespace, opened_seq__lte=at.seq
    )
    names = Name.objects.filter(namespace=at.namespace)
    told = rows.annotate(
        subject_text=Subquery(names.filter(id=OuterRef("subject")).values("text")[:1]),
        attribute_text=Subquery(names.filter(id=OuterRef("attribute")).values("text")[:1]),
        opened_at=Subquery(
            Entry.objects.filter(namespace=at.namespace, seq=OuterRef("opened_seq")).values("recorded_at")[:1]
        ),
    )
    columns = ("id", "subject_text", "attribute_text", "opened_seq", "opened_at")
    found = told.order_by("opened_seq", "id").values_list(*columns)[: MOST + 1]
    return tuple(
        Queued(id, subject or "", attribute or "", seq, opened) for id, subject, attribute, seq, opened in found
    )
