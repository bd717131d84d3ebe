"""Triggers that keep Evidence append-only and Content deletable only with an Erasure row, on both databases.

- Evidence refuses UPDATE, DELETE and (PostgreSQL) TRUNCATE.
- Content refuses UPDATE, and DELETE unless an Erasure row names the (namespace, seq, item, part).
- INSERT OR REPLACE on SQLite would go round the delete triggers; the connection sets `recursive_triggers`.

They are a guard: a superuser can lift them. Proof is the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import router
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

ERASURE_TABLE = "memory_erasure"


def named_by_erasure(part: str) -> str:
    """SQL: an Erasure row names OLD. `part` is an SQL expression."""
    return (
        f"SELECT 1 FROM {ERASURE_TABLE} e WHERE e.namespace_id = OLD.namespace_id AND e.target_seq = OLD.seq"
        f" AND e.target_item = OLD.item AND e.target_part = {part}"
    )


def sqlite_triggers(table: str, *, erasable: str | None) -> Iterator[str]:
    """CREATE TRIGGER statements; `erasable` is the SQL expression of the part, None for Evidence."""
    update = f"'{table} is append-only'"
    yield f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, {update}); END"
    condition = "" if erasable is None else f" WHEN NOT EXISTS ({named_by_erasure(erasable)})"
    message = update if erasable is None else "'content goes only with an erasure'"
    body = f"BEGIN SELECT RAISE(ABORT, {message}); END"
    yield f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}{condition} {body}"


def postgresql_triggers(table: str, *, erasable: str | None) -> Iterator[str]:
    """CREATE FUNCTION and CREATE TRIGGER statements for one table."""
    yield (
        f"CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" RAISE EXCEPTION '{table} is append-only' USING ERRCODE = 'restrict_violation'; END $$"
    )
    refused = "UPDATE OR DELETE" if erasable is None else "UPDATE"
    yield (
        f"CREATE TRIGGER {table}_append_only BEFORE {refused} ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_refuse()"
    )
    yield (
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()"
    )
    if erasable is not None:
        yield (
            f"CREATE FUNCTION {table}_erasable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NOT EXISTS ({named_by_erasure(erasable)}) THEN"
            " RAISE EXCEPTION 'content goes only with an erasure' USING ERRCODE = 'restrict_violation';"
            " END IF; RETURN OLD; END $$"
        )
        yield (
            f"CREATE TRIGGER {table}_erasable BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_erasable()"
        )


class Guard(Operation):
    """Migration operation: make a table append-only. `erasable` as in `sqlite_triggers`."""

    reduces_to_sql = True
    reversible = True

    def __init__(self, table: str, erasable: str | None = None) -> None:
        self.table, self.erasable = table, erasable

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        return "Guard", (self.table, self.erasable), {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Triggers are no part of the model state."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if not router.allow_migrate(schema_editor.connection.alias, app_label):
            return
        make = sqlite_triggers if schema_editor.connection.vendor == "sqlite" else postgresql_triggers
        for statement in make(self.table, erasable=self.erasable):
            # None: a percent sign in the statement is no placeholder.
            schema_editor.execute(statement, params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if not router.allow_migrate(schema_editor.connection.alias, app_label):
            return
        if schema_editor.connection.vendor == "sqlite":
            for suffix in ("no_update", "no_delete"):
                schema_editor.execute(f"DROP TRIGGER {self.table}_{suffix}", params=None)
            return
        for suffix in ("refuse", "erasable"):
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {self.table}_{suffix}() CASCADE", params=None)

    def describe(self) -> str:
        return f"Guard {self.table}"


class Unguard(Guard):
    """Migration operation: lift the guard of a table, so that its constraints can be changed; `Guard` follows."""

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        return "Unguard", (self.table, self.erasable), {}

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        super().database_backwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Unguard {self.table}"
