"""What derivations share: they are prepared before the lock, checked again under it, and written as one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import gate, ids, sql
from memory.base.actor import Actor
from memory.base.errors import Invalid, NotFound, Raced
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook, OpenEntry, answered_before, book_for, opened
from memory.lineage.effects import Effects
from memory.lineage.models import REASONS, Derivation
from memory.lineage.operations.links import edge_draft
from memory.lineage.queries.sources import SourceRecord
from memory.records import review
from memory.records.content import NewRecord, lineage_refusal
from memory.records.models import RecordState
from memory.records.operations import Parent, Prepared, enter, prepare

# A compilation is a merge by a named function: the relations between records are a closed list, and this one says it.
RELATION = {
    "evolve": "evolved_from", "merge": "merged_from", "split": "split_from", "supersede": "supersedes",
    "compile": "merged_from",
}  # fmt: skip
ENDS_CURRENCY = ("evolve", "split", "supersede")


@dataclass(frozen=True, slots=True)
class Derived:
    """The answer: the derivation, the records it created in order, the entry."""

    derivation: UUID
    records: tuple[UUID, ...]
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """How a derivation chose what it chose, and what it could not decide."""

    content: str = ""
    type: str = ""
    valid: str = ""
    conflicts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a derivation was made. `given` is false where the caller named no reason."""

    reason: str = "observation"
    note: str = ""
    given: bool = True
    claimed_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise Invalid.at("reason", expected=" or ".join(REASONS), got=self.reason)

    @property
    def request(self) -> list[str]:
        """What it adds to the canonical request."""
        return [self.reason, self.note]


def derivation_draft(kind: str, *, cause: Cause, rules: Rules) -> Draft:
    """The item of a derivation."""
    identity = ids.new_id()
    row = {
        "id": identity, "kind": kind, "reason": cause.reason, "reason_given": cause.given,
        "content_rule": rules.content, "type_rule": rules.type, "valid_rule": rules.valid,
        "n_conflicts": len(rules.conflicts), "claimed_at": cause.claimed_at,
    }  # fmt: skip
    parts: dict[str, Any] = {}
    if cause.note:
        parts["note"] = cause.note
    if rules.conflicts:
        parts["conflicts"] = dict(rules.conflicts)
    return Draft("derivation", identity, Derivation, row, parts)


def derive(
    by: Actor, kind: str, news: Sequence[NewRecord], sources: Sequence[SourceRecord], *, cause: Cause, rules: Rules,
    lines: Sequence[UUID | None], request: Mapping[str, Any], newer: UUID | None = None,
    recheck: Callable[[], None] | None = None,
    beside: Callable[[NameBook, Sequence[Prepared]], Iterable[Draft]] | None = None,
) -> Derived:  # fmt: skip
    """The common body: prepared before the lock, checked again under it, written as one entry.

    beside : what else the entry says of the new records.

    Raises Invalid (metadata that tells lineage), Conflict (a source is held, or the policy would hold what is new),
    Raced, and as `opened`.
    """
    for new in news:
        if (refused := lineage_refusal(new)) is not None:
            raise refused
    for source in sources:
        source.require_confirmed()
    relation = RELATION[kind]
    book = book_for(by)
    above = [Parent(relation, source.id, source.ancestry_digest) for source in sources]
    prepared = prepare(book, news, parents=[above] * len(news), lines=lines)
    derivation = derivation_draft(kind, cause=cause, rules=rules)
    further = tuple(beside(book, prepared)) if beside is not None else ()
    with opened(by, verb=kind, need=gate.WRITE, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            return _answered(by.namespace, entry.replayed_seq)
        _unchanged(by.namespace, sources)
        review.require_free(by, [one.statement for one in prepared])
        if recheck is not None:
            recheck()
        enter(entry, prepared)
        entry.add(derivation, *further)
        children = [one.id for one in prepared] if newer is None else [newer]
        for child in children:
            for ordinal, source in enumerate(sources):
                entry.add(edge_draft(child, relation, source.id, ordinal=ordinal, derivation=derivation.object))
        entry.then(lambda: _project(entry, kind, sources, prepared, newer))
    return Derived(derivation.object, tuple(one.id for one in prepared), entry.seq)


def _project(
    entry: OpenEntry, kind: str, sources: Sequence[SourceRecord], prepared: Sequence[Prepared], newer: UUID | None
) -> None:
    effects = Effects()
    for source in sources:
        for _ in prepared:
            effects.child(source.id)
        if kind in ENDS_CURRENCY:
            effects.supersede(source.id, newer or prepared[0].id)
    effects.apply(entry.by.namespace, entry.seq)


def _unchanged(namespace: int, sources: Sequence[SourceRecord]) -> None:
    """What was read before the lock still holds; else the operation starts again."""
    marks = ", ".join(["%s"] * len(sources))
    rows = sql.fetch(
        "SELECT id, superseded_seq, withdrawn_seq, erased_seq FROM memory_recordstate"
        f" WHERE namespace_id = %s AND id IN ({marks})",
        [namespace, *(source.id for source in sources)],
    )
    now = {sql.as_id(row[0]): row[1:] for row in rows}
    for source in sources:
        if now[source.id] != (source.state.superseded_seq, source.state.withdrawn_seq, source.state.erased_seq):
            raise Raced


def answer_before(by: Actor, kind: str, request: Mapping[str, Any]) -> Derived | None:
    """The answer to the same request under the same key: what it changed would refuse it a second time."""
    first = answered_before(by, verb=kind, need=gate.WRITE, request=request)
    return None if first is None else _answered(by.namespace, first)


def _answered(namespace: int, seq: int) -> Derived:
    derivation = Derivation.objects.filter(namespace=namespace, seq=seq).first()
    if derivation is None:
        raise NotFound(f"Entry {seq} holds no derivation.")
    records = RecordState.objects.filter(namespace=namespace, seq=seq).order_by("doc").values_list("id", flat=True)
    return Derived(derivation.id, tuple(records), seq, replayed=True)
