"""A store that another writer holds: refused for a moment, with nothing written.

In a module of its own: what is committed here must not meet the transaction that stands around other modules' tests.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from memory.ledger.models import Entry
from tests.contract.callers import caller
from tests.world import World

NOTE = {"type": "note", "content": "a note"}


@contextmanager
def locked_store(namespace: int) -> Iterator[None]:
    """Another writer holds the store, and nobody waits for it long."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        if connection.vendor == "sqlite":
            other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
        else:
            import psycopg

            other = psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor})
            other.execute("SELECT 1 FROM memory_head WHERE namespace_id = %s FOR UPDATE", [namespace])
        held.set()
        done.wait(20)
        other.close()

    waiting = "PRAGMA busy_timeout = 50" if connection.vendor == "sqlite" else "SET lock_timeout = '50ms'"
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)
    try:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
        yield
    finally:
        done.set()
        thread.join()
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_busy_store_is_unavailable_for_a_moment() -> None:
    world = World()
    by = caller(world, world.scout)
    before = Entry.objects.filter(namespace=world.namespace).count()
    with locked_store(world.namespace):
        answer = by.post("/records", NOTE)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable"), answer.content
    assert answer.headers["Retry-After"] == "1"
    assert Entry.objects.filter(namespace=world.namespace).count() == before
    assert by.post("/records", NOTE).status_code == 201
