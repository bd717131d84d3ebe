"""Erasure: content and salt go, every digest and proof stays.

Locks: the namespace head. Appends: `erase`, one Erasure row for each part that goes. No row of evidence is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.base import gate, ids, projections
from memory.base.actor import Actor
from memory.base.errors import Invalid, NotFound
from memory.base.models import ContentRef
from memory.ledger.drafts import Draft, unpack
from memory.ledger.models import Content, Erasure, Item, Name
from memory.ledger.operations.appending import answered_before, opened, retried

Reach = Callable[[int, Sequence[tuple[int, int]]], Iterable[tuple[int, int]]]
_reaches: list[Reach] = []

REASONS = ("request", "policy", "secret", "mistake", "source")


@dataclass(frozen=True, slots=True)
class Erased:
    """`seq` of the erasing entry; `refs` what it erased now (empty when all of it was gone before)."""

    seq: int
    refs: tuple[ContentRef, ...]
    replayed: bool = False


def reach(function: Reach) -> None:
    """Register what else must go with an item: its raw copy in an import."""
    if function not in _reaches:
        _reaches.append(function)


@retried
def erase(by: Actor, *, items: Sequence[tuple[int, int]], reason: str, note: str = "") -> Erased:
    """Erase all content of the items (seq, item) and of what must go with them; erasing twice is one entry.

    Raises Forbidden (owners only), OnHold, NotFound (no such item), Invalid (reason, no item).
    """
    # Before anything is read: whoever may not erase learns nothing of what stands or is gone.
    gate.passes(by, gate.ERASE)
    if reason not in REASONS:
        raise Invalid.at("reason", expected=" or ".join(REASONS), got=reason)
    if not items:
        raise Invalid.at("items", expected="at least one item to erase")
    request = {"items": [list(item) for item in items], "reason": reason, "note": note}
    if (first := answered_before(by, verb="erase", need=gate.ERASE, request=request)) is not None:
        return _answered(by.namespace, first)
    items = reached(by.namespace, items)
    wanted = list(_parts(by.namespace, items))
    before = _gone(by.namespace, items)
    if before.keys() >= set(wanted):
        return Erased(max(before.values(), default=0), ())
    with opened(by, verb="erase", need=gate.ERASE, request=request) as entry:
        if entry.replayed_seq is not None:
            return _answered(by.namespace, entry.replayed_seq)
        before = _gone(by.namespace, items)
        refs = tuple(ref for ref in wanted if ref not in before)
        if not refs:
            # Somebody else erased the rest before the lock was taken.
            entry.void()
            return Erased(max(before.values()), ())
        for index, (seq, item, part) in enumerate(refs):
            row = {"target_seq": seq, "target_item": item, "target_part": part, "reason": reason}
            parts = {"note": note} if note and index == 0 else {}
            entry.add(Draft("erasure", ids.new_id(), Erasure, row, parts))
        entry.then(lambda: _drop(by.namespace, refs))
    return Erased(entry.seq, refs)


def reached(namespace: int, items: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The items and what must go with them, each once."""
    return list(dict.fromkeys([*items, *(more for function in _reaches for more in function(namespace, items))]))


def _answered(namespace: int, seq: int) -> Erased:
    rows = Erasure.objects.filter(namespace=namespace, seq=seq).order_by("item")
    refs = tuple(rows.values_list("target_seq", "target_item", "target_part"))
    return Erased(seq, refs, replayed=True)


def _parts(namespace: int, items: Sequence[tuple[int, int]]) -> Iterator[ContentRef]:
    for seq, item in items:
        found = Item.objects.filter(namespace=namespace, seq=seq, item=item).values_list("parts", flat=True).first()
        if found is None:
            raise NotFound(f"There is no item {item} of entry {seq}.")
        for part in unpack(found):
            yield seq, item, part


def _gone(namespace: int, items: Sequence[tuple[int, int]]) -> dict[ContentRef, int]:
    rows = Erasure.objects.filter(namespace=namespace, target_seq__in={seq for seq, _ in items})
    wanted = set(items)
    return {
        (row.target_seq, row.target_item, row.target_part): row.seq
        for row in rows
        if (row.target_seq, row.target_item) in wanted
    }


def _drop(namespace: int, refs: Sequence[ContentRef]) -> None:
    """Projections first: some must see the text in order to forget it."""
    for projector in projections.registered():
        projector.forget(namespace, refs)
    for seq, item, part in refs:
        if part == "name":
            Name.objects.filter(namespace=namespace, seq=seq, item=item).delete()
        else:
            Content.objects.filter(namespace=namespace, seq=seq, item=item, part=part).delete()
