"""The only clock of the domain.

- One reading for each operation, taken after the namespace lock is held.
- PostgreSQL: the database's clock_timestamp(); SQLite: the host's clock; tests and replay: an injected reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

from django.db import connection

TICK = timedelta(microseconds=1)

_injected: ContextVar[Callable[[], datetime] | None] = ContextVar("palimpsest_clock", default=None)


def read() -> datetime:
    """The instant now, aware UTC with microseconds."""
    source = _injected.get()
    if source is not None:
        return source()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            row = cursor.fetchone()
        return row[0].astimezone(UTC)  # type: ignore[no-any-return]
    return now()


def now() -> datetime:
    """The host's (or the injected) instant, for reads that must not touch the database."""
    source = _injected.get()
    return source() if source is not None else datetime.now(UTC)


@contextmanager
def injected(source: Callable[[], datetime]) -> Iterator[None]:
    """Inside the block every reading comes from `source`."""
    token = _injected.set(source)
    try:
        yield
    finally:
        _injected.reset(token)


@contextmanager
def fixed(instant: datetime) -> Iterator[None]:
    """Inside the block the clock stands still; entries still rise by a microsecond each."""
    with injected(lambda: instant):
        yield
