"""What rows of evidence mention, by the ids of the things mentioned.

Invariants
- A thing is mentioned by the item that brought it: the first one about its id.
- A reference stands whatever becomes of its target; the reader is told what is erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.errors import NotFound
from memory.ledger.models import Item, Reference
from memory.ledger.queries.addressed import Address, erased_parts, items_at

CHUNK = 400


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that an item mentions: what it is, where it was brought, and whether any of its text is erased."""

    kind: str
    object: UUID
    seq: int
    item: int
    is_erased: bool


def things(namespace: int, ids: Sequence[UUID]) -> list[Item]:
    """The item that brought each of the things, each once, in the order named.   Raises NotFound."""
    wanted = list(dict.fromkeys(ids))
    found: dict[UUID, Item] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = Item.objects.filter(namespace=namespace, object__in=wanted[start : start + CHUNK])
        for row in rows.exclude(kind="name").order_by("seq", "item"):
            found.setdefault(row.object, row)
    missing = next((one for one in wanted if one not in found), None)
    if missing is not None:
        raise NotFound(f"There is nothing with the id {missing}.", id=str(missing))
    return [found[one] for one in wanted]


def mentions(namespace: int, items: Iterable[Address], *, kind: str) -> dict[Address, tuple[Mention, ...]]:
    """{item: what it mentions by references of this kind}, in the order in which they were given."""
    wanted = set(items)
    found: dict[Address, list[Address]] = {address: [] for address in wanted}
    seqs = sorted({seq for seq, _ in wanted})
    for start in range(0, len(seqs), CHUNK):
        rows = Reference.objects.filter(namespace=namespace, seq__in=seqs[start : start + CHUNK], kind=kind)
        for seq, item, *to in rows.order_by("seq", "item").values_list("seq", "from_item", "to_seq", "to_item"):
            if (seq, item) in wanted:
                found[seq, item].append((to[0], to[1]))
    told = _told(namespace, {target for targets in found.values() for target in targets})
    return {address: tuple(told[target] for target in targets) for address, targets in found.items()}


def _told(namespace: int, targets: set[Address]) -> dict[Address, Mention]:
    gone = {(seq, item) for seq, item, _ in erased_parts(namespace, targets)}
    rows = items_at(namespace, targets)
    return {
        (row.seq, row.item): Mention(row.kind, row.object, row.seq, row.item, (row.seq, row.item) in gone)
        for row in rows
    }  # fmt: skip
