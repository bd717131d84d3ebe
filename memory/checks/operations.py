"""Writes of checks: a run with its findings, and a waiver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import clock, gate, ids, instants
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Invalid
from memory.checks.models import VERDICTS, CheckRun, Finding, Waiver
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import opened

FINDINGS_KEPT = 500
RECORD = gate.Requirement(("read",))


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


def record_run(
    by: Actor, *, name: str, version: int, verdict: str, at_seq: int, n_checked: int, found: Sequence[Found],
    report: Mapping[str, Any], input_digest: bytes | None = None,
) -> Recorded:  # fmt: skip
    """Write down a run: its verdict, the first FINDINGS_KEPT findings by place, and the report as content.

    Locks: the namespace head. Appends: `record_check`. Raises Invalid (verdict), Forbidden.
    """
    if verdict not in VERDICTS:
        raise Invalid.at("verdict", expected=" or ".join(VERDICTS), got=verdict)
    run = ids.new_id()
    row = {
        "id": run, "check_name": name, "version": version, "verdict": verdict, "at_seq": at_seq,
        "n_checked": n_checked, "n_findings": len(found), "input_digest": input_digest,
    }  # fmt: skip
    with opened(by, verb="record_check", need=RECORD, request=[name]) as entry:
        if entry.replayed_seq is not None:
            first = CheckRun.objects.get(namespace=by.namespace, seq=entry.replayed_seq)
            return Recorded(first.id, first.seq, replayed=True)
        entry.add(Draft("check_run", run, CheckRun, row, {"report": dict(report)}))
        for fault, count in list(Counter(found).items())[:FINDINGS_KEPT]:
            values = {
                "run": run, "kind": fault.kind, "object": fault.object, "at_seq": fault.seq, "at_item": fault.item,
                "count": count,
            }  # fmt: skip
            entry.add(Draft("finding", run, Finding, values))
    return Recorded(run, entry.seq)


def waive(by: Actor, *, name: str, reason: str, expires_at: datetime) -> Appended:
    """Count the check as settled on the board until the date; the verdict stays.

    Appends: `waive`. Raises Invalid (no reason, a date that is past), Forbidden (owners only).
    """
    if not reason.strip():
        raise Invalid.at("reason", expected="why this may stand")
    if expires_at <= clock.now():
        raise Invalid.at("expires_at", expected="an instant to come", got=expires_at.isoformat())
    with opened(by, verb="waive", need=gate.OWN, request=[name, reason, instants.text(expires_at)]) as entry:
        if not entry.is_replay:
            row = {"check_name": name, "expires_at": expires_at}
            entry.add(Draft("waiver", ids.new_id(), Waiver, row, {"note": reason}))
    return entry.answer
