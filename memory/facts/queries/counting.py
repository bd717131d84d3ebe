"""The facts of entities that count at a known point, whatever instant they claim: what conflicts are made of."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from memory.facts.models import FactRect, FactState
from memory.facts.rectangles import LANES, entity_key
from memory.facts.states import Entity

CHUNK = 200


def counting_rows(namespace: int, entities: Sequence[Entity], *, seq: int) -> dict[Entity, list[FactState]]:
    """The readable facts of each entity that count as known by entry `seq`, oldest first; no closed one is walked."""
    found: dict[Entity, list[FactState]] = {entity: [] for entity in entities}
    for start in range(0, len(entities), CHUNK):
        keys = [entity_key(namespace, *entity, "standing") for entity in entities[start : start + CHUNK]]
        for row in _rows(namespace, keys, seq):
            if (row.subject, row.attribute) in found:
                found[row.subject, row.attribute].append(row)
    return found


def _rows(namespace: int, keys: Sequence[int], seq: int) -> QuerySet[FactState]:
    standing = FactRect.objects.filter(
        Q(known_to__isnull=True) | Q(known_to__gt=seq), namespace=namespace, lane=LANES["standing"], entity__in=keys,
        known_from__lte=seq,
    )  # fmt: skip
    return FactState.objects.filter(
        namespace=namespace, erased_seq__isnull=True, doc__in=standing.values("doc")
    ).order_by("doc")
