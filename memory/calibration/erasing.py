"""What must go with an observation when its content is erased: the reasons of corrections of its label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

from memory.calibration.models import LabelOutcome
from memory.ledger.models import Item
from memory.ledger.queries.addressed import Address

CHUNK = 400


def labels_of_observations(namespace: int, items: Sequence[Item]) -> list[Address]:
    """The items of labels of these observations; the numbers stay, the words go."""
    ids = [item.object for item in items if item.kind == "observation"]
    found: list[Address] = []
    for chunk in batched(ids, CHUNK):
        rows = LabelOutcome.objects.filter(namespace=namespace, observation__in=chunk)
        found.extend(rows.values_list("seq", "item"))
    return sorted(found)
