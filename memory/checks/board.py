"""What stands on the board of checks: the last runs of each name, and what was waived.

Invariants
- Two queries, whatever the number of checks, runs and waivers; no report is read.
- A waiver changes what counts as open, never a verdict; one that has ended stays to be seen.
- Nothing here reads a clock: whether a waiver is live is worked out from the instant given.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Min, OuterRef, Subquery, Window
from django.db.models.functions import RowNumber

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.checks.models import CheckRun, Waiver
from memory.ledger.models import Content, Entry

RUNS_SHOWN = 30
BROKEN = ("failed", "violated")


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run of a check over the first `at_seq` entries, written down by entry `seq`."""

    id: UUID
    seq: int
    recorded_at: datetime
    verdict: str
    at_seq: int
    n_checked: int
    n_findings: int

    @property
    def is_broken(self) -> bool:
        return self.verdict in BROKEN


@dataclass(frozen=True, slots=True)
class WaiverRow:
    """Somebody's word that a check counts as settled until `expires_at`. `reason` is None where it is erased."""

    seq: int
    recorded_at: datetime
    expires_at: datetime
    person: int | None
    reason: str | None

    def is_live(self, now: datetime) -> bool:
        return self.expires_at > now


@dataclass(frozen=True, slots=True)
class CheckStanding:
    """One check: its last runs, oldest first, and its waivers, newest first."""

    name: str
    runs: tuple[RunPoint, ...]
    waivers: tuple[WaiverRow, ...]

    @property
    def last(self) -> RunPoint | None:
        return self.runs[-1] if self.runs else None

    def waiver(self, now: datetime) -> WaiverRow | None:
        """The live waiver that ends last; None where none is live."""
        live = [waiver for waiver in self.waivers if waiver.is_live(now)]
        return max(live, key=lambda waiver: (waiver.expires_at, waiver.seq), default=None)


@dataclass(frozen=True, slots=True)
class Broken:
    """When a check was first and last seen broken, over all its runs; None where it never was."""

    first_at: datetime | None
    last_at: datetime | None
    n_runs: int


def board(at: AsOf) -> dict[str, CheckStanding]:
    """Every check that has run or was waived by the point, by name."""
    runs: dict[str, list[RunPoint]] = defaultdict(list)
    newest = Window(RowNumber(), partition_by=F("check_name"), order_by=F("seq").desc())
    rows: Any = CheckRun.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    rows = rows.annotate(recorded_at=_recorded_at(), place=newest).filter(place__lte=RUNS_SHOWN)
    for row in rows.order_by("seq"):
        runs[row.check_name].append(
            RunPoint(row.id, row.seq, row.recorded_at, row.verdict, row.at_seq, row.n_checked, row.n_findings)
        )
    waivers = _waivers(at)
    return {
        name: CheckStanding(name, tuple(runs[name]), tuple(waivers[name])) for name in sorted({*runs, *waivers})
    }  # fmt: skip


def _waivers(at: AsOf) -> dict[str, list[WaiverRow]]:
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq")}
    note = Content.objects.filter(**own, item=OuterRef("item"), part="note").values("payload")[:1]
    person = Entry.objects.filter(**own).values("person")[:1]
    rows: Any = Waiver.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq", "item")
    rows = rows.annotate(recorded_at=_recorded_at(), person=Subquery(person), note=Subquery(note))
    found: dict[str, list[WaiverRow]] = defaultdict(list)
    for row in rows:
        reason = str(strict_loads(row.note)) if row.note else None
        found[row.check_name].append(WaiverRow(row.seq, row.recorded_at, row.expires_at, row.person, reason))
    return found


def broken(at: AsOf, *, name: str) -> Broken:
    """Since when a check is known to break, over all its runs. One query."""
    bad = CheckRun.objects.filter(namespace=at.namespace, check_name=name, seq__lte=at.seq, verdict__in=BROKEN)
    found = bad.annotate(recorded_at=_recorded_at()).aggregate(
        first_at=Min("recorded_at"), last_at=Max("recorded_at"), n_runs=Count("seq")
    )
    return Broken(**found)


def _recorded_at() -> Subquery:
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    return Subquery(entry.values("recorded_at")[:1])
