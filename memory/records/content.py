"""The content of a record: what a client gives, how it is split in parts, what the text index sees of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.errors import Invalid
from memory.base.text import first_line

# Ancestry stands in edges alone: a second telling of it could only agree by luck.
LINEAGE_KEYS = frozenset({
    "evolved_from", "evolved_into", "merged_from", "merged_into", "split_from", "split_into",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be, checked at the door. Tags are sorted and distinct; instants are aware UTC."""

    type: str
    content: str
    id: UUID | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source_class: str = "derived"
    origin: str = ""
    pointer: str = ""
    source_recorded_at: datetime | None = None
    n_quarantined: int = 0
    imported: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first_line(self) -> str:
        return first_line(self.summary or self.content)


def lineage_key(metadata: Mapping[str, Any]) -> str:
    """The first key by which metadata tells ancestry a second time; "" for none."""
    return min(metadata.keys() & LINEAGE_KEYS, default="")


def lineage_refusal(new: NewRecord) -> Invalid | None:
    """Why the record is refused, whichever door it came through; None where its metadata tells no lineage."""
    key = lineage_key(new.metadata)
    if not key:
        return None
    return Invalid.at("metadata", expected=f"no key {key}: post a derivation", got=key, code="lineage_key")


def details_of(new: NewRecord) -> dict[str, Any]:
    """The part `details`: what is given beside the text, empty keys left out."""
    source = {name: value for name, value in (("origin", new.origin), ("pointer", new.pointer)) if value}
    given = {
        "summary": new.summary, "tags": list(new.tags), "metadata": dict(new.metadata), "source": source,
        "imported": dict(new.imported),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


def indexed_text(new: NewRecord) -> str:
    """What full text sees: content, summary and tags."""
    return text_of({"content": new.content, "details": details_of(new)})


def text_of(parts: Mapping[str, Any]) -> str:
    """The indexed text of stored parts."""
    details = parts.get("details", {})
    pieces = (parts.get("content", ""), details.get("summary", ""), " ".join(details.get("tags", ())))
    return "\n".join(piece for piece in pieces if piece)


def text_digest(content: str) -> bytes:
    """What equal texts share, in a projection that forgets it with the text."""
    return hashlib.sha256(content.encode()).digest()[:16]


def request_of(new: NewRecord) -> dict[str, Any]:
    """The canonical request of one record, for the idempotency fingerprint."""
    return {
        "id": str(new.id) if new.id else None, "type": new.type, "content": new.content,
        "valid_from": instants.text(new.valid_from) if new.valid_from else None,
        "valid_to": instants.text(new.valid_to) if new.valid_to else None,
        "source_class": new.source_class, **details_of(new),
    }  # fmt: skip
