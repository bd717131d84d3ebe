"""What the reads of lineage take and answer, but for slices."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.schemas import Id, Instant, Read
from memory.lineage.compiled_answers import CompilationOut
from memory.lineage.kernel import LineFault, Reached
from memory.lineage.queries.ancestry import LIMIT, Walk
from memory.lineage.queries.compiled import Compiled
from memory.lineage.queries.differences import Difference, as_json
from memory.lineage.queries.making import MadeBy, Making, MergeConflict
from memory.lineage.queries.suggestions import Suggestion
from memory.lineage.queries.timeline import Branch, Entry, Timeline
from memory.records.schemas import RecordOut

WalkLimit = Annotated[int, Field(ge=1, le=LIMIT)]
Reason = Literal["observation", "inference", "correction", "decay"]


class Parent(BaseModel):
    """One edge, named from the end that is told of: what stands at the other one."""

    relation: str
    record: UUID


class ReachedOut(BaseModel):
    """One record of a walk, once: by which relation and from which record it is nearest, and how far."""

    id: UUID
    relation: str
    from_: UUID = Field(serialization_alias="from")
    depth: int

    @classmethod
    def of(cls, reached: Reached) -> ReachedOut:
        return cls(id=reached.id, relation=reached.relation, from_=reached.from_id, depth=reached.depth)


class WalkOut(Read):
    """Everything reached from a record, nearest first. `digest` covers a record and all that it came from."""

    record: UUID
    digest: str
    items: list[ReachedOut]
    total: int
    truncated: bool
    hidden: dict[str, int]

    @classmethod
    def of(cls, walk: Walk, **told: Any) -> WalkOut:
        return cls(
            record=walk.record, digest=walk.digest.hex(), items=[ReachedOut.of(one) for one in walk.items],
            total=walk.total, truncated=walk.truncated, hidden=dict(walk.hidden), **told,
        )  # fmt: skip


class TimelineFilter(BaseModel):
    """Which versions of the line: the last one at an instant, those after one, those changed for one reason."""

    at: Instant | None = None
    since: Instant | None = None
    by_reason: Reason | None = None


class VersionOut(RecordOut):
    """One version and the derivation that made it; `made_by` is `save` where none did."""

    made_by: str
    reason: str | None
    reason_given: bool
    note: str
    parents: list[Parent]
    principal: str
    person: int | None

    @classmethod
    def told(cls, entry: Entry) -> VersionOut:
        own = ("reason", "reason_given", "note", "principal", "person")
        return cls(
            **RecordOut.of(entry.row).model_dump(), **{name: getattr(entry, name) for name in own}, made_by=entry.kind,
            parents=[Parent(relation=relation, record=record) for relation, record in entry.parents],
        )  # fmt: skip


class FaultOut(BaseModel):
    """What the line does not keep, at which version, and the one before it."""

    code: str
    version: UUID
    before: UUID

    @classmethod
    def of(cls, fault: LineFault) -> FaultOut:
        return cls(code=fault.code, version=fault.version, before=fault.before)


class BranchOut(BaseModel):
    """The record that a branch left, and the line of that record."""

    record: UUID
    line: UUID

    @classmethod
    def of(cls, branch: Branch) -> BranchOut:
        return cls(record=branch.record, line=branch.line)


class TimelineOut(Read):
    """The versions of a record's line that were asked for, oldest first; `total` counts the whole line.

    `head` is its newest version, `answer` the newest that is current at the point.
    """

    line: UUID
    items: list[VersionOut]
    total: int
    truncated: bool
    opened_by: str
    branched_from: BranchOut | None
    head: UUID | None
    answer: UUID | None
    is_consistent: bool
    faults: list[FaultOut]

    @classmethod
    def of(cls, found: Timeline, entries: tuple[Entry, ...], **told: Any) -> TimelineOut:
        return cls(
            line=found.line, items=[VersionOut.told(entry) for entry in entries], total=found.n_versions,
            truncated=len(found.entries) < found.n_versions, opened_by=found.opened_by,
            branched_from=BranchOut.of(found.branched_from) if found.branched_from else None, head=found.head,
            answer=found.answer, is_consistent=found.is_consistent, faults=[FaultOut.of(one) for one in found.faults],
            **told,
        )  # fmt: skip


class SaidOut(BaseModel):
    """One value and the sources that say it."""

    value: Any
    sources: list[UUID]


class ConflictOut(BaseModel):
    """A key on which the sources of a merge differ. `settled_by` is the version that said what holds; null is open."""

    merged: UUID
    key: str
    values: list[SaidOut]
    settled_by: UUID | None
    settled_as: Any

    @classmethod
    def of(cls, found: MergeConflict) -> ConflictOut:
        values = [SaidOut(value=said.value, sources=list(said.sources)) for said in found.said]
        return cls(
            merged=found.merged, key=found.key, values=values, settled_by=found.settled_by,
            settled_as=found.settled_as,
        )  # fmt: skip


class MadeByOut(BaseModel):
    """A derivation: why, by which rules, from what. `law` says what the rule of the valid time keeps."""

    id: UUID
    kind: str
    reason: str
    reason_given: bool
    content_rule: str
    type_rule: str
    valid_rule: str
    law: str
    note: str
    entry: int
    sources: list[Parent]

    @classmethod
    def of(cls, found: MadeBy) -> MadeByOut:
        own = ("id", "kind", "reason", "reason_given", "content_rule", "type_rule", "valid_rule", "law", "note")
        return cls(
            **{name: getattr(found, name) for name in own}, entry=found.seq,
            sources=[Parent(relation=relation, record=record) for relation, record in found.sources],
        )  # fmt: skip


class MakingOut(Read):
    """How a record came to be (null: it was saved), what put another in its place, and what its merges left open.

    `compilation` is null for a raw record.
    """

    record: UUID
    made_by: MadeByOut | None
    compilation: CompilationOut | None
    ended_by: list[MadeByOut]
    conflicts: list[ConflictOut]
    n_open: int
    n_erased_conflicts: int

    @classmethod
    def of(cls, record: UUID, found: Making, compiled: Compiled | None, **told: Any) -> MakingOut:
        return cls(
            record=record, made_by=MadeByOut.of(found.made_by) if found.made_by else None,
            compilation=CompilationOut.of(compiled) if compiled else None,
            ended_by=[MadeByOut.of(one) for one in found.ended_by],
            conflicts=[ConflictOut.of(one) for one in found.conflicts], n_open=found.n_open,
            n_erased_conflicts=found.n_erased_conflicts, **told,
        )  # fmt: skip


class DiffPartOut(BaseModel):
    """A run of words that both texts have, or that only one of them has."""

    kind: Literal["kept", "removed", "added"]
    text: str


class DifferenceOut(BaseModel):
    """One field that differs: a text by its `words` in reading order, any other by both values; or it is erased."""

    field: str
    before: Any = None
    after: Any = None
    words: list[DiffPartOut] | None = None
    erased: bool = False


class DiffOut(Read):
    """What differs from a record to another one, field by field. An empty list: they say the same."""

    record: UUID
    other: UUID
    differs: list[DifferenceOut]

    @classmethod
    def of(cls, record: UUID, other: UUID, found: tuple[Difference, ...], **told: Any) -> DiffOut:
        differs = [DifferenceOut(**one) for one in as_json(found)]
        return cls(record=record, other=other, differs=differs, **told)


class DiffFilter(BaseModel):
    """The record to compare with."""

    with_: Annotated[Id, Field(alias="with")]


class SuggestionOut(BaseModel):
    """What may be confirmed with `POST /edges` (as it reads here) or, where `may_merge`, with a merge of both."""

    kind: Literal["mentions", "mentioned_by", "same_text", "near_text"]
    record: UUID
    first_line: str
    state: str
    share: float | None
    source: UUID
    relation: str
    target: UUID
    may_merge: bool

    @classmethod
    def of(cls, found: Suggestion) -> SuggestionOut:
        told = {name: getattr(found, name) for name in cls.model_fields if name != "share"}
        return cls(**told, share=None if found.share is None else round(found.share, 4))


class SuggestionsOut(Read):
    """What a record may be linked to or merged with. Nothing of it is done by being told."""

    record: UUID
    items: list[SuggestionOut]
