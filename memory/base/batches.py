"""A batch at the door: read, and checked item by item.

Invariants
- All or nothing unless the client asks otherwise; the places of what is wrong begin with the index of the item.
- A batch is one entry, so its items belong to one run: whichever of them names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory.base.bodies import JSON, NDJSON, Line, moved, read_array, read_lines, refused, require_type
from memory.base.errors import DomainError, Invalid
from memory.base.schemas import Act, RunIn


def read(body: bytes, content_type: str) -> list[Line]:
    """The items as they were sent: a JSON array, or one JSON text on each line.   Raises as `memory.base.bodies`."""
    media = require_type(content_type, allowed=(JSON, NDJSON))
    return read_lines(body) if media == NDJSON else read_array(body)


def checked[Item](
    items: TypeAdapter[list[Item]], lines: Sequence[Line]
) -> tuple[dict[int, Item], dict[int, DomainError]]:
    """The items that fit their schema and the refusals of the others, by index."""
    refusals = {index: line.refusal for index, line in enumerate(lines) if line.refusal is not None}
    values = {index: line.value for index, line in enumerate(lines) if line.refusal is None}
    try:
        good = items.validate_python(list(values.values()))
    except ValidationError as error:
        refusals |= _refusals(error, values)
        values = {index: value for index, value in values.items() if index not in refusals}
        good = items.validate_python(list(values.values()))
    return dict(zip(values, good, strict=True)), dict(sorted(refusals.items()))


def _refusals(error: ValidationError, values: Mapping[int, Any]) -> dict[int, DomainError]:
    indexes = list(values)
    found: dict[int, list[Any]] = {}
    for each in error.errors(include_url=False):
        place, *below = each["loc"]
        found.setdefault(indexes[int(place)], []).append({**each, "loc": tuple(below)})
    return {index: refused(errors, values[index]) for index, errors in found.items()}


def first(refusals: Mapping[int, DomainError]) -> DomainError:
    """What a batch that is all or nothing is refused with: its first item, by its index."""
    index = min(refusals)
    return moved(refusals[index], index)


def run_of(items: Mapping[int, Act]) -> RunIn | None:
    """The run that the items name.   Raises Invalid where two of them name different ones."""
    named = [(index, item.run) for index, item in items.items() if item.run is not None]
    for index, run in named:
        if run != named[0][1]:
            raise Invalid.at(index, "run", expected=f"one run for a batch, that of item {named[0][0]}")
    return named[0][1] if named else None
