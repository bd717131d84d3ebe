"""What every test stands on.

Invariants
- Append-only triggers are lifted while the tables are emptied after a transactional test, and at no other moment:
  within a test they are as strict as in production.
- A transactional test finds the tables as the migrations left them, but for the numbers that sequences gave out.
- Hypothesis draws the same examples on every machine in the profile `ci`.
- Elsewhere a test may be left out where its browser or server is missing; with CI set that is a failure.
"""

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import hypothesis
import pytest
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=40)
# The first of the same examples: most of what they try is the same on every engine.
hypothesis.settings.register_profile("second_engine", parent=hypothesis.settings.get_profile("ci"), max_examples=12)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "default"))


@contextmanager
def lifted_triggers(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Let no trigger of this connection fire until the body ends, also when it fails."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = origin")
        return
    connection.ensure_connection()
    database: sqlite3.Connection = connection.connection
    fired = database.getconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER)
    database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
    try:
        yield
    finally:
        database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, fired)


# Django writes these with the tables, the same for every test.
WRITTEN_BY_MIGRATIONS = frozenset({"django_migrations", "django_content_type", "auth_permission"})
# Virtual tables among them, but not the ones in which those keep what they hold.
TABLES_OF_SQLITE = (
    "SELECT name FROM pragma_table_list"
    " WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
)


def empty_tables(connection: BaseDatabaseWrapper) -> None:
    """Take away every row and every index of texts, in one transaction: the disk is waited for once."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            _drop_text_indexes(cursor)
            cursor.execute(TABLES_OF_SQLITE)
            names = {name for (name,) in cursor.fetchall()}
        else:
            names = {*connection.introspection.table_names(cursor)}
        tables = sorted(names - WRITTEN_BY_MIGRATIONS)
        asked = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)
        cursor.execute(asked)
        filled = [table for (table,) in cursor.fetchall()]
        if filled:
            with lifted_triggers(connection):
                for table in filled:
                    cursor.execute(f"DELETE FROM {table}")


def _drop_text_indexes(cursor: CursorWrapper) -> None:
    cursor.execute("SELECT name FROM sqlite_master WHERE name GLOB 'memory_recordtext_*' AND sql LIKE '%USING fts5%'")
    for (name,) in cursor.fetchall():
        cursor.execute(f'DROP TABLE "{name}"')


def _empty_after(self: TransactionTestCase) -> None:
    for alias in self._databases_names(include_mirrors=False):
        empty_tables(connections[alias])


# Django's own flushes table by table, and then writes its permissions anew.
TransactionTestCase._fixture_teardown = _empty_after


@pytest.fixture(scope="session", autouse=True)
def patient_scrubs() -> Iterator[None]:
    """Other workers of the run share the server, and a module of theirs may stand in one transaction for a while."""
    from memory.ledger.operations import scrubbing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scrubbing, "OTHERS_PATIENCE_MS", 200_000)
        yield


DATABASE_FIXTURES = frozenset({"db", "transactional_db", "django_db_setup"})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark what asks the database of the run, so that the second engine need not run the rest.

    Slow tests come first, whatever else orders them: at the end of a run no worker waits for a long one of another.
    """
    for item in items:
        asked = DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
        if asked or item.get_closest_marker("django_db"):
            item.add_marker("asks_database")
    yield
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


NEVER_SKIPPED = ("browser", "postgres")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_needed = any(item.get_closest_marker(mark) for mark in NEVER_SKIPPED)
    if os.environ.get("CI") and is_needed and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"A test that must run here was skipped: {report.longrepr}"
    return report


@pytest.fixture(scope="module")
def around_all(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around those of a module's tests, which are rolled back to it: what it made stands for all of them.

    A namespace must stand in it, with a record, before the tests: SQLite 3.40 fails at the next savepoint when one is
    rolled back within which a text index was made and filled.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
