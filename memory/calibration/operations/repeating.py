"""The answers to labels that were told before by the same request, rebuilt from the rows of its entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.errors import Conflict, DomainError
from memory.beliefs.kernel.acts import OutcomeDocument
from memory.beliefs.models import Observation
from memory.calibration.labels import Recorded, labels_of, observations_of
from memory.calibration.models import Alarm, LabelOutcome
from memory.ledger.models import Entry
from memory.ledger.queries.contents import names_of


@dataclass(frozen=True, slots=True)
class _Written:
    """A label of the entry with its names and the alarms that it tipped."""

    row: LabelOutcome
    outcome_event_id: str
    observation_id: str
    recorded_at: float
    observed_at: float
    alarms: tuple[UUID, ...]

    def answers(self, document: OutcomeDocument) -> bool:
        is_event = document.outcome_event_id in (None, self.outcome_event_id)
        return is_event and document.observation_id == self.observation_id

    def answer(self, document: OutcomeDocument) -> Recorded:
        flags = ("clock_skew",) if self.recorded_at < self.observed_at else ()
        return Recorded(
            self.outcome_event_id, self.observation_id, recorded=True, correction=document.is_correction,
            id=self.row.id, seq=self.row.seq, alarms=self.alarms, flags=flags, replayed=True,
        )  # fmt: skip


def repeated(namespace: int, seq: int, documents: Sequence[OutcomeDocument]) -> list[Recorded | DomainError]:
    """The answer to each label of the request that entry `seq` answered."""
    left = _written(namespace, seq)
    told: list[Recorded | DomainError] = []
    for document in documents:
        found = next((one for one in left if one.answers(document)), None)
        if found is None:
            told.append(_said_elsewhere(namespace, document))
            continue
        left.remove(found)
        told.append(found.answer(document))
    return told


def _written(namespace: int, seq: int) -> list[_Written]:
    about = {"namespace": namespace, "seq": seq}
    rows = list(LabelOutcome.objects.filter(**about).order_by("item"))
    seen = Observation.objects.filter(namespace=namespace, id__in={row.observation for row in rows})
    observations: Mapping[UUID, Observation] = {row.id: row for row in seen}
    alarms: dict[UUID, list[UUID]] = {}
    for label, alarm in Alarm.objects.filter(**about).order_by("item").values_list("label", "id"):
        alarms.setdefault(label, []).append(alarm)
    at = Entry.objects.values_list("recorded_at", flat=True).get(**about).timestamp()
    texts = names_of(namespace, [*(row.name for row in rows), *(one.name for one in observations.values())])
    return [
        _Written(
            row, texts.get(row.name, ""), texts.get(observations[row.observation].name, ""),
            at if row.recorded_at is None else row.recorded_at, observations[row.observation].observed_at,
            tuple(alarms.get(row.id, ())),
        )
        for row in rows
    ]  # fmt: skip


def _said_elsewhere(namespace: int, document: OutcomeDocument) -> Recorded | DomainError:
    """The answer to a label that the entry holds no row of: another one said it, or it was refused."""
    observation = observations_of(namespace, [document.observation_id]).get(document.observation_id)
    standing = [] if observation is None else labels_of(namespace, [observation.id])
    if not standing:
        return Conflict("This was refused when it was sent first; send it as a request of its own.")
    return Recorded(
        document.outcome_event_id or "", document.observation_id, recorded=False, correction=document.is_correction,
        id=standing[-1].id, seq=standing[-1].seq, replayed=True,
    )  # fmt: skip
