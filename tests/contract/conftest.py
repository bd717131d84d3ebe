"""One stage for all tests of a module: it is costly to set, and every test leaves it as it was."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.contract.stage import Stage


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Stage]:
    """Set within a transaction around those of the tests, which are rolled back to it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield Stage()
        transaction.set_rollback(True)
