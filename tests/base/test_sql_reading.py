"""Rows read by plain statements are those that the ORM would have read, on both engines."""

import pytest
from django.apps import apps
from django.db import models

from memory.base import sql
from tests.every_table import populate
from tests.world import World

pytestmark = pytest.mark.django_db


def test_every_table_reads_the_same_by_statement_and_by_the_orm() -> None:
    populate(World())
    n_rows = 0
    for model in apps.get_app_config("memory").get_models():
        rows = sql.fetch(f'SELECT {sql.selected(model, "t")} FROM "{model._meta.db_table}" t', [])
        by_statement = {row.pk: values_of(row) for row in (sql.loaded(model, row) for row in rows)}
        by_orm = {row.pk: values_of(row) for row in model._default_manager.all()}
        assert by_statement == by_orm, model.__name__
        n_rows += len(rows)
    assert n_rows > 100


def values_of(row: models.Model) -> dict[str, object]:
    """The columns of a row; bytes as bytes, whatever the driver wraps them in."""
    found = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return {name: bytes(value) if isinstance(value, memoryview) else value for name, value in found.items()}
