"""What must go with an observation when its content is erased: the forecasts that repeat its vector, and the reason
of its revocation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

from memory.beliefs.models import Forecast, Revocation
from memory.ledger.models import Item
from memory.ledger.queries.addressed import Address

CHUNK = 400


def forecasts_of_observations(namespace: int, items: Sequence[Item]) -> list[Address]:
    """The items that repeat these observations or say something of them."""
    ids = [item.object for item in items if item.kind == "observation"]
    found: list[Address] = []
    for chunk in batched(ids, CHUNK):
        for model in (Forecast, Revocation):
            rows = model._default_manager.filter(namespace=namespace, observation__in=chunk)
            found.extend(rows.values_list("seq", "item"))
    return sorted(found)
