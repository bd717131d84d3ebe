"""What rests on something: the facts, and whatever else, that refer to an item as their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.agents.labels import labels
from memory.base.asof import AsOf
from memory.facts.models import FactState
from memory.facts.queries.status import FactLine, line_of
from memory.ledger.models import Reference
from memory.ledger.queries.addressed import Address, items_at
from memory.records.models import doc_of

SHOWN = 50
EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Relying:
    """One thing that refers to an item: its kind, its id, the entry that brought it."""

    kind: str
    object: UUID
    seq: int
    item: int


@dataclass(frozen=True, slots=True)
class DrawnFact:
    """A fact that names an item as its evidence, as it stands at the point."""

    line: FactLine
    subject: str
    attribute: str


def relying_on(at: AsOf, items: Sequence[Address]) -> dict[Address, tuple[Relying, ...]]:
    """{item: what refers to it by the point, oldest first}, at most SHOWN of each. Two queries."""
    found: dict[Address, list[Address]] = {address: [] for address in items}
    rows = Reference.objects.filter(
        namespace=at.namespace, to_seq__in=sorted({seq for seq, _ in items}), kind=EVIDENCE, seq__lte=at.seq
    )
    for to_seq, to_item, seq, item in rows.order_by("seq", "item").values_list("to_seq", "to_item", "seq", "from_item"):
        members = found.get((to_seq, to_item))
        if members is not None and len(members) < SHOWN:
            members.append((seq, item))
    origins = {origin for members in found.values() for origin in members}
    told = {(row.seq, row.item): row for row in items_at(at.namespace, origins)} if origins else {}
    return {
        address: tuple(
            Relying(told[one].kind, told[one].object, *one) for one in dict.fromkeys(members) if one in told
        )
        for address, members in found.items()
    }  # fmt: skip


def drawn_from(at: AsOf, item: Address) -> tuple[list[DrawnFact], int]:
    """The facts that rest on the item and are known by the point, newest first, at most SHOWN; and how many there are.

    Held ones are left out: nobody has confirmed them. Three queries.
    """
    sources = Reference.objects.filter(
        namespace=at.namespace, to_seq=item[0], to_item=item[1], kind=EVIDENCE, seq__lte=at.seq
    )
    docs = {doc_of(*origin) for origin in sources.values_list("seq", "from_item")}
    rows = [
        row
        for row in FactState.objects.filter(namespace=at.namespace, doc__in=sorted(docs)[-10 * SHOWN :])
        if row.held_seq is None or (row.confirmed_seq is not None and row.confirmed_seq <= at.seq)
    ]
    rows.sort(key=lambda row: -row.doc)
    texts = labels(
        at.namespace, names={name for row in rows for name in (row.subject, row.attribute, row.origin, row.scale)},
        agents={row.agent for row in rows},
    )  # fmt: skip
    drawn = [
        DrawnFact(
            line_of(row, at, texts), texts.names.get(row.subject, "erased"), texts.names.get(row.attribute, "erased")
        )
        for row in rows[:SHOWN]
    ]
    return drawn, len(rows)
