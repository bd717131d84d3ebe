"""Alarms: what crossed, with the label that tipped it, and what people said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.beliefs.models import MonitorRun, Observation
from memory.calibration.models import Alarm, AlarmTurn, LabelOutcome, SegmentState
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of, names_of

CHUNK = 400


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What a person did; `reason` is None once erased."""

    seq: int
    at: datetime
    person: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm. `label` is the event that tipped it and `observation` the id of what it was a label of."""

    id: UUID
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
    rows = Alarm.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq", "-item")
    found = _told(at, list(rows))
    return [row for row in found if is_open is None or row.is_open == is_open]


def alarm(at: AsOf, id: UUID) -> AlarmRow:
    """One alarm.   Raises NotFound."""
    rows = list(Alarm.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq))
    if not rows:
        raise NotFound(f"There is no alarm {id} {at.words}.")
    return _told(at, rows)[0]


def segment_alarms(at: AsOf, segment: SegmentState) -> list[AlarmRow]:
    """The alarms of a family, the oldest first."""
    rows = Alarm.objects.filter(
        namespace=at.namespace, monitor_run=segment.monitor_run, relation_type=segment.relation_type,
        source_family=segment.source_family, seq__lte=at.seq,
    )  # fmt: skip
    return _told(at, list(rows.order_by("seq", "item")))


def _told(at: AsOf, rows: Sequence[Alarm]) -> list[AlarmRow]:
    if not rows:
        return []
    about = {"namespace": at.namespace}
    labels = {row.id: row for row in LabelOutcome.objects.filter(**about, id__in={row.label for row in rows})}
    observations = dict(
        Observation.objects.filter(**about, id__in={label.observation for label in labels.values()}).values_list(
            "id", "name"
        )
    )
    named = dict(MonitorRun.objects.filter(**about, id__in={row.monitor_run for row in rows}).values_list("id", "name"))
    texts = names_of(
        at.namespace,
        [
            *named.values(), *observations.values(), *(label.name for label in labels.values()),
            *(name for row in rows for name in (row.relation_type, row.source_family)),
        ],
    )  # fmt: skip
    turns = _turns(at, [row.id for row in rows])
    opened = dict(Entry.objects.filter(**about, seq__in={row.seq for row in rows}).values_list("seq", "recorded_at"))
    found = []
    for row in rows:
        label = labels[row.label]
        found.append(
            AlarmRow(
                row.id, texts.get(named[row.monitor_run], ""), texts.get(row.relation_type, ""),
                texts.get(row.source_family, ""), row.instrument, row.seq, opened[row.seq], texts.get(label.name, ""),
                label.id, label.observation, texts.get(observations[label.observation], ""), row.epoch, row.n_labels,
                row.n_open, row.level, row.threshold, turns.get((row.id, "acknowledge")), turns.get((row.id, "close")),
            )
        )  # fmt: skip
    return found


def _turns(at: AsOf, alarms: Sequence[UUID]) -> dict[tuple[UUID, str], TurnRow]:
    rows = list(AlarmTurn.objects.filter(namespace=at.namespace, alarm__in=alarms, seq__lte=at.seq))
    notes = contents_of(at.namespace, [(row.seq, row.item) for row in rows])
    entries = {
        entry.seq: entry for entry in Entry.objects.filter(namespace=at.namespace, seq__in={row.seq for row in rows})
    }
    return {
        (row.alarm, row.kind): TurnRow(
            row.seq, entries[row.seq].recorded_at, entries[row.seq].person, notes[row.seq, row.item].get("note")
        )
        for row in rows
    }
