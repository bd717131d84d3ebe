"""The blast radius of an erasure: what would go, and what rests on it and stays.

Invariants
- Nothing is written and nothing is locked: the answer is a preview, and the act asks again.
- What rests on an item is told by the slices above, which register it here; the ledger knows references only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.ledger.drafts import unpack
from memory.ledger.models import Erasure, Item, Reference

Address = tuple[int, int]
AFFECTED_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Affected:
    """Something that rests on what is erased, and how."""

    kind: str
    id: str
    relation: str


@dataclass(frozen=True, slots=True)
class Part:
    """One part of one item, what the item is about, and the entry that erased it, if one has."""

    seq: int
    item: int
    part: str
    kind: str
    object: UUID
    erased_by: int | None


@dataclass(frozen=True, slots=True)
class Radius:
    """All parts of the items, and what rests on these, the first AFFECTED_SHOWN."""

    parts: tuple[Part, ...]
    affected: tuple[Affected, ...]
    n_affected: int


Contribution = Callable[[AsOf, Sequence[Item]], Iterable[Affected]]
_contributions: list[Contribution] = []


def contribute(function: Contribution) -> None:
    """Register what rests on items: records derived from them, facts drawn from them."""
    if function not in _contributions:
        _contributions.append(function)


def items_of(namespace: int, *, kind: str, objects: Sequence[UUID]) -> list[Address]:
    """The addresses of the items about these objects, in their order.   Raises NotFound."""
    rows = Item.objects.filter(namespace=namespace, kind=kind, object__in=objects)
    found = {about: (seq, item) for about, seq, item in rows.values_list("object", "seq", "item")}
    missing = [about for about in objects if about not in found]
    if missing:
        raise NotFound(f"There is no {kind} {missing[0]}.", id=str(missing[0]))
    return [found[about] for about in objects]


def radius(at: AsOf, *, items: Sequence[Address]) -> Radius:
    """What erasing the content of the items would take, and what rests on it.   Raises NotFound (no such item)."""
    rows = [_item(at.namespace, address) for address in dict.fromkeys(items)]
    gone = Erasure.objects.filter(namespace=at.namespace, target_seq__in={row.seq for row in rows})
    erased = {(row.target_seq, row.target_item, row.target_part): row.seq for row in gone}
    parts = [
        Part(row.seq, row.item, name, row.kind, row.object, erased.get((row.seq, row.item, name)))
        for row in rows
        for name in unpack(row.parts)
    ]
    affected = list(dict.fromkeys(_affected(at, rows)))
    return Radius(tuple(parts), tuple(affected[:AFFECTED_SHOWN]), len(affected))


def _item(namespace: int, address: Address) -> Item:
    row = Item.objects.filter(namespace=namespace, seq=address[0], item=address[1]).first()
    if row is None:
        raise NotFound(f"There is no item {address[1]} of entry {address[0]}.")
    return row


def _affected(at: AsOf, rows: Sequence[Item]) -> Iterable[Affected]:
    for contribution in _contributions:
        yield from contribution(at, rows)
    for row in rows:
        mentions = Reference.objects.filter(namespace=at.namespace, to_seq=row.seq, to_item=row.item)
        for seq, item, kind in mentions.order_by("seq", "item").values_list("seq", "from_item", "kind"):
            yield Affected("item", f"{seq}.{item}", kind)
