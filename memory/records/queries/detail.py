"""Reads of records: one, many, by prefix, by text. Every read takes an as-of point."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.agents.labels import Labels, labels
from memory.base.asof import AsOf
from memory.base.errors import Ambiguous, Erased, Invalid, NotFound, Withdrawn
from memory.ledger.models import Entry
from memory.ledger.queries.contents import commitments_of, contents_of
from memory.records.models import Record, RecordState, Withdrawal

PREFIX = re.compile(r"[0-9a-f]{4,32}")
CANDIDATES = 20


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
    same_text_as: tuple[UUID, ...]


def state_of(row: RecordState) -> str:
    """The word for the state, the gravest first. `row` comes from `known(at)`."""
    if row.erased_seq is not None:
        return "erased"
    if row.is_withdrawn:
        return "withdrawn"
    if row.is_superseded:
        return "superseded"
    return "current"


def rows_of(at: AsOf, states: Sequence[RecordState], scores: Mapping[int, float] | None = None) -> list[RecordRow]:
    """List rows in the order given; one query for the names of types, agents and runs."""
    called = labels(
        at.namespace,
        names={state.type for state in states},
        agents={state.agent for state in states},
        runs={state.run for state in states},
    )
    return [row_of(state, called, (scores or {}).get(state.doc)) for state in states]


def row_of(state: RecordState, called: Labels, score: float | None = None) -> RecordRow:
    """One list row. `state` comes from `known(at)`."""
    return RecordRow(
        state.id, state.seq, state.recorded_at, called.names.get(state.type, "erased"), state.first_line,
        state_of(state), state.agent, state.run, state.source_class, state.valid_from, state.valid_to,
        state.source_recorded_at, state.n_parents, state.n_children, score,
        called.agents.get(state.agent, "") if state.agent else "", called.runs.get(state.run, "") if state.run else "",
    )  # fmt: skip


def record(at: AsOf, *, id: UUID) -> RecordDetail:
    """One record as of the point, whatever its state. Raises NotFound."""
    state = RecordState.objects.known(at).filter(id=id).first()
    if state is None:
        raise NotFound(f"There is no record {id} as of entry {at.seq}.", id=str(id))
    row = Record.objects.get(namespace=at.namespace, id=id)
    parts = contents_of(at.namespace, [(row.seq, row.item)])[row.seq, row.item]
    details = parts.get("details", {})
    source = details.get("source", {})
    withdrawn_seq, reason = _withdrawal(at, id) if state.is_withdrawn else (None, "")
    is_superseded = state.is_superseded
    return RecordDetail(
        row=rows_of(at, [state])[0], item=row.item, digest=commitments_of(at.namespace, "record", [id])[id],
        ancestry_digest=bytes(row.ancestry_digest), line=row.line, content=parts.get("content"),
        summary=details.get("summary", ""), tags=tuple(details.get("tags", ())),
        metadata=details.get("metadata", {}), origin=source.get("origin", ""), pointer=source.get("pointer", ""),
        imported=details.get("imported", {}), raw=parts.get("raw"), n_quarantined=row.n_quarantined,
        superseded_by=state.superseded_by if is_superseded else None,
        superseded_seq=state.superseded_seq if is_superseded else None, withdrawn_seq=withdrawn_seq,
        erased_seq=state.erased_seq, withdrawal_reason=reason, same_text_as=_same_text(at, state),
    )  # fmt: skip


def require_shown(detail: RecordDetail, *, include: frozenset[str]) -> None:
    """Raise Withdrawn or Erased for what is hidden by default and was not asked for."""
    state = detail.row.state
    if state == "withdrawn" and "withdrawn" not in include:
        raise Withdrawn(f"The record {detail.row.id} is withdrawn; include=withdrawn shows it.")
    if state == "erased" and "erased" not in include:
        raise Erased(f"The record {detail.row.id} is erased; include=erased shows what remains.")


def _withdrawal(at: AsOf, id: UUID) -> tuple[int | None, str]:
    rows = Withdrawal.objects.filter(namespace=at.namespace, record=id, withdrawn=True, seq__lte=at.head)
    newest = rows.filter(seq__lte=at.seq if at.source_at is None else at.head).order_by("-seq").first()
    if newest is None:
        return None, ""
    parts = contents_of(at.namespace, [(newest.seq, newest.item)])[newest.seq, newest.item]
    return newest.seq, parts.get("note", "")


def _same_text(at: AsOf, state: RecordState) -> tuple[UUID, ...]:
    if state.text_digest is None:
        return ()
    twins = RecordState.objects.filter(namespace=at.namespace, text_digest=state.text_digest, seq__lte=at.seq)
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


def versions(at: AsOf, *, line: UUID) -> list[RecordRow]:
    """All versions of a line by the point, oldest first."""
    states = RecordState.objects.known(at)
    ids = Record.objects.filter(namespace=at.namespace, line=line, seq__lte=at.seq).values_list("id", flat=True)
    return rows_of(at, list(states.filter(id__in=list(ids)[:500]).order_by("doc")))


def entries_of(namespace: int, seqs: Sequence[int]) -> dict[int, Entry]:
    """The entries by seq."""
    return {entry.seq: entry for entry in Entry.objects.filter(namespace=namespace, seq__in=seqs)}
