"""One stage for all tests of a module: it is costly to set, and every test leaves it as it was."""

import pytest

from tests.contract.stage import Stage


@pytest.fixture(scope="module")
def stage(around_all: None) -> Stage:
    return Stage()


@pytest.fixture(scope="module")
def elsewhere(around_all: None, stage: Stage) -> Stage:
    """Another namespace, with one of everything of its own."""
    return Stage("elsewhere")
