"""Rows of evidence as an archive spells them, and back.

Invariants
- Every column is spelled but the database's own numbers and the address that the entry gives; those too that no
  commitment covers, since nothing else could bring them back.
- What `spelled` wrote, `stored` reads to the same values; it reads no other spelling of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models

from memory.base import instants
from memory.base.models import Evidence
from memory.ledger.drafts import plain
from memory.ledger.models import Namespace

RANGES = {"SmallIntegerField": 2**15, "IntegerField": 2**31, "BigIntegerField": 2**63}
ADDRESS = frozenset({"namespace_id", "seq", "item"})


class ColumnError(ValueError):
    """A column is missing, unknown, or not spelled as its kind is."""

    def __init__(self, column: str, expected: str, got: object) -> None:
        self.column, self.expected, self.got = column, expected, str(got)[:80]
        super().__init__(f"{column}: expected {expected}, got {self.got}")


def columns(model: type[Evidence]) -> list[models.Field[Any, Any]]:
    """The columns that are spelled."""
    own = {"id"} if model is Namespace else set()
    return [field for field in model._meta.concrete_fields if field.attname not in ADDRESS | own]


def spelled(row: Evidence) -> dict[str, Any]:
    """The columns of a row as JSON values."""
    return {field.attname: plain(getattr(row, field.attname)) for field in columns(type(row))}


def stored(model: type[Evidence], given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as the database takes them.   Raises ColumnError."""
    fields = {field.attname: field for field in columns(model)}
    for name in sorted(fields.keys() ^ given.keys()):
        raise ColumnError(name, "a value" if name in fields else "no column of this name", given.get(name, "none"))
    return {name: value_of(field, given[name]) for name, field in fields.items()}


def value_of(field: models.Field[Any, Any], given: Any) -> Any:
    """The value of one column.   Raises ColumnError."""
    if given is None:
        if not field.null:
            raise ColumnError(field.attname, "a value", "null")
        return None
    kind = field.get_internal_type()
    try:
        value = _READ[kind](given, field) if kind not in RANGES else _whole_number(given, kind)
    except (ValueError, TypeError) as error:
        raise ColumnError(field.attname, str(error), given) from error
    if plain(value) != given:
        raise ColumnError(field.attname, f"the spelling {plain(value)}", given)
    return value


def _whole_number(given: Any, kind: str) -> int:
    if type(given) is not int or not -RANGES[kind] <= given < RANGES[kind]:
        raise ValueError(f"a whole number below {RANGES[kind]}")
    return given


def _id(given: Any, _field: Any) -> UUID:
    if not isinstance(given, str):
        raise TypeError("an id")
    return UUID(given)


def _instant(given: Any, _field: Any) -> datetime:
    if not isinstance(given, str):
        raise TypeError(instants.EXPECTED)
    return instants.read(given)


def _bytes(given: Any, field: Any) -> bytes:
    if not isinstance(given, str):
        raise TypeError("bytes in hexadecimal")
    value = bytes.fromhex(given)
    if field.max_length is not None and len(value) > field.max_length:
        raise ValueError(f"at most {field.max_length} bytes")
    return value


def _text(given: Any, field: Any) -> str:
    if not isinstance(given, str) or (field.max_length is not None and len(given) > field.max_length):
        raise ValueError(f"text of at most {field.max_length} characters")
    return given


def _truth(given: Any, _field: Any) -> bool:
    if not isinstance(given, bool):
        raise TypeError("true or false")
    return given


def _number(given: Any, _field: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise ValueError("a finite number")
    return float(given)


_READ: dict[str, Any] = {
    "UUIDField": _id, "DateTimeField": _instant, "BinaryField": _bytes, "CharField": _text, "TextField": _text,
    "BooleanField": _truth, "FloatField": _number,
}  # fmt: skip
