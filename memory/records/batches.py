"""A batch of records: which of its items are records, and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from memory.base import batches
from memory.base.actor import Actor
from memory.base.bodies import Line
from memory.base.errors import DomainError
from memory.records import operations
from memory.records.operations import SavedRecord
from memory.records.schemas import RecordIn

_ITEMS = TypeAdapter(list[RecordIn])


def checked(lines: Sequence[Line]) -> tuple[dict[int, RecordIn], dict[int, DomainError]]:
    """The items that are records and the refusals of the others, by index."""
    return batches.checked(_ITEMS, lines)


def saved(by: Actor, items: Mapping[int, RecordIn], *, atomic: bool) -> dict[int, SavedRecord | DomainError]:
    """The answer for each of the items; a refusal only where not all or nothing is asked for."""
    if not items:
        return {}
    given = [item.given() for item in items.values()]
    answers = operations.save(by, records=given) if atomic else operations.save_each(by, records=given)
    return dict(zip(items, answers, strict=True))
