"""Asserting facts: one, or many as one entry. A row is inserted once and never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import gate, ids, instants
from memory.base.actor import Actor
from memory.base.bodies import moved
from memory.base.canonical import canonical
from memory.base.errors import Conflict, DomainError, Erased, Invalid
from memory.facts import states
from memory.facts.content import NewFact, details_of, request_of
from memory.facts.kernel.values import Spec, fits
from memory.facts.models import Fact, FactState
from memory.facts.operations.resting import Rest, rests_of
from memory.facts.projecting import project_new
from memory.facts.reviewing import statement_of
from memory.facts.specs import specs_at
from memory.facts.states import Stated, rows_with, word
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook, OpenEntry, book_for, opened, retried
from memory.ledger.queries.contents import commitments_of, contents_of, names_of
from memory.records import review


@dataclass(frozen=True, slots=True)
class AssertedFact:
    """The answer to one assertion. `state` is how the fact stood once the answer's entry was written."""

    id: UUID
    digest: bytes
    seq: int
    state: str
    replayed: bool


@dataclass(slots=True)
class Prepared:
    """A fact made before the lock."""

    id: UUID
    new: NewFact
    draft: Draft
    item: int = -1
    state: str = "standing"

    def answer(self, seq: int) -> AssertedFact:
        return AssertedFact(self.id, self.draft.commitment, seq, self.state, replayed=False)


def assert_facts(by: Actor, *, facts: Sequence[NewFact]) -> list[AssertedFact]:
    """Assert facts as one entry; all or nothing. A fact under its own known id is answered as before.

    Locks: the namespace head. Appends: `assert`, one item for each new fact, one for each reference and holding.
    Raises Invalid (interval, value type, unknown reference, an id twice), Conflict (id with another payload, a held
    reference), Erased, IdempotencyMismatch, Forbidden, Stopped.
    """
    return [answer for answer in _assert(by, facts, spares=False) if isinstance(answer, AssertedFact)]


def assert_each(by: Actor, *, facts: Sequence[NewFact]) -> list[AssertedFact | DomainError]:
    """Assert the facts that can be as one entry; answers one for each, in order, a refusal for the others.

    Locks, appends and raises as `assert_facts` does, but what is wrong with one fact stands in its place.
    """
    return _assert(by, facts, spares=True)


@retried
def _assert(by: Actor, facts: Sequence[NewFact], *, spares: bool) -> list[AssertedFact | DomainError]:
    refusals: dict[int, DomainError] = {**_twins(facts), **_intervals(facts)}
    _refuse(refusals, facts, spares=spares)
    book = book_for(by)
    prepared = _prepare(by, book, facts)
    request = [request_of(new) for new in facts] if by.idempotency_key else None
    with opened(by, verb="assert", need=gate.WRITE, request=request, names=book) as entry:
        known = _known(by.namespace, facts)
        if entry.replayed_seq is not None:
            first = _as_before(by.namespace, entry.replayed_seq, prepared, known)
            _refuse({index: one for index, one in enumerate(first) if isinstance(one, DomainError)}, facts,
                    spares=spares)  # fmt: skip
            return first
        specs = specs_at(by.namespace, {one.draft.values["attribute"] for one in prepared}, entry.seq)
        rests = rests_of(by, [new.references for new in facts])
        for index, one in enumerate(prepared):
            if (refusal := _refusal(one, known.get(one.id), specs, rests[index])) is not None:
                refusals.setdefault(index, refusal)
        _refuse(refusals, facts, spares=spares)
        wanted = [index for index, one in enumerate(prepared) if one.id not in known and index not in refusals]
        fresh = [prepared[index] for index in wanted]
        if fresh:
            _enter(entry, fresh, specs, book, [rests[index] for index in wanted])
        else:
            entry.void()
    return [
        refusals[index] if index in refusals else known[one.id] if one.id in known else one.answer(entry.seq)
        for index, one in enumerate(prepared)
    ]


def _refuse(refusals: Mapping[int, DomainError], facts: Sequence[NewFact], *, spares: bool) -> None:
    if refusals and not spares:
        index = min(refusals)
        raise moved(refusals[index], index) if len(facts) > 1 else refusals[index]


def _twins(facts: Sequence[NewFact]) -> dict[int, DomainError]:
    seen: dict[UUID, int] = {}
    return {
        index: Invalid.at("id", expected="an id that comes once in the batch", got=new.id)
        for index, new in enumerate(facts)
        if new.id is not None and seen.setdefault(new.id, index) != index
    }


def _intervals(facts: Sequence[NewFact]) -> dict[int, DomainError]:
    return {
        index: Invalid.at("valid_to", expected="an instant after valid_from", got=instants.text(new.valid_to))
        for index, new in enumerate(facts)
        if new.valid_from is not None and new.valid_to is not None and new.valid_to <= new.valid_from
    }


def _prepare(by: Actor, book: NameBook, facts: Sequence[NewFact]) -> list[Prepared]:
    """Drafts of the facts, sealed. No lock is needed."""
    book.learn([text for new in facts for text in (new.subject, new.attribute, new.origin, new.scale)])
    minted = iter(ids.new_ids(sum(new.id is None for new in facts)))
    # What a loader says in another's name nobody has seen being said.
    is_seen = by.kind != "system" and by.loader is None
    prepared = []
    for new in facts:
        identity = new.id or next(minted)
        values = {
            "id": identity, "subject": book.id(new.subject), "attribute": book.id(new.attribute), "stance": new.stance,
            "source_class": new.source_class, "origin": book.id(new.origin),
            "authenticated": is_seen and new.source_class == "first_hand", "candidate": new.candidate,
            "confidence": new.confidence, "scale": book.id(new.scale), "valid_from": new.valid_from,
            "valid_to": new.valid_to, "source_recorded_at": new.source_recorded_at,
        }  # fmt: skip
        parts: dict[str, Any] = {"value": new.value}
        if details := details_of(new):
            parts["details"] = details
        prepared.append(Prepared(identity, new, Draft("fact", identity, Fact, values, parts)))
    drafting.seal([one.draft for one in prepared])
    return prepared


def _refusal(
    one: Prepared, known: AssertedFact | DomainError | None, specs: Mapping[UUID, Spec], rest: Rest
) -> DomainError | None:
    if isinstance(known, DomainError):
        return known
    if known is not None:
        return None
    spec = specs[one.draft.values["attribute"]]
    if not fits(one.new.value, spec.value_type):
        return Invalid.at("value", expected=f"{spec.value_type}, as {one.new.attribute} is declared", got=one.new.value)
    return rest.refusal


def _enter(
    entry: OpenEntry, prepared: Sequence[Prepared], specs: Mapping[UUID, Spec], book: NameBook, rests: Sequence[Rest]
) -> None:
    for one, rest in zip(prepared, rests, strict=True):
        one.item = entry.add(one.draft)
        if one.new.valid_to is not None and one.new.valid_from is None and one.new.valid_to <= entry.recorded_at:
            expected = "valid_from too, where the fact ended before now"
            raise Invalid.at("valid_to", expected=expected, got=instants.text(one.new.valid_to))
        entry.add(*rest.drafts(one.item))
    held = review.hold(entry, [statement_of(one.id, one.item, one.new, one.draft.values) for one in prepared])
    by = entry.by
    rows = states.fresh(
        by.namespace, [_stated(one, held.get(one.id)) for one in prepared], seq=entry.seq,
        recorded_at=entry.recorded_at, by=(by.person, by.agent), run=entry.run,
    )  # fmt: skip
    for one, row in zip(prepared, rows, strict=True):
        one.state = word(row, entry.seq)
    minted = {draft.object for draft in book.minted.values()}
    unknown = [(row.subject, row.attribute) for row in rows if row.subject in minted or row.attribute in minted]
    entry.then(lambda: project_new(by.namespace, entry.seq, rows, specs, unknown=unknown))


def _stated(one: Prepared, holding: review.Holding | None) -> Stated:
    if holding is None:
        return Stated(one.draft.values, one.new.value, one.item)
    return Stated(
        one.draft.values, one.new.value, one.item, holding.until_at, is_held=True, is_confirmed=holding.confirmed
    )


def _as_before(
    namespace: int, seq: int, prepared: Sequence[Prepared], known: Mapping[UUID, AssertedFact | DomainError]
) -> list[AssertedFact | DomainError]:
    """The answers that the entry gave, rebuilt from its rows, whatever would be refused by now.

    Its facts came in the order of the request; what of the request is none of them was refused then.
    """
    rows = list(FactState.objects.filter(namespace=namespace, seq=seq).order_by("item"))
    stored = {row.id: row for row in Fact.objects.filter(namespace=namespace, seq=seq)}
    parts = contents_of(namespace, [(row.seq, row.item) for row in rows])
    names = names_of(namespace, [name for row in rows for name in (row.subject, row.attribute, row.origin, row.scale)])
    left, answers = [row for row in rows if row.id not in known], list[AssertedFact | DomainError]()
    for one in prepared:
        if one.id in known:
            answers.append(known[one.id])
            continue
        row = None if one.new.id is not None or not left else left[0]
        told = None if row is None else _difference(stored[row.id], parts[row.seq, row.item], names, one.new)
        if row is None or isinstance(told, Conflict):
            answers.append(Conflict("This was refused when it was sent first; send it as a request of its own."))
            continue
        answers.append(_answer(namespace, row) if told is None else told)
        left.pop(0)
    return answers


def _answer(namespace: int, row: FactState) -> AssertedFact:
    digest = commitments_of(namespace, "fact", [row.id])[row.id]
    return AssertedFact(row.id, digest, row.seq, word(row, row.seq), replayed=True)


def _known(namespace: int, facts: Sequence[NewFact]) -> dict[UUID, AssertedFact | DomainError]:
    """Answers for the facts whose ids stand already; a refusal where they stand otherwise."""
    given = {new.id: new for new in facts if new.id is not None}
    rows = list(rows_with(namespace, given).values()) if given else []
    if not rows:
        return {}
    stored = {row.id: row for row in Fact.objects.filter(namespace=namespace, id__in=[row.id for row in rows])}
    parts = contents_of(namespace, [(row.seq, row.item) for row in rows])
    names = names_of(namespace, [name for row in rows for name in (row.subject, row.attribute, row.origin, row.scale)])
    return {
        row.id: _difference(stored[row.id], parts[row.seq, row.item], names, given[row.id]) or _answer(namespace, row)
        for row in rows
    }


def _difference(row: Fact, parts: Mapping[str, Any], names: Mapping[UUID, str], new: NewFact) -> DomainError | None:
    """Why the standing fact is no answer to the new one."""
    if "value" not in parts:
        return Erased(f"The fact {row.id} is erased.", id=str(row.id))
    told = (
        names.get(row.subject, ""), names.get(row.attribute, ""), row.stance, row.source_class,
        "" if row.origin is None else names.get(row.origin, ""), "" if row.scale is None else names.get(row.scale, ""),
        row.candidate, row.confidence, row.valid_from, row.valid_to,
    )  # fmt: skip
    asked = (
        new.subject, new.attribute, new.stance, new.source_class, new.origin, new.scale, new.candidate, new.confidence,
        new.valid_from, new.valid_to,
    )  # fmt: skip
    # As canonical bytes: in Python true equals 1.
    same = canonical([parts["value"], parts.get("details", {})]) == canonical([new.value, details_of(new)])
    if same and told == asked:
        return None
    return Conflict(f"The fact {row.id} stands with another payload; a new value is a fact of its own.", id=str(row.id))
