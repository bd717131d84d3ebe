"""A second database that gets the statements of the first, and nothing else: the bare side of a comparison."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from audit.bench.measuring import Work

WRITES = ("INSERT", "UPDATE", "DELETE", "CREATE", "WITH FRESH")


class NotTheSame(AssertionError):
    """The two sides of a comparison did not write the same."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that wrote, as the driver got it."""

    sql: str
    params: Any
    is_many: bool

    def concerns(self, tables: Iterable[str]) -> bool:
        return any(f'"{table}"' in self.sql for table in tables)


@dataclass(slots=True)
class Capture:
    """The statements of one block."""

    statements: list[Statement] = field(default_factory=list)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if sql.lstrip().upper().startswith(WRITES):
            self.statements.append(Statement(sql, params, many))
        return result


@contextmanager
def captured() -> Iterator[Capture]:
    """Note every statement that writes to the store inside the block."""
    capture = Capture()
    with connection.execute_wrapper(capture):
        yield capture


class Twin:
    """A copy of the store as it stood, to which statements are repeated, each list in one transaction.

    `is_loose`: without foreign keys, so that some of the rows may be written without the others.
    """

    def __init__(self, name: str, *, is_loose: bool = False) -> None:
        self.database: BaseDatabaseWrapper = _copied(name)
        if is_loose:
            _loosen(self.database)
        self._waiting: deque[list[Statement]] = deque()

    def against(self, work: Work, *, only: Callable[[Statement], bool] = lambda _: True) -> tuple[Work, Work]:
        """Two works to time in turn: the given one on the store, and those statements of its last run not yet repeated.

        The store is one run ahead, so that either may come first in a round.
        """
        self._waiting.clear()

        def on_the_store() -> None:
            with captured() as capture:
                work()
            self._waiting.append([each for each in capture.statements if only(each)])

        def bare() -> None:
            self.repeat(self._waiting.popleft())

        on_the_store()
        return on_the_store, bare

    def repeat(self, statements: Sequence[Statement]) -> None:
        """Begin, execute, commit: with the durability of the store."""
        database = self.database
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        try:
            with database.cursor() as cursor:
                for each in statements:
                    (cursor.executemany if each.is_many else cursor.execute)(each.sql, each.params)
            database.commit()
        finally:
            database.rollback()
            database.set_autocommit(True)

    def require_same(self) -> None:
        """Repeat what waits and raise NotTheSame unless both hold as many rows in every table of the store.

        A comparison with a side that wrote less would say nothing.
        """
        while self._waiting:
            self.repeat(self._waiting.popleft())
        tables = [name for name in connection.introspection.table_names() if name.startswith("memory_")]
        for table in tables:
            ours, theirs = (_n_rows(database, table) for database in (connection, self.database))
            if ours != theirs:
                raise NotTheSame(f"{table} holds {ours} rows in the store and {theirs} in its twin.")

    def close(self) -> None:
        self.database.close()


def _n_rows(database: Any, table: str) -> int:
    with database.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}"')
        return int(cursor.fetchone()[0])


def _copied(name: str) -> BaseDatabaseWrapper:
    copy: BaseDatabaseWrapper = connection.copy(alias=name)
    if connection.vendor == "sqlite":
        copy.settings_dict["NAME"] = str(Path(connection.settings_dict["NAME"]).with_name(f"{name}.sqlite3"))
        connection.ensure_connection()
        # Never by reading the file: closing it again would drop the locks that this process holds on it.
        with closing(sqlite3.connect(copy.settings_dict["NAME"])) as file:
            connection.connection.backup(file)
        return copy
    # A database is copied while nobody is in it; the server's own database is where the order is given from.
    source_name = connection.settings_dict["NAME"]
    target = f"{source_name}_{name}"
    _leave(connection)
    admin: BaseDatabaseWrapper = connection.copy(alias=f"{name}_admin")
    admin.settings_dict["NAME"] = "postgres"
    with admin.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{target}"')
        cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source_name}"')
    _leave(admin)
    copy.settings_dict["NAME"] = target
    return copy


def _loosen(database: BaseDatabaseWrapper) -> None:
    with database.cursor() as cursor:
        if database.vendor == "sqlite":
            cursor.execute("PRAGMA foreign_keys = OFF")
            return
        cursor.execute("SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f'")
        for table, name in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')


def _leave(database: Any) -> None:
    database.close()
    database.close_pool()
