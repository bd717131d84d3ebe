"""Telling labels: the true relation of observations, one or many as one entry, with the alarms that they tip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base import gate, ids
from memory.base.actor import Actor
from memory.base.bodies import moved
from memory.base.errors import Conflict, DomainError, Erased, NotFound
from memory.beliefs.kernel.acts import OutcomeDocument, label_index
from memory.beliefs.models import Observation
from memory.beliefs.relations import Relation, relations_by_id
from memory.calibration.kernel.labelling import Told, adds, labeled_at
from memory.calibration.labels import Recorded, Standing, labels_of, observations_of
from memory.calibration.models import LabelOutcome
from memory.calibration.operations.repeating import repeated
from memory.calibration.operations.tipping import drafts_of
from memory.calibration.scoring import Scoring, Taken
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook, OpenEntry, book_for, opened, retried


def record(by: Actor, *, documents: Sequence[OutcomeDocument]) -> list[Recorded]:
    """Tell labels as one entry; all or nothing. What stands already is answered so and written no more.

    Locks: the namespace head. Appends: `label`, one item for each new label, each reference that it fills, alarm that
    it tips and process that it restarts. Raises NotFound (an observation that no run tracks), Invalid (no label of the
    law, instants), Conflict (another label stands; an event id with another meaning; a correction of nothing), Erased,
    IdempotencyMismatch, Forbidden, Stopped.
    """
    return [answer for answer in _record(by, documents, spares=False) if isinstance(answer, Recorded)]


def record_each(by: Actor, *, documents: Sequence[OutcomeDocument]) -> list[Recorded | DomainError]:
    """Tell the labels that can be told as one entry; a refusal in the place of each of the others.

    Locks, appends and raises as `record` does, but what is wrong with one stands in its place.
    """
    return _record(by, documents, spares=True)


@retried
def _record(by: Actor, documents: Sequence[OutcomeDocument], *, spares: bool) -> list[Recorded | DomainError]:
    named = [
        document if document.outcome_event_id else replace(document, outcome_event_id=str(ids.new_id()))
        for document in documents
    ]
    book = book_for(by)
    book.learn([str(document.outcome_event_id) for document in named])
    identities = ids.new_ids(len(named))
    request = [_request(document) for document in documents] if by.idempotency_key else None
    with opened(by, verb="label", need=gate.WRITE, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            answers = repeated(by.namespace, entry.replayed_seq, documents)
            for index, answer in enumerate(answers):
                if isinstance(answer, DomainError) and not spares:
                    raise moved(answer, index) if len(answers) > 1 else answer
            return answers
        desk = _Desk.of(entry, book, named)
        answers = list[Recorded | DomainError]()
        for index, (document, identity) in enumerate(zip(named, identities, strict=True)):
            try:
                answers.append(desk.take(document, identity))
            except DomainError as refusal:
                if not spares:
                    raise moved(refusal, index) if len(named) > 1 else refusal from None
                answers.append(refusal)
        if desk.n_written == 0:
            entry.void()
        else:
            entry.then(desk.scoring.store)
    return answers


def _request(document: OutcomeDocument) -> dict[str, Any]:
    return {name: getattr(document, name) for name in OutcomeDocument.__slots__}


@dataclass(slots=True)
class _Desk:
    """The labels of one entry, each held against what stands after those before it."""

    entry: OpenEntry
    book: NameBook
    observations: Mapping[str, Observation]
    relations: Mapping[UUID, Relation]
    by_event: dict[UUID, Standing]
    tips: dict[UUID, Standing]
    scoring: Scoring
    n_written: int = 0

    @classmethod
    def of(cls, entry: OpenEntry, book: NameBook, documents: Sequence[OutcomeDocument]) -> _Desk:
        namespace = entry.by.namespace
        observations = observations_of(namespace, {document.observation_id for document in documents})
        told = [row.id for row in observations.values()]
        standing = labels_of(namespace, told, [book.known[str(document.outcome_event_id)] for document in documents])
        tips: dict[UUID, Standing] = {}
        for label in standing:
            if label.observation in told:
                tips[label.observation] = label
        scoring = Scoring.of(namespace, entry.seq, told)
        by_event = {label.name: label for label in standing}
        return cls(entry, book, observations, relations_by_id(namespace), by_event, tips, scoring)

    def take(self, document: OutcomeDocument, identity: UUID) -> Recorded:
        """Add the label to the entry, unless it stands.   Raises as `record` says."""
        observation = self._observation(document)
        relation = self.relations[observation.relation_type]
        index = label_index(document, relation.standing_law)
        reason = None if document.correction_reason is None else document.correction_reason.strip()
        recorded_at = self.entry.recorded_at.timestamp() if document.recorded_at is None else document.recorded_at
        told = Told(index, document.labeled_at, recorded_at, reason)
        before = self.tips.get(observation.id)
        at = labeled_at(told, standing=before, observed_at=observation.observed_at)
        name = self.book.known[str(document.outcome_event_id)]
        known = self.by_event.get(name)
        if known is not None:
            _require_same(known, document, observation, told, at)
            return self._stands(document, known)
        if not adds(told, at=at, standing=before):
            return self._stands(document, before)
        label = Standing(identity, name, observation.id, index, at, recorded_at, reason, self.entry.seq)
        alarms = self._enter(label, document, before)
        self.by_event[name] = self.tips[observation.id] = label
        flags = ("clock_skew",) if recorded_at < observation.observed_at else ()
        return Recorded(
            str(document.outcome_event_id), document.observation_id, recorded=True, correction=document.is_correction,
            id=identity, seq=self.entry.seq, alarms=alarms, flags=flags,
        )  # fmt: skip

    def _observation(self, document: OutcomeDocument) -> Observation:
        found = self.observations.get(document.observation_id)
        forecasts = [] if found is None else self.scoring.forecasts.get(found.id, [])
        if found is None or not forecasts:
            raise NotFound(
                f"The observation {document.observation_id[:60]} is not tracked: it stands in no monitor run. Open one "
                "by PUT /monitors/{run_id}; it keeps the forecasts of observations that come after it, and of none "
                "before.",
                observation_id=document.observation_id[:200],
            )
        if all(forecast.posterior is None for forecast in forecasts):
            raise Erased(f"The forecast of the observation {document.observation_id[:60]} is erased.")
        return found

    def _stands(self, document: OutcomeDocument, label: Standing | None) -> Recorded:
        assert label is not None
        return Recorded(
            str(document.outcome_event_id), document.observation_id, recorded=False, correction=document.is_correction,
            id=label.id, seq=label.seq, replayed=True,
        )  # fmt: skip

    def _enter(self, label: Standing, document: OutcomeDocument, before: Standing | None) -> tuple[UUID, ...]:
        supersedes = None if before is None else before.id
        values = {
            "id": label.id, "name": label.name, "observation": label.observation, "true_index": label.true_index,
            "labeled_at": label.labeled_at, "recorded_at": document.recorded_at, "supersedes": supersedes,
        }  # fmt: skip
        draft = Draft("label_outcome", label.id, LabelOutcome, values, {"note": label.reason} if label.reason else {})
        item = self.entry.add(draft)
        self.n_written += 1
        events = self.scoring.take(
            Taken(label.id, label.observation, item, label.true_index, label.labeled_at, label.recorded_at, supersedes)
        )
        made = drafts_of(self.entry, events)
        drafting.seal(made)
        self.entry.add(*made)
        return tuple(one.object for one in made if one.kind == "alarm")


def _require_same(known: Standing, document: OutcomeDocument, observation: Observation, told: Told, at: float) -> None:
    """Raise Conflict where the event id stands for another meaning."""
    is_same = (known.observation, known.true_index, known.reason) == (observation.id, told.true_index, told.reason)
    is_same &= document.labeled_at is None or known.labeled_at == at
    is_same &= document.recorded_at is None or known.recorded_at == told.recorded_at
    if not is_same:
        raise Conflict(
            f"The event {document.outcome_event_id} stands with another meaning.",
            outcome_event_id=document.outcome_event_id,
        )
