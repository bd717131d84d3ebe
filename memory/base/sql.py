"""The statements of the hot path in plain SQL: bulk inserts for each model, and the few reads under the lock.

The ORM stays for everything else. A single write spends more time in building queries than in running them, and
`bulk_create` is several times slower than executemany of tuples. Conversion follows Django's own storage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models


def _sqlite_uuid(value: Any) -> Any:
    return value.hex if isinstance(value, UUID) else value


def _sqlite_instant(value: Any) -> Any:
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ") if isinstance(value, datetime) else value


_SQLITE: dict[str, Callable[[Any], Any]] = {"UUIDField": _sqlite_uuid, "DateTimeField": _sqlite_instant}


@cache
def _statement(model: type[models.Model], vendor: str) -> tuple[str, tuple[str, ...], tuple[tuple[int, Any], ...]]:
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    sql = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({marks})'
    adapt = _SQLITE if vendor == "sqlite" else {}
    adapters = []
    for index, field in enumerate(fields):
        target = getattr(field, "target_field", field)
        if (convert := adapt.get(target.get_internal_type())) is not None:
            adapters.append((index, convert))
    return sql, tuple(field.attname for field in fields), tuple(adapters)


def columns(model: type[models.Model]) -> tuple[str, ...]:
    """The attribute names, in the order in which `insert` takes values."""
    return _statement(model, connection.vendor)[1]


def insert(model: type[models.Model], rows: Sequence[Sequence[Any]] | Iterable[Sequence[Any]]) -> None:
    """Insert the tuples, ordered as `columns(model)` says."""
    sql, _, adapters = _statement(model, connection.vendor)
    prepared: Any = rows if isinstance(rows, list) else list(rows)
    if not prepared:
        return
    if adapters:
        adapted = []
        for row in prepared:
            values = list(row)
            for index, convert in adapters:
                values[index] = convert(values[index])
            adapted.append(values)
        prepared = adapted
    with connection.cursor() as cursor:
        if len(prepared) == 1:
            cursor.execute(sql, prepared[0])
        else:
            cursor.executemany(sql, prepared)


def fetch(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement. Identifiers and instants in `values` are adapted to the database."""
    with connection.cursor() as cursor:
        cursor.execute(statement, adapted(values))
        return list(cursor.fetchall())


def selected(model: type[models.Model], alias: str) -> str:
    """The columns of the model under the alias of its table, as `loaded` takes them."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def loaded[M: models.Model](model: type[M], values: Sequence[Any]) -> M:
    """The row that a statement answered with `selected(model)`, as the ORM would have read it."""
    names, converters = _reading(model)
    row = list(values)
    for index, convert in converters:
        if row[index] is not None:
            row[index] = convert(row[index])
    return model.from_db(connection.alias, names, row)


@cache
def _reading(model: type[models.Model]) -> tuple[list[str], tuple[tuple[int, Callable[[Any], Any]], ...]]:
    fields = model._meta.concrete_fields
    kinds = [getattr(field, "target_field", field).get_internal_type() for field in fields]
    converters = tuple((index, _READ[kind]) for index, kind in enumerate(kinds) if kind in _READ)
    return [field.attname for field in fields], converters


def run(statement: str, values: Sequence[Any]) -> None:
    """Run a statement that answers nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statement, adapted(values))


def run_many(statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Run a statement that answers nothing once for each row of values."""
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(statement, [adapted(values) for values in rows])


def adapted(values: Sequence[Any]) -> list[Any]:
    """Identifiers and instants as the database takes them."""
    if connection.vendor == "sqlite":
        return [_sqlite_uuid(_sqlite_instant(value)) for value in values]
    return list(values)


def as_id(value: Any) -> UUID:
    """An identifier as the database gave it."""
    return value if isinstance(value, UUID) else UUID(hex=value)


def as_key(value: Any) -> bytes:
    """The 16 bytes of an identifier as the database gave it: where many are compared, bytes are faster than UUIDs."""
    return value.bytes if isinstance(value, UUID) else bytes.fromhex(value)


def keys(values: Iterable[bytes]) -> list[Any]:
    """Identifiers by their bytes, as the database takes them."""
    if connection.vendor == "sqlite":
        return [value.hex() for value in values]
    return [UUID(bytes=value) for value in values]


def as_instant(value: Any) -> datetime:
    """An instant as the database gave it: SQLite keeps it as text, in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


_READ: dict[str, Callable[[Any], Any]] = {
    "UUIDField": as_id, "DateTimeField": as_instant, "BinaryField": bytes, "BooleanField": bool,
}  # fmt: skip
