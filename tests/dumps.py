"""Logical dumps: what a store says, row by row in the order of the ledger, to be compared with what another says.

- `logical` lists evidence and content of all namespaces in (namespace, seq, item, part) order, each row as text.
- `normalised` is the same with ids, salts, digests and instants replaced by numbers of first appearance, so that two
  stores that differ only in what chance and the clock gave them are equal.

Projections are left out: they are functions of these rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models

from memory.base.models import Content, Evidence
from memory.ledger.models import Namespace
from memory.lineage.models import SYMMETRIC

TABLES: list[type[models.Model]] = sorted(
    (model for model in apps.get_app_config("memory").get_models() if issubclass(model, Evidence | Content)),
    key=lambda model: model.__name__,
)
UUID_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Row = tuple[str, int, int, str, str, dict[str, Any]]


def rows() -> Iterator[Row]:
    """(namespace, seq, item, part, table, columns) of every row, in order."""
    names = dict(Namespace.objects.values_list("pk", "name"))
    found: list[Row] = []
    for model in TABLES:
        columns = [field.attname for field in model._meta.concrete_fields]
        for values in model._default_manager.values(*columns):
            namespace = names[values.pop("namespace_id", None) or values["id"]]
            address = (values.get("seq", 0), values.get("item", -1), values.get("part", ""))
            values.pop("id", None) if model is Namespace else None
            found.append((namespace, *address, model.__name__, values))
    found.sort(key=lambda row: row[:5])
    return iter(found)


def logical() -> list[str]:
    """Every row as one line; buffers in hex."""
    return [repr((*row[:5], {name: _plain(value) for name, value in row[5].items()})) for row in rows()]


def _plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else str(value)


def normalised() -> list[str]:
    """Every row as one line, what was allocated by number of first appearance."""
    numbers = _Numbers()
    return [repr((*row[:5], numbers.of_row(row[:3], row[4], row[5]))) for row in rows()]


class _Numbers:
    """Numbers of first appearance. A symmetric edge is stored by its ids, which chance drew: here by their numbers."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Any], str] = {}
        self._pairs: dict[tuple[str, int, int], list[str]] = {}

    def of_row(self, address: tuple[str, int, int], table: str, columns: dict[str, Any]) -> dict[str, Any]:
        if table == "Edge" and columns["relation"] in SYMMETRIC:
            ends = self._pairs[address] = sorted(self.of(columns[name]) for name in ("source", "target"))
            columns = {**columns, "source": ends[0], "target": ends[1]}
        elif table == "Item" and address in self._pairs:
            columns = {**columns, "object": self._pairs[address][0]}
        return {name: self.of(value) for name, value in columns.items()}

    def of(self, value: Any) -> Any:
        if isinstance(value, bytes | memoryview):
            return self._number("bytes", bytes(value))
        if isinstance(value, UUID | datetime):
            return self._number(type(value).__name__, value)
        if isinstance(value, str):
            return UUID_TEXT.sub(lambda found: self._number("UUID", UUID(found[0])), value)
        return value

    def _number(self, kind: str, value: Any) -> str:
        return self._seen.setdefault((kind, value), f"{kind} {len(self._seen)}")
