"""Files that left the house: the list of exports, and those that held what an erasure is asked about.

Invariants
- An export cannot be called back. An archive held every content that stood by its point, provenance the first line of
  the records that its filter met: what is reported is what a copy may still hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.interchange.models import ExportRun
from memory.ledger.models import Content, Entry, Item
from memory.ledger.queries.radius import Affected

OUT_OF_REACH = "out of reach"
TEXTLESS = ("openlineage",)


@dataclass(frozen=True, slots=True)
class ExportRow:
    """One export. `filter` is what was asked for; None where that is erased."""

    id: UUID
    seq: int
    item: int
    recorded_at: datetime
    person: int | None
    agent: UUID | None
    format: str
    at_seq: int
    n_items: int
    n_bytes: int
    file_digest: str
    filter: dict[str, Any] | None


def exports(at: AsOf, *, before: int | None = None, limit: int = 50) -> list[ExportRow]:
    """Exports by the point, newest first; `before` is an exclusive seq. One query."""
    rows = _exports(at)
    rows = rows.filter(seq__lt=before) if before is not None else rows
    return [_row(row) for row in rows.order_by("-seq")[:limit]]


def _exports(at: AsOf) -> Any:
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "report"}
    columns: dict[str, Any] = {
        "recorded_at": Subquery(entry.values("recorded_at")[:1]),
        "person": Subquery(entry.values("person")[:1]),
        "agent": Subquery(entry.values("agent")[:1]),
        "told": Subquery(Content.objects.filter(**own).values("payload")[:1]),
    }
    return ExportRun.objects.filter(namespace=at.namespace, seq__lte=at.seq).annotate(**columns)


def _row(row: Any) -> ExportRow:
    told: Any = strict_loads(row.told) if row.told else None
    return ExportRow(
        row.id, row.seq, row.item, row.recorded_at, row.person, row.agent, row.format, row.at_seq, row.n_items,
        row.n_bytes, bytes(row.file_digest).hex(), told,
    )  # fmt: skip


def exports_that_held(at: AsOf, items: Sequence[Item]) -> Iterator[Affected]:
    """The exports that may hold a text of the items: made when it stood already, and not narrowed to other entries."""
    oldest = min((item.seq for item in items), default=None)
    if oldest is None:
        return
    made = list(map(_row, _exports(at).filter(at_seq__gte=oldest).order_by("seq", "item")))
    texts = [row for row in made if row.format not in TEXTLESS]
    entries = _entries(at, {item.seq for item in items}) if any(row.filter for row in texts) else {}
    for row in texts:
        if any(item.seq <= row.at_seq and _meets(row, entries.get(item.seq)) for item in items):
            yield Affected("export", str(row.id), OUT_OF_REACH)


def exports_with_text(at: AsOf) -> Iterator[Affected]:
    """Every export that may hold a text of the namespace: what it met was not nothing."""
    made = _exports(at).filter(n_items__gt=0).exclude(format__in=TEXTLESS).order_by("seq", "item")
    yield from (Affected("export", str(row.id), OUT_OF_REACH) for row in made)


def _entries(at: AsOf, seqs: set[int]) -> dict[int, Entry]:
    return {row.seq: row for row in Entry.objects.filter(namespace=at.namespace, seq__in=seqs)}


def _meets(row: ExportRow, entry: Entry | None) -> bool:
    """False only where the filter shuts the entry out for certain: a focus or a filter that is erased may reach it."""
    if not row.filter or entry is None:
        return True
    told = row.filter
    shut_out = (
        "run" in told and str(entry.run) != told["run"],
        "agent" in told and str(entry.agent) != told["agent"],
        "from" in told and entry.recorded_at < datetime.fromisoformat(told["from"]),
        "to" in told and entry.recorded_at >= datetime.fromisoformat(told["to"]),
    )
    return not any(shut_out)
