"""Where the records of a namespace were brought from: its newest imports, by one query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.interchange.models import ImportRun
from memory.ledger.models import Entry, Name


@dataclass(frozen=True, slots=True)
class Origin:
    """One import. `source` is empty where its name was erased."""

    id: UUID
    seq: int
    recorded_at: datetime
    format: str
    source: str
    n_records: int
    n_quarantined: int


def origins(at: AsOf, *, limit: int = 5) -> list[Origin]:
    """The imports by the point, newest first."""
    named = Name.objects.filter(namespace=OuterRef("namespace"), id=OuterRef("source"))
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    columns: dict[str, Any] = {
        "named": Subquery(named.values("text")[:1]),
        "recorded_at": Subquery(entry.values("recorded_at")[:1]),
    }
    rows: Any = ImportRun.objects.filter(namespace=at.namespace, seq__lte=at.seq).annotate(**columns)
    return [
        Origin(row.id, row.seq, row.recorded_at, row.format, row.named or "", row.n_records, row.n_quarantined)
        for row in rows.order_by("-seq")[:limit]
    ]
