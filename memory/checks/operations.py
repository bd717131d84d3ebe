"""Writes of checks: a run with its findings, and a waiver."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError

from memory.base import gate, ids, instants
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import DomainError, Erased, Forbidden, IdempotencyMismatch, Invalid, Stopped
from memory.checks.models import VERDICTS, CheckRun, Finding, Waiver
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import opened

FINDINGS_KEPT = 500
RECORD = gate.Requirement(("read",))
# A year to the end of its last day; a waiver without an end would be a law repealed.
LONGEST_WAIVER = timedelta(days=366)
# What says something of who asks or of the request, and nothing of the log.
OF_THE_ASKER = (Forbidden, Stopped, IdempotencyMismatch, Erased)

logger = logging.getLogger("memory.checks")


@dataclass(frozen=True, slots=True)
class Found:
    """One fault: its kind and where. Text of what was checked never stands here."""

    kind: str
    object: UUID | None = None
    seq: int | None = None
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The run's id and entry."""

    id: UUID
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found, before it is written down. `report` becomes content."""

    name: str
    version: int
    verdict: str
    at_seq: int
    n_checked: int
    found: Sequence[Found]
    report: Mapping[str, Any]
    input_digest: bytes | None = None

    def row(self, run: UUID) -> dict[str, Any]:
        return {
            "id": run, "check_name": self.name, "version": self.version, "verdict": self.verdict,
            "at_seq": self.at_seq, "n_checked": self.n_checked, "n_findings": len(self.found),
            "input_digest": self.input_digest,
        }  # fmt: skip


def record_run(
    by: Actor, *, name: str, version: int, verdict: str, at_seq: int, n_checked: int, found: Sequence[Found],
    report: Mapping[str, Any], input_digest: bytes | None = None,
) -> Recorded:  # fmt: skip
    """Write down one run.   Appends and raises as `record_runs`."""
    outcome = Outcome(name, version, verdict, at_seq, n_checked, found, report, input_digest)
    return record_runs(by, outcomes=[outcome])[0]


def record_runs(by: Actor, *, outcomes: Sequence[Outcome]) -> list[Recorded]:
    """Write down what one pass found, a run for each check: verdict, the first FINDINGS_KEPT findings, the report.

    Locks: the namespace head. Appends: `record_check`, one entry for all of them. Raises Invalid (verdict), Forbidden.
    """
    for outcome in outcomes:
        if outcome.verdict not in VERDICTS:
            raise Invalid.at("verdict", expected=" or ".join(VERDICTS), got=outcome.verdict)
    runs = ids.new_ids(len(outcomes))
    with opened(by, verb="record_check", need=RECORD, request=[each.name for each in outcomes]) as entry:
        if entry.replayed_seq is not None:
            first = CheckRun.objects.filter(namespace=by.namespace, seq=entry.replayed_seq).order_by("item")
            return [Recorded(row.id, row.seq, replayed=True) for row in first]
        for run, outcome in zip(runs, outcomes, strict=True):
            entry.add(Draft("check_run", run, CheckRun, outcome.row(run), {"report": dict(outcome.report)}))
        for run, outcome in zip(runs, outcomes, strict=True):
            entry.add(*_findings(run, outcome.found))
    return [Recorded(run, entry.seq) for run in runs]


def as_far_as_it_takes[Written](namespace: int, write: Callable[[], Written]) -> Written | None:
    """What `write` answers; None where the log of the namespace takes no entry, so that what was found is still told.

    Raises what refuses the asker: OF_THE_ASKER.
    """
    try:
        return write()
    except OF_THE_ASKER:
        raise
    except (DatabaseError, ObjectDoesNotExist, LookupError, DomainError):
        # Appending trusts the head and the tree; where they are broken it fails by whatever it misses first.
        logger.exception("run of a check not recorded", extra={"fields": {"namespace_id": namespace}})
        return None


def _findings(run: UUID, found: Sequence[Found]) -> list[Draft]:
    return [
        Draft("finding", run, Finding, {
            "run": run, "kind": fault.kind, "object": fault.object, "at_seq": fault.seq, "at_item": fault.item,
            "count": count,
        })
        for fault, count in list(Counter(found).items())[:FINDINGS_KEPT]
    ]  # fmt: skip


def waive(by: Actor, *, name: str, reason: str, expires_at: datetime) -> Appended:
    """Count the check as settled on the board until the date; the verdict stays.

    Appends: `waive`. Raises Invalid (no reason, a date that is past or more than LONGEST_WAIVER away), Forbidden
    (owners only).
    """
    if not reason.strip():
        raise Invalid.at("reason", expected="why this may stand")
    with opened(by, verb="waive", need=gate.OWN, request=[name, reason, instants.text(expires_at)]) as entry:
        if not entry.is_replay:
            if not entry.recorded_at < expires_at <= entry.recorded_at + LONGEST_WAIVER:
                expected = f"an instant to come, at most {LONGEST_WAIVER.days} days away"
                raise Invalid.at("expires_at", expected=expected, got=instants.text(expires_at))
            row = {"check_name": name, "expires_at": expires_at}
            entry.add(Draft("waiver", ids.new_id(), Waiver, row, {"note": reason}))
    return entry.answer
