"""Rows of our own tables, by a statement and its values, and identifiers as both databases can be read.

Source: laws of the store, 2.3 (rule 6): the checkers read tables by statements of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection


def rows(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def as_hex(id: Any) -> str:
    """An identifier of a row as 32 hexadecimal digits: PostgreSQL gives a UUID, SQLite its text."""
    return id.hex if isinstance(id, UUID) else str(id)
