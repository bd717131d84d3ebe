"""Keeping the planner of SQLite from reading every edge for each ancestry.

With statistics on the edge table SQLite (since 3.38) puts a Bloom filter over all edges into each recursive call: an
answer of 51 nodes took about 90 times as long. No spelling of the query avoids it; without statistics the index serves.
PostgreSQL needs its statistics and keeps them.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from memory.lineage.models import Edge

_STATISTICS = ("sqlite_stat1", "sqlite_stat4")


def forget_edge_statistics(connection: BaseDatabaseWrapper) -> bool:
    """Delete what ANALYZE noted about the edge table; true if there was any. Other connections notice when reopened."""
    if connection.vendor != "sqlite":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE name IN (%s, %s)", _STATISTICS)
        n_forgotten = 0
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {table} WHERE tbl = %s", [Edge._meta.db_table])
            n_forgotten += cursor.rowcount
        if n_forgotten:
            # Reads the statistics that are left; it collects none.
            cursor.execute("ANALYZE sqlite_master")
    return n_forgotten > 0


def after_migration(*, using: str, **_: Any) -> None:
    """Receiver of the end of a migration: a start heals what somebody's ANALYZE has done."""
    forget_edge_statistics(connections[using])
