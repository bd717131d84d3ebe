"""Alarms: what crossed, with the label that tipped it, and what people said of it.

- One query, however many there are and whatever became of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound
from memory.calibration.issuing import Key, key_of
from memory.calibration.models import Alarm, SegmentState

_NAMES = ("run", "relation", "family", "event", "observation")
_SELECTED = """
SELECT {alarm}, e.recorded_at, l.observation, {names},
    s.seq, se.recorded_at, se.person, sc.payload, c.seq, ce.recorded_at, ce.person, cc.payload
FROM memory_alarm a
JOIN memory_entry e ON e.namespace_id = a.namespace_id AND e.seq = a.seq
JOIN memory_labeloutcome l ON l.namespace_id = a.namespace_id AND l.id = a.label
JOIN memory_observation o ON o.namespace_id = a.namespace_id AND o.id = l.observation
JOIN memory_monitorrun r ON r.namespace_id = a.namespace_id AND r.id = a.monitor_run
LEFT JOIN memory_name run ON run.namespace_id = a.namespace_id AND run.id = r.name
LEFT JOIN memory_name relation ON relation.namespace_id = a.namespace_id AND relation.id = a.relation_type
LEFT JOIN memory_name family ON family.namespace_id = a.namespace_id AND family.id = a.source_family
LEFT JOIN memory_name event ON event.namespace_id = a.namespace_id AND event.id = l.name
LEFT JOIN memory_name observation ON observation.namespace_id = a.namespace_id AND observation.id = o.name
{turns}
WHERE a.namespace_id = %s AND a.seq <= %s {condition}
ORDER BY a.seq DESC, a.item DESC
"""
_TURN = """
LEFT JOIN memory_alarmturn {t} ON {t}.namespace_id = a.namespace_id AND {t}.alarm = a.id AND {t}.kind = '{kind}'
    AND {t}.seq <= %s
LEFT JOIN memory_entry {t}e ON {t}e.namespace_id = a.namespace_id AND {t}e.seq = {t}.seq
LEFT JOIN memory_content {t}c ON {t}c.namespace_id = a.namespace_id AND {t}c.seq = {t}.seq AND {t}c.item = {t}.item
    AND {t}c.part = 'note'
"""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What a person did; `reason` is None once erased."""

    seq: int
    at: datetime
    person: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm. `label` is the event that tipped it and `observation` the id of what it was a label of.

    A name that is erased is "".
    """

    id: UUID
    key: Key
    run_id: str
    relation_type: str
    source_family: str
    instrument: str
    seq: int
    opened_at: datetime
    label: str
    label_id: UUID
    observation: UUID
    observation_id: str
    epoch: int
    n_labels: int
    n_open: int
    level: float
    threshold: float
    acknowledged: TurnRow | None = None
    closed: TurnRow | None = None

    @property
    def is_open(self) -> bool:
        """Nobody has closed it."""
        return self.closed is None


def alarms(at: AsOf, *, is_open: bool | None = None) -> list[AlarmRow]:
    """The alarms of the namespace at the point, the newest first; all, or those that stand open or do not."""
    return [row for row in _told(at) if is_open is None or row.is_open == is_open]


def alarm(at: AsOf, id: UUID) -> AlarmRow:
    """One alarm.   Raises NotFound."""
    rows = _told(at, "AND a.id = %s", [id])
    if not rows:
        raise NotFound(f"There is no alarm {id} {at.words}.")
    return rows[0]


def segment_alarms(at: AsOf, segment: SegmentState) -> list[AlarmRow]:
    """The alarms of a family, the oldest first."""
    condition = "AND a.monitor_run = %s AND a.relation_type = %s AND a.source_family = %s"
    return _told(at, condition, key_of(segment))[::-1]


def _told(at: AsOf, condition: str = "", values: Sequence[Any] = ()) -> list[AlarmRow]:
    turns = "".join(_TURN.format(t=t, kind=kind) for t, kind in (("s", "acknowledge"), ("c", "close")))
    names = ", ".join(f"COALESCE({name}.text, '')" for name in _NAMES)
    statement = _SELECTED.format(alarm=sql.selected(Alarm, "a"), names=names, turns=turns, condition=condition)
    rows = sql.fetch(statement, [at.seq, at.seq, at.namespace, at.seq, *values])
    return [_row(row) for row in rows]


def _row(values: Sequence[Any]) -> AlarmRow:
    n = len(Alarm._meta.concrete_fields)
    row = sql.loaded(Alarm, values[:n])
    opened_at, observation, run_id, relation, family, label, observation_id, *turns = values[n:]
    return AlarmRow(
        row.id, (row.monitor_run, row.relation_type, row.source_family), run_id, relation, family, row.instrument,
        row.seq, sql.as_instant(opened_at), label, row.label, sql.as_id(observation), observation_id, row.epoch,
        row.n_labels, row.n_open, row.level, row.threshold, _turn(turns[:4]), _turn(turns[4:]),
    )  # fmt: skip


def _turn(values: Sequence[Any]) -> TurnRow | None:
    seq, at, person, note = values
    if seq is None:
        return None
    return TurnRow(seq, sql.as_instant(at), person, None if note is None else str(strict_loads(note)))


def with_digits(at: AsOf, digits: str, *, limit: int) -> list[UUID]:
    """The alarms whose ids begin with the hex digits."""
    low, high = (UUID(hex=digits.ljust(32, filling)) for filling in "0f")
    rows = Alarm.objects.filter(namespace=at.namespace, id__gte=low, id__lte=high, seq__lte=at.seq)
    return list(rows.order_by("id").values_list("id", flat=True)[:limit])
