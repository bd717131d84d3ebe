"""What people do about an alarm: say that it is seen, and close it. Nothing that is stored changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from memory.base import gate
from memory.base.actor import Actor
from memory.base.errors import Conflict, NotFound
from memory.calibration.kernel.watching import Watch
from memory.calibration.models import Alarm, AlarmTurn, SegmentState
from memory.calibration.operations.tipping import restart_draft
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import opened, retried


@dataclass(frozen=True, slots=True)
class Turned:
    """The answer to a person's act on an alarm."""

    alarm: UUID
    kind: str
    seq: int
    replayed: bool


@retried
def acknowledge(by: Actor, *, alarm: UUID, reason: str) -> Turned:
    """Say that an alarm is seen, and why that is all for now. It stays open.

    Locks: the namespace head. Appends: `acknowledge`. Raises NotFound, Conflict (said already, or closed), Forbidden.
    """
    return _turn(by, alarm, "acknowledge", reason)


@retried
def close(by: Actor, *, alarm: UUID, reason: str) -> Turned:
    """Close an alarm: its family's processes begin again, so that a further alarm can be told.

    Locks: the namespace head. Appends: `close_alarm`. Raises NotFound, Conflict (closed already), Forbidden.
    """
    return _turn(by, alarm, "close", reason)


def _turn(by: Actor, alarm: UUID, kind: str, reason: str) -> Turned:
    verb = "acknowledge" if kind == "acknowledge" else "close_alarm"
    request = {"alarm": str(alarm), "kind": kind, "reason": reason}
    with opened(by, verb=verb, need=gate.REVIEW, request=request) as entry:
        if entry.is_replay:
            return Turned(alarm, kind, entry.answer.seq, replayed=True)
        row = Alarm.objects.filter(namespace=by.namespace, id=alarm).first()
        if row is None:
            raise NotFound(f"There is no alarm {alarm}.")
        said = AlarmTurn.objects.filter(namespace=by.namespace, alarm=alarm).values_list("kind", "seq")
        for earlier, seq in said:
            if earlier in (kind, "close"):
                word = "closed" if earlier == "close" else "acknowledged"
                raise Conflict(f"The alarm was {word} by entry {seq}.", seq=seq)
        entry.add(Draft("alarm_turn", alarm, AlarmTurn, {"alarm": alarm, "kind": kind}, {"note": reason}))
        if kind == "close":
            segment = SegmentState.objects.get(
                namespace=by.namespace, monitor_run=row.monitor_run, relation_type=row.relation_type,
                source_family=row.source_family,
            )  # fmt: skip
            watch = Watch.unpacked(bytes(segment.watch))
            watch.restart()
            key = (row.monitor_run, row.relation_type, row.source_family)
            entry.add(restart_draft(key, epoch=watch.epoch, cause="closing"))
            entry.then(partial(_keep, segment, watch))
    return Turned(alarm, kind, entry.seq, replayed=False)


def _keep(segment: SegmentState, watch: Watch) -> None:
    SegmentState.objects.filter(namespace=segment.namespace_id, pk=segment.pk).update(watch=watch.packed)
