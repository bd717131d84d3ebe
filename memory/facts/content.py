"""What a client states: a fact to be, its parts, and what stands for it under an Idempotency-Key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.facts.kernel.values import Value

VALUE_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to be, checked at the door. Instants are aware UTC; `references` are ids of what it rests on.

    `confidence` is a number from 0 to 1 on the scale that `scale` names.
    """

    subject: str
    attribute: str
    value: Value
    id: UUID | None = None
    stance: str = "asserts"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source_class: str = "derived"
    origin: str = ""
    pointer: str = ""
    candidate: bool = False
    confidence: float | None = None
    scale: str = ""
    note: str = ""
    references: tuple[UUID, ...] = ()
    source_recorded_at: datetime | None = None


def details_of(new: NewFact) -> dict[str, Any]:
    """The part `details`: what is given beside the value, empty keys left out."""
    given = {"pointer": new.pointer, "note": new.note}
    return {name: value for name, value in given.items() if value}


def request_of(new: NewFact) -> dict[str, Any]:
    """All that the client gave, as JSON."""
    return {
        "id": None if new.id is None else str(new.id), "subject": new.subject, "attribute": new.attribute,
        "value": new.value, "stance": new.stance,
        "valid": [instants.text_or_none(one) for one in (new.valid_from, new.valid_to)],
        "source": [new.source_class, new.origin, new.pointer], "candidate": new.candidate,
        "confidence": [new.confidence, new.scale], "note": new.note,
        "references": [str(one) for one in new.references],
    }  # fmt: skip
