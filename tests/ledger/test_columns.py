"""No column of evidence or content can be changed unnoticed: the scan finds it, or it is named here with a reason."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, models, transaction

from memory.ledger.models import Namespace
from memory.ledger.queries.verification import scan
from tests.conftest import lifted_triggers
from tests.every_table import GUARDED, NO_OPERATION_YET, another_value, populate
from tests.ledger.scanned import attacked, codes
from tests.world import World

pytestmark = pytest.mark.django_db


# What no commitment covers, and why.
UNCOVERED = {
    ("Namespace", "id"): "the database's own number",
    ("Namespace", "secret"): "a key; whoever knows it needs no access to rows",
    ("Namespace", "created_at"): "the instant of the first entry, which its leaf covers",
    ("Entry", "key"): "serves look-ups; the fingerprint beside it is covered",
    ("Checkpoint", "signed_at"): "a remark; the note says nothing of time",
    ("Restoration", "archive"): "how the log came here is no part of it: it goes on as the archive ends",
    ("Restoration", "restored_at"): "likewise",
    ("Restoration", "person"): "likewise; whoever may write rows needs no role",
    ("Restoration", "keeps_people"): "likewise; whoever may write rows needs no role",
}
# An edit of these says something false about other rows too.
TELLING = {
    "Erasure": {"row_mismatch", "content_missing", "content_unlisted"},
    "Namespace.name": {"leaf_mismatch", "origin_mismatch"},
    "Namespace.uid": {"row_mismatch", "origin_mismatch"},
    "Checkpoint": {"signature_invalid"},
    "Entry": {"leaf_mismatch"},
    "Item": {"items_mismatch", "row_mismatch"},
    "Content": {"payload_mismatch"},
    "Name.id": {"row_mismatch"},
    "Name": {"payload_mismatch", "content_missing"},
}
ADDRESS = {"namespace_id", "seq", "item", "part"}


FILLED = [model for model in GUARDED if model not in NO_OPERATION_YET]


@pytest.fixture(scope="module")
def world(around_all: None) -> World:
    """Each attack is undone."""
    world = World()
    populate(world)
    remove_bare_rows(world)
    return world


@pytest.mark.parametrize("model", FILLED, ids=lambda model: model.__name__)
def test_no_column_of_a_table_can_be_changed_unnoticed(model: type[models.Model], world: World) -> None:
    where = {"pk": world.namespace} if model is Namespace else {"namespace": world.namespace}
    row = model._default_manager.filter(**where).order_by("pk").last()
    assert row is not None
    for field in model._meta.concrete_fields:
        if field.attname in ADDRESS or (model.__name__, field.attname) in UNCOVERED:
            continue
        value = another_value(field, getattr(row, field.attname))
        if value == getattr(row, field.attname):
            continue

        def attack(_: World, field: models.Field = field, value: object = value) -> None:
            with transaction.atomic():
                model._default_manager.filter(pk=row.pk).update(**{field.attname: value})

        allowed = TELLING.get(f"{model.__name__}.{field.attname}") or TELLING.get(model.__name__) or {"row_mismatch"}
        try:
            found = codes(attacked(world, attack))
        except IntegrityError:
            # Two columns are bound to each other: the database takes neither alone.
            continue
        assert found, f"{field.attname} was changed unnoticed"
        assert found <= allowed, field.attname


def remove_bare_rows(world: World) -> None:
    """Rows that no operation wrote would be found as such."""
    with lifted_triggers(connection):
        for model in GUARDED:
            if model in NO_OPERATION_YET:
                model._default_manager.filter(namespace=world.namespace, item=800).delete()
    assert scan(world.namespace).is_clean
