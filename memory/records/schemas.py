"""What the routes of records take and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from memory.base.answers import Appended
from memory.base.asof import AsOf
from memory.base.errors import DomainError
from memory.base.schemas import (
    LIST_ITEMS,
    Act,
    BatchError,
    Content,
    Given,
    Id,
    Instant,
    Name,
    Read,
    Reason,
    RecordType,
    Word,
    Written,
)
from memory.base.text import NOTE_CHARS, SUMMARY_CHARS
from memory.records.content import NewRecord, lineage_key
from memory.records.models import HIDDEN
from memory.records.operations import SavedRecord
from memory.records.queries.detail import RecordDetail, RecordRow
from memory.records.queries.recall import Beside, Recall, Recalled, n_tokens

TAGS = 100
FILTERS = 50
TOKENS = 1_000_000
SUBJECTS = 20

Answers = Mapping[int, SavedRecord | DomainError]
SourceClass = Literal["first_hand", "relayed", "derived"]
State = Literal["current", "superseded", "withdrawn", "erased", "held"]
Tags = Annotated[list[Word], Field(max_length=TAGS)]
Summary = Annotated[str, Field(max_length=SUMMARY_CHARS)]


def _tells_no_lineage(value: dict[str, Any]) -> dict[str, Any]:
    if key := lineage_key(value):
        raise PydanticCustomError("lineage_key", "no key {key}: post a derivation", {"key": key})
    return value


Metadata = Annotated[dict[str, Any], Field(max_length=1_000), AfterValidator(_tells_no_lineage)]


class Source(Given):
    """Where a record comes from: how near, which root it goes back to, and where in it."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True)

    class_: Annotated[SourceClass, Field(alias="class")] = "derived"
    origin: Annotated[str, Field(max_length=400)] = ""
    pointer: Annotated[str, Field(max_length=NOTE_CHARS)] = ""


def later(value: datetime | None, info: ValidationInfo) -> datetime | None:
    """The end of an interval, which lies after its start."""
    start = info.data.get("valid_from")
    if value is not None and start is not None and value <= start:
        raise PydanticCustomError("interval", "an instant after valid_from")
    return value


class RecordIn(Act):
    """A record to be saved."""

    id: Id | None = None
    type: RecordType
    content: Content
    summary: Summary = ""
    tags: Tags = Field(default_factory=list)
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    metadata: Metadata = Field(default_factory=dict)
    source: Source = Field(default_factory=Source)

    _interval = field_validator("valid_to")(later)

    def given(self) -> NewRecord:
        return NewRecord(
            type=self.type, content=self.content, id=self.id, summary=self.summary, tags=tuple(sorted(set(self.tags))),
            valid_from=self.valid_from, valid_to=self.valid_to, metadata=self.metadata,
            source_class=self.source.class_, origin=self.source.origin, pointer=self.source.pointer,
        )  # fmt: skip


class SavedOut(Written):
    """A saved record. Its digest is the version to name when it is evolved."""

    id: UUID
    digest: str
    ancestry_digest: str
    state: str

    @classmethod
    def of(cls, saved: SavedRecord, *, url: str) -> SavedOut:
        return cls(
            id=saved.id, digest=saved.digest.hex(), ancestry_digest=saved.ancestry_digest.hex(), state=saved.state,
            seq=saved.seq, url=url, replayed=saved.replayed,
        )  # fmt: skip


class BatchItem(BaseModel):
    """One saved record of a batch; `index` is its place there, from 0."""

    index: int
    id: UUID
    digest: str
    ancestry_digest: str
    state: str
    seq: int

    @classmethod
    def of(cls, index: int, saved: SavedRecord) -> BatchItem:
        return cls(
            index=index, id=saved.id, digest=saved.digest.hex(), ancestry_digest=saved.ancestry_digest.hex(),
            state=saved.state, seq=saved.seq,
        )  # fmt: skip


class BatchOut(Written):
    """What became of each item: saved now, stood before under its id, or refused."""

    accepted: list[BatchItem]
    duplicates: list[BatchItem]
    errors: list[BatchError]

    @classmethod
    def of(cls, answers: Answers, refusals: Mapping[int, DomainError], *, head: int, url: str) -> BatchOut:
        """`head` stands for the entry where nothing was or had been saved."""
        saved = {index: one for index, one in answers.items() if isinstance(one, SavedRecord)}
        refused = {**refusals, **{index: one for index, one in answers.items() if isinstance(one, DomainError)}}
        items = {index: BatchItem.of(index, one) for index, one in saved.items()}
        fresh = {index for index, one in saved.items() if not one.replayed}
        return cls(
            accepted=[item for index, item in items.items() if index in fresh],
            duplicates=[item for index, item in items.items() if index not in fresh],
            errors=[
                BatchError(index=index, code=error.code, detail=error.detail)
                for index, error in sorted(refused.items())
            ],
            seq=max((one.seq for one in saved.values()), default=head), replayed=not fresh, url=url,
        )  # fmt: skip


class Include(BaseModel):
    """Words of what is hidden by default and wanted here, separated by commas."""

    include: str = Field("", max_length=100, description=f"some of {', '.join(HIDDEN)}")

    @field_validator("include")
    @classmethod
    def _known(cls, value: str) -> str:
        unknown = [word for word in value.split(",") if word.strip() and word.strip() not in HIDDEN]
        if unknown:
            raise PydanticCustomError("not_listed", "some of {known}", {"known": ", ".join(HIDDEN)})
        return value

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word.strip() for word in self.include.split(",") if word.strip())


class RecordOut(BaseModel):
    """A record in a list."""

    id: UUID
    type: str
    state: str
    first_line: str
    seq: int
    recorded_at: Instant
    agent: UUID | None
    agent_name: str
    run: UUID | None
    run_title: str
    source_class: str
    valid_from: Instant | None
    valid_to: Instant | None
    source_recorded_at: Instant | None
    n_parents: int
    n_children: int
    score: float | None
    why: list[str]

    @classmethod
    def of(cls, row: RecordRow) -> RecordOut:
        return cls(**{name: getattr(row, name) for name in cls.model_fields if name != "why"}, why=list(row.why))


class SourceOut(BaseModel):
    """Where a record comes from."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    class_: Annotated[str, Field(alias="class")]
    origin: str
    pointer: str


class RecordDetailOut(Read):
    """A record whole. Where its text is erased, `content` is null and `erased_seq` says by which entry."""

    id: UUID
    type: str
    state: str
    content: str | None
    summary: str
    tags: list[str]
    metadata: dict[str, Any]
    source: SourceOut
    valid_from: Instant | None
    valid_to: Instant | None
    digest: str
    ancestry_digest: str
    line: UUID
    entry: int
    item: int
    recorded_at: Instant
    source_recorded_at: Instant | None
    agent: UUID | None
    run: UUID | None
    n_parents: int
    n_children: int
    n_quarantined: int
    superseded_by: UUID | None
    superseded_seq: int | None
    withdrawn_seq: int | None
    withdrawal_reason: str
    held_seq: int | None
    held_until: Instant | None
    confirmed_seq: int | None
    erased_seq: int | None
    same_text_as: list[UUID]
    url: str

    @classmethod
    def of(cls, found: RecordDetail, **told: Any) -> RecordDetailOut:
        row = found.row
        own = ("content", "summary", "item", "line", "n_quarantined", "superseded_by", "superseded_seq",
               "withdrawn_seq", "withdrawal_reason", "held_seq", "held_until", "confirmed_seq",
               "erased_seq")  # fmt: skip
        of_row = ("id", "type", "state", "valid_from", "valid_to", "recorded_at", "source_recorded_at", "agent", "run",
                  "n_parents", "n_children")  # fmt: skip
        return cls(
            **{name: getattr(found, name) for name in own}, **{name: getattr(row, name) for name in of_row},
            tags=list(found.tags), metadata=dict(found.metadata), same_text_as=list(found.same_text_as),
            source=SourceOut(class_=row.source_class, origin=found.origin, pointer=found.pointer), entry=row.seq,
            digest=found.digest.hex(), ancestry_digest=found.ancestry_digest.hex(), **told,
        )  # fmt: skip


class ResolvedOut(Read):
    """The one record that a prefix names."""

    id: UUID
    url: str


class RecallIn(Given):
    """A question to memory. What is known of the subjects is told first: their facts, each with its status."""

    query: Annotated[str, Field(min_length=1, max_length=NOTE_CHARS)]
    budget_tokens: Annotated[int, Field(strict=True, ge=1, le=TOKENS)] = 4_000
    limit: Annotated[int, Field(strict=True, ge=1, le=LIST_ITEMS)] = 10
    types: Annotated[list[Word], Field(max_length=FILTERS)] = Field(default_factory=list)
    subjects: Annotated[list[Name], Field(max_length=SUBJECTS)] = Field(default_factory=list)


class WhyOut(BaseModel):
    """What one word of the question adds to the score."""

    term: str
    score: float


class RecalledOut(BaseModel):
    """One answer. `age` is in seconds, at the instant that is asked about.

    `made` tells of a compiled record whose sources are not what they were: `stale:source_erased`, or `behind:n`.
    """

    kind: Literal["record", "fact"]
    id: UUID
    type: str
    text: str
    why: list[WhyOut]
    score: float
    age: int
    recorded_at: Instant
    state: str
    made: str | None
    origin: str
    source_class: str
    tokens: int

    @classmethod
    def of(cls, found: Recalled, types: Mapping[UUID, str]) -> RecalledOut:
        plain = ("id", "text", "score", "recorded_at", "state", "made", "origin", "source_class")
        return cls(
            kind="record", type=types.get(found.type, "erased"), age=found.age_seconds, tokens=found.n_tokens,
            why=[WhyOut(term=term, score=score) for term, score in found.why],
            **{name: getattr(found, name) for name in plain},
        )  # fmt: skip

    @classmethod
    def beside(cls, one: Beside, at: AsOf) -> RecalledOut:
        plain = ("kind", "id", "type", "text", "score", "recorded_at", "state", "origin", "source_class")
        return cls(
            made=None, age=max(0, int((at.valid_at - one.recorded_at).total_seconds())), tokens=n_tokens(one.text),
            why=[WhyOut(term=term, score=score) for term, score in one.why],
            **{name: getattr(one, name) for name in plain},
        )  # fmt: skip


class RecallOut(Read):
    """Answers within the budget: facts of the subjects, then records, best first.

    `hidden` counts what ranked as high and was left out, by why: `limit` and `budget` what did not fit, `unknown` the
    attributes of the subjects of which nothing is known at the point.
    """

    items: list[RecalledOut]
    hidden: dict[str, int]
    tokens: int

    @classmethod
    def of(
        cls, found: Recall, types: Mapping[UUID, str], *, first: Sequence[RecalledOut] = (),
        left_out: Mapping[str, int] | None = None, **told: Any,
    ) -> RecallOut:  # fmt: skip
        """`first` is what is told before the records; `left_out` counts what of its kind is not, by why."""
        hidden = dict(sorted((Counter(found.hidden) + Counter(left_out or {})).items()))
        tokens = found.n_tokens + sum(one.tokens for one in first)
        return cls(items=[*first, *(RecalledOut.of(one, types) for one in found.items)], hidden=hidden, tokens=tokens,
                   **told)  # fmt: skip


class WithdrawIn(Act):
    """Why a record is hidden, or shown again."""

    reason: Reason


class WithdrawnOut(Written):
    """The record, and the entry that hid it or showed it again."""

    id: UUID

    @classmethod
    def of(cls, record: UUID, done: Appended, *, url: str) -> WithdrawnOut:
        return cls(id=record, seq=done.seq, replayed=done.replayed, url=url)
