"""Items by address, in bulk: what an erasure names and what is left of it.

An address is (seq, item); a reference is (seq, item, part).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.base.errors import NotFound
from memory.base.models import ContentRef
from memory.ledger.drafts import unpack
from memory.ledger.models import Erasure, Item

Address = tuple[int, int]
# Values of settings are words of ours; erasing one would change how the namespace works.
UNERASABLE = ("setting",)
ENTRIES = 100
ITEMS = 400


def items_at(namespace: int, addresses: Iterable[Address]) -> list[Item]:
    """The items, each once, in the order named.   Raises NotFound (no such item)."""
    wanted = list(dict.fromkeys(addresses))
    rows = Item.objects.filter(namespace=namespace)
    found = {(row.seq, row.item): row for chunk in _chunks(wanted) for row in rows.filter(_at(chunk, "seq", "item"))}
    for seq, item in wanted:
        if (seq, item) not in found:
            raise NotFound(f"There is no item {item} of entry {seq}.")
    return [found[address] for address in wanted]


def items_about(namespace: int, *, kind: str, objects: Sequence[UUID]) -> list[Item]:
    """The items about these objects, each once, in their order.   Raises NotFound."""
    wanted = list(dict.fromkeys(objects))
    rows = Item.objects.filter(namespace=namespace, kind=kind)
    found: dict[UUID, Item] = {}
    for start in range(0, len(wanted), ITEMS):
        found.update({row.object: row for row in rows.filter(object__in=wanted[start : start + ITEMS])})
    missing = next((about for about in wanted if about not in found), None)
    if missing is not None:
        raise NotFound(f"There is no {kind} {missing}.", id=str(missing))
    return [found[about] for about in wanted]


def parts_of(items: Iterable[Item]) -> Iterator[ContentRef]:
    """Every part of the items, in order."""
    for item in items:
        for part in unpack(item.parts):
            yield item.seq, item.item, part


def erased_parts(namespace: int, addresses: Iterable[Address]) -> dict[ContentRef, int]:
    """{part: the entry that erased it} of what is gone of the items."""
    rows: QuerySet[Any] = Erasure.objects.filter(namespace=namespace)
    found: dict[ContentRef, int] = {}
    for chunk in _chunks(list(addresses)):
        gone = rows.filter(_at(chunk, "target_seq", "target_item"))
        found.update({(at, item, part): seq for seq, at, item, part in gone.values_list("seq", *TARGET)})
    return found


TARGET = ("target_seq", "target_item", "target_part")


def _chunks(addresses: Sequence[Address]) -> Iterator[list[Address]]:
    """Addresses by so few entries and items at a time that a statement can name them."""
    chunk: list[Address] = []
    entries: set[int] = set()
    for seq, item in sorted(set(addresses)):
        if len(chunk) == ITEMS or (seq not in entries and len(entries) == ENTRIES):
            yield chunk
            chunk, entries = [], set()
        chunk.append((seq, item))
        entries.add(seq)
    if chunk:
        yield chunk


def _at(addresses: Sequence[Address], seq: str, item: str) -> Q:
    by_entry: dict[int, list[int]] = {}
    for entry, number in addresses:
        by_entry.setdefault(entry, []).append(number)
    return reduce(or_, (Q(**{seq: entry, f"{item}__in": numbers}) for entry, numbers in by_entry.items()))
