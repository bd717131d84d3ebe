"""The state row of a fact: what the store has said of it by each seq, and the words that follow from it.

A row answers for every seq, since each act on a fact happens once and carries the seq from which it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.canonical import canonical, strict_loads
from memory.facts.kernel.status import Statement
from memory.facts.kernel.values import Value, value_key
from memory.facts.models import Fact, FactState, Retraction, Supersession
from memory.ledger.models import Entry, Erasure
from memory.ledger.queries.contents import contents_of
from memory.records.models import Held, Review, doc_of

CHUNK = 400
# How a fact can be hidden, the gravest first; `standing` is none of them.
WORDS = ("retracted", "rejected", "held", "candidate", "superseded", "standing")

Entity = tuple[UUID, UUID]


@dataclass(frozen=True, slots=True)
class Stated:
    """A fresh fact with what the projections need of it beside its draft's columns."""

    values: Mapping[str, Any]
    value: Value
    item: int
    held_until: datetime | None = None
    is_held: bool = False
    is_confirmed: bool = False


def fresh(
    namespace: int, stated: Sequence[Stated], *, seq: int, recorded_at: datetime, by: tuple[int | None, UUID | None],
    run: UUID | None,
) -> list[FactState]:  # fmt: skip
    """The state rows of facts that the entry `seq` brings. `by` is (person, agent)."""
    return [
        FactState(
            namespace_id=namespace, doc=doc_of(seq, one.item), is_first=False, seq=seq, item=one.item,
            recorded_at=recorded_at, person=by[0], agent=by[1], run=run, value=canonical(one.value).decode(),
            value_key=value_key(one.value),
            held_seq=seq if one.is_held else None, held_until=one.held_until,
            confirmed_seq=seq if one.is_confirmed else None,
            **{**one.values, "valid_from": one.values["valid_from"] or recorded_at},
        )
        for one in stated
    ]  # fmt: skip


def word(row: FactState, seq: int) -> str:
    """How the fact stands once entry `seq` is written, the gravest word first. It must be known by then."""
    if _by(row.retracted_seq, seq):
        return "retracted"
    if _by(row.rejected_seq, seq):
        return "rejected"
    if row.held_seq is not None and not _by(row.confirmed_seq, seq):
        return "held"
    if row.candidate:
        return "candidate"
    return "superseded" if _by(row.superseded_seq, seq) else "standing"


def acts(row: FactState) -> list[int]:
    """The seqs at which something was said of the fact, its own first."""
    told = {row.seq, row.superseded_seq, row.retracted_seq, row.confirmed_seq, row.rejected_seq}
    return sorted(seq for seq in told if seq is not None)


def _by(known: int | None, seq: int) -> bool:
    return known is not None and known <= seq


def until(row: FactState, seq: int) -> datetime | None:
    """Where the fact ends as known by entry `seq`: by its own end or by a supersession, whichever is first."""
    if row.superseded_at is None or not _by(row.superseded_seq, seq):
        return row.valid_to
    return row.superseded_at if row.valid_to is None else min(row.valid_to, row.superseded_at)


def value_of(row: FactState) -> Value | None:
    """The value, None once it is erased."""
    return None if row.value is None else cast(Value, strict_loads(row.value))


def origin_of(row: FactState) -> UUID | int | None:
    """What independent support counts: the named origin, else whoever wrote it."""
    return row.origin or row.agent or row.person


def statement(row: FactState, seq: int) -> Statement:
    """The row as the kernel reads it, as known by entry `seq`."""
    end = until(row, seq)
    return Statement(
        row.id, row.doc, row.stance, value_of(row), row.valid_from, end, row.recorded_at, origin_of(row),
        ends_itself=end is not None,
    )  # fmt: skip


def as_claimed(row: FactState, source_at: datetime) -> FactState:
    """The row as its source says it knew at the instant; acts without a claimed instant are as if they had not been."""
    told = copy(row)
    if row.superseded_claimed_at is None or row.superseded_claimed_at > source_at:
        told.superseded_seq = told.superseded_by = told.superseded_at = None
    if row.retracted_claimed_at is None or row.retracted_claimed_at > source_at:
        told.retracted_seq = told.retracted_as = None
    return told


def counting(row: FactState, seq: int) -> Statement | None:
    """The statement where it counts in a status as known by entry `seq`; None where it is hidden whole."""
    if row.seq > seq or row.erased_seq is not None or word(row, seq) not in ("standing", "superseded"):
        return None
    return statement(row, seq)


def derived(namespace: int) -> Iterator[list[FactState]]:
    """All state rows of the namespace made anew from evidence and content, in chunks, in order."""
    for facts in _chunks(namespace):
        ids = [fact.id for fact in facts]
        yield _states(namespace, facts, _acts(namespace, ids))


def _chunks(namespace: int) -> Iterator[list[Fact]]:
    seq, item = 0, -1
    while True:
        rows = Fact.objects.filter(namespace=namespace).order_by("seq", "item")
        found = list(rows.filter(seq=seq, item__gt=item)[:CHUNK]) or list(rows.filter(seq__gt=seq)[:CHUNK])
        if not found:
            return
        yield found
        seq, item = found[-1].seq, found[-1].item


def _acts(namespace: int, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """{fact: the columns that what was done to it sets}."""
    acts: dict[UUID, dict[str, Any]] = {}
    for gone in Supersession.objects.filter(namespace=namespace, old__in=ids):
        acts.setdefault(gone.old, {}).update(
            superseded_seq=gone.seq, superseded_by=gone.new, superseded_at=gone.at,
            superseded_claimed_at=gone.claimed_at,
        )  # fmt: skip
    for taken in Retraction.objects.filter(namespace=namespace, fact__in=ids):
        acts.setdefault(taken.fact, {}).update(
            retracted_seq=taken.seq, retracted_as=taken.retracted_as, retracted_claimed_at=taken.claimed_at
        )
    for held in Held.objects.filter(namespace=namespace, kind="fact", object__in=ids):
        acts.setdefault(held.object, {}).update(held_seq=held.seq, held_until=held.until_at)
    for review in Review.objects.filter(namespace=namespace, kind="fact", object__in=ids).order_by("seq", "item"):
        column = "confirmed_seq" if review.confirmed else "rejected_seq"
        acts.setdefault(review.object, {}).setdefault(column, review.seq)
    return acts


def _states(namespace: int, facts: Sequence[Fact], acts: Mapping[UUID, dict[str, Any]]) -> list[FactState]:
    seqs = {fact.seq for fact in facts}
    entries = {entry.seq: entry for entry in Entry.objects.filter(namespace=namespace, seq__in=seqs)}
    parts = contents_of(namespace, [(fact.seq, fact.item) for fact in facts])
    gone = Erasure.objects.filter(namespace=namespace, target_seq__in=seqs, target_part="value")
    erased = {(row.target_seq, row.target_item): row.seq for row in gone}
    rows = []
    for fact in facts:
        entry, address = entries[fact.seq], (fact.seq, fact.item)
        values = {field.attname: getattr(fact, field.attname) for field in Fact._meta.concrete_fields}
        values["valid_from"] = fact.valid_from or entry.recorded_at
        value = parts[address].get("value")
        rows.append(FactState(
            **values, **acts.get(fact.id, {}), doc=doc_of(*address), is_first=False, recorded_at=entry.recorded_at,
            person=entry.person, agent=entry.agent, run=entry.run,
            value=None if value is None else canonical(value).decode(),
            value_key=None if value is None else value_key(value), erased_seq=erased.get(address),
        ))  # fmt: skip
    return rows


def rows_with(namespace: int, ids: Iterable[UUID]) -> dict[UUID, FactState]:
    """The state rows of the facts."""
    wanted = sorted(set(ids))
    found: dict[UUID, FactState] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = FactState.objects.filter(namespace=namespace, id__in=wanted[start : start + CHUNK])
        found.update({row.id: row for row in rows})
    return found


def mark_first(namespace: int, rows: Sequence[FactState], *, unknown: Iterable[Entity] = ()) -> None:
    """Mark the rows that are the first of their entity; `unknown` entities have none stored. Rows are in order."""
    entities = dict.fromkeys((row.subject, row.attribute) for row in rows)
    without = set(unknown)
    seen = _stored(namespace, [entity for entity in entities if entity not in without])
    for row in rows:
        entity = (row.subject, row.attribute)
        row.is_first = entity not in seen
        seen.add(entity)


def _stored(namespace: int, entities: Sequence[Entity]) -> set[Entity]:
    """The entities among these that have a fact, one probe of the index for each."""
    found: set[Entity] = set()
    for start in range(0, len(entities), CHUNK):
        chunk = entities[start : start + CHUNK]
        asked = " UNION ALL ".join(["SELECT %s AS subject, %s AS attribute"] * len(chunk))
        if connection.vendor == "postgresql":
            asked = asked.replace("%s", "%s::uuid")
        rows = sql.fetch(
            f"SELECT v.subject, v.attribute FROM ({asked}) v WHERE EXISTS (SELECT 1 FROM memory_factstate f"
            " WHERE f.namespace_id = %s AND f.subject = v.subject AND f.attribute = v.attribute)",
            [*(name for entity in chunk for name in entity), namespace],
        )
        found.update((sql.as_id(subject), sql.as_id(attribute)) for subject, attribute in rows)
    return found


def tuples(rows: Iterable[FactState], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows as `memory.base.sql.insert` takes them."""
    return [tuple(getattr(row, name) for name in names) for row in rows]
