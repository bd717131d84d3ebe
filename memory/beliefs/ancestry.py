"""What observations are derived from, and what is derived from them: references of one kind between their items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched
from uuid import UUID

from memory.beliefs.models import DERIVED_FROM, Observation
from memory.ledger.models import Reference
from memory.ledger.queries.addressed import Address

CHUNK = 400


def parents_by_item(namespace: int, items: Iterable[Address]) -> dict[Address, list[Address]]:
    """{item of an observation: the items of what it is derived from, in the order in which it named them}."""
    wanted, found = set(items), dict[Address, list[Address]]()
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = Reference.objects.filter(namespace=namespace, seq__in=chunk, kind=DERIVED_FROM).order_by("seq", "item")
        for seq, item, to_seq, to_item in rows.values_list("seq", "from_item", "to_seq", "to_item"):
            if (seq, item) in wanted:
                found.setdefault((seq, item), []).append((to_seq, to_item))
    return found


def observations_at(namespace: int, items: Iterable[Address]) -> dict[Address, Observation]:
    """The observations of these items."""
    wanted, found = set(items), dict[Address, Observation]()
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = Observation.objects.filter(namespace=namespace, seq__in=chunk)
        found.update({(row.seq, row.item): row for row in rows if (row.seq, row.item) in wanted})
    return found


def descendants(namespace: int, start: Address) -> dict[UUID, Address]:
    """Every observation that goes back to the one at that address, with its own address, nearest first."""
    found: dict[UUID, Address] = {}
    fresh, known = [start], {start}
    while fresh:
        children = _children(namespace, fresh)
        fresh = [address for address in children if address not in known]
        known.update(fresh)
        found.update({row.id: address for address, row in observations_at(namespace, fresh).items()})
    return found


def _children(namespace: int, parents: Sequence[Address]) -> list[Address]:
    wanted, found = set(parents), list[Address]()
    for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
        rows = Reference.objects.filter(namespace=namespace, to_seq__in=chunk, kind=DERIVED_FROM)
        for seq, item, to_seq, to_item in rows.order_by("seq", "from_item").values_list(
            "seq", "from_item", "to_seq", "to_item"
        ):
            if (to_seq, to_item) in wanted:
                found.append((seq, item))
    return list(dict.fromkeys(found))
