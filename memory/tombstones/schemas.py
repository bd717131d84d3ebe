"""What the routes of tombstones take and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, WithJsonSchema
from pydantic_core import PydanticCustomError

from memory.base.answers import Appended
from memory.base.canonical import INTEGER_LIMIT
from memory.base.schemas import Act, Given, Id, Instant, Name, Note, Reason, Written
from memory.base.text import NAME_CHARS
from memory.tombstones.checking import Sign
from memory.tombstones.content import MOST_CONDITIONS, MOST_ORIGINS, NewTombstone, Revival
from memory.tombstones.kernel.scope import Scope
from memory.tombstones.operations.burying import Answered, Buried
from memory.tombstones.operations.living import Filed

KEYS = 50
VALUES = 20
REFERENCES = 50
KEY = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"

Key = Annotated[str, Field(pattern=KEY)]
Number = Annotated[StrictInt, Field(ge=-INTEGER_LIMIT, le=INTEGER_LIMIT)] | StrictFloat
Value = Name | StrictBool | Number
Conditions = Annotated[dict[Key, Value | Annotated[list[Value], Field(min_length=1, max_length=VALUES)]],
                       Field(min_length=1, max_length=KEYS)]  # fmt: skip

_VALUE_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "minLength": 1, "maxLength": 400}, {"type": "boolean"}, {"type": "number"}]
}
_CONDITIONS_SCHEMA: dict[str, Any] = {
    "type": "object", "minProperties": 1, "maxProperties": KEYS, "propertyNames": {"pattern": KEY},
    "additionalProperties": {
        "anyOf": [*_VALUE_SCHEMA["anyOf"],
                  {"type": "array", "items": _VALUE_SCHEMA, "minItems": 1, "maxItems": VALUES}]
    },
}  # fmt: skip
_REFERENCES_SCHEMA: dict[str, Any] = {
    "type": "array", "items": {"type": "string", "format": "uuid"}, "minItems": 1, "maxItems": REFERENCES
}  # fmt: skip
_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 4_000}


def _read_conditions(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise PydanticCustomError("scope_type", "an object of conditions on named keys")
    return value


def _read_scope(value: object) -> object:
    if isinstance(value, str):
        if not value.strip() or len(value) > 400:
            raise PydanticCustomError("scope_type", "a text of 1 to 400 characters")
        return {"text": value}
    return {"conditions": _read_conditions(value)}


class ScopeIn(BaseModel):
    """A scope: one text, or conditions on named keys."""

    text: Name | None = None
    conditions: Conditions | None = None

    def given(self) -> Scope:
        return self.text if self.text is not None else cast(Scope, self.conditions)


ScopeField = Annotated[
    ScopeIn, BeforeValidator(_read_scope),
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1, "maxLength": 400, "pattern": r"\S"},
                              _CONDITIONS_SCHEMA]}),
]  # fmt: skip
OutOfScope = Annotated[Conditions, BeforeValidator(_read_conditions), WithJsonSchema(_CONDITIONS_SCHEMA)]


class EvidenceIn(Given):
    """What shows it: text, ids of what stands here (records, facts, checks, anything with an id), or both."""

    text: Note = ""
    references: Annotated[list[Id], Field(max_length=REFERENCES)] = Field(default_factory=list)


def _read_evidence(value: object) -> object:
    found = {"text": value} if isinstance(value, str) else {"references": value} if isinstance(value, list) else value
    if not isinstance(found, dict) or not any(_says(part) for part in found.values()):
        raise PydanticCustomError("evidence_type", "text, or ids of what stands here")
    return found


def _says(part: object) -> bool:
    return bool(part.strip()) if isinstance(part, str) else bool(part)


EvidenceField = Annotated[
    EvidenceIn, BeforeValidator(_read_evidence),
    WithJsonSchema({"anyOf": [
        {**_TEXT_SCHEMA, "pattern": r"\S"}, _REFERENCES_SCHEMA,
        {"type": "object", "properties": {"text": _TEXT_SCHEMA, "references": _REFERENCES_SCHEMA},
         "additionalProperties": False, "minProperties": 1},
    ]}),
]  # fmt: skip


class RevivalIn(Given):
    """A condition, and how many independent origins must speak for it."""

    condition: Reason
    origins: Annotated[int, Field(strict=True, ge=1, le=MOST_ORIGINS)] = 1


def _read_revival(value: object) -> object:
    return {"condition": value} if isinstance(value, str) else value


RevivalField = Annotated[
    RevivalIn, BeforeValidator(_read_revival),
    WithJsonSchema({"anyOf": [
        {**_TEXT_SCHEMA, "pattern": r"\S"},
        {"type": "object", "required": ["condition"], "additionalProperties": False,
         "properties": {"condition": {**_TEXT_SCHEMA, "pattern": r"\S"},
                        "origins": {"type": "integer", "minimum": 1, "maximum": MOST_ORIGINS}}},
    ]}),
]  # fmt: skip


class RetestIn(Given):
    """How the route is to be tried again, and by when."""

    plan: Reason
    at: Instant | None = None


def _read_retest(value: object) -> object:
    return {"plan": value} if isinstance(value, str) else value


RetestField = Annotated[
    RetestIn, BeforeValidator(_read_retest),
    WithJsonSchema({"anyOf": [
        {**_TEXT_SCHEMA, "pattern": r"\S"},
        {"type": "object", "required": ["plan"], "additionalProperties": False,
         "properties": {"plan": {**_TEXT_SCHEMA, "pattern": r"\S"}, "at": {"type": "string", "format": "date-time"}}},
    ]}),
]  # fmt: skip


class TombstoneIn(Act):
    """A route that failed, with its bounds and its exit. Every part is needed but `out_of_scope`, which exempts."""

    route: Name
    scope: ScopeField
    out_of_scope: OutOfScope | None = None
    evidence: EvidenceField
    revival: Annotated[list[RevivalField], Field(min_length=1, max_length=MOST_CONDITIONS)]
    retest: RetestField
    review_at: Instant

    def given(self) -> NewTombstone:
        return NewTombstone(
            route=self.route, scope=self.scope.given(), out_of_scope=self.out_of_scope or {},
            evidence=self.evidence.text, references=tuple(self.evidence.references), retest=self.retest.plan,
            retest_at=self.retest.at, review_at=self.review_at,
            revival=tuple(Revival(one.condition, one.origins) for one in self.revival),
        )  # fmt: skip


class BuriedOut(Written):
    """The tombstone."""

    id: UUID

    @classmethod
    def of(cls, done: Buried, *, url: str) -> BuriedOut:
        return cls(id=done.id, seq=done.seq, replayed=done.replayed, url=url)


class CheckIn(Act):
    """A route that is to be taken, and where: what is not stated can block nothing."""

    route: Name
    scope: ScopeField


class SignOut(BaseModel):
    """What a tombstone says; null where its text is erased."""

    id: UUID
    route: str | None
    scope: Any
    out_of_scope: dict[str, Any]
    evidence: str
    revival: list[str | None]
    retest: str | None
    retest_at: Instant | None
    review_at: Instant

    @classmethod
    def of(cls, sign: Sign, **told: Any) -> Self:
        plain = ("id", "route", "scope", "out_of_scope", "evidence", "retest", "retest_at", "review_at")
        return cls(**{name: getattr(sign, name) for name in plain}, revival=list(sign.revival), **told)


class MetOut(SignOut):
    """A tombstone on the route: `reason` is `blocked`, or why it does not block."""

    reason: str
    url: str


class RouteCheckedOut(Written):
    """Whether the route may be taken. `check` names the answer for a later verdict; null where nothing was met."""

    verdict: Literal["blocked", "clear"]
    reason: Literal["none", "out_of_scope", "retest_only", "retired", "audit_only"]
    check: UUID | None
    tombstones: list[MetOut]

    @classmethod
    def of(cls, done: Answered, *, url: str, urls: Mapping[UUID, str]) -> RouteCheckedOut:
        found = done.checked
        met = [MetOut.of(one.sign, reason=one.reason, url=urls[one.sign.id]) for one in found.met]
        return cls(
            verdict=found.verdict, reason=found.reason, check=done.id, tombstones=met,
            seq=done.seq, replayed=done.replayed, url=url,
        )  # fmt: skip


class FilingIn(Act):
    """Evidence that a revival condition holds until an instant. `condition` is its text, or #1, #2 and so on.

    `origin` is the root of what is told: evidence of one origin counts once, whoever files it. Without it whoever files
    stands for it.
    """

    condition: Reason
    valid_until: Instant
    origin: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    evidence: EvidenceField | None = None


class FiledOut(Written):
    """The evidence, and the number of the condition that it speaks for."""

    id: UUID
    condition: int

    @classmethod
    def of(cls, done: Filed, *, url: str) -> FiledOut:
        return cls(id=done.id, condition=done.position, seq=done.seq, replayed=done.replayed, url=url)


class FalseBlockIn(Act):
    """A block that was false; `check` names it, where it is known which."""

    check: Id | None = None
    reason: Note = ""
    evidence: EvidenceField | None = None


class RightBlockIn(Act):
    """A block that was right."""

    check: Id
    reason: Note = ""
    evidence: EvidenceField | None = None


class ReviveIn(Act):
    """Why the route is opened for its re-test."""

    reason: Note = ""


class RetestResultIn(Act):
    """What the re-test showed. `next_at` is when to look again after a failure."""

    passed: StrictBool
    reason: Note = ""
    evidence: EvidenceField | None = None
    next_at: Instant | None = None


class RetireIn(Act):
    """Why it is ended without a re-test."""

    reason: Reason


class KeepIn(Act):
    """Why it stands after its review, and when it is reviewed again."""

    review_at: Instant
    reason: Reason


class TurnOut(Written):
    """The tombstone, and the entry of what was said or done about it."""

    id: UUID

    @classmethod
    def of(cls, tombstone: UUID, done: Appended, *, url: str) -> TurnOut:
        return cls(id=tombstone, seq=done.seq, replayed=done.replayed, url=url)


def note_of(reason: str, evidence: EvidenceIn | None) -> str:
    """What is kept as the note: the reason, then the text of the evidence."""
    return "\n".join(part for part in (reason, evidence.text if evidence else "") if part.strip())


def references_of(evidence: EvidenceIn | None) -> tuple[UUID, ...]:
    return tuple(evidence.references) if evidence else ()
