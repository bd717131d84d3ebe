"""The records that a derivation reads, loaded whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base.errors import Erased, Invalid, NotFound, Withdrawn
from memory.ledger.queries.contents import commitments_of, contents_of, names_of
from memory.lineage.kernel import Source
from memory.records.content import NewRecord
from memory.records.models import Record, RecordState


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record with its state, content and digest. `content` is None where it is erased."""

    row: Record
    state: RecordState
    type: str
    digest: bytes
    parts: dict[str, Any]

    @property
    def content(self) -> str | None:
        return self.parts.get("content")

    @property
    def details(self) -> dict[str, Any]:
        found: dict[str, Any] = self.parts.get("details", {})
        return found

    def require_usable(self, *, needs_content: bool) -> None:
        """Raise Withdrawn, or Erased where the text is needed."""
        if self.state.withdrawn_seq is not None:
            raise Withdrawn(f"The record {self.row.id} is withdrawn.", id=str(self.row.id))
        if needs_content and self.content is None:
            raise Erased(f"The record {self.row.id} is erased; give the content.", id=str(self.row.id))

    def carried_as_is(self) -> NewRecord:
        """The payload of this record, as a new one would be given it."""
        source = self.details.get("source", {})
        return NewRecord(
            type=self.type, content=self.content or "", summary=self.details.get("summary", ""),
            tags=tuple(self.details.get("tags", ())), valid_from=self.row.valid_from, valid_to=self.row.valid_to,
            metadata=self.details.get("metadata", {}), source_class=self.row.source_class,
            origin=source.get("origin", ""), pointer=source.get("pointer", ""),
        )  # fmt: skip

    def carried(self) -> NewRecord:
        """What a derivation carries over: everything but first-hand-ness."""
        return replace(self.carried_as_is(), source_class="derived")

    def for_merge(self) -> Source:
        carried = self.carried_as_is()
        return Source(
            id=self.row.id, type=carried.type, content=carried.content, tags=carried.tags, metadata=carried.metadata,
            origin=carried.origin, pointer=carried.pointer, valid_from=carried.valid_from, valid_to=carried.valid_to,
        )  # fmt: skip


def load_sources(namespace: int, records: Sequence[UUID]) -> list[SourceRecord]:
    """The records in the order named. Raises NotFound (unknown, or of another namespace), Invalid (one named twice)."""
    if len(set(records)) < len(records):
        raise Invalid.at("records", expected="distinct records")
    rows = {row.id: row for row in Record.objects.filter(namespace=namespace, id__in=records)}
    missing = [record for record in records if record not in rows]
    if missing:
        raise NotFound(f"There is no record {missing[0]}.", id=str(missing[0]))
    states = {row.id: row for row in RecordState.objects.filter(namespace=namespace, id__in=records)}
    parts = contents_of(namespace, [(row.seq, row.item) for row in rows.values()])
    types = names_of(namespace, [row.type for row in rows.values()])
    digests = commitments_of(namespace, "record", records)
    return [
        SourceRecord(
            rows[record], states[record], types.get(rows[record].type, "unknown"), digests[record],
            parts[rows[record].seq, rows[record].item],
        )
        for record in records
    ]  # fmt: skip
