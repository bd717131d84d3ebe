"""The blast radius of an erasure: what would go, what quotes it, and what rests on it and stays.

Invariants
- Nothing is written and nothing is locked: the answer is a preview, and the act asks again.
- What rests on an item, and what repeats it word for word, is told by the slices above, which register it here; the
  ledger knows references only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.asof import AsOf
from memory.ledger.models import Item, Reference
from memory.ledger.queries.addressed import Address, erased_parts, parts_of

AFFECTED_SHOWN = 1_000
OUT_OF_REACH = frozenset({"export"})
"""Kinds of things that left the house: they are told, and cannot be called back."""


@dataclass(frozen=True, slots=True)
class Affected:
    """Something that rests on what is erased, and how."""

    kind: str
    id: str
    relation: str


@dataclass(frozen=True, slots=True)
class Quote:
    """An item that stays unless it is named too, and repeats `n_lines` lines of what goes, `line` among them."""

    seq: int
    item: int
    object: UUID
    relation: str
    n_lines: int
    line: str


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
    """All parts of the items; what repeats these and what rests on them, the first AFFECTED_SHOWN of each."""

    parts: tuple[Part, ...]
    affected: tuple[Affected, ...]
    n_affected: int
    quotes: tuple[Quote, ...] = ()
    n_quotes: int = 0


Contribution = Callable[[AsOf, Sequence[Item]], Iterable[Affected]]
Quoting = Callable[[AsOf, Sequence[Item]], Iterable[Quote]]
Departures = Callable[[AsOf], Iterable[Affected]]
_contributions: list[Contribution] = []
_departures: list[Departures] = []
_quotings: list[Quoting] = []


def contribute(function: Contribution) -> None:
    """Register what rests on items: records derived from them, facts drawn from them, exports that hold them."""
    if function not in _contributions:
        _contributions.append(function)


def quoted_by(function: Quoting) -> None:
    """Register what repeats the text of items word for word."""
    if function not in _quotings:
        _quotings.append(function)


def parts(namespace: int, *, items: Sequence[Item]) -> tuple[Part, ...]:
    """Every part of the items, and by which entry it is gone."""
    gone = erased_parts(namespace, [(row.seq, row.item) for row in items])
    return tuple(
        Part(seq, item, part, row.kind, row.object, gone.get((seq, item, part)))
        for row in items
        for seq, item, part in parts_of([row])
    )


def radius(at: AsOf, *, items: Sequence[Item]) -> Radius:
    """What erasing the content of the items would take, what repeats it, and what rests on it."""
    affected = list(dict.fromkeys(_affected(at, items)))
    quotes = quotes_of(at, items=items)
    return Radius(
        parts(at.namespace, items=items), tuple(affected[:AFFECTED_SHOWN]), len(affected),
        tuple(quotes[:AFFECTED_SHOWN]), len(quotes),
    )  # fmt: skip


def out_of_reach(at: AsOf, *, items: Sequence[Item]) -> tuple[Affected, ...]:
    """What left the house and held the items: it is told, and cannot be called back."""
    told = (one for contribution in _contributions for one in contribution(at, items))
    return tuple(dict.fromkeys(one for one in told if one.kind in OUT_OF_REACH))[:AFFECTED_SHOWN]


def told_of_all(function: Departures) -> None:
    """Register what left the house and may hold a text of the namespace, whichever."""
    if function not in _departures:
        _departures.append(function)


def left_the_house(at: AsOf) -> tuple[Affected, ...]:
    """Everything that left the house with a text of the namespace, by the point."""
    return tuple(one for departures in _departures for one in departures(at))[:AFFECTED_SHOWN]


def quotes_of(at: AsOf, *, items: Sequence[Item]) -> list[Quote]:
    """What repeats the text of the items and is none of them, in the order of the ledger."""
    named = {(row.seq, row.item) for row in items}
    found: dict[Address, Quote] = {}
    for quoting in _quotings:
        for quote in quoting(at, items):
            if (quote.seq, quote.item) not in named:
                found.setdefault((quote.seq, quote.item), quote)
    return [found[address] for address in sorted(found)]


def _affected(at: AsOf, rows: Sequence[Item]) -> Iterable[Affected]:
    for contribution in _contributions:
        yield from contribution(at, rows)
    mentioned = {(row.seq, row.item) for row in rows}
    seqs = sorted({row.seq for row in rows})
    for start in range(0, len(seqs), 400):
        mentions = Reference.objects.filter(namespace=at.namespace, to_seq__in=seqs[start : start + 400])
        columns = ("seq", "from_item", "kind", "to_seq", "to_item")
        for seq, item, kind, *to in mentions.order_by("seq", "item").values_list(*columns):
            if tuple(to) in mentioned:
                yield Affected("item", f"{seq}.{item}", kind)
