"""What became of a conflict: the verdicts on it with what their two sides said, and the act that ended it without one.

Invariants
- A verdict is read without what stands now: its A and B are the facts that it was given on, with their own values.
- An erased value is None, and the verdict on it stays. A case of erased values is found by its verdicts, else by the
  facts that an erasure has emptied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.agents.labels import labels
from memory.base.asof import AsOf
from memory.facts.kernel.conflict import case_id
from memory.facts.kernel.values import Value
from memory.facts.models import Adjudication, ConflictCase, FactState, Retraction, Supersession
from memory.facts.states import Entity, rows_with, value_of
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of
from memory.records.models import Review


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decided of the case before. Values are None once erased; `begins` is the side that held first."""

    seq: int
    recorded_at: datetime
    person: int | None
    verdict: str
    a: UUID
    b: UUID
    a_value: Value | None
    b_value: Value | None
    a_stance: str
    b_stance: str
    begins: str
    split_at: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class EndedFact:
    """A fact of the case that the act has ended; the value is None once erased."""

    id: UUID
    stance: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The entry that left nothing to settle where no verdict did. `facts` are those that it ended, if it ended any."""

    seq: int
    recorded_at: datetime
    verb: str
    person: int | None
    agent_name: str
    reason: str | None
    facts: tuple[EndedFact, ...]


def entity_of(namespace: int, case: UUID) -> Entity | None:
    """The subject and attribute of the case, None where none has this id."""
    opened = ConflictCase.objects.filter(namespace=namespace, id=case).values_list("subject", "attribute").first()
    if opened is not None:
        return opened
    facts = FactState.objects.filter(namespace=namespace)
    settled = Adjudication.objects.filter(namespace=namespace, case=case).values_list("a", flat=True).first()
    if settled is not None:
        return facts.filter(id=settled).values_list("subject", "attribute").first()
    emptied = facts.filter(erased_seq__isnull=False).values_list("subject", "attribute").distinct()
    return next((entity for entity in emptied.iterator(chunk_size=2_000) if case_id(*entity) == case), None)


def has_erased(at: AsOf, entity: Entity) -> bool:
    """Whether the value of a fact of the entity that was known by the point is erased now."""
    rows = FactState.objects.filter(namespace=at.namespace, subject=entity[0], attribute=entity[1])
    return rows.filter(erased_seq__isnull=False, seq__lte=at.seq).exists()


def verdicts_of(at: AsOf, case: UUID) -> tuple[Verdict, ...]:
    """The verdicts on the case by the point, oldest first."""
    rows = list(Adjudication.objects.filter(namespace=at.namespace, case=case, seq__lte=at.seq).order_by("seq", "item"))
    parts: Mapping[Any, Any] = contents_of(at.namespace, [(row.seq, row.item) for row in rows])
    entries = {
        entry.seq: entry for entry in Entry.objects.filter(namespace=at.namespace, seq__in=[r.seq for r in rows])
    }
    facts = rows_with(at.namespace, {fact for row in rows for fact in (row.a, row.b)})
    return tuple(
        _verdict(row, entries[row.seq], facts[row.a], facts[row.b], parts[row.seq, row.item].get("note"))
        for row in rows
    )


def _verdict(row: Adjudication, entry: Entry, a: FactState, b: FactState, reason: str | None) -> Verdict:
    begins = "a" if (a.valid_from, a.doc) <= (b.valid_from, b.doc) else "b"
    return Verdict(
        row.seq, entry.recorded_at, entry.person, row.verdict, row.a, row.b, value_of(a), value_of(b), a.stance,
        b.stance, begins, row.split_at, reason,
    )  # fmt: skip


def ended_by(at: AsOf, entity: Entity, *, seq: int) -> Ended:
    """The act of entry `seq` that ended the case of the entity, with what it says of the facts that it ended."""
    entry = Entry.objects.get(namespace=at.namespace, seq=seq)
    own = {"namespace": at.namespace, "seq": seq}
    said = {
        fact: item
        for rows in (
            Retraction.objects.filter(**own).values_list("fact", "item"),
            Supersession.objects.filter(**own).values_list("old", "item"),
            Review.objects.filter(**own, kind="fact").values_list("object", "item"),
        )
        for fact, item in rows
    }
    rows = [row for row in rows_with(at.namespace, said).values() if (row.subject, row.attribute) == entity]
    rows.sort(key=lambda row: row.doc)
    parts: Mapping[Any, Any] = contents_of(at.namespace, [(seq, said[row.id]) for row in rows])
    notes = [parts[seq, said[row.id]].get("note") for row in rows]
    agent = "" if entry.agent is None else labels(at.namespace, agents=[entry.agent]).agents.get(entry.agent, "erased")
    return Ended(
        seq, entry.recorded_at, entry.verb, entry.person, agent, next((note for note in notes if note), None),
        tuple(EndedFact(row.id, row.stance, value_of(row)) for row in rows),
    )  # fmt: skip
