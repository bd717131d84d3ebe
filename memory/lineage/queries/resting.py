"""What was derived from records: what an erasure of these leaves without its ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from memory.base.asof import AsOf
from memory.ledger.models import Item
from memory.ledger.queries.radius import Affected
from memory.lineage.models import ANCESTRY, Edge

CHUNK = 400


def derived_records(at: AsOf, items: Sequence[Item]) -> Iterator[Affected]:
    """Every record that came from those among the items, once, nearest first; they themselves are left out."""
    level = [item.object for item in items if item.kind == "record"]
    seen = set(level)
    while level:
        found = sorted(_children(at, level), key=lambda child: child[0].bytes)
        level = []
        for child, relation in found:
            if child not in seen:
                seen.add(child)
                level.append(child)
                yield Affected("record", str(child), relation)


def _children(at: AsOf, parents: Sequence[UUID]) -> Iterator[tuple[UUID, str]]:
    for start in range(0, len(parents), CHUNK):
        rows = Edge.objects.filter(namespace=at.namespace, target__in=parents[start : start + CHUNK], seq__lte=at.seq)
        yield from rows.filter(relation__in=ANCESTRY).values_list("source", "relation")
