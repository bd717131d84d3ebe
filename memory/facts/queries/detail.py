"""One fact whole: what it says, who said it, what it rests on, and what was said of it since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, DateTimeField, F, QuerySet, TextField, UUIDField, Value, When
from django.db.models.functions import Cast, Concat

from memory.agents.labels import labels
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Erased, NotFound, Withdrawn
from memory.facts.models import Fact, FactState, Retraction, Supersession
from memory.facts.queries.conflicts import EVIDENCE
from memory.facts.queries.status import EntityStatus, FactLine, line_of, may_see, statuses
from memory.facts.states import Entity, as_claimed, word
from memory.ledger.models import Entry, Item
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.mentions import Mention, mentions
from memory.records.models import Held, Review

# The words of a state that `include` must ask for before such a fact is shown.
_ASKED = {"retracted": "withdrawn", "rejected": "withdrawn", "held": "held", "erased": "erased"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was done to a fact: what, by which entry, by whom and why. `reason` None is not given or gone."""

    what: str
    seq: int
    recorded_at: datetime
    person: int | None
    agent_name: str
    reason: str | None
    other: UUID | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A fact with its whole life. `status` is that of its entity at the point."""

    line: FactLine
    subject: str
    attribute: str
    entity: Entity
    item: int
    digest: bytes
    pointer: str
    note: str
    candidate: bool
    run: UUID | None
    run_title: str
    source_recorded_at: datetime | None
    held_until: datetime | None
    erased_seq: int | None
    replaces: tuple[UUID, ...]
    rests_on: tuple[Mention, ...]
    life: tuple[Turn, ...]
    status: EntityStatus


def fact(at: AsOf, *, id: UUID, reader: Actor | None = None, tells_hidden: bool = True) -> FactDetail:
    """The fact as of the point; `tells_hidden` as `statuses` takes it.

    Raises NotFound, also for a held one of another agent than the reader.
    """
    row = FactState.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq).first()
    if row is None or (at.source_at is not None and _is_later(row, at.source_at)):
        raise NotFound(f"There is no fact {id} {at.words}.")
    if at.source_at is not None:
        row = as_claimed(row, at.source_at)
    known = at.head if at.source_at is not None else at.seq
    if not may_see(row, word(row, known), reader):
        raise NotFound(f"There is no fact {id} {at.words}.")
    life = list(_life(at, id, known))
    entries = {
        one.seq: one for one in Entry.objects.filter(namespace=at.namespace, seq__in=[seq for _, seq, *_ in life])
    }
    texts = labels(
        at.namespace, names=[row.subject, row.attribute, row.origin, row.scale],
        agents=[row.agent, *(entry.agent for entry in entries.values())], runs=[row.run],
    )  # fmt: skip
    parts = contents_of(at.namespace, [(row.seq, row.item), *((seq, item) for _, seq, item, *_ in life)])
    details = parts[row.seq, row.item].get("details", {})
    replaces = FactState.objects.filter(namespace=at.namespace, superseded_by=id, superseded_seq__lte=known)
    address = (row.seq, row.item)
    (status,) = statuses(at, [(row.subject, row.attribute)], tells_hidden=tells_hidden)
    return FactDetail(
        line_of(row, at, texts), texts.names.get(row.subject, "erased"), texts.names.get(row.attribute, "erased"),
        (row.subject, row.attribute), row.item, _digest(at, row), details.get("pointer", ""), details.get("note", ""),
        row.candidate, row.run, texts.runs.get(row.run, "") if row.run else "", row.source_recorded_at,
        row.held_until, row.erased_seq, tuple(replaces.order_by("doc").values_list("id", flat=True)),
        mentions(at.namespace, [address], kind=EVIDENCE)[address],
        tuple(_turn(one, entries[one[1]], texts, parts) for one in life), status,
    )  # fmt: skip


def require_shown(found: FactDetail, *, include: frozenset[str]) -> None:
    """Raise where the fact is hidden by default and not asked for.   Raises Withdrawn, Erased."""
    wanted = _ASKED.get(found.line.state)
    if wanted is None or wanted in include:
        return
    if wanted == "erased":
        raise Erased(f"The fact is erased, by entry {found.erased_seq}; include=erased shows what remains.")
    if wanted == "withdrawn":
        raise Withdrawn(f"The fact is {found.line.state}; include=withdrawn shows it.")


def _is_later(row: FactState, source_at: datetime) -> bool:
    return row.source_recorded_at is None or row.source_recorded_at > source_at


def _digest(at: AsOf, row: FactState) -> bytes:
    item = Item.objects.filter(namespace=at.namespace, seq=row.seq, item=row.item)
    return bytes(item.values_list("commitment", flat=True).get())


def _life(at: AsOf, id: UUID, known: int) -> Iterator[tuple[Any, ...]]:
    """(what, seq, item, other, at) of all that was said of the fact by the point, in order. One query."""
    own, about = {"namespace": at.namespace, "seq__lte": known}, {"kind": "fact", "object": id}
    parts = (
        _said(Fact.objects.filter(**own, id=id), Value("asserted")),
        _said(Supersession.objects.filter(**own, old=id), Value("superseded"), other=F("new"), at=F("at")),
        _said(Retraction.objects.filter(**own, fact=id), Concat(Value("retracted as "), F("retracted_as"))),
        _said(Held.objects.filter(**own, **about), Value("held"), at=F("until_at")),
        _said(
            Review.objects.filter(**own, **about),
            Case(When(confirmed=True, then=Value("confirmed")), default=Value("turned down")),
        ),
    )
    yield from sorted(parts[0].union(*parts[1:], all=True), key=lambda one: one[1:3])


def _said(rows: QuerySet[Any], what: Any, *, other: Any = None, at: Any = None) -> QuerySet[Any]:
    nothing = Value(None)
    told = rows.annotate(
        what=Cast(what, TextField()), other_fact=Cast(other or nothing, UUIDField()),
        at_instant=Cast(at or nothing, DateTimeField()),
    )  # fmt: skip
    said: QuerySet[Any] = told.values_list("what", "seq", "item", "other_fact", "at_instant")
    return said


def _turn(one: tuple[Any, ...], entry: Entry, texts: Any, parts: Any) -> Turn:
    what, seq, item, other, at = one
    note = None if what == "asserted" else parts[seq, item].get("note")
    agent = "" if entry.agent is None else texts.agents.get(entry.agent, "erased")
    return Turn(what, seq, entry.recorded_at, entry.person, agent, note, other, at)
