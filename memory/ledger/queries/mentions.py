"""What rows of evidence mention, by the ids of the things mentioned.

Invariants
- A thing is mentioned by the item that brought it: the first one about its id.
- A reference stands whatever becomes of its target; the reader is told what is erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base import sql
from memory.base.errors import NotFound
from memory.ledger.models import Item
from memory.ledger.queries.addressed import Address

CHUNK = 400
_MENTIONED = (
    "SELECT r.seq, r.from_item, i.kind, i.object, i.seq, i.item, EXISTS (SELECT 1 FROM memory_erasure e"
    " WHERE e.namespace_id = i.namespace_id AND e.target_seq = i.seq AND e.target_item = i.item)"
    " FROM memory_reference r JOIN memory_item i"
    " ON i.namespace_id = r.namespace_id AND i.seq = r.to_seq AND i.item = r.to_item"
    " WHERE r.namespace_id = %s AND r.kind = %s AND r.seq IN ({marks}) ORDER BY r.seq, r.item"
)


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
    found: dict[Address, list[Mention]] = {address: [] for address in wanted}
    seqs = sorted({seq for seq, _ in wanted})
    for start in range(0, len(seqs), CHUNK):
        chunk = seqs[start : start + CHUNK]
        statement = _MENTIONED.format(marks=", ".join(["%s"] * len(chunk)))
        for seq, item, what, about, *to, is_erased in sql.fetch(statement, [namespace, kind, *chunk]):
            if (seq, item) in wanted:
                found[seq, item].append(Mention(what, sql.as_id(about), to[0], to[1], bool(is_erased)))
    return {address: tuple(told) for address, told in found.items()}
