"""Writes of records: save, withdraw, restore. A record row is inserted once and never changed.

What a review policy holds is saved like anything else, with the row that holds it; hiding it ends its waiting, and a
person who shows it again has confirmed it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import gate, ids, instants, sql
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.bodies import moved
from memory.base.canonical import canonical
from memory.base.errors import Conflict, DomainError, Erased, Invalid, NotFound
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.kernel import commitment
from memory.ledger.operations.appending import NameBook, OpenEntry, book_for, opened, retried
from memory.ledger.queries.contents import commitments_of, contents_of, names_of
from memory.records import fulltext, review
from memory.records.content import (
    NewRecord,
    details_of,
    indexed_text,
    lineage_refusal,
    request_of,
    text_digest,
)
from memory.records.models import Record, RecordState, Withdrawal, doc_of
from memory.records.review import Holding, Statement

CHUNK = 400


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """The answer to one save. `state` is computed as of the answer's seq."""

    id: UUID
    digest: bytes
    ancestry_digest: bytes
    seq: int
    replayed: bool
    state: str = "current"


@dataclass(frozen=True, slots=True)
class Parent:
    """An ancestor of a record to be: the relation and the ancestor's digest."""

    relation: str
    id: UUID
    digest: bytes


@dataclass(slots=True)
class Prepared:
    """A record made before the lock: its draft and what the projections need of it."""

    id: UUID
    new: NewRecord
    draft: Draft
    n_parents: int = 0
    item: int = -1
    holding: Holding | None = None

    @property
    def is_held(self) -> bool:
        return self.holding is not None and not self.holding.confirmed

    def answer(self, seq: int) -> SavedRecord:
        return SavedRecord(
            self.id, self.draft.commitment, self.draft.values["ancestry_digest"], seq, replayed=False,
            state="held" if self.is_held else "current",
        )  # fmt: skip

    @property
    def statement(self) -> Statement:
        """The record as a review policy sees it, once it is an item of its entry."""
        new = self.new
        return Statement(
            "record", self.id, self.item, text_digest(new.content), new.source_class, origin=new.origin, type=new.type
        )


def prepare(
    book: NameBook,
    news: Sequence[NewRecord],
    *,
    parents: Sequence[Sequence[Parent]] | None = None,
    lines: Sequence[UUID | None] | None = None,
    raws: Sequence[Any] | None = None,
) -> list[Prepared]:
    """Drafts of the records, sealed, with their ancestry digests. No lock is needed.   Raises Invalid (interval)."""
    for new in news:
        _require_interval(new)
    book.learn([new.type for new in news])
    minted = iter(ids.new_ids(sum(new.id is None for new in news)))
    prepared = []
    for index, new in enumerate(news):
        identity = new.id or next(minted)
        line = lines[index] if lines is not None else None
        values = {
            "id": identity, "type": book.id(new.type), "line": line or identity, "source_class": new.source_class,
            "valid_from": new.valid_from, "valid_to": new.valid_to, "source_recorded_at": new.source_recorded_at,
            "n_quarantined": new.n_quarantined,
        }  # fmt: skip
        parts: dict[str, Any] = {"content": new.content}
        if details := details_of(new):
            parts["details"] = details
        if raws is not None and raws[index] is not None:
            parts["raw"] = raws[index]
        prepared.append(Prepared(identity, new, Draft("record", identity, Record, values, parts)))
    drafting.seal([one.draft for one in prepared])
    for index, one in enumerate(prepared):
        above = parents[index] if parents is not None else ()
        one.n_parents = len(above)
        one.draft.values["ancestry_digest"] = commitment.ancestry_digest(
            str(one.id), one.draft.commitment, [(p.relation, p.digest) for p in above], one.new.n_quarantined
        )
    return prepared


def _require_interval(new: NewRecord) -> None:
    """The door sees what a client gives; with what carries over from another record it may still be empty."""
    if new.valid_from is not None and new.valid_to is not None and new.valid_to <= new.valid_from:
        expected = f"an instant after valid_from, {instants.text(new.valid_from)}"
        raise Invalid.at("valid_to", expected=expected, got=instants.text(new.valid_to))


def enter(entry: OpenEntry, prepared: Sequence[Prepared]) -> None:
    """Add the records to the entry and their rows to the projections."""
    for one in prepared:
        one.item = entry.add(one.draft)
    entry.then(lambda: _project(entry, prepared))


def _project(entry: OpenEntry, prepared: Sequence[Prepared]) -> None:
    by, seq = entry.by, entry.seq
    rows = []
    for one in prepared:
        new, values = one.new, one.draft.values
        rows.append((
            by.namespace, one.id, doc_of(seq, one.item), seq, one.item, entry.recorded_at, values["type"], by.agent,
            entry.run, new.source_class, new.valid_from, new.valid_to, new.source_recorded_at, new.first_line,
            text_digest(new.content), one.n_parents, 0, None, None, None, None, *_held_columns(one, seq),
        ))  # fmt: skip
    sql.insert(RecordState, rows)
    fulltext.add(by.namespace, [(doc_of(seq, one.item), indexed_text(one.new)) for one in prepared])


def _held_columns(one: Prepared, seq: int) -> tuple[int | None, datetime | None, int | None]:
    if one.holding is None:
        return None, None, None
    return seq, one.holding.until_at, None if one.is_held else seq


def save(by: Actor, *, records: Sequence[NewRecord]) -> list[SavedRecord]:
    """Save records as one entry; all or nothing. A record under its own known id is answered as before.

    Locks: the namespace head. Appends: `save`, one item for each new record.
    Raises Conflict (id with another payload), Invalid (an id twice, lineage in metadata), Erased,
    IdempotencyMismatch, Forbidden, Stopped.
    """
    return [answer for answer in _save(by, records, spares=False) if isinstance(answer, SavedRecord)]


def save_each(by: Actor, *, records: Sequence[NewRecord]) -> list[SavedRecord | DomainError]:
    """Save the records that can be saved as one entry; answers one for each, in order, a refusal for the others.

    Locks, appends and raises as `save` does, but Conflict, Invalid and Erased of one record stand in its place.
    """
    return _save(by, records, spares=True)


@retried
def _save(by: Actor, records: Sequence[NewRecord], *, spares: bool) -> list[SavedRecord | DomainError]:
    refusals = _twins(records)
    refusals |= {index: refused for index, new in enumerate(records) if (refused := lineage_refusal(new)) is not None}
    if refusals and not spares:
        raise _first(refusals) if len(records) > 1 else refusals[0]
    book = book_for(by)
    prepared = prepare(book, records)
    request = [request_of(new) for new in records] if by.idempotency_key else None
    with opened(by, verb="save", need=gate.WRITE, request=request, names=book) as entry:
        known = _known(by.namespace, records)
        for index, one in enumerate(prepared):
            found = known.get(one.id)
            if isinstance(found, DomainError):
                refusals.setdefault(index, found)
        if refusals and not spares:
            raise _first(refusals) if len(records) > 1 else refusals[0]
        fresh = [one for index, one in enumerate(prepared) if one.id not in known and index not in refusals]
        if entry.replayed_seq is not None:
            first = _written(by.namespace, entry.replayed_seq, but=known)
            known |= {one.id: answer for one, answer in zip(fresh, first, strict=True)}
        elif fresh:
            enter(entry, fresh)
            _hold(entry, fresh)
        else:
            entry.void()
    return [
        refusals[index] if index in refusals else known[one.id] if one.id in known else one.answer(entry.seq)
        for index, one in enumerate(prepared)
    ]


def _hold(entry: OpenEntry, fresh: Sequence[Prepared]) -> None:
    holdings = review.hold(entry, [one.statement for one in fresh])
    for one in fresh:
        one.holding = holdings.get(one.id)


def _twins(records: Sequence[NewRecord]) -> dict[int, DomainError]:
    """A refusal for each record that repeats the id of one before it."""
    seen: dict[UUID, int] = {}
    return {
        index: Invalid.at("id", expected="an id that comes once in the batch", got=new.id)
        for index, new in enumerate(records)
        if new.id is not None and seen.setdefault(new.id, index) != index
    }


def _first(refusals: Mapping[int, DomainError]) -> DomainError:
    index = min(refusals)
    return moved(refusals[index], index)


def _written(namespace: int, seq: int, *, but: Container[UUID]) -> list[SavedRecord]:
    """The answers of the entry, rebuilt from its rows; `but` are known by their own ids."""
    rows = [row for row in Record.objects.filter(namespace=namespace, seq=seq).order_by("item") if row.id not in but]
    digests = commitments_of(namespace, "record", [row.id for row in rows])
    held = review.held_at_birth(namespace, "record", [row.id for row in rows])
    return [_as_before(row, digests, held) for row in rows]


def _as_before(row: Record, digests: Mapping[UUID, bytes], held: Container[UUID]) -> SavedRecord:
    state = "held" if row.id in held else "current"
    return SavedRecord(row.id, digests[row.id], bytes(row.ancestry_digest), row.seq, replayed=True, state=state)


def _known(namespace: int, records: Sequence[NewRecord]) -> dict[UUID, SavedRecord | DomainError]:
    """Answers for the records whose ids stand already; a refusal where they stand otherwise."""
    given = {new.id: new for new in records if new.id is not None}
    if not given:
        return {}
    rows: list[Record] = []
    wanted = list(given)
    for start in range(0, len(wanted), CHUNK):
        rows.extend(Record.objects.filter(namespace=namespace, id__in=wanted[start : start + CHUNK]))
    if not rows:
        return {}
    stored = contents_of(namespace, [(row.seq, row.item) for row in rows])
    types = names_of(namespace, [row.type for row in rows])
    digests = commitments_of(namespace, "record", [row.id for row in rows])
    held = review.held_at_birth(namespace, "record", [row.id for row in rows])
    answers: dict[UUID, SavedRecord | DomainError] = {}
    for row in rows:
        difference = _difference(row, stored[row.seq, row.item], types.get(row.type, ""), given[row.id])
        answers[row.id] = difference or _as_before(row, digests, held)
    return answers


def _difference(row: Record, parts: dict[str, Any], type_name: str, new: NewRecord) -> DomainError | None:
    """Why the standing record is no answer to the new one."""
    if "content" not in parts:
        return Erased(f"The record {row.id} is erased.", id=str(row.id))
    columns = (row.valid_from, row.valid_to, row.source_class)
    same = (
        parts["content"] == new.content
        # As canonical bytes: in Python true equals 1.
        and canonical(parts.get("details", {})) == canonical(details_of(new))
        and type_name == new.type
        and columns == (new.valid_from, new.valid_to, new.source_class)
    )
    if same:
        return None
    return Conflict(f"The record {row.id} stands with another payload; a change is an evolve.", id=str(row.id))


@retried
def withdraw(by: Actor, *, record: UUID, reason: str, claimed_at: datetime | None = None) -> Appended:
    """Hide the record on every read by default. The text stays.

    Locks: the namespace head. Appends: `withdraw`. Raises NotFound, Conflict (withdrawn already), Invalid (no reason).
    """
    return _hide(by, record=record, reason=reason, hidden=True, claimed_at=claimed_at)


@retried
def restore(by: Actor, *, record: UUID, reason: str) -> Appended:
    """Show a withdrawn record again. People only. Appends: `restore`. Raises NotFound, Conflict, Invalid, Forbidden."""
    return _hide(by, record=record, reason=reason, hidden=False, claimed_at=None)


def _hide(by: Actor, *, record: UUID, reason: str, hidden: bool, claimed_at: datetime | None) -> Appended:
    if not reason.strip():
        raise Invalid.at("reason", expected="why, in a few words")
    verb, need = ("withdraw", gate.WITHDRAW) if hidden else ("restore", gate.REVIEW)
    request = {"record": str(record), "reason": reason, "hidden": hidden}
    with opened(by, verb=verb, need=need, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        state = RecordState.objects.filter(namespace=by.namespace, id=record).first()
        if state is None or (state.is_unconfirmed and by.kind == "agent" and state.agent != by.agent):
            # What is held exists for people and for its author: no other agent turns it down.
            raise NotFound(f"There is no record {record}.")
        if (state.withdrawn_seq is not None) == hidden:
            raise Conflict("The record is withdrawn already." if hidden else "The record is not withdrawn.")
        entry.add(withdrawal_draft(record, reason=reason, hidden=hidden, claimed_at=claimed_at))
        if state.is_unconfirmed:
            entry.add(review.settled(by, "record", record, confirmed=not hidden))
        entry.then(lambda: _mark(by.namespace, state, entry.seq, hidden=hidden))
    return entry.answer


def _mark(namespace: int, state: RecordState, seq: int, *, hidden: bool) -> None:
    columns: dict[str, int | None] = {"withdrawn_seq": seq if hidden else None}
    if state.is_unconfirmed and not hidden:
        columns["confirmed_seq"] = seq
    RecordState.objects.filter(namespace=namespace, id=state.id).update(**columns)


def hide_rejected(entry: OpenEntry, ids: Sequence[UUID], reason: str) -> None:
    """What hides the records that a review turns down."""
    entry.add(*(withdrawal_draft(one, reason=reason, hidden=True, claimed_at=None) for one in ids))


def withdrawal_draft(record: UUID, *, reason: str, hidden: bool, claimed_at: datetime | None) -> Draft:
    """The item of a withdrawal or a restoration."""
    row = {"record": record, "withdrawn": hidden, "claimed_at": claimed_at}
    return Draft("withdrawal", record, Withdrawal, row, {"note": reason})
