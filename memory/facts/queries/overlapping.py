"""The facts that count now and share an instant with given ones: what a new fact must be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Q

from memory.facts.models import FactRect, FactState
from memory.facts.rectangles import LANES, entity_key, micros


def overlapping(namespace: int, rows: Sequence[FactState], *, seq: int) -> Iterator[tuple[FactState, list[FactState]]]:
    """Each row with the other facts of its entity that count once entry `seq` is written and overlap its interval."""
    for row in rows:
        yield row, _others(namespace, row)


def _others(namespace: int, row: FactState) -> list[FactState]:
    found = FactRect.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=micros(row.valid_from)),
        namespace=namespace, lane=LANES["standing"], known_to__isnull=True,
        entity=entity_key(namespace, row.subject, row.attribute, "standing"),
    ).exclude(doc=row.doc)  # fmt: skip
    if row.valid_to is not None:
        found = found.filter(valid_from__lt=micros(row.valid_to))
    docs = list(found.values_list("doc", flat=True))
    states = FactState.objects.filter(namespace=namespace, doc__in=docs)
    return [one for one in states if (one.subject, one.attribute) == (row.subject, row.attribute)]
