"""Reads of imports: runs, findings, the raw rows of a record or a finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.interchange.models import SEVERITIES, ImportedRow, ImportFinding, ImportRun
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of, names_of


@dataclass(frozen=True, slots=True)
class RunRow:
    """One import into the namespace."""

    id: UUID
    seq: int
    item: int
    recorded_at: datetime
    format: str
    source: str
    n_records: int
    n_edges: int
    n_quarantined: int
    n_skipped: int


@dataclass(frozen=True, slots=True)
class RunDetail:
    """An import with what it says of itself and its findings counted by (severity, code)."""

    row: RunRow
    report: Any
    codes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding. `ids` are identifiers of the source; `report` is None where it is erased."""

    id: UUID
    seq: int
    item: int
    code: str
    clause: str
    severity: str
    record: UUID | None
    report: Any


@dataclass(frozen=True, slots=True)
class FindingPage:
    """One page of findings, in the order of the entry."""

    items: tuple[FindingRow, ...]
    total: int
    next: str
    previous: str


@dataclass(frozen=True, slots=True)
class RawRow:
    """A source row as it was read, or None for what is erased, and what it became."""

    seq: int
    item: int
    became: str
    value: Any


def import_runs(at: AsOf, *, limit: int = 50) -> list[RunRow]:
    """Imports by the point, newest first."""
    found = list(ImportRun.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq")[:limit])
    entries = Entry.objects.filter(namespace=at.namespace, seq__in=[row.seq for row in found])
    instants = dict(entries.values_list("seq", "recorded_at"))
    names = names_of(at.namespace, [row.source for row in found])
    return [
        RunRow(
            row.id, row.seq, row.item, instants[row.seq], row.format, names.get(row.source, "erased"), row.n_records,
            row.n_edges, row.n_quarantined, row.n_skipped,
        )
        for row in found
    ]  # fmt: skip


def import_run(at: AsOf, *, id: UUID) -> RunDetail:
    """One import. Raises NotFound."""
    for row in import_runs(at, limit=1_000):
        if row.id == id:
            break
    else:
        raise NotFound(f"There is no import {id}.")
    counts = Counter(ImportFinding.objects.filter(namespace=at.namespace, run=id).values_list("severity", "code"))
    codes = sorted(((severity, code, count) for (severity, code), count in counts.items()), key=_weight)
    report = contents_of(at.namespace, [(row.seq, row.item)])[row.seq, row.item].get("report")
    return RunDetail(row, report, tuple(codes))


def _weight(counted: tuple[str, str, int]) -> tuple[int, str]:
    return (("quarantined", "repaired", "information").index(counted[0]), counted[1])


def findings(
    at: AsOf, *, run: UUID, severity: str = "", code: str = "", after: str = "", limit: int = 50
) -> FindingPage:
    """Findings of an import. `after` is an item number. Raises Invalid (severity, cursor)."""
    if severity and severity not in SEVERITIES:
        raise Invalid.at("severity", expected=" or ".join(SEVERITIES), got=severity)
    backwards, cursor = after.startswith("<"), after.lstrip("<")
    if cursor and (not cursor.isdecimal() or len(cursor) > 9):
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    rows = ImportFinding.objects.filter(namespace=at.namespace, run=run, seq__lte=at.seq)
    rows = rows.filter(severity=severity) if severity else rows
    rows = rows.filter(code=code) if code else rows
    total = rows.count()
    if cursor:
        rows = rows.filter(item__lt=int(cursor)) if backwards else rows.filter(item__gt=int(cursor))
    found = list(rows.order_by("-item" if backwards else "item")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    has_next, has_previous = (bool(cursor), more) if backwards else (more, bool(cursor))
    return FindingPage(
        tuple(_finding_rows(at.namespace, found)), total,
        next=str(found[-1].item) if found and has_next else "",
        previous=f"<{found[0].item}" if found and has_previous else "",
    )  # fmt: skip


def finding(at: AsOf, *, id: UUID) -> FindingRow:
    """One finding. Raises NotFound."""
    row = ImportFinding.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"There is no finding {id}.")
    return _finding_rows(at.namespace, [row])[0]


def findings_of(at: AsOf, *, record: UUID) -> list[FindingRow]:
    """What imports found about a record."""
    rows = ImportFinding.objects.filter(namespace=at.namespace, record=record, seq__lte=at.seq)
    return _finding_rows(at.namespace, list(rows.order_by("seq", "item")[:50]))


def _finding_rows(namespace: int, rows: list[ImportFinding]) -> list[FindingRow]:
    parts = contents_of(namespace, [(row.seq, row.item) for row in rows])
    return [
        FindingRow(
            row.id, row.seq, row.item, row.code, row.clause, row.severity, row.record,
            parts[row.seq, row.item].get("report"),
        )
        for row in rows
    ]  # fmt: skip


def raw_rows(at: AsOf, *, about: UUID) -> list[RawRow]:
    """The source rows that became the record or are kept by the finding."""
    rows = list(
        ImportedRow.objects.filter(namespace=at.namespace, object=about, seq__lte=at.seq).order_by("seq", "item")
    )
    parts = contents_of(at.namespace, [(row.seq, row.item) for row in rows])
    return [RawRow(row.seq, row.item, row.became, parts[row.seq, row.item].get("raw")) for row in rows]
