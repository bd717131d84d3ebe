"""The state of a store in comparable form: what stands in its tables, and what its projections derive from that."""

from __future__ import annotations

from django.apps import apps
from django.db import connection

from memory.base import projections
from tests.every_table import GUARDED, stored_rows


def evidence(namespace: int) -> list[str]:
    """Every row of evidence and content of a namespace as one line, in key order."""
    return [f"{model.__name__} {row}" for model in GUARDED for row in stored_rows(model, namespace)]


def projected(namespace: int) -> dict[str, list[projections.Row]]:
    """The rows of every projection."""
    return {projector.name: list(projector.dump(namespace)) for projector in projections.registered()}


def rebuilt(namespace: int) -> dict[str, list[projections.Row]]:
    """The rows of every projection, made anew."""
    for projector in projections.registered():
        projector.rebuild(namespace)
    return projected(namespace)


def row_counts() -> dict[str, int]:
    """How many rows stand in each table of the store, whatever the namespace; one statement."""
    tables = [model._meta.db_table for model in apps.get_app_config("memory").get_models()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in tables))
        return dict(zip(tables, cursor.fetchone(), strict=True))


def everything(namespace: int) -> tuple[dict[str, int], list[str], dict[str, list[projections.Row]]]:
    """All that a refused or failed operation must leave as it was."""
    return row_counts(), evidence(namespace), projected(namespace)
