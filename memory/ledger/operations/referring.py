"""Drafts of references: a row of the entry being written mentions things that stand already.

Slices above register what may not be mentioned yet, and to whom it does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from memory.base import ids
from memory.base.actor import Actor
from memory.base.errors import DomainError
from memory.ledger.drafts import Draft
from memory.ledger.models import Reference
from memory.ledger.queries.mentions import things

# Who writes and the things that are named -> why those that may not be mentioned are refused.
Refuser = Callable[[Actor, Sequence[UUID]], Mapping[UUID, DomainError]]
_refusers: list[Refuser] = []


def refuse_references_by(refuser: Refuser) -> None:
    """Register what says that things may not be mentioned."""
    if refuser not in _refusers:
        _refusers.append(refuser)


def reference_refusals(by: Actor, to: Sequence[UUID]) -> dict[UUID, DomainError]:
    """{thing: why it may not be mentioned} of those that may not. Call it under the lock."""
    return {thing: refusal for refuser in _refusers for thing, refusal in refuser(by, to).items()} if to else {}


def reference_drafts(by: Actor, *, from_item: int, to: Sequence[UUID], kind: str) -> list[Draft]:
    """One reference for each thing, each once, from the item of the entry to the item that brought the thing.

    Raises NotFound (nothing with that id, or nothing that the writer may know of), Conflict (held for a review).
    """
    refusals = reference_refusals(by, to)
    for refusal in (refusals[thing] for thing in to if thing in refusals):
        raise refusal
    return [
        Draft(
            "reference", ids.new_id(), Reference,
            {"from_item": from_item, "to_seq": row.seq, "to_item": row.item, "kind": kind},
        )
        for row in things(by.namespace, to)
    ]  # fmt: skip
