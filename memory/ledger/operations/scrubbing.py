"""Scrubbing: what a database keeps of deleted rows goes from its files.

- SQLite overwrites deleted cells (`secure_delete`); the write-ahead log keeps earlier pages until it is emptied.
- PostgreSQL keeps old rows in heap, TOAST and index files until a table is written anew, and in its log until that is
  recycled. VACUUM FULL takes an exclusive lock and runs outside of any transaction. It keeps what a transaction that
  is still open could see, so a scrub beside one is refused and not called done.

Source: SQLite, "Write-Ahead Logging" 3.2 and PRAGMA secure_delete; PostgreSQL, VACUUM, CHECKPOINT and pg_switch_wal.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.apps import apps
from django.db import DatabaseError, ProgrammingError, connection, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import InsufficientPrivilege

from memory.base.errors import Conflict, Unavailable
from memory.base.models import Content, Projection

TEXT = (models.CharField, models.TextField)
PATIENCE_MS = 1_000
SCRUB_PATIENCE_MS = 5_000
OTHERS_PATIENCE_MS = 5_000
STEP_MS = 100

logger = logging.getLogger("memory.ledger")

TextTables = Callable[[], Sequence[str]]
_tables: list[TextTables] = []


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was written anew: tables on PostgreSQL, emptied logs. `undone` is what only an administrator may do."""

    engine: str
    places: tuple[str, ...]
    undone: tuple[str, ...] = ()


def text_in(tables: TextTables) -> None:
    """Register tables outside the models that hold text: the full-text index."""
    if tables not in _tables:
        _tables.append(tables)


def empty_log_after_commit() -> None:
    """Empty SQLite's write-ahead log once the transaction stands. Where a reader holds it, a scrub does it later."""
    if connection.vendor == "sqlite":
        transaction.on_commit(_empty_if_free)


def _empty_if_free() -> None:
    try:
        if not _emptied(connection, patience_ms=PATIENCE_MS):
            logger.warning("write-ahead log was held by a reader")
    except DatabaseError:
        logger.exception("write-ahead log was not emptied")


def scrub() -> Scrubbed:
    """Write every table that holds or held text anew, and empty the logs.

    Locks (PostgreSQL): each table in turn, for as long as it is copied. Must not be called inside a transaction.
    Raises Conflict (inside one), Unavailable (SQLite: a reader held the log; PostgreSQL: a transaction stayed open).
    """
    if connection.in_atomic_block:
        raise Conflict("A scrub cannot run inside a transaction.")
    if connection.vendor == "postgresql":
        return _scrub_postgresql()
    emptied = _emptied_beside()
    if "default log" not in emptied:
        raise Unavailable("A reader holds the write-ahead log; run the scrub again.")
    return Scrubbed("sqlite", tuple(emptied))


def _emptied(held: BaseDatabaseWrapper, *, patience_ms: int) -> bool:
    with held.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        before = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {patience_ms}")
        try:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return not cursor.fetchone()[0]
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(before)}")


def _await_others() -> None:
    """Wait until every transaction of the server that began before has ended.   Raises Unavailable (one stays open).

    VACUUM FULL keeps what any of them might see, in another database of the server too.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::xid::text")
        now = cursor.fetchone()[0]
        for _ in range(OTHERS_PATIENCE_MS // STEP_MS):
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                " AND greatest(age(backend_xid), age(backend_xmin)) > age(%s::text::xid)",
                [now],
            )
            if not cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(%s)", [STEP_MS / 1_000])
    raise Unavailable("An open transaction of another session still sees what was deleted; run the scrub again.")


def _scrub_postgresql() -> Scrubbed:
    _await_others()
    # The planner's statistics hold the commonest values of a column: they are taken anew, and their own table after.
    steps = [
        *((table, f"VACUUM (FULL, ANALYZE) {connection.ops.quote_name(table)}") for table in text_tables()),
        ("pg_statistic", "VACUUM FULL pg_catalog.pg_statistic"),
        ("checkpoint", "CHECKPOINT"),
        ("log switch", "SELECT pg_switch_wal()"),
        ("checkpoint after it", "CHECKPOINT"),
    ]
    done: list[str] = []
    undone: list[str] = []
    for place, statement in steps:
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except ProgrammingError as error:
            # Some acts are for an administrator of the server; the tables are ours, so they are none of these.
            if not isinstance(error.__cause__, InsufficientPrivilege):
                raise
            undone.append(place)
        else:
            done.append(place)
    return Scrubbed("postgresql", (*done, *_emptied_beside()), tuple(undone))


def _emptied_beside() -> list[str]:
    """The SQLite files beside the store whose logs were emptied: the queue of tasks."""
    files = [alias for alias in connections if connections[alias].vendor == "sqlite"]
    return [f"{alias} log" for alias in files if _emptied(connections[alias], patience_ms=SCRUB_PATIENCE_MS)]


def text_tables() -> list[str]:
    """Every table that holds text: content, names, projections with text, and what is registered beside the models."""
    tables = [each for each in apps.get_app_config("memory").get_models() if issubclass(each, Content | Projection)]
    kept = [each._meta.db_table for each in tables if any(isinstance(f, TEXT) for f in each._meta.concrete_fields)]
    return [*sorted(kept), *(table for more in _tables for table in more())]
