"""Roots and paths of a namespace's log, from stored complete subtrees: O(log n) rows, fetched by one query."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q

from memory.base.errors import Unavailable
from memory.ledger.kernel import merkle
from memory.ledger.models import Item, Node

Coordinate = tuple[int, int]


def root(namespace: int, size: int) -> bytes:
    """The RFC 6962 root of the first `size` entries."""
    if size == 0:
        return merkle.EMPTY_ROOT
    wanted = merkle.peaks(size)
    nodes = _nodes(namespace, wanted)
    return merkle.root_from_peaks([nodes[at] for at in wanted])


def inclusion_path(namespace: int, *, seq: int, size: int) -> list[bytes]:
    """The audit path of entry `seq` in the tree of the first `size` entries."""
    groups = merkle.inclusion_nodes(seq - 1, size)
    nodes = _nodes(namespace, (at for group in groups for at in group))
    return merkle.inclusion_path(seq - 1, size, lambda level, index: nodes[level, index])


def consistency_path(namespace: int, *, first: int, second: int) -> list[bytes]:
    """The proof that the log of `second` entries begins with that of `first`."""
    groups = merkle.consistency_nodes(first, second)
    nodes = _nodes(namespace, (at for group in groups for at in group))
    return merkle.consistency_path(first, second, lambda level, index: nodes[level, index])


def item_path(namespace: int, *, seq: int, item: int) -> list[bytes]:
    """The audit path of an item in its entry."""
    rows = Item.objects.filter(namespace=namespace, seq=seq).order_by("item").values_list("hash", flat=True)
    return merkle.inclusion_path_of([bytes(digest) for digest in rows], item)


def _nodes(namespace: int, wanted: Iterable[Coordinate]) -> dict[Coordinate, bytes]:
    coordinates = sorted(set(wanted))
    if not coordinates:
        return {}
    which = Q()
    for level, index in coordinates:
        which |= Q(level=level, index=index)
    rows = Node.objects.filter(which, namespace=namespace).values_list("level", "index", "hash")
    found = {(level, index): bytes(digest) for level, index, digest in rows}
    missing = [at for at in coordinates if at not in found]
    if missing:
        raise Unavailable(f"The tree lacks node {missing[0]}; verify the ledger, then rebuild.")
    return found


def object_item(namespace: int, *, kind: str, object: UUID) -> tuple[int, int] | None:
    """(seq, item) of the first item about an object."""
    rows = Item.objects.filter(namespace=namespace, object=object, kind=kind).order_by("seq", "item")
    return rows.values_list("seq", "item").first()
