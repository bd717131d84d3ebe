"""The facts of a subject over both clocks, and the status of each of its attributes at a point.

Invariants
- One row is a fact, the valid time that it claimed, and one stretch of recording in which it counted so. A fact that
  never counted (taken back by the entry that brought it) has one stretch without length.
- The status at the point is that of the kernel, from the same rows: it is never read off a picture.
- What is held, turned down or a candidate counts nowhere; it is left out, and counted, unless it is asked for.
- Where an attribute declares a freshness, a fact without an end ends as it is declared at the point.
- Under a source's own instants the clock of recording is the source's; acts without a claimed instant never were.
- The number of statements does not grow with the facts: the newest MOST are read, and what counts at the point.

Source: operating contract, facts; the kernel of statuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.aggregates import Count

from memory.agents.activity import agent_name, name_of, person_name
from memory.base.asof import AsOf
from memory.facts.kernel.conflict import case_id
from memory.facts.kernel.status import CONFLICT, Statement, Status, end_of, status_of
from memory.facts.kernel.values import Side, Spec, Value, side_of
from memory.facts.models import FactState, FactTally
from memory.facts.queries.standing import last_before, standing
from memory.facts.rectangles import Piece, pieces
from memory.facts.specs import specs_at
from memory.facts.states import Entity, as_claimed, statement, value_of, word
from memory.ledger.models import Entry, Name
from memory.lineage.queries.spans import Recorded
from memory.records.queries.detail import NO_SOURCE_TIME

MOST = 500
AMONG = 10_000
COUNTED = ("standing", "erased")
ASKED_FOR = {"held": "held", "rejected": "held", "candidate": "candidate"}
ACTS = ("superseded", "retracted", "confirmed", "rejected")


@dataclass(frozen=True, slots=True)
class Stretch:
    """One fact over one stretch of recording. `ended_as` is "", superseded, retracted, confirmed or rejected.

    `value` is None where it is erased; `side` says what the fact says alike with others. `lane` is standing, erased,
    or a way in which it does not count.
    """

    fact: UUID
    attribute: str
    value: Value | None
    stance: str
    side: Side | None
    lane: str
    valid_from: datetime
    valid_to: datetime | None
    began: Recorded
    ended: Recorded | None
    ended_as: str
    retracted_as: str
    source_class: str
    origin: str
    agent_name: str
    person_name: str
    source_recorded_at: datetime | None


@dataclass(frozen=True, slots=True)
class AttributeStatus:
    """The status of one attribute at the point. `recorded` = {fact: seq}; `spec` is what is declared of it."""

    attribute: str
    entity: Entity
    status: Status
    recorded: Mapping[UUID, int]
    spec: Spec

    @property
    def case(self) -> UUID | None:
        """The conflict that it is, where it is one."""
        return case_id(*self.entity) if self.status.status == CONFLICT else None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is recorded of a subject by `at.seq`. `n_facts` counts all there are, `hidden` what is left out, by why.

    `attributes` are those that were read, with the number of their facts. `against` is another entry with its instant.
    """

    stretches: tuple[Stretch, ...]
    statuses: tuple[AttributeStatus, ...]
    attributes: tuple[tuple[str, int], ...]
    n_read: int
    n_facts: int
    hidden: Mapping[str, int]
    against: Recorded | None = None


def subject_stretches(
    at: AsOf,
    *,
    until: int,
    subject: str,
    attribute: str = "",
    include: Collection[str] = (),
    against: int | None = None,
) -> Subject:
    """The subject, or one attribute of it, as recorded by entry `until`, and its statuses at `at`.

    include : "held" and "candidate" show what counts nowhere too.   against : a seq whose instant is wanted as well.
    """
    rows = list(_rows(at, until, subject, attribute, against)[:MOST])
    if len(rows) == MOST:
        rows = _with_counting(at, rows, until, against)
    rows.sort(key=lambda row: row.doc)
    specs = specs_at(at.namespace, {row.attribute for row in rows}, at.head if at.source_at is not None else at.seq)
    stretches: list[Stretch] = []
    hidden: Counter[str] = Counter()
    for row in rows:
        found, why = _stretches(at, row, until, specs[row.attribute], include)
        stretches += found
        hidden.update([why] if why else [])
    counts = Counter(row.attribute for row in rows)
    kinds = {row.attribute: (_text(row.n_attribute), max(row.n_told or 0, counts[row.attribute])) for row in rows}
    ordered = sorted(kinds, key=lambda one: (kinds[one][0], one))
    instant = next((row.against_at for row in rows), None)
    return Subject(
        stretches=tuple(stretches),
        statuses=tuple(_told(at, (rows[0].subject, one), kinds[one][0], rows, specs[one]) for one in ordered),
        attributes=tuple(kinds[one] for one in ordered),
        n_read=len(rows),
        n_facts=sum(n for _, n in kinds.values()),
        hidden=dict(hidden),
        against=None if instant is None or against is None else Recorded(against, instant),
    )


def _rows(at: AsOf, until: int, subject: str, attribute: str, against: int | None) -> QuerySet[Any]:
    """The facts, newest first, with names and the instants of what was done to them."""
    named = Name.objects.filter(namespace=at.namespace)
    rows = FactState.objects.filter(
        namespace=at.namespace, seq__lte=until, subject=Subquery(named.filter(text=subject).values("id")[:1])
    )
    if attribute:
        rows = rows.filter(attribute=Subquery(named.filter(text=attribute).values("id")[:1]))
    return _annotated(at, rows, until, against).order_by("-doc")


def _annotated(at: AsOf, rows: QuerySet[FactState], until: int, against: int | None) -> QuerySet[Any]:
    entries = Entry.objects.filter(namespace=at.namespace)
    tally = FactTally.objects.filter(
        namespace=at.namespace, subject=OuterRef("subject"), attribute=OuterRef("attribute"), seq__lte=until
    )
    instants = {
        f"{act}_recorded_at": Subquery(entries.filter(seq=OuterRef(f"{act}_seq")).values("recorded_at")[:1])
        for act in ACTS
    }
    return rows.annotate(
        n_attribute=name_of("attribute"), n_origin=name_of("origin"), n_agent=agent_name("agent"),
        n_person=person_name("person"), n_told=Subquery(tally.order_by("-seq").values("n_facts")[:1]),
        against_at=Subquery(entries.filter(seq=against or 0).values("recorded_at")[:1]), **instants,
    )  # fmt: skip


def _with_counting(at: AsOf, rows: Sequence[Any], until: int, against: int | None) -> list[Any]:
    """The rows with those that count at the point, which may be older than the newest."""
    entities = sorted({(row.subject, row.attribute) for row in rows})
    read = {row.id for row in rows}
    missing = [one.id for found in standing(at, entities).values() for one in found if one.id not in read]
    if not missing:
        return list(rows)
    older = FactState.objects.filter(namespace=at.namespace, id__in=missing[:MOST])
    return [*rows, *_annotated(at, older, until, against)]


def _stretches(at: AsOf, row: Any, until: int, spec: Spec, include: Collection[str]) -> tuple[list[Stretch], str]:
    """(the stretches of a fact that are told, why nothing of it is: "" where something is)."""
    if at.source_at is not None and row.source_recorded_at is None:
        return [], NO_SOURCE_TIME
    whole = _whole(row, spec)
    cut = list(_claimed(row, whole, spec) if at.source_at is not None else _recorded(row, whole, until, spec))
    told = [one for one in cut if one.lane in COUNTED or ASKED_FOR.get(one.lane) in include]
    if told:
        return told, ""
    hidden = next((ASKED_FOR[one.lane] for one in reversed(cut) if one.lane in ASKED_FOR), "")
    if hidden and hidden not in include:
        return [], hidden
    ended = "retracted" if row.retracted_seq is not None and row.retracted_seq <= until else "superseded"
    return [replace(whole, ended=whole.began, ended_as=ended)], ""


def _whole(row: Any, spec: Spec) -> Stretch:
    """The fact from its entry on, as if nothing had ended it."""
    value = value_of(row)
    return Stretch(
        fact=row.id, attribute=_text(row.n_attribute), value=value, stance=row.stance,
        side=None if value is None else side_of(row.stance, value, spec),
        lane="standing" if row.erased_seq is None else "erased", valid_from=row.valid_from, valid_to=row.valid_to,
        began=Recorded(row.seq, row.recorded_at), ended=None, ended_as="", retracted_as=row.retracted_as or "",
        source_class=row.source_class, origin=_text(row.n_origin) if row.origin else "",
        agent_name=_text(row.n_agent) if row.agent else "", person_name=row.n_person or "",
        source_recorded_at=row.source_recorded_at,
    )  # fmt: skip


def _text(name: str | None) -> str:
    return "erased" if name is None else name


def _recorded(row: Any, whole: Stretch, until: int, spec: Spec) -> Iterator[Stretch]:
    """The stretches between the entries that changed how the fact stands."""
    moments = {row.seq: whole.began}
    for act in ACTS:
        seq = getattr(row, f"{act}_seq")
        if seq is not None:
            moments.setdefault(seq, Recorded(seq, getattr(row, f"{act}_recorded_at")))
    for piece in pieces(row):
        if piece.known_from > until:
            continue
        ended = piece.known_to if piece.known_to is not None and piece.known_to <= until else None
        yield replace(
            whole, lane=piece.lane, valid_from=piece.valid_from, valid_to=_end(row, piece, spec),
            began=moments[piece.known_from], ended=None if ended is None else moments[ended],
            ended_as="" if ended is None else _ended_as(row, ended),
        )  # fmt: skip


def _ended_as(row: Any, seq: int) -> str:
    return next(
        act for act in ("retracted", "rejected", "confirmed", "superseded") if getattr(row, f"{act}_seq") == seq
    )


def _end(row: Any, piece: Piece, spec: Spec) -> datetime | None:
    """Where the piece ends: where it is closed, else where what is declared of the attribute ends it."""
    if piece.valid_to is not None or piece.lane not in COUNTED:
        return piece.valid_to
    return end_of(replace(statement(row, row.seq), until=None, ends_itself=False), spec)


def _claimed(row: Any, whole: Stretch, spec: Spec) -> Iterator[Stretch]:
    """The stretches by the instants that the source claims."""
    now = word(row, max(row.seq, *(getattr(row, f"{act}_seq") or 0 for act in ("confirmed", "rejected"))))
    lane = whole.lane if now in ("standing", "superseded", "retracted") else now
    began = Recorded(row.seq, row.source_recorded_at)
    whole = replace(whole, lane=lane, began=began, valid_to=_end(row, _piece(whole), spec))
    gone = None if row.retracted_claimed_at is None else Recorded(row.retracted_seq, row.retracted_claimed_at)
    cut = None if row.superseded_claimed_at is None else Recorded(row.superseded_seq, row.superseded_claimed_at)
    if gone is not None:
        gone = max(began, gone, key=lambda one: one.at)
    if cut is None or (gone is not None and gone.at <= cut.at):
        yield replace(whole, ended=gone, ended_as="retracted" if gone else "")
        return
    cut = max(began, cut, key=lambda one: one.at)
    yield replace(whole, ended=cut, ended_as="superseded")
    if row.superseded_at > row.valid_from:
        ends = row.superseded_at if row.valid_to is None else min(row.valid_to, row.superseded_at)
        yield replace(whole, began=cut, valid_to=ends, ended=gone, ended_as="retracted" if gone else "")


def _piece(whole: Stretch) -> Piece:
    return Piece(whole.lane, whole.valid_from, whole.valid_to, whole.began.seq, None)


def _told(at: AsOf, entity: Entity, attribute: str, rows: Iterable[Any], spec: Spec) -> AttributeStatus:
    """The status of one attribute at the point, from its rows."""
    statements = _statements(at, [row for row in rows if row.attribute == entity[1]])
    status = status_of([one for one, _ in statements], spec, at.valid_at)
    if not status.sides and not status.erased and status.last_known is None and len(statements) >= MOST:
        last = last_before(at, entity)
        ended = [] if last is None else [statement(last, at.seq)]
        status = status_of([one for one, _ in statements], spec, at.valid_at, ended=ended)
    return AttributeStatus(attribute, entity, status, {one.id: seq for one, seq in statements}, spec)


def _statements(at: AsOf, rows: Iterable[Any]) -> list[tuple[Statement, int]]:
    """(statement, seq) of every fact that counts at the point's recording, erased ones among them."""
    if at.source_at is not None:
        rows = [
            as_claimed(row, at.source_at)
            for row in rows
            if row.source_recorded_at is not None and row.source_recorded_at <= at.source_at
        ]
    known = at.seq if at.source_at is None else at.head
    return [
        (statement(row, known), row.seq)
        for row in rows
        if row.seq <= known and word(row, known) in ("standing", "superseded")
    ]


@dataclass(frozen=True, slots=True)
class Busy:
    """A subject by the number of its facts; `newest_at` is the instant of the last one."""

    subject: str
    n_facts: int
    newest_at: datetime


def busiest_subjects(at: AsOf, *, text: str = "", limit: int = 20) -> list[Busy]:
    """The subjects with the most facts among the newest ones of the point, most first; one query.

    text : part of the name.   Held and erased facts do not count, and name no subject.
    """
    known = Q(seq__lte=at.seq) if at.source_at is None else Q(source_recorded_at__lte=at.source_at)
    unheld = Q(held_seq__isnull=True) | Q(confirmed_seq__lte=at.seq)
    rows = FactState.objects.filter(known, unheld, namespace=at.namespace, erased_seq__isnull=True)
    if text:
        named = Name.objects.filter(namespace=at.namespace, text__icontains=text)
        rows = rows.filter(subject__in=named.values("id"))
    newest = FactState.objects.filter(
        namespace=at.namespace, doc__in=Subquery(rows.order_by("-doc").values("doc")[:AMONG])
    )
    name = Name.objects.filter(namespace=at.namespace, id=OuterRef("subject")).values("text")[:1]
    found = newest.values("subject").annotate(n=Count("doc"), last=Max("doc"), at=Max("recorded_at"))
    listed = found.annotate(name=Subquery(name)).order_by("-n", "-last")[:limit]
    return [Busy(row["name"], row["n"], row["at"]) for row in listed if row["name"] is not None]
