"""One stage for all tests of a module: it is costly to set, and every test leaves it as it was.

A namespace must stand, with a record, before the tests: SQLite 3.40 fails at the next savepoint when one is rolled back
within which a text index was made and filled.
"""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.contract.stage import Stage


@pytest.fixture(scope="module")
def around_all(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around those of the tests, which are rolled back to it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def stage(around_all: None) -> Stage:
    return Stage()


@pytest.fixture(scope="module")
def elsewhere(around_all: None, stage: Stage) -> Stage:
    """Another namespace, with one of everything of its own."""
    return Stage("elsewhere")
