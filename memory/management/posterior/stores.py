"""The store that a command line speaks to: the configured database, or the one file that `--db` names.

Invariants
- Reading opens a file that stands and makes none. What writes may make one; it appears whole and under its name only
  once the first write has succeeded, so that a failure leaves nothing behind.
- A store whose tables are not those of this version, or whose guards were lifted or altered, is refused.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.utils import ConnectionHandler

from memory.base import sql
from memory.base.triggers import sqlite_triggers
from memory.ledger.queries.proofs import evidence_models
from memory.management.schema import bring_up_to_date, fit, n_missing

APP = "memory"


class SchemaFault(Exception):
    """The store is none of ours, or not of this version."""


def is_absent(path: Path | None) -> bool:
    """Whether there is no store at the path yet; the configured one counts as standing."""
    return path is not None and (not path.exists() or path.stat().st_size == 0)


@contextlib.contextmanager
def at(path: Path | None) -> Iterator[None]:
    """Inside the block the default database is the file; None is the configured one.   Raises SchemaFault."""
    if path is None:
        yield
        return
    if not is_absent(path):
        _require_ours(path)
    # The tasks of a node lie in SQLite whatever the store does, so that theirs are the settings of any file here.
    file = {**settings.DATABASES["tasks"], "NAME": str(path.absolute()), "TEST": {}}
    opened = ConnectionHandler({DEFAULT_DB_ALIAS: file})[DEFAULT_DB_ALIAS]
    standing = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = opened
    try:
        yield
    finally:
        opened.close()
        connections[DEFAULT_DB_ALIAS] = standing


@contextlib.contextmanager
def reading(path: Path | None) -> Iterator[None]:
    """Inside the block the default database is that store, fit to be used.   Raises FileNotFoundError, SchemaFault."""
    if is_absent(path):
        raise FileNotFoundError(f"There is no store at {path}; `schema --db {path} migrate` makes one.")
    with at(path):
        require_current()
        yield


def writing[R](path: Path | None, act: Callable[[], R]) -> R:
    """What the act answers in that store; where there is none, it is made, with the act as its first one.

    Raises SchemaFault, and whatever the act raises.
    """
    if path is not None and is_absent(path):
        try:
            return made(path, act)
        except FileExistsError:
            # Another process has made the store meanwhile.
            pass
    with reading(path):
        return act()


def made[R](path: Path, act: Callable[[], R]) -> R:
    """Build a store beside the path, act in it, and give it the name.   Raises FileExistsError, and as the act does."""
    path.parent.stat()
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        new = Path(folder) / path.name
        with at(new):
            with connection.cursor() as cursor:
                # Nothing is there yet that could be lost.
                cursor.execute("PRAGMA synchronous = OFF")
            call_command("migrate", database=DEFAULT_DB_ALIAS, interactive=False, verbosity=0, skip_checks=True)
            fit(connection)
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA synchronous = FULL")
            answer = act()
        if path.exists() and path.stat().st_size == 0:
            new.replace(path)
        else:
            path.hardlink_to(new)
    return answer


def migrated(path: Path | None) -> None:
    """Make the store, or bring its tables up to date.   Raises SchemaFault."""
    if path is None:
        bring_up_to_date()
        return
    if is_absent(path):
        with contextlib.suppress(FileExistsError):
            made(path, lambda: None)
        return
    with at(path):
        _require_known()
        call_command("migrate", database=DEFAULT_DB_ALIAS, interactive=False, verbosity=0, skip_checks=True)
        fit(connection)


def require_current() -> None:
    """Raise SchemaFault where the store's tables are not those of this version."""
    _require_known()
    missing = n_missing(DEFAULT_DB_ALIAS)
    if missing:
        raise SchemaFault(f"The store lacks {missing} migrations; `schema migrate` applies them.")
    altered = altered_guards()
    if altered:
        raise SchemaFault(f"Guards that keep tables append-only are gone or altered: {', '.join(altered[:5])}.")


def applied() -> list[str]:
    """The migrations of the store, in order."""
    return sorted(name for app, name in MigrationLoader(connection).applied_migrations if app == APP)


def _require_known() -> None:
    loader = MigrationLoader(connection)
    here = loader.disk_migrations or {}
    unknown = sorted(name for app, name in loader.applied_migrations if app == APP and (app, name) not in here)
    if unknown:
        raise SchemaFault(f"The store is newer than this version: it has the migration {unknown[-1]}.")


def _require_ours(path: Path) -> None:
    """Look at the file without a write.   Raises SchemaFault where it is no store of ours."""
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as file:
            tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        raise SchemaFault(f"{path} is no store: {error}.") from error
    if "memory_namespace" not in tables:
        is_peer = "observations" in tables
        told = "a store of posterior-memory-harness; `manage.py import posterior` brings it along"
        raise SchemaFault(f"{path} is {told if is_peer else 'a database, but no store of ours'}.")


def guards() -> list[str]:
    """The names of the triggers of the store."""
    if connection.vendor == "postgresql":
        rows = sql.fetch("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O' ORDER BY tgname", [])
    else:
        rows = sql.fetch("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name", [])
    return [name for (name,) in rows]


def altered_guards() -> list[str]:
    """The guards of evidence that do not stand as this version makes them."""
    tables = [model._meta.db_table for model in evidence_models().values()]
    if connection.vendor == "postgresql":
        standing = set(guards())
        wanted = [f"{table}_{what}" for table in tables for what in ("append_only", "no_truncate")]
        return [name for name in wanted if name not in standing]
    stored = dict(sql.fetch("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'", []))
    expected = {made.split()[2]: made for table in tables for made in sqlite_triggers(table, erasable=None)}
    return [name for name, statement in expected.items() if stored.get(name) != statement]
