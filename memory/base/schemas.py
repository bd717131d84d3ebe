"""Types and shapes that all doors share: what comes in is bounded and named, what goes out is spelled one way.

Invariants
- An unknown field is refused where it stands; a number has bounds, a text a length; nothing is coerced between kinds.
- Instants come and go as `memory.base.instants` spells them; an id comes as full-length UUID text.
- NUL, lone surrogates, repeated keys and depth are refused by `memory.base.bodies`, before a schema sees them.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from memory.base import instants
from memory.base.actor import RunGiven
from memory.base.canonical import INTEGER_LIMIT
from memory.base.text import CONTENT_CHARS, NAME_CHARS, NOTE_CHARS, TYPE_PATTERN

LIST_ITEMS = 200
REFS = 20

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _read_instant(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return instants.read(value if isinstance(value, str) else "")
    except ValueError:
        raise PydanticCustomError("instant", "{wanted}", {"wanted": instants.EXPECTED}) from None


def is_id(value: str) -> bool:
    """True for full-length UUID text."""
    return _UUID.fullmatch(value) is not None


def _read_id(value: object) -> UUID:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or not is_id(value):
        raise PydanticCustomError("id", "an id as full-length UUID text")
    return UUID(value)


def trimmed(value: str) -> str:
    """The text. A name with white space at an end looks like the one without and would be another."""
    if value != value.strip():
        raise PydanticCustomError("pattern", "text without white space at its ends")
    return value


def _bounded(value: object) -> object:
    if isinstance(value, str) and len(value) > CONTENT_CHARS:
        raise PydanticCustomError("too_large", "at most {most} characters", {"most": CONTENT_CHARS})
    return value


Instant = Annotated[
    datetime, BeforeValidator(_read_instant), PlainSerializer(instants.text, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]  # fmt: skip
Id = Annotated[UUID, BeforeValidator(_read_id)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Seq = Annotated[int, Field(strict=True, ge=1, le=INTEGER_LIMIT)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS)]
Subject = Annotated[
    str, Field(min_length=1, max_length=NAME_CHARS, json_schema_extra={"pattern": r"^\S([\s\S]*\S)?$"}),
    AfterValidator(trimmed),
]  # fmt: skip
Note = Annotated[str, Field(max_length=NOTE_CHARS)]
Reason = Annotated[str, Field(min_length=1, max_length=NOTE_CHARS, pattern=r"\S")]
Word = Annotated[str, Field(min_length=1, max_length=100)]
RecordType = Annotated[str, Field(pattern=f"^{TYPE_PATTERN.pattern}$")]
# A text over its limit is answered 413 and not 422: it is not wrong, it is too much.
Content = Annotated[
    str, Field(min_length=1, json_schema_extra={"maxLength": CONTENT_CHARS}), BeforeValidator(_bounded)
]  # fmt: skip
ReferenceKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,39}$")]


class Given(BaseModel):
    """Something that a client sends: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Runtime(Given):
    """What the agent ran on."""

    model: Name | None = None
    version: Name | None = None
    prompt_hash: Name | None = None


class RunIn(Given):
    """The run that a write belongs to: an id, references that find it, or what opens it."""

    id: Id | None = None
    kind: Literal["conversation", "task", "session", "case"] | None = None
    title: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    refs: Annotated[dict[ReferenceKey, Name], Field(max_length=REFS)] = Field(default_factory=dict)
    runtime: Runtime = Field(default_factory=Runtime)

    def given(self) -> RunGiven:
        runtime = self.runtime.model_dump(exclude_none=True)
        return RunGiven(
            id=self.id, kind=self.kind or "task", title=self.title, refs=tuple(sorted(self.refs.items())),
            runtime=tuple(sorted(runtime.items())),
        )  # fmt: skip


class Act(Given):
    """The body of a write. It may name the run that it belongs to."""

    run: RunIn | None = None


class Place(BaseModel):
    """One thing that is wrong: `loc` is the way to it in the body, or the name of the parameter or header."""

    loc: list[str | int]
    code: str
    expected: str = ""
    got: str = ""


class Problem(BaseModel):
    """A refusal. Some codes bring members of their own, such as `current` or `candidates`."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[Place]
    request_id: str


class Written(BaseModel):
    """What every write answers: its entry, the page of what it made, and whether this answer was given before."""

    seq: int
    url: str
    replayed: bool = False


class BatchError(BaseModel):
    """Why one item of a batch was not saved."""

    index: int
    code: str
    detail: str


class Read(BaseModel):
    """What every read answers: the last entry that it rests on. A provisional answer may still change.

    closed : the entry that closed the namespace and erased all its texts, whatever the point; null while it is open.
    """

    seq: int
    provisional: bool = False
    closed: int | None = None


class Listed[T](Read):
    """A page of a list. `hidden` counts what was left out, by why; `next` is the value of `after` that goes on."""

    items: list[T]
    next: str | None
    total: int
    hidden: dict[str, int] = Field(default_factory=dict)
