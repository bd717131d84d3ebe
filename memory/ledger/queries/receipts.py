"""What an erasure did, for whoever must account for it: the receipt of one erasing entry, and the list of them.

Invariants
- A receipt is read from evidence and the counts that stood in the entry; it names no text and cannot change, but for
  the instant of the first scrub after it and for what was erased of itself.
- What is out of reach is said on every receipt: it names what nobody here can call back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Min, Q

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.base.models import ContentRef
from memory.ledger.drafts import unpack
from memory.ledger.models import Entry, Erasure, Item
from memory.ledger.queries import radius
from memory.ledger.queries.addressed import Address, items_at
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.radius import Affected, Part

CLOSING = "close_namespace"

OUT_OF_REACH = (
    ("backups", "Copies of the database made before; apply the list of commitments after restoring one."),
    ("exports", "Files that were handed out; each is named with its digest where it was made here."),
    ("clients", "What agents and people have read, and what they keep of it."),
    ("logs of the database", "Archived write-ahead log, and statements that a server was told to log."),
    ("replicas", "Archives and snapshots that a replica makes of its own."),
    ("snapshots", "Images of the file system or of the machine."),
)
STAYS = (
    ("shape", "Ids, instants, types of rows, edges and counts: what else was built on the text stays provable."),
    ("commitments and digests", "Hashes under a salt that is gone: nobody can test a guess of the text against them."),
    ("the entry", "Who erased, when, for which reason, and which parts."),
    ("proofs", "Every entry, its items and every checkpoint verify as before; the content reads as erased."),
)


@dataclass(frozen=True, slots=True)
class ErasureRow:
    """One erasure in a list. `reason` is its code, `n_parts` how many parts it erased.

    `is_closing`: it erased everything and closed the namespace.
    """

    seq: int
    recorded_at: datetime
    person: int | None
    principal: str
    reason: str
    n_parts: int
    is_closing: bool = False


@dataclass(frozen=True, slots=True)
class Scrub:
    """The first scrub of the database's files after an erasure, by the entry that says so."""

    seq: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """One erasure with all it touched.

    note : the wording of the reason, "" for none.   exports : what left the house before it and held the text.
    touched : counts by place, None where these were erased themselves.   scrub : None until the files were written
    anew after it.   engine : of the database that stands now.
    """

    row: ErasureRow
    note: str
    parts: tuple[Part, ...]
    commitments: Mapping[ContentRef, bytes]
    exports: tuple[Affected, ...]
    touched: Mapping[str, Any] | None
    scrub: Scrub | None
    engine: str
    erased_by: int | None


Scrubs = Callable[[int, int], Scrub | None]
_scrubs: list[Scrubs] = []


def scrubs_told_by(function: Scrubs) -> None:
    """Register who knows when the files of the database were last written anew: (namespace, after entry) -> Scrub."""
    _scrubs[:] = [function]


def erasures(at: AsOf, *, before: int | None = None, limit: int = 50) -> list[ErasureRow]:
    """Erasures up to the point, newest first; `before` is an exclusive seq."""
    rows = Erasure.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    rows = rows if before is None else rows.filter(seq__lt=before)
    found = rows.values("seq").annotate(n=Count("item"), why=Min("reason")).order_by("-seq")[:limit]
    counted = {row["seq"]: (row["n"], row["why"]) for row in found}
    entries = {row.seq: row for row in Entry.objects.filter(namespace=at.namespace, seq__in=list(counted))}
    return [_row(entries[seq], reason, n_parts) for seq, (n_parts, reason) in counted.items()]


def count_erasures(at: AsOf) -> int:
    """How many erasures `erasures` lists over all its pages."""
    # A namespace that held no text at all is closed by an entry of one item, which erases nothing.
    erased = Q(verb="erase") | Q(verb=CLOSING, n_items__gt=1)
    return Entry.objects.filter(erased, namespace=at.namespace, seq__lte=at.seq).count()


def receipt(at: AsOf, *, seq: int, most: int | None = None) -> Receipt:
    """The receipt of the erasing entry, with its first `most` parts.

    Raises NotFound (no such entry; it erased nothing).
    """
    named = Erasure.objects.filter(namespace=at.namespace, seq=seq, seq__lte=at.seq)
    rows = list(named.order_by("item") if most is None else named.order_by("item")[: most + 1])
    if not rows:
        raise NotFound(f"There is no erasure {seq} as of entry {at.seq}.")
    n_parts = len(rows) if most is None or len(rows) <= most else named.count()
    entry = Entry.objects.get(namespace=at.namespace, seq=seq)
    told = (seq, 0 if entry.verb == CLOSING else rows[0].item)
    stored = contents_of(at.namespace, [told])[told]
    again = Erasure.objects.filter(namespace=at.namespace, target_seq=seq).order_by("seq")
    refs = [(row.target_seq, row.target_item, row.target_part) for row in rows[:most]]
    items = _items(at, entry, refs)
    return Receipt(
        row=_row(entry, rows[0].reason, n_parts), note=stored.get("note", ""), touched=stored.get("report"),
        parts=tuple(Part(*ref, items[ref[:2]].kind, items[ref[:2]].object, seq) for ref in refs),
        commitments={ref: unpack(items[ref[:2]].parts)[ref[2]] for ref in refs},
        exports=_exports(replace(at, seq=seq), entry, items.values()), scrub=scrub_after(at, seq=seq),
        engine=connection.vendor, erased_by=again.values_list("seq", flat=True).first(),
    )  # fmt: skip


def _items(at: AsOf, entry: Entry, refs: Sequence[ContentRef]) -> dict[Address, Item]:
    """The items of the parts, which are in the order of the ledger where a namespace was closed."""
    if entry.verb == CLOSING:
        found: Iterable[Item] = Item.objects.filter(
            namespace=at.namespace, seq__gte=refs[0][0], seq__lte=refs[-1][0]
        ).iterator()
    else:
        found = items_at(at.namespace, [(seq, item) for seq, item, _ in refs])
    return {(one.seq, one.item): one for one in found}


def _exports(at: AsOf, entry: Entry, items: Iterable[Item]) -> tuple[Affected, ...]:
    return radius.left_the_house(at) if entry.verb == CLOSING else radius.out_of_reach(at, items=list(items))


def scrub_after(at: AsOf, *, seq: int) -> Scrub | None:
    """The first scrub of the files after the erasing entry, whenever that was; None for none yet."""
    return next((found for told in _scrubs if (found := told(at.namespace, seq)) is not None), None)


def _row(entry: Entry, reason: str, n_parts: int) -> ErasureRow:
    is_closing = entry.verb == CLOSING
    return ErasureRow(entry.seq, entry.recorded_at, entry.person, entry.principal, reason, n_parts, is_closing)
