"""Ancestry digests computed again: a part of the scan of the ledger, because no commitment covers them.

- A digest follows from the commitments of the record and of its ancestors and from the labels between them; stored
  digests are compared and never used, so one that was changed is reported once, at its own record.

Source: laws of the store, ancestry digest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from uuid import UUID

from memory.ledger.kernel import commitment
from memory.ledger.models import Item
from memory.ledger.queries.scanning import Fault
from memory.lineage.models import ANCESTRY, Edge
from memory.records.models import Record

PLACE = "ancestry_digest"


def digest_faults(namespace: int) -> Iterator[Fault]:
    """A fault for each record whose stored digest does not follow; asked only where rows and items hold."""
    above: dict[UUID, list[tuple[str, UUID]]] = defaultdict(list)
    edges = Edge.objects.filter(namespace=namespace, relation__in=ANCESTRY)
    for source, relation, target in edges.values_list("source", "relation", "target").iterator():
        above[source].append((relation, target))
    items = Item.objects.filter(namespace=namespace, kind="record")
    committed = {about: bytes(digest) for about, digest in items.values_list("object", "commitment").iterator()}
    fields = ("id", "seq", "item", "n_quarantined", "ancestry_digest")
    rows = {row[0]: row for row in Record.objects.filter(namespace=namespace).values_list(*fields).iterator()}
    sorter = TopologicalSorter({id: [target for _, target in above[id]] for id in rows})
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        _, seq, item, _, _ = rows[error.args[1][0]]
        yield Fault("row_mismatch", seq, item, expected="an ancestry without a cycle", got="a cycle", place=PLACE)
        return
    digests: dict[UUID, bytes] = {}
    for id in order:
        _, seq, item, n_quarantined, stored = rows[id]
        parents = [(relation, digests[target]) for relation, target in above[id]]
        digests[id] = commitment.ancestry_digest(str(id), committed[id], parents, n_quarantined)
        if digests[id] != bytes(stored):
            yield Fault("row_mismatch", seq, item, expected=digests[id].hex(), got=bytes(stored).hex(), place=PLACE)
