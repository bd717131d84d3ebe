"""Observing: one posterior or many as one entry, with the law that they bind and the forecasts that they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base import clock, gate, ids, sql
from memory.base.actor import Actor
from memory.base.bodies import moved
from memory.base.errors import DomainError, Invalid, NotFound, Raced
from memory.beliefs import projection, reaches, states
from memory.beliefs.content import NAMED, parts_of, texts_of
from memory.beliefs.kernel.documents import ObservationDocument, canonical_observation
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.masses import VectorFlag, flags, warnings
from memory.beliefs.kernel.monitoring import MonitorConfig, source_family
from memory.beliefs.models import DERIVED_FROM, Observation, ObservationState
from memory.beliefs.operations import binding, watching
from memory.beliefs.operations.binding import Binding
from memory.beliefs.operations.repeating import Known, known_of, repeated
from memory.beliefs.operations.resting import Parents, parents_of
from memory.beliefs.operations.watching import Tracked, Tracking, Watch
from memory.beliefs.profiles import Profile
from memory.beliefs.relations import Relation, no_law, relations
from memory.beliefs.states import Vectors
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.models import Reference
from memory.ledger.operations.appending import NameBook, OpenEntry, book_for, opened, retried
from memory.ledger.queries.closed import require_open

LAST_SEQ = 2**62


@dataclass(frozen=True, slots=True)
class Asked:
    """How observations are taken: the profile, a law to bind where none stands, the one run that is to track them.

    Without `watch` every run of the namespace tracks, or none where `tracks` is false.
    """

    profile: Profile
    bind: Binding | None = None
    watch: MonitorConfig | None = None
    tracks: bool = True


@dataclass(frozen=True, slots=True)
class Observed:
    """The answer to one observation. `recorded` is false where an earlier request had brought it; `replayed`: this
    request, or that one, was answered before.

    `is_reached`: a revocation of what it is derived from reaches it, so it counts from nothing on.
    """

    observation_id: str
    id: UUID
    digest: bytes
    seq: int
    recorded: bool
    replayed: bool
    flags: tuple[str, ...] = ()
    tracking: Tracking = "not_watched"
    is_reached: bool = False


@dataclass(slots=True)
class Prepared:
    """An observation made before the lock."""

    id: UUID
    document: ObservationDocument
    relation: Relation | None
    vectors: Vectors
    draft: Draft
    flags: tuple[VectorFlag, ...]
    tracked: Tracked
    item: int = -1

    def answer(self, entry: OpenEntry, *, is_reached: bool) -> Observed:
        claimed = float(self.draft.values["observed_at"])
        warned = warnings(self.flags, observed_at=claimed, recorded_at=entry.recorded_at.timestamp())
        return Observed(
            str(self.document.observation_id), self.id, self.draft.commitment, entry.seq, recorded=True, replayed=False,
            flags=warned, tracking=self.tracked.word, is_reached=is_reached,
        )  # fmt: skip


def observe(by: Actor, *, documents: Sequence[ObservationDocument], asked: Asked) -> list[Observed]:
    """Store observations as one entry; all or nothing. One under its own known id is answered as before.

    Locks: the namespace head. Appends: `observe`, one item for each new observation, its references to parents, its
    forecasts, a law and a monitor run where they are new. Raises Invalid (vectors, parents), NotFound (no law, no
    parent), Conflict (id with another payload; under compat any known id; another law or configuration), Erased,
    IdempotencyMismatch, Forbidden, Stopped.
    """
    return [answer for answer in _observe(by, documents, asked, spares=False) if isinstance(answer, Observed)]


def observe_each(by: Actor, *, documents: Sequence[ObservationDocument], asked: Asked) -> list[Observed | DomainError]:
    """Store the observations that can be as one entry; a refusal in the place of each of the others.

    Locks, appends and raises as `observe` does, but what is wrong with one stands in its place.
    """
    return _observe(by, documents, asked, spares=True)


@retried
def _observe(
    by: Actor, documents: Sequence[ObservationDocument], asked: Asked, *, spares: bool
) -> list[Observed | DomainError]:
    refusals: dict[int, DomainError] = dict(_twins(documents))
    book = book_for(by)
    texts = [text for document in documents for text in _texts(document)]
    book.learn([*texts, asked.watch.run_id if asked.watch else ""])
    watched = _watched(by.namespace, book, asked)
    prepared = _prepare(by, book, documents, asked, watched, refusals)
    if refusals:
        # What is missing may be missing because all of it was erased.
        require_open(by.namespace)
    _refuse(refusals, documents, spares=spares)
    request = [canonical_observation(document).decode() for document in documents] if by.idempotency_key else None
    with opened(by, verb="observe", need=gate.WRITE, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            return _again(by.namespace, entry.replayed_seq, book, documents, spares=spares)
        known = known_of(by.namespace, book, documents, profile=asked.profile)
        parents = parents_of(by.namespace, {index: one.document for index, one in prepared.items()}, known=known)
        for index in prepared:
            standing = known.get(index)
            refusal = standing if isinstance(standing, DomainError) else parents.refusals.get(index)
            if refusal is not None:
                refusals.setdefault(index, refusal)
        _refuse(refusals, documents, spares=spares)
        fresh = {index: one for index, one in prepared.items() if index not in known and index not in refusals}
        if len(fresh) < len(documents):
            _forgo(book, documents, fresh, asked, watched)
        reached = _enter(entry, book, fresh, asked, watched, parents)
    answers: list[Observed | DomainError] = []
    for index in range(len(documents)):
        standing = known.get(index)
        if index in refusals:
            answers.append(refusals[index])
        elif isinstance(standing, Known):
            answers.append(_stands(standing))
        else:
            answers.append(prepared[index].answer(entry, is_reached=prepared[index].id in reached))
    return answers


def _stands(known: Known, *, recorded: bool = False) -> Observed:
    return Observed(
        known.observation_id, known.id, known.digest, known.seq, recorded=recorded, replayed=True, flags=known.flags,
        tracking=known.tracking, is_reached=known.is_reached,
    )  # fmt: skip


def _again(
    namespace: int, seq: int, book: NameBook, documents: Sequence[ObservationDocument], *, spares: bool
) -> list[Observed | DomainError]:
    """The answers of the entry that the same request has written."""
    answers = repeated(namespace, seq, documents, known_of(namespace, book, documents, profile="native"))
    _refuse({i: one for i, one in enumerate(answers) if isinstance(one, DomainError)}, documents, spares=spares)
    return [_stands(one, recorded=one.seq == seq) if isinstance(one, Known) else one for one in answers]


def _refuse(refusals: Mapping[int, DomainError], documents: Sequence[Any], *, spares: bool) -> None:
    if refusals and not spares:
        index = min(refusals)
        raise moved(refusals[index], index) if len(documents) > 1 else refusals[index]


def _twins(documents: Sequence[ObservationDocument]) -> dict[int, DomainError]:
    seen: dict[str, int] = {}
    return {
        index: Invalid.at("observation_id", expected="an id that comes once in the batch", got=document.observation_id)
        for index, document in enumerate(documents)
        if document.observation_id is not None and seen.setdefault(document.observation_id, index) != index
    }


def _watched(namespace: int, book: NameBook, asked: Asked) -> list[Watch]:
    """The runs that will track, as they stand before the lock."""
    if not asked.tracks:
        return []
    if asked.watch is None:
        return watching.watches(namespace)
    found = watching.watches(namespace, name=book.id(asked.watch.run_id))
    for watch in found:
        watching.require_config(watch, asked.watch)
    return found or [watching.opened_run(book, asked.watch)]


def _prepare(
    by: Actor, book: NameBook, documents: Sequence[ObservationDocument], asked: Asked, watched: Sequence[Watch],
    refusals: dict[int, DomainError],
) -> dict[int, Prepared]:  # fmt: skip
    """Drafts of the observations, sealed. No lock is needed."""
    bound = relations(by.namespace, seq=LAST_SEQ, texts={document.relation_type for document in documents})
    now = (by.event_at or clock.now()).timestamp()
    prepared: dict[int, Prepared] = {}
    for index, document in enumerate(documents):
        if index in refusals:
            continue
        try:
            prepared[index] = _prepared(book, document, bound, asked, watched, now)
        except (Invalid, NotFound) as refusal:
            refusals[index] = refusal
    drafting.seal([draft for one in prepared.values() for draft in (one.draft, *one.tracked.drafts)])
    return prepared


def _prepared(
    book: NameBook, given: ObservationDocument, bound: Mapping[str, Relation], asked: Asked, watched: Sequence[Watch],
    now: float,
) -> Prepared:  # fmt: skip
    relation, bind = bound.get(given.relation_type), asked.bind
    if relation is not None and bind is not None and bind.relation_type == given.relation_type:
        binding.require_same(relation, bind)
    if relation is None and (bind is None or bind.relation_type != given.relation_type):
        raise no_law(given.relation_type)
    law, support = _reading(relation, bind, asked.profile)
    vectors = states.read_vectors(given.posterior, given.prior, law)
    warned = flags(vectors.posterior, vectors.prior)
    if "mass_outside_prior" in warned and support == "reject":
        expected = "no mass where the prior has none; bind the relation type with prior_support flag to allow it"
        raise Invalid.at("posterior", expected=expected, got="mass outside the prior", code="mass_outside_prior")
    document = replace(
        given, observation_id=given.observation_id or str(ids.new_id()),
        observed_at=now if given.observed_at is None else given.observed_at,
    )  # fmt: skip
    identity = ids.new_id()
    values = {
        "id": identity, "name": book.id(str(document.observation_id)),
        **{column: book.id(getattr(document, key) or "") for column, key in NAMED.items()},
        "is_independent": document.independent_evidence, "trust": document.trust, "observed_at": document.observed_at,
        "valid_from": document.valid_from, "valid_until": document.valid_until,
    }  # fmt: skip
    draft = Draft("observation", identity, Observation, values, parts_of(document))
    tracked = watching.track(book, watched, document, observation=identity, posterior=vectors.posterior)
    return Prepared(identity, document, relation, vectors, draft, warned, tracked)


def _forgo(
    book: NameBook, documents: Sequence[ObservationDocument], fresh: Mapping[int, Prepared], asked: Asked,
    watched: Sequence[Watch],
) -> None:  # fmt: skip
    """Leave out what only the others of the batch had brought: what stands already, or is refused, makes no name and
    takes no room in a run."""
    kept = {text for one in fresh.values() for text in _texts(one.document)}
    kept |= {asked.watch.run_id if asked.watch else "", asked.bind.relation_type if asked.bind else ""}
    book.forgo({text for document in documents for text in _texts(document)} - kept)
    for watch in watched:
        watch.n_tracked = 0
    for one in fresh.values():
        posterior = one.vectors.posterior
        one.tracked = watching.track(book, watched, one.document, observation=one.id, posterior=posterior)
    drafting.seal([draft for one in fresh.values() for draft in one.tracked.drafts])


def _texts(document: ObservationDocument) -> list[str]:
    return [*texts_of(document), source_family(document.provenance) or ""]


def _reading(relation: Relation | None, bind: Binding | None, profile: Profile) -> tuple[Law, str]:
    """The law of the relation type, and what mass outside a prior does."""
    if relation is not None:
        return relation.standing_law, relation.prior_support
    assert bind is not None
    return bind.law, binding.prior_support_of(bind, profile)


def _enter(
    entry: OpenEntry, book: NameBook, fresh: Mapping[int, Prepared], asked: Asked, watched: Sequence[Watch],
    parents: Parents,
) -> set[UUID]:  # fmt: skip
    """Add what is new to the entry; answers which observations a revocation of their parents reaches."""
    if not fresh:
        entry.void()
        return set()
    namespace = entry.by.namespace
    bound = _bind(entry, book, fresh, asked)
    _open_runs(entry, book, asked, watched)
    for one in fresh.values():
        one.item = entry.add(one.draft)
    given: dict[UUID, list[UUID]] = {}
    for index, one in fresh.items():
        for parent in parents.of(index, fresh):
            row = {
                "from_item": one.item,
                "to_seq": parent.seq or entry.seq,
                "to_item": parent.item,
                "kind": DERIVED_FROM,
            }
            entry.add(Draft("reference", ids.new_id(), Reference, row))
            given.setdefault(one.id, []).append(parent.id)
        entry.add(*one.tracked.drafts)
    found: dict[UUID, list[reaches.Reach]] = {}
    for reach in reaches.inherited(namespace, entry.seq, given, found):
        found.setdefault(reach.observation, []).append(reach)
    entry.then(lambda: _project(entry, list(fresh.values()), bound, found, watched))
    return set(found)


def _bind(entry: OpenEntry, book: NameBook, fresh: Mapping[int, Prepared], asked: Asked) -> dict[str, Relation]:
    """The relation types of the fresh observations, the new one bound by this entry."""
    bound = {one.document.relation_type: one.relation for one in fresh.values()}
    if asked.bind is None or asked.bind.relation_type not in bound or bound[asked.bind.relation_type] is not None:
        return {text: relation for text, relation in bound.items() if relation is not None}
    if relations(entry.by.namespace, seq=entry.seq, texts=[asked.bind.relation_type]):
        raise Raced
    made = binding.enter(entry, book, asked.bind, asked.profile)
    return {text: relation or made for text, relation in bound.items()}


def _open_runs(entry: OpenEntry, book: NameBook, asked: Asked, watched: Sequence[Watch]) -> None:
    """Enter the run that is new.   Raises Raced where the runs, or their room, are not what they were."""
    if not asked.tracks:
        return
    name = None if asked.watch is None else book.id(asked.watch.run_id)
    standing = {watch.id: watch for watch in watching.watches(entry.by.namespace, name=name)}
    expected = {watch.id for watch in watched if watch.draft is None}
    if set(standing) != expected or any(standing[one.id].room < one.n_tracked for one in watched if not one.draft):
        raise Raced
    entry.add(*(watch.draft for watch in watched if watch.draft is not None))


def _project(
    entry: OpenEntry, fresh: Sequence[Prepared], bound: Mapping[str, Relation],
    reached: Mapping[UUID, Sequence[reaches.Reach]], watched: Sequence[Watch],
) -> None:  # fmt: skip
    namespace = entry.by.namespace
    rows = [
        states.state(
            namespace, entry.seq, one.item, one.draft.values, relation=bound[one.document.relation_type],
            name=str(one.document.observation_id), vectors=one.vectors,
        )
        for one in fresh
    ]  # fmt: skip
    sql.insert(ObservationState, rows)
    projection.enter_tags(namespace, [(one.id, tag) for one in fresh for tag in one.document.tags])
    reaches.enter(namespace, [reach for told in reached.values() for reach in told])
    for watch in watched:
        if watch.n_tracked:
            projection.track(namespace, watch.id, watch.n_tracked)
