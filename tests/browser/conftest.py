"""A real browser before a real server: Chromium of the system, the site as tests run it.

Invariants
- A page that logs an error, throws, breaks its content policy or lacks a file fails the test that visited it.
- The database stands for a module: its tests read one world, or write into namespaces of their own. It is emptied after
  the last of them, and what a cache of this process held with it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.db import connection
from playwright.sync_api import Browser, sync_playwright
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from audit.pictures import CHROMIUM_ARGUMENTS, chromium_path
from tests.browser.visits import Visits
from tests.conftest import empty_tables


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # The browser's own loop runs in the thread of the tests, which read the database beside it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=str(path), args=list(CHROMIUM_ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database of a module. By this name pytest-django makes it also where no other test asks for one."""
    with django_db_blocker.unblock():
        yield
        empty_tables(connection)
        connection.close()
        cache.clear()


@pytest.fixture(scope="session")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    # Not pytest-django's own: that one empties the tables after every test.
    running = LiveServer("localhost")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def site(db: None, server: LiveServer) -> str:
    """The address of the site, its database open."""
    return server.url


@pytest.fixture
def visits(chromium: Browser, site: str) -> Iterator[Visits]:
    """Opens pages, each in a context of its own; at the end every one of them must have been quiet."""
    visits = Visits(chromium, site)
    yield visits
    visits.close()
    assert not visits.complaints, "\n".join(visits.complaints)
