"""Reads of checks: runs, one run with its findings, the newest of each name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.checks.models import CheckRun, Finding
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One run of a check."""

    id: UUID
    name: str
    verdict: str
    seq: int
    at_seq: int
    n_checked: int
    n_findings: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One kind of fault at one place."""

    kind: str
    object: UUID | None
    seq: int | None
    item: int | None
    count: int


@dataclass(frozen=True, slots=True)
class CheckDetail:
    """A run with its first findings and its report."""

    row: CheckRow
    findings: tuple[FindingRow, ...]
    report: Any


def check_runs(at: AsOf, *, name: str = "", before: int | None = None, limit: int = 50) -> list[CheckRow]:
    """Runs up to the point, newest first, those of one entry in its order; `before` is an exclusive seq.

    Of an entry there are all runs or none, so that a seq is enough to go on from: there may be more than `limit`.
    """
    rows = _runs(at, name, before).order_by("-seq", "item")
    found = list(rows[:limit])
    if len(found) == limit:
        found.extend(rows.filter(seq=found[-1].seq, item__gt=found[-1].item))
    entries = Entry.objects.filter(namespace=at.namespace, seq__in=[row.seq for row in found])
    instants = dict(entries.values_list("seq", "recorded_at"))
    return [_row(row, instants[row.seq]) for row in found]


def count_runs(at: AsOf, *, name: str = "", before: int | None = None) -> int:
    """How many runs `check_runs` lists over all its pages from `before` on."""
    return _runs(at, name, before).count()


def names_that_ran(at: AsOf) -> list[str]:
    """The names of the checks of which a run stands, in order."""
    return list(_runs(at, "", None).order_by("check_name").values_list("check_name", flat=True).distinct())


def _runs(at: AsOf, name: str, before: int | None) -> QuerySet[CheckRun]:
    rows = CheckRun.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    rows = rows if before is None else rows.filter(seq__lt=before)
    return rows.filter(check_name=name) if name else rows


def _row(row: CheckRun, recorded_at: datetime) -> CheckRow:
    return CheckRow(
        row.id, row.check_name, row.verdict, row.seq, row.at_seq, row.n_checked, row.n_findings, recorded_at
    )


def check_run(at: AsOf, *, id: UUID) -> CheckDetail:
    """One run. Raises NotFound."""
    row = CheckRun.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"There is no check run {id}.")
    recorded_at = Entry.objects.filter(namespace=at.namespace, seq=row.seq).values_list("recorded_at", flat=True)[0]
    found = Finding.objects.filter(namespace=at.namespace, run=id).order_by("seq", "item")[:500]
    findings = tuple(FindingRow(f.kind, f.object, f.at_seq, f.at_item, f.count) for f in found)
    parts = contents_of(at.namespace, [(row.seq, row.item)])[row.seq, row.item]
    return CheckDetail(_row(row, recorded_at), findings, parts.get("report"))
