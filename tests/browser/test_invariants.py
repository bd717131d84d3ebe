"""The way of a broken invariant: found by a run from the board, read to its counterexample, waived, seen to stand.

The fault is planted behind the domain's back, in a namespace of its own: an edge that a derivation wrote is taken away.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from memory.base import clock
from memory.lineage.models import Edge
from tests.browser.furnished import unpacked
from tests.browser.visits import Visits
from tests.conftest import lifted_triggers
from tests.interchange.archives import namespace_named
from tests.interchange.importing import imported
from tests.world import World

pytestmark = pytest.mark.browser

TITLE = "Edges and records tell the same ancestry"


def torn(name: str) -> tuple[World, str]:
    """A namespace in which a merged record has lost the edge to one of its two sources, and that record."""
    world = World(name)
    sources = [saved.id for saved in world.save_all("The limit is 200 EUR", "A second look takes a day")]
    record = world.merge(*sources)
    with lifted_triggers(connection):
        assert Edge.objects.filter(namespace=world.namespace, source=record, target=sources[0]).delete()[0] == 1
    return world, str(record)


def states(page: Page) -> list[str | None]:
    return [row.get_attribute("data-state") for row in page.locator(".laws-table [data-row]").all()]


def test_from_the_ledger_to_a_broken_invariant_its_counterexample_and_its_waiver(visits: Visits) -> None:
    world, record = torn("torn")
    page = visits.open(world.alice)
    page.goto("/ledger?ns=torn")
    rail = page.get_by_role("navigation", name="Pages")
    expect(rail.get_by_role("link", name="Invariants")).to_have_count(0)
    page.get_by_role("main").get_by_role("link", name="Invariants").click()
    expect(page.get_by_role("heading", name="Invariants 10", level=1)).to_be_visible()
    assert set(states(page)) == {"not_run"}

    page.get_by_role("button", name="Run the laws now").click()
    expect(page.locator(".laws-table [data-row]").first).to_have_attribute("data-state", "violated")
    expect(rail.get_by_role("link", name=re.compile("^Invariants"))).to_be_visible()
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(page.get_by_text("What to do.").first).to_be_visible()
    counterexamples = page.get_by_role("region", name="Counterexamples")
    expect(counterexamples.locator(f"a[href^='/records/{record}']").first).to_be_visible()
    page.get_by_text("The code of the check").click()
    expect(page.get_by_text("class Lineage:")).to_be_visible()

    page.get_by_role("link", name="Waive until…").click()
    page.get_by_label("Why it may stand").fill("the backup is restored on Friday")
    page.get_by_label("Until").fill((clock.now() + timedelta(days=3)).strftime("%Y-%m-%d"))
    page.get_by_role("button", name="Waive it until then").click()
    expect(page.locator(".recorded")).to_contain_text("waived")
    expect(page.get_by_text("the backup is restored on Friday")).to_be_visible()
    expect(rail.get_by_role("link", name=re.compile("^Invariants"))).to_have_count(0)
    page.get_by_role("navigation", name="Breadcrumbs").get_by_role("link", name="Invariants").click()
    row = page.locator(".laws-table [data-row]", has_text=TITLE)
    expect(row).to_have_attribute("data-state", "violated")
    expect(row).to_contain_text("waived")


def test_from_a_counterexample_in_an_imported_store_to_what_its_source_claimed(visits: Visits, tmp_path: Path) -> None:
    world = World("brought")
    imported(unpacked(tmp_path), "brought.store", by=world.alice)
    here = namespace_named("brought.store.app-core")
    torn_edge = Edge.objects.filter(namespace=here, relation="merged_from").first()
    assert torn_edge is not None
    with lifted_triggers(connection):
        Edge.objects.filter(pk=torn_edge.pk).delete()
    page = visits.open(world.alice)
    page.goto("/laws?ns=brought.store.app-core")
    page.get_by_role("button", name="Run the laws now").click()
    expect(page.locator(".laws-table [data-row]").first).to_have_attribute("data-state", "violated")
    page.get_by_role("link", name=TITLE, exact=True).click()
    counterexamples = page.get_by_role("region", name="Counterexamples")
    counterexamples.locator(f"a[href^='/records/{torn_edge.source}']").first.click()
    expect(page.locator("dl.provenance")).to_contain_text("relayed")
    page.get_by_role("link", name="Raw import row").click()
    expect(page.get_by_text("raw row", exact=True).first).to_be_visible()
    page.get_by_role("link", name="edges beside claims").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edges beside claims")


def test_an_auditor_runs_one_and_meets_no_waiver_without_scripts(visits: Visits) -> None:
    world, record = torn("torn-again")
    page = visits.open(world.charlie, java_script_enabled=False)
    page.goto("/laws/law.L2?ns=torn-again")
    expect(page.get_by_text("never run").first).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    expect(
        page.get_by_role("region", name="Counterexamples").locator(f"a[href^='/records/{record}']")
    ).not_to_have_count(0)
    expect(page.get_by_role("link", name="Waive until…")).to_have_count(0)
    page.get_by_role("link", name="findings and report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check: law.L2")


def test_two_records_are_compared_and_the_address_says_it_all(visits: Visits) -> None:
    world = World("beside")
    first, second = world.save_all("A look takes a day", "A look takes two days")
    once, again = world.merge(first.id, second.id), world.merge(second.id, first.id)
    page = visits.open(world.charlie)
    page.goto("/laws/compare?ns=beside")
    page.get_by_label("First record").fill(str(once))
    page.get_by_label("Second record").fill(str(again))
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".compare-answer")).to_contain_text("same class")
    address = page.url
    page.get_by_label("Second record").fill(str(second.id))
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".compare-answer")).to_contain_text("two classes")
    expect(page.get_by_role("region", name="Differences")).to_contain_text("content")
    other = visits.open(world.bob)
    other.goto(address)
    expect(other.locator(".compare-answer")).to_contain_text("same class")
