"""Reads of records: one, many, by prefix, by text. Every read takes an as-of point."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.agents.labels import Labels, called, labels
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Ambiguous, Erased, Invalid, NotFound, Withdrawn
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of
from memory.records.models import NOT_REVIEWED, Record, RecordState, address_of, held_by
from memory.records.queries.provenance import Provenance, annotated, provenance_of

PREFIX = re.compile(r"[0-9a-f]{4,32}")
CANDIDATES = 20
CHUNK = 500
# What a reading by a source's own instants leaves out: rows that have none.
NO_SOURCE_TIME = "no_source_time"


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record in a list. `agent_name` and `run_title` are what people call them; `why` the words that rank it."""

    id: UUID
    seq: int
    recorded_at: datetime
    type: str
    first_line: str
    state: str
    agent: UUID | None
    run: UUID | None
    source_class: str
    valid_from: datetime | None
    valid_to: datetime | None
    source_recorded_at: datetime | None
    n_parents: int
    n_children: int
    score: float | None = None
    agent_name: str = ""
    run_title: str = ""
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordDetail:
    """A record whole. `content` is None where it is erased; `erased_seq` says by which entry."""

    row: RecordRow
    item: int
    digest: bytes
    ancestry_digest: bytes
    line: UUID
    content: str | None
    summary: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    origin: str
    pointer: str
    imported: Mapping[str, Any]
    raw: Any
    n_quarantined: int
    superseded_by: UUID | None
    superseded_seq: int | None
    withdrawn_seq: int | None
    erased_seq: int | None
    withdrawal_reason: str
    held_seq: int | None
    held_until: datetime | None
    confirmed_seq: int | None
    same_text_as: tuple[UUID, ...]
    provenance: Provenance


def state_of(row: RecordState) -> str:
    """The word for the state, the gravest first. `row` comes from `known(at)`."""
    if row.erased_seq is not None:
        return "erased"
    if row.is_withdrawn:
        return "withdrawn"
    if row.is_superseded:
        return "superseded"
    return "held" if row.is_held else "current"


def states_at(row: Any, *points: AsOf) -> tuple[str, ...]:
    """The word at each of the points, "" where the record did not stand. `row` comes from `seen_from(*points)`."""
    return tuple(
        ("erased" if row.erased_seq is not None else "withdrawn" if getattr(row, f"withdrawn_{index}")
         else "superseded" if getattr(row, f"superseded_{index}")
         else "held" if getattr(row, f"held_{index}") else "current") if stood(row, at) else ""
        for index, at in enumerate(points)
    )  # fmt: skip


def stood(row: RecordState, at: AsOf) -> bool:
    """True if the record stood at the point; by a source's instants, only where it has one."""
    if at.source_at is None:
        return row.seq <= at.seq
    return row.source_recorded_at is not None and row.source_recorded_at <= at.source_at


def rows_of(at: AsOf, states: Sequence[RecordState], scores: Mapping[int, float] | None = None) -> list[RecordRow]:
    """List rows in the order given; one query for the names of types, agents and runs."""
    texts = labels(
        at.namespace,
        names={state.type for state in states},
        agents={state.agent for state in states},
        runs={state.run for state in states},
    )
    return [row_of(state, texts, (scores or {}).get(state.doc)) for state in states]


def row_of(state: RecordState, texts: Labels, score: float | None = None) -> RecordRow:
    """One list row. `state` comes from `known(at)`."""
    return RecordRow(
        state.id, state.seq, state.recorded_at, texts.names.get(state.type, "erased"), state.first_line,
        state_of(state), state.agent, state.run, state.source_class, state.valid_from, state.valid_to,
        state.source_recorded_at, state.n_parents, getattr(state, "n_children_then", state.n_children), score,
        texts.agents.get(state.agent, "") if state.agent else "", texts.runs.get(state.run, "") if state.run else "",
    )  # fmt: skip


def record(at: AsOf, *, id: UUID) -> RecordDetail:
    """One record as of the point, whatever its state: one query for its row, one for its texts, one for its twins.

    Raises NotFound.
    """
    state = annotated(at, RecordState.objects.known(at).filter(id=id)).first()
    if state is None:
        raise NotFound(f"There is no record {id} {at.words}.", id=str(id))
    withdrawal = (state.hidden_seq, state.hidden_item) if state.is_withdrawn and state.hidden_seq else None
    own = (state.seq, state.item)
    stored = contents_of(at.namespace, [own, *([withdrawal] if withdrawal else [])])
    parts = stored[own]
    details = parts.get("details", {})
    source = details.get("source", {})
    return RecordDetail(
        row=_named_row(state), item=state.item, digest=bytes(state.i_commitment),
        ancestry_digest=bytes(state.r_ancestry_digest), line=state.r_line, content=parts.get("content"),
        summary=details.get("summary", ""), tags=tuple(details.get("tags", ())),
        metadata=details.get("metadata", {}), origin=source.get("origin", ""), pointer=source.get("pointer", ""),
        imported=details.get("imported", {}), raw=parts.get("raw"), n_quarantined=state.r_n_quarantined,
        superseded_by=state.superseded_by if state.is_superseded else None,
        superseded_seq=state.superseded_seq if state.is_superseded else None,
        withdrawn_seq=withdrawal[0] if withdrawal else None, erased_seq=state.erased_seq,
        withdrawal_reason=_why_withdrawn(state, stored[withdrawal] if withdrawal else {}),
        held_seq=state.held_seq, held_until=state.held_until,
        confirmed_seq=None if state.is_held else state.confirmed_seq,
        same_text_as=_same_text(at, state), provenance=provenance_of(state),
    )  # fmt: skip


def _why_withdrawn(state: RecordState, parts: Mapping[str, Any]) -> str:
    """The reason given; what is past its date reads as withdrawn before the entry that says so is written."""
    lapsed = state.is_held and state.is_withdrawn and not parts
    return NOT_REVIEWED if lapsed else str(parts.get("note", ""))


def _named_row(state: Any) -> RecordRow:
    """The list row of an annotated state."""
    called_so = Labels(
        names={state.type: state.n_type} if state.n_type else {},
        agents={state.agent: state.n_agent} if state.n_agent else {},
        runs={state.run: called(state.run_told)} if state.run_told else {},
    )
    return row_of(state, called_so)


def require_shown(detail: RecordDetail, *, include: frozenset[str]) -> None:
    """Raise Withdrawn or Erased for what is hidden by default and was not asked for."""
    state = detail.row.state
    if state == "withdrawn" and "withdrawn" not in include:
        raise Withdrawn(f"The record {detail.row.id} is withdrawn; include=withdrawn shows it.")
    if state == "erased" and "erased" not in include:
        raise Erased(f"The record {detail.row.id} is erased; include=erased shows what remains.")


def require_confirmed(at: AsOf, reader: Actor, *records: UUID) -> None:
    """Raise NotFound where an agent names a record that is held and that it did not write itself. One query.

    People look at what is held in order to review it; to other agents it does not exist before somebody has.
    """
    if reader.kind != "agent":
        return
    held = RecordState.objects.filter(held_by(at), namespace=at.namespace, id__in=records, withdrawn_seq=None)
    for id in held.exclude(agent=reader.agent).values_list("id", flat=True)[:1]:
        raise NotFound(f"There is no record {id} {at.words}.", id=str(id))


def _same_text(at: AsOf, state: RecordState) -> tuple[UUID, ...]:
    if state.text_digest is None:
        return ()
    twins = RecordState.objects.filter(namespace=at.namespace, text_digest=state.text_digest, seq__lte=at.seq)
    twins = twins.exclude(held_by(at))
    return tuple(twins.exclude(id=state.id).order_by("doc").values_list("id", flat=True)[:CANDIDATES])


def resolved(at: AsOf, *, prefix: str) -> UUID:
    """The one record whose id is `prefix` or begins with it, erased and withdrawn ones counted.

    Raises Invalid (no id and no prefix of four or more hex digits), NotFound, Ambiguous (with candidates).
    """
    text = prefix.strip()
    digits = text.replace("-", "")
    if not PREFIX.fullmatch(digits) or text not in (digits, str(UUID(hex=digits.ljust(32, "0")))[: len(text)]):
        raise Invalid.at("prefix", expected="an id, or at least 4 hex digits of one in lower case", got=prefix)
    low, high = UUID(hex=digits.ljust(32, "0")), UUID(hex=digits.ljust(32, "f"))
    rows = Record.objects.filter(namespace=at.namespace, seq__lte=at.seq, id__gte=low, id__lte=high).order_by("id")
    found = list(rows.values_list("id", flat=True)[: CANDIDATES + 1])
    if not found:
        raise NotFound(f"No record's id begins with {text}.")
    if len(found) > 1:
        raise Ambiguous(f"Several ids begin with {text}.", candidates=[str(id) for id in found[:CANDIDATES]])
    return found[0]


def rows_by_id(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, RecordRow]:
    """{id: list row} of the records that stand at the point; two queries for each 500."""
    found: list[RecordRow] = []
    for start in range(0, len(ids), CHUNK):
        states = RecordState.objects.known(at).filter(id__in=ids[start : start + CHUNK])
        found.extend(rows_of(at, list(states)))
    by_id = {row.id: row for row in found}
    return {id: by_id[id] for id in ids if id in by_id}


def texts(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, str]:
    """{id: text} of the records that stand at the point and are not erased."""
    states = RecordState.objects.known(at).filter(id__in=list(ids)[:CHUNK])
    places = dict(states.values_list("id", "doc"))
    stored = contents_of(at.namespace, [address_of(doc) for doc in places.values()])
    parts = {id: stored[address_of(doc)] for id, doc in places.items()}
    return {id: part["content"] for id, part in parts.items() if "content" in part}


def entries_of(namespace: int, seqs: Sequence[int]) -> dict[int, Entry]:
    """The entries by seq."""
    return {entry.seq: entry for entry in Entry.objects.filter(namespace=namespace, seq__in=seqs)}
