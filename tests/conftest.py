"""What every test stands on.

Invariants
- Append-only triggers are lifted while the flush after a transactional test runs, and at no other moment: within a test
  they are as strict as in production.
- Hypothesis draws the same examples on every machine in the profile `ci`.
- Elsewhere a test may be left out where its browser or server is missing; with CI set that is a failure.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager

import hypothesis
import pytest
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "default"))


@contextmanager
def lifted_triggers(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Take the triggers of a database away and put the same ones back, also when the body fails."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = origin")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql IS NOT NULL")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}")
        try:
            yield
        finally:
            for _, statement in triggers:
                cursor.execute(statement)


def empty_indexes(connection: BaseDatabaseWrapper) -> None:
    """Take away what transactional tests left in indexes beside the models: texts and, on SQLite, rectangles."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("TRUNCATE memory_recordtext, memory_recordtext_total")
            return
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE name GLOB 'memory_recordtext_*' AND sql LIKE '%USING fts5%'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
        cursor.execute("DELETE FROM memory_factrect_space")


_flush = TransactionTestCase._fixture_teardown


def _flush_without_triggers(self: TransactionTestCase) -> None:
    with ExitStack() as stack:
        for alias in self._databases_names(include_mirrors=False):
            stack.enter_context(lifted_triggers(connections[alias]))
        _flush(self)
    empty_indexes(connections["default"])


TransactionTestCase._fixture_teardown = _flush_without_triggers


@pytest.fixture(scope="session", autouse=True)
def patient_scrubs() -> Iterator[None]:
    """Other workers of the run share the server, and a module of theirs may stand in one transaction for a while."""
    from memory.ledger.operations import scrubbing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scrubbing, "OTHERS_PATIENCE_MS", 200_000)
        yield


NEVER_SKIPPED = ("browser", "postgres")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_needed = any(item.get_closest_marker(mark) for mark in NEVER_SKIPPED)
    if os.environ.get("CI") and is_needed and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"A test that must run here was skipped: {report.longrepr}"
    return report
