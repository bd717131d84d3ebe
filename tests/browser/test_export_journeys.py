"""Journeys of what comes in and goes out: a store reconciled and undone, a namespace taken along and brought back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory.interchange.models import ImportRun
from memory.records.queries.lists import Filter, records
from tests.browser.furnished import unpacked
from tests.browser.visits import Visits
from tests.interchange.archives import archive_of, lose, namespace_named
from tests.interchange.provenance import faults
from tests.world import World

pytestmark = pytest.mark.browser


def downloaded(page: Page, button: str) -> Path:
    with page.expect_download() as caught:
        page.get_by_role("button", name=button).click()
    return Path(caught.value.path())


def test_an_import_is_reconciled_by_choice_and_then_undone(visits: Visits, tmp_path: Path) -> None:
    world = World("kept")
    page = visits.open(world.alice)
    page.goto("/imports?ns=kept")
    page.get_by_label("The store").set_input_files(unpacked(tmp_path))
    page.get_by_role("button", name="Look at it first").click()
    expect(page.get_by_role("heading", name="Edges beside claims")).to_be_visible()
    expect(page.locator(".figures").last).to_contain_text("8 → 5")
    page.get_by_role("button", name=re.compile("^Import 64 records")).click()
    targets = page.get_by_role("region", name="Targets").locator("tbody tr")
    targets.filter(has_text="kept.app-core").get_by_role("link", name="the import").click()
    page.get_by_role("link", name="Edges beside claims").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edges beside claims")

    offers = page.get_by_role("region", name="Ties that can be linked")
    offers.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Link the chosen ones").click()
    expect(page.locator(".recorded")).to_contain_text("1 tie linked")
    expect(offers).to_contain_text("linked by entry")
    offers.locator("tbody th a").first.click()
    expect(page.locator("dl.provenance")).to_contain_text("relayed")

    run = ImportRun.objects.get(namespace__name="kept.app-core")
    page.goto(f"/imports/{run.id}?ns=kept.app-core")
    page.get_by_role("link", name="Undo this import…").click()
    page.get_by_label("Reason").fill("the wrong store")
    page.get_by_role("button", name=re.compile("^Withdraw ")).click()
    expect(page.locator(".recorded")).to_contain_text("its records are withdrawn")
    page.goto("/records?ns=kept.app-core&include=superseded,not_valid")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Records 0"))


def test_a_namespace_is_taken_along_and_brought_back(visits: Visits) -> None:
    world = World("home")
    away = World("away")
    away.save("to be taken along")
    page = visits.open(world.alice)
    page.goto("/imports?ns=away")
    expected = archive_of(away.namespace)
    archive = downloaded(page, "Export")
    assert archive.read_bytes() == expected

    page.get_by_label("Format").select_option("prov")
    assert faults(json.loads(downloaded(page, "Export").read_bytes())) == []
    page.reload()
    expect(page.get_by_role("region", name="Exports").locator("tbody tr")).to_have_count(2)

    lose(away)
    page.goto("/imports?ns=home")
    page.get_by_label("The archive").set_input_files(archive)
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator(".recorded")).to_contain_text("entries restored")
    page.goto("/records?ns=away")
    expect(page.locator("[data-row]")).to_contain_text("to be taken along")
    away.namespace = namespace_named("away")
    assert archive_of(away.namespace) == expected
    assert records(away.now(), where=Filter()).total == 1
