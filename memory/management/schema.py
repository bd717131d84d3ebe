"""Whether the databases have the tables that this version needs.

`migrate` itself takes most of a second even when there is nothing to do; a start asks first.
"""

from __future__ import annotations

from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from memory.facts import space
from memory.lineage.maintenance import forget_edge_statistics


def n_missing(alias: str) -> int:
    """How many migrations the database lacks.   Raises DatabaseError where it does not answer."""
    executor = MigrationExecutor(connections[alias])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def bring_up_to_date() -> int:
    """Apply what is missing in every database; answers how many migrations that was.

    A start also heals what somebody's ANALYZE has done to walks over lineage, and fits the spatial index of facts to
    this host.
    """
    n_applied = 0
    for alias in connections:
        if missing := n_missing(alias):
            call_command("migrate", database=alias, interactive=False, verbosity=0, skip_checks=True)
            n_applied += missing
    fit(connections["default"])
    return n_applied


def fit(connection: BaseDatabaseWrapper) -> None:
    """Heal and fit what a migration cannot: statistics over lineage, the spatial index of facts."""
    forget_edge_statistics(connection)
    space.adapt(connection)
