"""Every page and file answers on the second engine too. What they show is told beside each, on SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from tests.browser.addresses import FILES, PAGES
from tests.browser.furnished import Furnished
from tests.browsers import browser


@pytest.mark.django_db(databases=["default", "tasks"])
@pytest.mark.skipif(connection.vendor == "sqlite", reason="there a browser walks over them all")
def test_every_page_and_every_file_answers_whoever_asks(tmp_path: Path, settings: Settings) -> None:
    world = Furnished(tmp_path)
    clients = {name: browser(getattr(world, name)) for name in ("alice", "bob", "charlie")}
    settings.DEBUG = True  # the gallery is shown to who builds the site
    asked = 0
    for route, samples in {**PAGES, **FILES}.items():
        for sample in samples(world):
            client = clients[sample.by] if sample.by else Client()
            answer = client.get(sample.address, follow=True)
            assert answer.status_code in (sample.status, sample.or_status), (route, sample, answer.content[:500])
            asked += 1
    assert asked > len(PAGES)
