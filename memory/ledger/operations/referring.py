"""Drafts of references: a row of the entry being written mentions things that stand already."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memory.base import ids
from memory.ledger.drafts import Draft
from memory.ledger.models import Reference
from memory.ledger.queries.mentions import things


def reference_drafts(namespace: int, *, from_item: int, to: Sequence[UUID], kind: str) -> list[Draft]:
    """One reference for each thing, each once, from the item of the entry to the item that brought the thing.

    Raises NotFound (nothing with that id).
    """
    return [
        Draft(
            "reference", ids.new_id(), Reference,
            {"from_item": from_item, "to_seq": row.seq, "to_item": row.item, "kind": kind},
        )
        for row in things(namespace, to)
    ]  # fmt: skip
