"""A log worth attacking, and what an attacker does to it who knows how it is built.

All of it writes to the tables directly: the triggers must be lifted.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from memory.base import ids
from memory.base.canonical import canonical
from memory.ledger import drafts
from memory.ledger.kernel import commitment, merkle
from memory.ledger.models import Content, Entry, Head, Item, Namespace, Node
from memory.ledger.operations.checkpoints import checkpoint
from memory.ledger.queries.leaves import leaf_fields
from memory.ledger.queries.proofs import evidence_row
from memory.records.models import Record
from tests.every_table import GUARDED
from tests.world import World


class Store(World):
    """A log with a batch, a name, text in every kind of place, two checkpoints, and an entry after the second."""

    def __init__(self, name: str = "lab") -> None:
        super().__init__(name)
        self.single = self.save("a single note", summary="a summary", tags=("a",))
        self.batch = self.save_all("first", "second", "third")
        self.newer = self.evolve(self.batch[0].id, content="first, corrected")
        self.early = checkpoint(self.namespace, make_key=True)
        self.withdraw(self.batch[1].id)
        self.merge(self.batch[2].id, self.newer)
        self.late = checkpoint(self.namespace)
        self.last = self.save("after the last checkpoint")

    def of(self, model: type[models.Model], **where: object) -> models.QuerySet[Any]:
        return model._default_manager.filter(namespace=self.namespace, **where)

    @property
    def size(self) -> int:
        return Head.objects.get(namespace=self.namespace).size


def remove(store: World, *, first: int, last: int) -> None:
    """Entries with all that belongs to them, from every table."""
    for model in GUARDED:
        if model is not Namespace:
            model._default_manager.filter(namespace=store.namespace, seq__gte=first, seq__lte=last).delete()


def shorten(store: World, *, size: int) -> None:
    """Head and nodes as they were at that size."""
    last = Entry.objects.get(namespace=store.namespace, seq=size)
    Head.objects.filter(namespace=store.namespace).update(size=size, last_at=last.recorded_at)
    regrow(store.namespace)


def regrow(namespace: int) -> None:
    """Make the stored tree anew from the leaves that stand."""
    Node.objects.filter(namespace=namespace).delete()
    leaves = [
        bytes(leaf) for leaf in Entry.objects.filter(namespace=namespace).order_by("seq").values_list("leaf", flat=True)
    ]
    nodes: dict[tuple[int, int], bytes] = {}
    for position, leaf in enumerate(leaves):
        for level, index, digest in merkle.completed_nodes(position, leaf, lambda *at: nodes[at]):
            nodes[level, index] = digest
    Node.objects.bulk_create(
        Node(namespace_id=namespace, level=level, index=index, hash=digest) for (level, index), digest in nodes.items()
    )


def rewrite(store: Store) -> None:
    """Another text in place of the first one, and everything above it computed anew, as an honest writer would."""
    item = store.of(Item, seq=store.single.seq, item=0).get()
    salt, payload = ids.new_salts(1)[0], canonical("what I would rather have said")
    store.of(Content, seq=item.seq, item=0, part="content").update(payload=payload.decode(), salt=salt)
    parts = drafts.unpack(item.parts) | {"content": commitment.part_commitment("content", salt, payload)}
    row = evidence_row(store.namespace, "record", item.seq, 0)
    assert row is not None
    digest = commitment.item_commitment(drafts.row_of(row), parts)
    ancestry = commitment.ancestry_digest(str(store.single.id), digest, [], 0)
    store.of(Record, id=store.single.id).update(ancestry_digest=ancestry)
    hashed = commitment.item_hash(0, item.kind, str(item.object), digest)
    store.of(Item, seq=item.seq, item=0).update(parts=drafts.pack(parts), commitment=digest, hash=hashed)
    hashes = store.of(Item, seq=item.seq).order_by("item").values_list("hash", flat=True)
    entry = store.of(Entry, seq=item.seq).get()
    entry.items_root = merkle.root([bytes(each) for each in hashes])
    leaf = commitment.entry_leaf(leaf_fields(entry, namespace=store.name))
    store.of(Entry, seq=item.seq).update(items_root=entry.items_root, leaf=leaf)
    regrow(store.namespace)
