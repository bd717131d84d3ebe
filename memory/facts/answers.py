"""What the reads of facts answer on the API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel

from memory.base.schemas import Instant, Listed, Read
from memory.facts.queries.conflicts import Case, CaseLine, CasePage, CaseSide
from memory.facts.queries.detail import FactDetail, Turn
from memory.facts.queries.status import EntityStatus, FactLine, ValueLine
from memory.facts.queries.timeline import FactPiece, FactTimeline
from memory.facts.queries.verdicts import Verdict
from memory.ledger.queries.mentions import Mention

Scalar = str | int | float | bool


class FactOut(BaseModel):
    """One fact. `state` at the point: standing, superseded, retracted, rejected, candidate, held or erased."""

    id: UUID
    seq: int
    recorded_at: Instant
    stance: str
    value: Scalar | None
    state: str
    valid_from: Instant
    valid_to: Instant | None
    superseded_at: Instant | None
    superseded_by: UUID | None
    retracted_as: str | None
    source_class: str
    origin: str
    authenticated: bool
    confidence: float | None
    scale: str
    agent: UUID | None
    agent_name: str

    @classmethod
    def of(cls, line: FactLine) -> FactOut:
        return cls(**{name: getattr(line, name) for name in cls.model_fields})


class ValueOut(BaseModel):
    """One side: a value, the facts for it, and the origins that these go back to, each once."""

    value: Scalar
    stance: str
    facts: list[UUID]
    origins: list[str]

    @classmethod
    def of(cls, line: ValueLine) -> ValueOut:
        return cls(value=line.value, stance=line.stance, facts=list(line.facts), origins=list(line.origins))


class EntityOut(BaseModel):
    """The answer for a subject and an attribute. No fact ever grants an act: `may_act` is always false."""

    subject: str
    attribute: str
    status: str
    why: str | None
    values: list[ValueOut]
    facts: list[FactOut]
    superseded: list[UUID]
    retracted: list[UUID]
    candidates: list[UUID]
    erased: list[UUID]
    last_known: UUID | None
    conflict: UUID | None
    cardinality: str
    fresh_until: Instant | None
    hidden: dict[str, int]
    may_act: bool = False

    @classmethod
    def of(cls, one: EntityStatus) -> EntityOut:
        return cls(
            subject=one.subject, attribute=one.attribute, status=one.status, why=one.why,
            values=[ValueOut.of(value) for value in one.values], facts=[FactOut.of(line) for line in one.facts],
            superseded=list(one.superseded), retracted=list(one.retracted), candidates=list(one.candidates),
            erased=list(one.erased), last_known=one.last_known, conflict=one.case, cardinality=one.spec.cardinality,
            fresh_until=one.fresh_until, hidden=dict(one.hidden or {}),
        )  # fmt: skip


class EntityList(Listed[EntityOut]):
    """A page of subjects and attributes, newest first. `total_is_capped`: there are more than `total`."""

    total_is_capped: bool

    @classmethod
    def of(
        cls, found: list[EntityStatus], *, after: int | None, total: int, is_capped: bool, n_held: int = 0, **told: Any
    ) -> EntityList:  # fmt: skip
        """`n_held` held facts are of subjects and attributes that the list leaves out."""
        hidden: dict[str, int] = {"held": n_held} if n_held else {}
        for one in found:
            for why, count in (one.hidden or {}).items():
                hidden[why] = hidden.get(why, 0) + count
        return cls(
            items=[EntityOut.of(one) for one in found], next=None if after is None else str(after), total=total,
            total_is_capped=is_capped, hidden=hidden, **told,
        )  # fmt: skip


class MentionOut(BaseModel):
    """A thing that a fact rests on."""

    kind: str
    id: UUID
    seq: int
    is_erased: bool

    @classmethod
    def of(cls, one: Mention) -> MentionOut:
        return cls(kind=one.kind, id=one.object, seq=one.seq, is_erased=one.is_erased)


class TurnOut(BaseModel):
    """One thing that was done to a fact."""

    what: str
    seq: int
    recorded_at: Instant
    agent_name: str
    reason: str | None
    other: UUID | None
    at: Instant | None

    @classmethod
    def of(cls, one: Turn) -> TurnOut:
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class FactDetailOut(Read):
    """A fact whole, with its life and the status of its subject and attribute."""

    fact: FactOut
    subject: str
    attribute: str
    digest: str
    pointer: str
    note: str
    run: UUID | None
    source_recorded_at: Instant | None
    held_until: Instant | None
    replaces: list[UUID]
    rests_on: list[MentionOut]
    life: list[TurnOut]
    status: EntityOut
    url: str

    @classmethod
    def of(cls, one: FactDetail, **told: Any) -> FactDetailOut:
        return cls(
            fact=FactOut.of(one.line), subject=one.subject, attribute=one.attribute, digest=one.digest.hex(),
            pointer=one.pointer, note=one.note, run=one.run, source_recorded_at=one.source_recorded_at,
            held_until=one.held_until, replaces=list(one.replaces),
            rests_on=[MentionOut.of(each) for each in one.rests_on], life=[TurnOut.of(each) for each in one.life],
            status=EntityOut.of(one.status), **told,
        )  # fmt: skip


class PieceOut(BaseModel):
    """A rectangle of one fact: what it claimed from when to when, and by which entries that was known."""

    fact: UUID
    attribute: str
    value: Scalar | None
    stance: str
    lane: str
    valid_from: Instant
    valid_to: Instant | None
    known_from: int
    known_to: int | None
    known_from_at: Instant
    known_to_at: Instant | None
    source_class: str
    origin: str
    agent_name: str

    @classmethod
    def of(cls, one: FactPiece) -> PieceOut:
        line = one.fact
        return cls(
            fact=line.id, attribute=one.attribute, value=line.value, stance=line.stance, lane=one.lane,
            valid_from=one.valid_from, valid_to=one.valid_to, known_from=one.known_from, known_to=one.known_to,
            known_from_at=one.known_from_at, known_to_at=one.known_to_at, source_class=line.source_class,
            origin=line.origin, agent_name=line.agent_name,
        )  # fmt: skip


class FactTimelineOut(Listed[PieceOut]):
    """The history of a subject, bounded: `truncated` where older pieces are left out."""

    subject: str
    truncated: bool

    @classmethod
    def of(cls, found: FactTimeline, **told: Any) -> FactTimelineOut:
        return cls(
            items=[PieceOut.of(piece) for piece in found.pieces], next=None, total=found.total, hidden=found.hidden,
            subject=found.subject, truncated=found.total > len(found.pieces), **told,
        )  # fmt: skip


class CaseLineOut(BaseModel):
    """A conflict in the queue, with since when it waits."""

    id: UUID
    subject: str
    attribute: str
    opened_seq: int
    opened_at: Instant
    kind: str
    values: list[Scalar]
    agents: list[str]
    needs_more_since: Instant | None

    @classmethod
    def of(cls, one: CaseLine) -> CaseLineOut:
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class CaseList(Listed[CaseLineOut]):
    """The open conflicts, the one that waits longest first."""

    @classmethod
    def of(cls, found: CasePage, **told: Any) -> CaseList:
        more = None if found.next_place is None else str(found.next_place)
        return cls(items=[CaseLineOut.of(one) for one in found.items], next=more, total=found.total, **told)


class CaseSideOut(BaseModel):
    """One side of a conflict."""

    fact: FactOut
    facts: list[UUID]
    origins: list[str]
    rests_on: list[MentionOut]

    @classmethod
    def of(cls, one: CaseSide) -> CaseSideOut:
        return cls(
            fact=FactOut.of(one.fact), facts=[line.id for line in one.facts], origins=list(one.origins),
            rests_on=[MentionOut.of(each) for each in one.rests_on],
        )  # fmt: skip


class VerdictLineOut(BaseModel):
    """A verdict that was given, with what its two sides said; a value is null once erased."""

    seq: int
    recorded_at: Instant
    verdict: str
    a: UUID
    b: UUID
    a_value: Scalar | None
    b_value: Scalar | None
    split_at: Instant | None
    reason: str | None

    @classmethod
    def of(cls, one: Verdict) -> VerdictLineOut:
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class CaseOut(Read):
    """A conflict whole. `version` is what a verdict names in If-Match, so that it decides what was seen.

    It is open since `opened_seq`, or was until `closed_seq`. Both are null where the value of one side is erased
    (`has_erased`): only the verdicts remain.
    """

    id: UUID
    subject: str
    attribute: str
    is_open: bool
    opened_seq: int | None
    opened_at: Instant | None
    closed_seq: int | None
    closed_at: Instant | None
    has_erased: bool
    kind: str
    a: CaseSideOut | None
    b: CaseSideOut | None
    shared_from: Instant | None
    shared_to: Instant | None
    values: list[Scalar]
    n_clashes: int
    verdicts: list[VerdictLineOut]
    version: str
    url: str

    @classmethod
    def of(cls, one: Case, **told: Any) -> CaseOut:
        plain = {
            name: getattr(one, name)
            for name in (
                "id", "subject", "attribute", "is_open", "opened_seq", "opened_at", "closed_seq", "closed_at",
                "has_erased", "kind", "shared_from", "shared_to", "n_clashes", "version",
            )
        }  # fmt: skip
        return cls(
            **plain, a=None if one.a is None else CaseSideOut.of(one.a),
            b=None if one.b is None else CaseSideOut.of(one.b), values=list(one.values),
            verdicts=[VerdictLineOut.of(each) for each in one.verdicts], **told,
        )  # fmt: skip
