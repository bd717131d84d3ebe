"""What the first page says of one namespace at one point: how much there is, what has begun, what was verified.

Invariants
- One query, whatever the number of rows. Counts are exact up to CAP; a count of CAP + 1 means that there is more.
- What is counted is told by the slices above, which register it here; so does the slice that keeps scans of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery

from memory.agents.counting import Counted
from memory.agents.models import Membership
from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.ledger.models import Checkpoint, Entry, Namespace

CAP = 10_000
Rows = Callable[[AsOf], "models.QuerySet[Any]"]

_counted: dict[str, Rows] = {}
_scans: list[Rows] = []


@dataclass(frozen=True, slots=True)
class Scan:
    """The newest scan of the ledger: `verdict` is about the first `at_seq` entries."""

    id: UUID
    verdict: str
    at_seq: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """`counts` by registered key; `agent_seq` is the first entry that an agent wrote; `n_people` hold a role now."""

    counts: Mapping[str, int]
    founded_at: datetime
    is_replay: bool
    agent_seq: int | None
    n_people: int
    checkpoint_seq: int | None
    checkpoint_at: datetime | None
    scan: Scan | None


def counted_by(key: str, rows: Rows) -> None:
    """Register what `key` counts: rows of the namespace at a point."""
    _counted[key] = rows


def scanned_by(rows: Rows) -> None:
    """Register the runs of the ledger scan: rows with id, seq, verdict and at_seq."""
    _scans[:] = [rows]


def evidence_of(model: type[models.Model]) -> Rows:
    """The rows of a table of evidence that stand at the point."""
    return lambda at: model._default_manager.filter(namespace=at.namespace, seq__lte=at.seq)


def overview(at: AsOf, *, now: datetime) -> Overview:
    """What stands at the point; who holds a role is told as of `now`.   Raises NotFound."""
    signed = Checkpoint.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq")
    by_agents = Entry.objects.filter(namespace=at.namespace, seq__lte=at.seq, agent__isnull=False).order_by("seq")
    columns: dict[str, Any] = {
        "agent_seq": Subquery(by_agents.values("seq")[:1]),
        "n_people": _people(at, now),
        "signed_seq": Subquery(signed.values("seq")[:1]),
        "signed_at": Subquery(signed.values("signed_at")[:1]),
        **{f"n_{key}": Counted(rows(at).order_by().values("namespace")[: CAP + 1]) for key, rows in _counted.items()},
        **_newest_scan(at),
    }
    row = Namespace.objects.filter(pk=at.namespace).annotate(**columns).values("created_at", "clock", *columns).first()
    if row is None:
        raise NotFound("There is no such namespace.")
    scan = Scan(row["scan_id"], row["scan_verdict"], row["scan_at_seq"], row["scan_at"]) if row["scan_id"] else None
    return Overview(
        {key: row[f"n_{key}"] for key in _counted}, row["created_at"], row["clock"] == "replay", row["agent_seq"],
        row["n_people"] or 0, row["signed_seq"], row["signed_at"], scan,
    )  # fmt: skip


def _people(at: AsOf, now: datetime) -> Subquery:
    newer = Membership.in_force.filter(
        namespace=OuterRef("namespace"), person=OuterRef("person"), seq__gt=OuterRef("seq")
    )
    rows = Membership.in_force.filter(
        ~Exists(newer), Q(expires_at=None) | Q(expires_at__gt=now), namespace=at.namespace
    )
    counted = rows.exclude(role="none").order_by().values("namespace").annotate(n=Count("person"))
    return Subquery(counted.values("n")[:1])


def _newest_scan(at: AsOf) -> dict[str, Any]:
    (scans,) = _scans
    newest = scans(at).order_by("-seq")
    entry = Entry.objects.filter(namespace=at.namespace, seq=OuterRef("scan_seq"))
    return {
        "scan_id": Subquery(newest.values("id")[:1]),
        "scan_seq": Subquery(newest.values("seq")[:1]),
        "scan_verdict": Subquery(newest.values("verdict")[:1]),
        "scan_at_seq": Subquery(newest.values("at_seq")[:1]),
        "scan_at": Subquery(entry.values("recorded_at")[:1]),
    }
