"""The records that a derivation reads, loaded whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.errors import Conflict, Erased, Invalid, NotFound, Withdrawn
from memory.ledger.queries.contents import commitments_of, contents_of
from memory.lineage.kernel import Source
from memory.records.content import LINEAGE_KEYS, NewRecord
from memory.records.models import RecordState

# How many columns of `_joined` stand before those of the state.
BESIDE = 4


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record with its state, content and digest. `content` is None where it is erased."""

    state: RecordState
    line: UUID
    ancestry_digest: bytes
    type: str
    digest: bytes
    parts: dict[str, Any]

    @property
    def id(self) -> UUID:
        return self.state.id

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
            raise Withdrawn(f"The record {self.id} is withdrawn.", id=str(self.id))
        if needs_content and self.content is None:
            raise Erased(f"The record {self.id} is erased; give the content.", id=str(self.id))

    def require_confirmed(self) -> None:
        """Raise Conflict where nobody has confirmed the record yet: what rested on it would spread it unseen."""
        if self.state.is_unconfirmed:
            raise Conflict(f"The record {self.id} is held and waits for a person to confirm it.", id=str(self.id))

    def carried_as_is(self) -> NewRecord:
        """The payload of this record, as a new one would be given it: what its metadata says of lineage stays here."""
        source = self.details.get("source", {})
        metadata = self.details.get("metadata", {})
        return NewRecord(
            type=self.type, content=self.content or "", summary=self.details.get("summary", ""),
            tags=tuple(self.details.get("tags", ())), valid_from=self.state.valid_from, valid_to=self.state.valid_to,
            metadata={key: value for key, value in metadata.items() if key not in LINEAGE_KEYS},
            source_class=self.state.source_class, origin=source.get("origin", ""), pointer=source.get("pointer", ""),
        )  # fmt: skip

    def carried(self) -> NewRecord:
        """What a derivation carries over: everything but first-hand-ness."""
        return replace(self.carried_as_is(), source_class="derived")

    def for_merge(self) -> Source:
        carried = self.carried_as_is()
        return Source(
            id=self.id, type=carried.type, content=carried.content, tags=carried.tags, metadata=carried.metadata,
            origin=carried.origin, pointer=carried.pointer, valid_from=carried.valid_from, valid_to=carried.valid_to,
            seq=self.state.seq,
        )  # fmt: skip


def load_sources(namespace: int, records: Sequence[UUID]) -> list[SourceRecord]:
    """The records in the order named. Raises NotFound (unknown, or of another namespace), Invalid (one named twice)."""
    if len(set(records)) < len(records):
        raise Invalid.at("records", expected="distinct records")
    rows = sql.fetch(_joined(len(records)), [namespace, *records])
    found = {state.id: (state, row) for state, row in ((_state(row), row) for row in rows)}
    missing = [record for record in records if record not in found]
    if missing:
        raise NotFound(f"There is no record {missing[0]}.", id=str(missing[0]))
    parts = contents_of(namespace, [(state.seq, state.item) for state, _ in found.values()])
    return [_source(*found[record], parts) for record in records]


def successors(namespace: int, start: UUID) -> Iterator[UUID]:
    """The record, what took its place, what took that one's place, and so on; a circle ends where it closes."""
    seen: set[UUID] = set()
    here: UUID | None = start
    while here is not None and here not in seen:
        yield here
        seen.add(here)
        here = RecordState.objects.filter(namespace=namespace, id=here).values_list("superseded_by", flat=True).first()


def current_version(namespace: int, record: UUID) -> tuple[UUID, dict[str, str]]:
    """The newest version after the record, and what a refusal says of it."""
    head = list(successors(namespace, record))[-1]
    digest = commitments_of(namespace, "record", [head])[head].hex()
    return head, {"record": str(head), "digest": digest}


def _state(row: Sequence[Any]) -> RecordState:
    return sql.loaded(RecordState, row[BESIDE:])


def _source(state: RecordState, row: Sequence[Any], parts: Mapping[tuple[int, int], dict[str, Any]]) -> SourceRecord:
    line, ancestry_digest, commitment, type_text = row[:BESIDE]
    return SourceRecord(
        state=state, line=sql.as_id(line), ancestry_digest=bytes(ancestry_digest), type=type_text or "unknown",
        digest=bytes(commitment), parts=parts[state.seq, state.item],
    )  # fmt: skip


def _joined(count: int) -> str:
    """State rows with what else a derivation reads of a record, by one query for all."""
    marks = ", ".join(["%s"] * count)
    return (
        f"SELECT r.line, r.ancestry_digest, i.commitment, n.text, {sql.selected(RecordState, 's')}"
        " FROM memory_recordstate s"
        " JOIN memory_record r ON r.namespace_id = s.namespace_id AND r.id = s.id"
        " JOIN memory_item i ON i.namespace_id = s.namespace_id AND i.seq = s.seq AND i.item = s.item"
        " LEFT JOIN memory_name n ON n.namespace_id = s.namespace_id AND n.id = s.type"
        f" WHERE s.namespace_id = %s AND s.id IN ({marks})"
    )
