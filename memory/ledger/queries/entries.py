"""Entries and their items, for lists and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.ledger.drafts import unpack
from memory.ledger.models import Checkpoint, Entry, Erasure, Item
from memory.ledger.queries.contents import names_of

ITEMS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One operation in a list. `principal` says what `person` or `agent` is."""

    seq: int
    recorded_at: datetime
    verb: str
    principal: str
    person: int | None
    agent: UUID | None
    loader: UUID | None
    run: UUID | None
    host: str
    on_behalf_of: str
    request: UUID | None
    n_items: int
    leaf: bytes
    items_root: bytes
    has_key: bool


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item of an entry. `parts` = (name, commitment, seq of the erasing entry or None)."""

    item: int
    kind: str
    object: UUID
    commitment: bytes
    hash: bytes
    parts: tuple[tuple[str, bytes, int | None], ...]


@dataclass(frozen=True, slots=True)
class EntryDetail:
    """An entry with its first items and the newest checkpoint that covers it."""

    row: EntryRow
    items: tuple[ItemRow, ...]
    checkpoint: int | None
    previous: int | None
    next: int | None


def entries(
    at: AsOf, *, before: int | None = None, after: int | None = None, limit: int = 50, verb: str = "",
    run: UUID | None = None, agent: UUID | None = None,
) -> list[EntryRow]:  # fmt: skip
    """Entries up to the point, newest first; `before` and `after` are exclusive seqs."""
    rows = _narrowed(at, verb=verb, run=run, agent=agent)
    if after is not None:
        found = list(rows.filter(seq__gt=after).order_by("seq")[:limit])[::-1]
    else:
        found = list((rows.filter(seq__lt=before) if before is not None else rows).order_by("-seq")[:limit])
    return entry_rows(at.namespace, found)


def count_entries(at: AsOf, *, verb: str = "", run: UUID | None = None, agent: UUID | None = None) -> int:
    """How many entries `entries` lists over all its pages."""
    return _narrowed(at, verb=verb, run=run, agent=agent).count() if verb or run or agent else at.seq


def _narrowed(at: AsOf, *, verb: str, run: UUID | None, agent: UUID | None) -> QuerySet[Entry]:
    rows = Entry.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if verb:
        rows = rows.filter(verb=verb)
    if run is not None:
        rows = rows.filter(run=run)
    return rows if agent is None else rows.filter(agent=agent)


def entry_rows(namespace: int, rows: Sequence[Entry]) -> list[EntryRow]:
    """The rows with their names filled in, by one query."""
    names = names_of(namespace, [name for row in rows for name in (row.host, row.on_behalf_of)])
    return [
        EntryRow(
            row.seq, row.recorded_at, row.verb, row.principal, row.person, row.agent, row.loader, row.run,
            names.get(row.host, "erased") if row.host else "",
            names.get(row.on_behalf_of, "erased") if row.on_behalf_of else "",
            row.request, row.n_items, bytes(row.leaf), bytes(row.items_root), row.key is not None,
        )
        for row in rows
    ]  # fmt: skip


def entry(at: AsOf, *, seq: int, items_from: int = 0) -> EntryDetail:
    """One entry with up to ITEMS_SHOWN of its items. Raises NotFound."""
    found = Entry.objects.filter(namespace=at.namespace, seq=seq, seq__lte=at.seq).first()
    if found is None:
        raise NotFound(f"There is no entry {seq} as of entry {at.seq}.")
    items = Item.objects.filter(namespace=at.namespace, seq=seq, item__gte=items_from).order_by("item")[:ITEMS_SHOWN]
    gone = Erasure.objects.filter(namespace=at.namespace, target_seq=seq)
    erased = {(row.target_item, row.target_part): row.seq for row in gone}
    signed = Checkpoint.objects.filter(namespace=at.namespace, seq__gte=seq).order_by("seq")
    return EntryDetail(
        row=entry_rows(at.namespace, [found])[0], items=tuple(item_row(row, erased) for row in items),
        checkpoint=signed.values_list("seq", flat=True).first(), previous=seq - 1 if seq > 1 else None,
        next=seq + 1 if seq < at.seq else None,
    )  # fmt: skip


def item_row(row: Item, erased: Mapping[tuple[int, str], int]) -> ItemRow:
    """The item for reading. `erased` = {(item, part): the entry that erased it}."""
    parts = tuple((name, digest, erased.get((row.item, name))) for name, digest in unpack(row.parts).items())
    return ItemRow(row.item, row.kind, row.object, bytes(row.commitment), bytes(row.hash), parts)


def latest_checkpoint(namespace: int, *, until: int | None = None) -> Checkpoint | None:
    """The newest signed checkpoint, of at most `until` entries where that is given."""
    rows = Checkpoint.objects.filter(namespace=namespace)
    return (rows if until is None else rows.filter(seq__lte=until)).order_by("-seq").first()
