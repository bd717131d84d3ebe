"""Content and names by address: what the slices above read instead of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.canonical import strict_loads
from memory.ledger.models import Item, Name

CHUNK = 400


def contents_of(namespace: int, addresses: Iterable[tuple[int, int]]) -> dict[tuple[int, int], dict[str, Any]]:
    """{(seq, item): {part: value}} of the addresses; what is erased is missing."""
    wanted = set(addresses)
    found: dict[tuple[int, int], dict[str, Any]] = {address: {} for address in wanted}
    seqs = sorted({seq for seq, _ in wanted})
    for start in range(0, len(seqs), CHUNK):
        chunk = seqs[start : start + CHUNK]
        marks = ", ".join(["%s"] * len(chunk))
        only = [item for _, item in wanted] if len(wanted) == 1 else []
        rows = sql.fetch(
            f"SELECT seq, item, part, payload FROM memory_content WHERE namespace_id = %s AND seq IN ({marks})"
            + (" AND item = %s" if only else ""),
            [namespace, *chunk, *only],
        )
        for seq, item, part, payload in rows:
            if (seq, item) in wanted:
                found[seq, item][part] = strict_loads(payload)
    return found


def contents_of_kind(namespace: int, *, kind: str, part: str) -> Iterator[tuple[int, int, UUID, Any]]:
    """(seq, item, object id, value) of one part of all items of a kind, in order; erased ones are missing."""
    items = Item.objects.filter(namespace=namespace, kind=kind).order_by("seq", "item")
    addresses = list(items.values_list("seq", "item", "object"))
    for start in range(0, len(addresses), CHUNK):
        chunk = addresses[start : start + CHUNK]
        values = contents_of(namespace, [(seq, item) for seq, item, _ in chunk])
        for seq, item, about in chunk:
            if part in values[seq, item]:
                yield seq, item, about, values[seq, item][part]


def names_of(namespace: int, ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """The text of the names; an erased one is missing."""
    wanted = sorted({name for name in ids if name is not None})
    found: dict[UUID, str] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = Name.objects.filter(namespace=namespace, id__in=wanted[start : start + CHUNK])
        found.update(rows.values_list("id", "text"))
    return found


def name_ids(namespace: int, texts: Iterable[str]) -> dict[str, UUID]:
    """The ids of the names that exist."""
    wanted = list(texts)
    if not wanted:
        return {}
    marks = ", ".join(["%s"] * len(wanted))
    rows = sql.fetch(
        f"SELECT text, id FROM memory_name WHERE namespace_id = %s AND text IN ({marks})", [namespace, *wanted]
    )
    return {text: sql.as_id(id) for text, id in rows}


def commitments_of(namespace: int, kind: str, objects: Iterable[UUID]) -> dict[UUID, bytes]:
    """The commitment of the item of each object: its digest."""
    wanted = list(objects)
    found: dict[UUID, bytes] = {}
    for start in range(0, len(wanted), CHUNK):
        rows = Item.objects.filter(namespace=namespace, object__in=wanted[start : start + CHUNK], kind=kind)
        found.update({about: bytes(digest) for about, digest in rows.values_list("object", "commitment")})
    return found
