"""The flush after a transactional test removes evidence, and evidence is guarded again afterwards.

Each test finds empty tables and leaves a row behind, so whichever runs second fails when flush or guard is missing.
"""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from memory.ledger.models import Namespace
from memory.records import fulltext

pytestmark = pytest.mark.django_db(transaction=True)


def leave_a_row_and_find_it_guarded() -> None:
    assert Namespace.objects.count() == 0
    row = Namespace.objects.create(
        uid=uuid4(), name=uuid4().hex, clock="host", secret=b"s" * 32, created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Namespace.objects.filter(pk=row.pk).delete()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Namespace.objects.filter(pk=row.pk).update(name="other")
    assert Namespace.objects.count() == 1
    assert not fulltext.exists(1)
    fulltext.add(1, [(1, "text")])


def test_a_transactional_test_finds_empty_guarded_tables() -> None:
    leave_a_row_and_find_it_guarded()


def test_the_next_transactional_test_does_too() -> None:
    leave_a_row_and_find_it_guarded()
