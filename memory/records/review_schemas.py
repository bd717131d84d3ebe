"""What the routes of reviews take and answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.answers import Appended
from memory.base.schemas import Act, Given, Id, Note, Written
from memory.records.reviewing import MOST, Target


class ConfirmIn(Act):
    """Why a held record is confirmed, where there is more to say than that it is right."""

    reason: Note = ""


class HeldIn(Given):
    """A held memory."""

    kind: Literal["record", "fact"] = "record"
    id: Id


Held = Annotated[list[HeldIn], Field(max_length=MOST)]


class ReviewIn(Act):
    """What is confirmed and what is turned down, for one reason, which a rejection must give."""

    confirm: Held = Field(default_factory=list)
    reject: Held = Field(default_factory=list)
    reason: Note = ""

    @staticmethod
    def targets(named: Sequence[HeldIn]) -> list[Target]:
        return [Target(one.kind, one.id) for one in named]


class HeldOut(BaseModel):
    """A memory that was held."""

    kind: str
    id: UUID


class ReviewedOut(Written):
    """What the entry confirmed and what it turned down."""

    confirmed: list[HeldOut]
    rejected: list[HeldOut]

    @classmethod
    def of(
        cls, done: Appended, *, confirmed: Sequence[HeldIn] = (), rejected: Sequence[HeldIn] = (), url: str
    ) -> ReviewedOut:
        told = [[HeldOut(kind=one.kind, id=one.id) for one in named] for named in (confirmed, rejected)]
        return cls(confirmed=told[0], rejected=told[1], seq=done.seq, replayed=done.replayed, url=url)
