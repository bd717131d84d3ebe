"""What the reads of tombstones answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.schemas import Id, Instant, Listed, Name, Read
from memory.ledger.queries.mentions import Mention
from memory.ledger.schemas import Limit
from memory.tombstones.queries import TombstonePage, TombstoneRow
from memory.tombstones.saying import Said
from memory.tombstones.schemas import SignOut
from memory.tombstones.story import Block, Evidence, Step, Story

State = Literal["active", "revival_testing", "audit_only", "retired"]


class TombstoneFilter(BaseModel):
    """Which tombstones; retired ones are left out unless `state` or `include=retired` asks for them."""

    state: Annotated[list[State], Field(max_length=4)] = Field(default_factory=list)
    route: Name | Literal[""] = ""
    include: Literal["", "retired"] = ""
    after: Id | None = None
    limit: Limit = 50


class MentionOut(BaseModel):
    """A thing that stands here and is referred to."""

    kind: str
    id: UUID
    seq: int
    is_erased: bool

    @classmethod
    def of(cls, one: Mention) -> MentionOut:
        return cls(kind=one.kind, id=one.object, seq=one.seq, is_erased=one.is_erased)


class ConditionOut(BaseModel):
    """A revival condition at the point; `live` of the `origins` that it asks for speak for it now."""

    condition: str | None
    state: Literal["met", "unmet", "lapsed"]
    origins: int
    live: int


class WhoOut(BaseModel):
    """Who wrote it and when."""

    seq: int
    recorded_at: Instant
    person: int | None
    agent: UUID | None
    agent_name: str
    run: UUID | None

    @classmethod
    def of(cls, said: Said) -> WhoOut:
        return cls(**{name: getattr(said, name) for name in cls.model_fields})


class TombstoneOut(SignOut):
    """A tombstone at the point. `hits` checks were blocked by it; of these `false_blocks` are said to be false."""

    state: State
    conditions: list[ConditionOut]
    references: list[MentionOut]
    failures: int
    hits: int
    checks: int
    false_blocks: int
    false_block_limit: int
    due_at: Instant | None
    is_overdue: bool
    is_erased: bool
    buried: WhoOut

    @classmethod
    def shown(cls, row: TombstoneRow) -> TombstoneOut:
        now, sign = row.standing, row.sign
        conditions = [
            ConditionOut(
                condition=sign.revival[one.position - 1], state=one.mark, origins=sign.n_origins[one.position - 1],
                live=one.n_live,
            )
            for one in now.conditions
        ]  # fmt: skip
        return cls.of(
            sign, state=now.state, conditions=conditions, references=[MentionOut.of(one) for one in row.mentions],
            failures=now.n_failures, hits=row.n_hits, checks=row.n_checks, false_blocks=now.n_false,
            false_block_limit=row.limit, due_at=now.due_at, is_overdue=now.is_overdue, is_erased=row.is_erased,
            buried=WhoOut.of(row.said),
        )  # fmt: skip


class TombstoneList(Listed[TombstoneOut]):
    """Tombstones by due date, overdue ones first. `states` counts all of them by state."""

    states: dict[str, int]

    @classmethod
    def of(cls, found: TombstonePage, **told: Any) -> TombstoneList:
        return cls(
            items=[TombstoneOut.shown(row) for row in found.items], next=str(found.next) if found.next else None,
            total=found.total, hidden=dict(found.hidden), states=dict(found.states), **told,
        )  # fmt: skip


class BlockOut(BaseModel):
    """A check that met the tombstone; `verdict` is what was said of a block later."""

    check: UUID
    route: str | None
    scope: Any
    reason: str
    verdict: Literal["", "right", "false"]
    by: WhoOut

    @classmethod
    def of(cls, one: Block) -> BlockOut:
        plain = ("check", "route", "scope", "reason", "verdict")
        return cls(**{name: getattr(one, name) for name in plain}, by=WhoOut.of(one.said))


class RevivalEvidenceOut(BaseModel):
    """Evidence for a condition (its number). `is_cleared`: a re-test failed since, so it counts no more."""

    id: UUID
    condition: int
    origin: str
    note: str | None
    references: list[MentionOut]
    valid_until: Instant
    is_valid: bool
    is_cleared: bool
    by: WhoOut

    @classmethod
    def of(cls, one: Evidence) -> RevivalEvidenceOut:
        plain = ("id", "origin", "note", "valid_until", "is_valid", "is_cleared")
        return cls(
            **{name: getattr(one, name) for name in plain}, condition=one.position,
            references=[MentionOut.of(each) for each in one.mentions], by=WhoOut.of(one.said),
        )  # fmt: skip


class StepOut(BaseModel):
    """Something that was said or done about it, in order."""

    kind: Literal["revive", "retest_passed", "retest_failed", "retire", "keep", "false_block", "right_block"]
    note: str | None
    references: list[MentionOut]
    check: UUID | None
    due_at: Instant | None
    by: WhoOut

    @classmethod
    def of(cls, one: Step) -> StepOut:
        plain = ("kind", "note", "check", "due_at")
        return cls(
            **{name: getattr(one, name) for name in plain}, references=[MentionOut.of(each) for each in one.mentions],
            by=WhoOut.of(one.said),
        )  # fmt: skip


class TombstoneDetailOut(Read):
    """A tombstone with its whole life. `blocks` are the newest of the checks that met it."""

    tombstone: TombstoneOut
    blocks: list[BlockOut]
    evidence: list[RevivalEvidenceOut]
    steps: list[StepOut]
    url: str

    @classmethod
    def of(cls, told: Story, **more: Any) -> TombstoneDetailOut:
        return cls(
            tombstone=TombstoneOut.shown(told.row), blocks=[BlockOut.of(one) for one in told.blocks],
            evidence=[RevivalEvidenceOut.of(one) for one in told.evidence],
            steps=[StepOut.of(one) for one in told.steps], **more,
        )  # fmt: skip
