"""Reads of imports: runs, findings, the raw rows of a record or a finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Subquery

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import Invalid, NotFound
from memory.interchange.models import SEVERITIES, ImportedRow, ImportFinding, ImportRun
from memory.interchange.sources import records_of
from memory.ledger.models import Content, Entry, Name, Namespace
from memory.ledger.queries.contents import contents_of


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
    """One finding. `report` holds identifiers of the source, before and after; it is None where it is erased."""

    id: UUID
    run: UUID
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


def import_runs(at: AsOf, *, before: int | None = None, limit: int = 50) -> list[RunRow]:
    """Imports by the point, newest first; `before` is an exclusive seq. One query."""
    rows = _runs(at)
    rows = rows.filter(seq__lt=before) if before is not None else rows
    return [_run_row(row) for row in rows.order_by("-seq")[:limit]]


def _runs(at: AsOf) -> Any:
    """Imports up to the point, each with its instant, the name of its source and what it says of itself."""
    named = Name.objects.filter(namespace=OuterRef("namespace"), id=OuterRef("source"))
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    columns = {
        "named": Subquery(named.values("text")[:1]),
        "recorded_at": Subquery(entry.values("recorded_at")[:1]),
        "told": Subquery(_payload("report")),
    }
    return ImportRun.objects.filter(namespace=at.namespace, seq__lte=at.seq).annotate(**columns)


def _payload(part: str) -> Any:
    """The stored text of one part of a row, for a subquery; nothing where it is erased."""
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": part}
    return Content.objects.filter(**own).values("payload")[:1]


def _run_row(row: Any) -> RunRow:
    return RunRow(
        row.id, row.seq, row.item, row.recorded_at, row.format, row.named or "erased", row.n_records, row.n_edges,
        row.n_quarantined, row.n_skipped,
    )  # fmt: skip


def import_run(at: AsOf, *, id: UUID) -> RunDetail:
    """One import, by two queries. Raises NotFound."""
    row = _runs(at).filter(id=id).first()
    if row is None:
        raise NotFound(f"There is no import {id}.")
    counted = ImportFinding.objects.filter(namespace=at.namespace, run=id).values_list("severity", "code")
    codes = sorted(counted.annotate(count=Count("id")).order_by(), key=_weight)
    return RunDetail(_run_row(row), strict_loads(row.told) if row.told else None, tuple(codes))


def _weight(counted: tuple[str, str, int]) -> tuple[int, str]:
    return (("quarantined", "repaired", "information").index(counted[0]), counted[1])


def became(at: AsOf, *, run: UUID, table: str, keys: Iterable[str]) -> dict[str, UUID]:
    """{id in the source: the record that it became here} of rows of the import's source; others are missing."""
    namespace = Namespace.objects.get(pk=at.namespace)
    return records_of(namespace, source=import_run(at, id=run).row.source, table=table, keys=keys)


def findings(
    at: AsOf, *, run: UUID, severity: str = "", code: str = "", after: str = "", limit: int = 50
) -> FindingPage:
    """Findings of an import. `after` is an item number. Raises Invalid (severity, cursor)."""
    if severity and severity not in SEVERITIES:
        raise Invalid.at("severity", expected=" or ".join(SEVERITIES), got=severity)
    backwards, cursor = after.startswith("<"), after.lstrip("<")
    if cursor and (not cursor.isdecimal() or len(cursor) > 9):
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    rows = _findings(at).filter(run=run)
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
        tuple(_finding_row(row) for row in found), total,
        next=str(found[-1].item) if found and has_next else "",
        previous=f"<{found[0].item}" if found and has_previous else "",
    )  # fmt: skip


def finding(at: AsOf, *, id: UUID) -> FindingRow:
    """One finding. Raises NotFound."""
    row = _findings(at).filter(id=id).first()
    if row is None:
        raise NotFound(f"There is no finding {id}.")
    return _finding_row(row)


def findings_of(at: AsOf, *, record: UUID) -> list[FindingRow]:
    """What imports found about a record."""
    return [_finding_row(row) for row in _findings(at).filter(record=record).order_by("seq", "item")[:50]]


def _findings(at: AsOf) -> Any:
    """Findings up to the point, each with what it says."""
    rows = ImportFinding.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    return rows.annotate(told=Subquery(_payload("report")))


def _finding_row(row: Any) -> FindingRow:
    report = strict_loads(row.told) if row.told else None
    return FindingRow(
        row.id, row.run, row.seq, row.item, row.code, row.clause, row.severity, row.record, report
    )  # fmt: skip


def runs_about(at: AsOf, *, record: UUID) -> list[UUID]:
    """The imports that brought the record or another row about it, oldest first."""
    rows = ImportedRow.objects.filter(namespace=at.namespace, object=record, seq__lte=at.seq).order_by("seq", "item")
    return list(dict.fromkeys(rows.values_list("run", flat=True)))


def raw_rows(at: AsOf, *, about: UUID) -> list[RawRow]:
    """The source rows that became the record or are kept by the finding."""
    rows = list(
        ImportedRow.objects.filter(namespace=at.namespace, object=about, seq__lte=at.seq).order_by("seq", "item")
    )
    parts = contents_of(at.namespace, [(row.seq, row.item) for row in rows])
    return [RawRow(row.seq, row.item, row.became, parts[row.seq, row.item].get("raw")) for row in rows]
