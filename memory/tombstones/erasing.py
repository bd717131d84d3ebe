"""What must go with a tombstone when its text is erased: all that was said about it."""

from __future__ import annotations

from collections.abc import Sequence

from memory.ledger.models import Item
from memory.tombstones.models import (
    BlockVerdict,
    RevivalCondition,
    RevivalEvidence,
    RouteCheck,
    RouteHit,
    TombstoneTurn,
)

CHUNK = 400


def texts_of_tombstones(namespace: int, items: Sequence[Item]) -> list[tuple[int, int]]:
    """The items that hold conditions, evidence, notes and checks of these tombstones: each repeats the route or scope.

    The rows stay: the stub shows that there was a dead end, and its whole life without words.
    """
    ids = [item.object for item in items if item.kind == "tombstone"]
    found: list[tuple[int, int]] = []
    for start in range(0, len(ids), CHUNK):
        about = {"namespace": namespace, "tombstone__in": ids[start : start + CHUNK]}
        for model in (RevivalCondition, RevivalEvidence, BlockVerdict, TombstoneTurn):
            found.extend(model._default_manager.filter(**about).values_list("seq", "item"))
        met = RouteHit.objects.filter(**about).values("route_check")
        found.extend(RouteCheck.objects.filter(namespace=namespace, id__in=met).values_list("seq", "item"))
    return sorted(found)
