"""What the routes of facts take and answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from memory.base.canonical import INTEGER_LIMIT
from memory.base.errors import DomainError
from memory.base.schemas import Act, BatchError, Given, Id, Instant, Note, Reason, Subject, Word, Written, trimmed
from memory.base.text import NOTE_CHARS, TYPE_PATTERN
from memory.facts.content import VALUE_CHARS, NewFact
from memory.facts.operations.adjudicating import Asked
from memory.facts.operations.asserting import AssertedFact
from memory.facts.operations.declaring import MOST_PAIRS, Declaration, Declared
from memory.ledger.schemas import Limit
from memory.records.schemas import later

REFERENCES = 20
FRESHEST_SECONDS = 100 * 366 * 86_400
HIDDEN = ("superseded", "withdrawn", "erased", "held")

Answers = Mapping[int, AssertedFact | DomainError]
Attribute = Annotated[str, Field(pattern=f"^{TYPE_PATTERN.pattern}$")]


def _read_value(value: object) -> object:
    """The value where it is one: a number is one as it was sent, so that true is no number, and "2" is a text."""
    fault = "value_type"
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip():
        fault = "value_too_long" if len(value) > VALUE_CHARS else ""
    elif isinstance(value, int):
        fault = "value_size" if abs(value) > INTEGER_LIMIT else ""
    elif isinstance(value, float):
        fault = "" if math.isfinite(value) else "value_size"
    if fault == "value_size":
        raise PydanticCustomError("value_size", "a number from -{most} to {most}", {"most": INTEGER_LIMIT})
    if fault:
        expected = "text of 1 to {most} characters, a number or true/false"
        raise PydanticCustomError(fault, expected, {"most": VALUE_CHARS})
    return value


# A union told by its members would name each of them for one fault.
ValueIn = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr, BeforeValidator(_read_value),
    WithJsonSchema({"anyOf": [
        {"type": "boolean"}, {"type": "integer", "minimum": -INTEGER_LIMIT, "maximum": INTEGER_LIMIT},
        {"type": "number"}, {"type": "string", "minLength": 1, "maxLength": VALUE_CHARS, "pattern": r"\S"},
    ]}),
]  # fmt: skip


class FactSource(Given):
    """Where a fact comes from: how near, which origin it goes back to, and where in it."""

    class_: Annotated[Literal["first_hand", "relayed", "derived"], Field(alias="class")] = "derived"
    origin: Annotated[str, Field(max_length=400), AfterValidator(trimmed)] = ""
    pointer: Annotated[str, Field(max_length=NOTE_CHARS)] = ""


class ConfidenceIn(Given):
    """How sure the writer is, and on which scale; it decides nothing."""

    value: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
    scale: Annotated[Word, AfterValidator(trimmed)]


def _read_confidence(value: object) -> object:
    """A number alone is on no scale."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return ConfidenceIn.model_construct(value=float(value), scale="")
    if value is None or (isinstance(value, dict) and {"value", "scale"} <= value.keys()):
        return value
    raise PydanticCustomError("confidence_type", "a number from 0 to 1, or {value, scale}")


_SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
ConfidenceField = Annotated[
    ConfidenceIn | None, BeforeValidator(_read_confidence),
    WithJsonSchema({"anyOf": [
        _SHARE,
        {"type": "object", "required": ["value", "scale"], "additionalProperties": False,
         "properties": {"value": _SHARE, "scale": {"type": "string", "minLength": 1, "maxLength": 100}}},
        {"type": "null"},
    ]}),
]  # fmt: skip


class FactIn(Act):
    """A fact to be asserted. Without `valid_from` it holds from the instant of recording on."""

    id: Id | None = None
    subject: Subject
    attribute: Attribute
    value: ValueIn
    stance: Literal["asserts", "denies"] = "asserts"
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    source: FactSource = Field(default_factory=FactSource)
    confidence: ConfidenceField = None
    candidate: StrictBool = False
    note: Note = ""
    references: Annotated[list[Id], Field(max_length=REFERENCES)] = Field(default_factory=list)

    _interval = field_validator("valid_to")(later)

    def given(self) -> NewFact:
        sure = self.confidence
        value, scale = (None, "") if sure is None else (sure.value, sure.scale)
        return NewFact(
            subject=self.subject, attribute=self.attribute, value=self.value, id=self.id, stance=self.stance,
            valid_from=self.valid_from, valid_to=self.valid_to, source_class=self.source.class_,
            origin=self.source.origin, pointer=self.source.pointer, candidate=self.candidate, confidence=value,
            scale=scale, note=self.note, references=tuple(dict.fromkeys(self.references)),
        )  # fmt: skip


class AssertedOut(Written):
    """An asserted fact. `state` is how it stood then; `conflict` is the open case of its subject and attribute."""

    id: UUID
    digest: str
    state: str
    conflict: UUID | None

    @classmethod
    def of(cls, done: AssertedFact, *, conflict: UUID | None, url: str) -> AssertedOut:
        return cls(
            id=done.id, digest=done.digest.hex(), state=done.state, conflict=conflict, seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip


class FactBatchItem(BaseModel):
    """One asserted fact of a batch; `index` is its place there, from 0."""

    index: int
    id: UUID
    digest: str
    state: str
    seq: int


class FactBatchOut(Written):
    """What became of each item: asserted now, stood before under its id, or refused."""

    accepted: list[FactBatchItem]
    duplicates: list[FactBatchItem]
    errors: list[BatchError]

    @classmethod
    def of(cls, answers: Answers, refusals: Mapping[int, DomainError], *, head: int, url: str) -> FactBatchOut:
        """`head` stands for the entry where nothing was or had been asserted."""
        done = {index: one for index, one in answers.items() if isinstance(one, AssertedFact)}
        refused = {**refusals, **{index: one for index, one in answers.items() if isinstance(one, DomainError)}}
        items = {
            index: FactBatchItem(index=index, id=one.id, digest=one.digest.hex(), state=one.state, seq=one.seq)
            for index, one in done.items()
        }
        fresh = {index for index, one in done.items() if not one.replayed}
        return cls(
            accepted=[item for index, item in items.items() if index in fresh],
            duplicates=[item for index, item in items.items() if index not in fresh],
            errors=[BatchError(index=i, code=error.code, detail=error.detail) for i, error in sorted(refused.items())],
            seq=max((one.seq for one in done.values()), default=head), replayed=not fresh, url=url,
        )  # fmt: skip


def _pair(value: list[Any]) -> list[Any]:
    if len(value) != 2:
        raise PydanticCustomError("pair", "a pair of two values")
    return value


class AttributeIn(Act):
    """What is declared of an attribute."""

    cardinality: Literal["one", "many"]
    value_type: Literal["text", "number", "truth", "instant"] | None = None
    normaliser: Literal["exact", "folded", "number", "instant"] = "exact"
    freshness_seconds: Annotated[int, Field(strict=True, ge=1, le=FRESHEST_SECONDS)] | None = None
    exclusive: Annotated[list[Annotated[list[ValueIn], AfterValidator(_pair)]], Field(max_length=MOST_PAIRS)] = Field(
        default_factory=list
    )

    def given(self) -> Declaration:
        pairs = tuple((pair[0], pair[1]) for pair in self.exclusive)
        return Declaration(self.cardinality, self.value_type, self.normaliser, self.freshness_seconds, pairs)


class AttributeOut(Written):
    """A declaration in force. Its digest is the version to name when it is changed."""

    attribute: str
    cardinality: str
    value_type: str | None
    normaliser: str
    freshness_seconds: int | None
    exclusive: list[list[str | int | float | bool]]
    digest: str

    @classmethod
    def of(cls, done: Declared, *, url: str) -> AttributeOut:
        told = done.declaration
        return cls(
            attribute=done.attribute, cardinality=told.cardinality, value_type=told.value_type,
            normaliser=told.normaliser, freshness_seconds=told.freshness_seconds,
            exclusive=[list(pair) for pair in told.exclusive], digest=done.digest.hex(), seq=done.seq, url=url,
            replayed=done.replayed,
        )  # fmt: skip


class SupersedeFactIn(Act):
    """From `at` on the fact holds no more; `by` took its place, where something did."""

    at: Instant
    by: Id | None = None
    reason: Reason


class RetractIn(Act):
    """The statement is taken back."""

    as_: Annotated[Literal["wrong", "outdated", "duplicate"], Field(alias="as")]
    reason: Reason


class EndedOut(Written):
    """A fact that was ended, and the open case of its subject and attribute, if any is left."""

    id: UUID
    conflict: UUID | None


class VerdictIn(Act):
    """A verdict on a case. `a` and `b` name the two facts that were shown; without them it is the oldest pair."""

    verdict: Literal["keep_a", "keep_b", "split_at", "both_hold", "retract_both", "needs_more"]
    reason: Reason
    a: Id | None = None
    b: Id | None = None
    split_at: Instant | None = None

    def given(self) -> Asked:
        return Asked(self.verdict, self.reason, self.a, self.b, self.split_at)


class VerdictOut(Written):
    """A verdict given. `is_open`: something of the case still clashes."""

    id: UUID
    verdict: str
    is_open: bool


class FactFilter(BaseModel):
    """Which subjects and attributes. `q` is part of a subject's name."""

    subject: str = Field("", max_length=400)
    attribute: str = Field("", max_length=64)
    q: str = Field("", max_length=400)
    status: Literal["known", "unknown", "conflict"] | None = None
    after: Annotated[int, Field(ge=0, le=INTEGER_LIMIT * 1024)] | None = None
    limit: Limit = 50


class IncludeFacts(BaseModel):
    """Words of what is hidden by default and wanted here, separated by commas."""

    include: str = Field("", max_length=100, description=f"some of {', '.join(HIDDEN)}")

    @field_validator("include")
    @classmethod
    def _known(cls, value: str) -> str:
        return known_words(value)

    @property
    def words(self) -> frozenset[str]:
        return split_words(self.include)


def split_words(value: str) -> frozenset[str]:
    """The words of a list with commas."""
    return frozenset(word.strip() for word in value.split(",") if word.strip())


def known_words(value: str) -> str:
    """The text, where each word of it is one of HIDDEN."""
    if split_words(value) - set(HIDDEN):
        raise PydanticCustomError("not_listed", "some of {known}", {"known": ", ".join(HIDDEN)})
    return value
