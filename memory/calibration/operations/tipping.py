"""What a label brings about in its own entry: a reference that is locked, an alarm, a correction after one.

An alarm is opened once: while one of the same instrument stands open for a family, another is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from memory.base import ids
from memory.calibration.issuing import Key
from memory.calibration.models import EVERY_FAMILY, Alarm, AlarmTurn, LockedReference, ProcessRestart
from memory.calibration.scoring import Crossed, Event, Filled
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import OpenEntry


def drafts_of(entry: OpenEntry, events: Iterable[Event]) -> list[Draft]:
    """The items of these events that are new."""
    found: list[Draft] = []
    for event in events:
        if isinstance(event, Crossed):
            if not _is_open(entry, event):
                found.append(_alarm(event))
        elif isinstance(event, Filled):
            found.append(_reference(event))
        else:
            found.append(restart_draft(event.key, epoch=event.epoch, cause="correction"))
    return found


def restart_draft(key: Key, *, epoch: int, cause: str) -> Draft:
    """The processes of a family begin again as this epoch, or a correction sets it apart."""
    id = ids.new_id()
    values = {"id": id, **_segment(key), "cause": cause, "epoch": epoch}
    return Draft("process_restart", id, ProcessRestart, values)


def open_alarms(namespace: int) -> Any:
    """Alarms that nobody has closed."""
    closed = AlarmTurn.objects.filter(namespace=OuterRef("namespace"), alarm=OuterRef("id"), kind="close")
    return Alarm.objects.filter(~Exists(closed), namespace=namespace)


def _is_open(entry: OpenEntry, event: Crossed) -> bool:
    about = {**_segment(event.key), "instrument": event.instrument}
    if any(
        draft.kind == "alarm" and all(draft.values[name] == value for name, value in about.items())
        for draft in entry.drafts
    ):
        return True
    return bool(open_alarms(entry.by.namespace).filter(**about).exists())


def _alarm(event: Crossed) -> Draft:
    id = ids.new_id()
    values = {
        "id": id, **_segment(event.key), "instrument": event.instrument, "label": event.label, "epoch": event.epoch,
        "n_labels": event.n_labels, "n_open": event.n_open, "level": event.level, "threshold": event.threshold,
    }  # fmt: skip
    return Draft("alarm", id, Alarm, values)


def _reference(event: Filled) -> Draft:
    id = ids.new_id()
    digest = hashlib.sha256(b"".join(observation.bytes for observation in event.members)).digest()
    segment: dict[str, UUID | None] = {**_segment(event.key)}
    if event.key[2] == EVERY_FAMILY:
        segment["source_family"] = None
    values = {"id": id, **segment, "label": event.label, "n_members": len(event.members), "members": digest}
    return Draft("locked_reference", id, LockedReference, values)


def _segment(key: Key) -> dict[str, UUID]:
    return dict(zip(("monitor_run", "relation_type", "source_family"), key, strict=True))
