"""The journey of a dead end: a route is refused with its reason, spoken for, revived by an owner, tried and retired."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from memory.base import clock
from memory.tombstones import queries
from tests.browser.visits import Visits
from tests.contract.callers import caller
from tests.tombstones.burials import REVIVAL, ROUTE, SCOPE, buried
from tests.world import World

pytestmark = pytest.mark.browser


def test_a_buried_route_is_refused_spoken_for_revived_and_retired(visits: Visits) -> None:
    world = World("ends")
    tombstone = buried(world)
    answer = caller(world, world.scout).post("/tombstones/check", {"route": ROUTE, "scope": SCOPE}).json()
    assert answer["verdict"] == "blocked"
    page = visits.open(world.alice, expects=["422"])
    page.goto("/tombstones?ns=ends")
    page.get_by_role("link", name="Check a route").click()
    page.get_by_label("Route").fill(ROUTE)
    page.get_by_label("Where").fill("package: xz\nseries: 5.6")
    page.get_by_role("button", name="Check").click()
    verdict = page.locator("main section.panel").first
    expect(verdict.get_by_role("heading")).to_have_text("blocked")
    expect(verdict).to_contain_text("the tarball holds a backdoor")
    expect(verdict).to_contain_text(REVIVAL)
    verdict.get_by_role("link", name=ROUTE).click()

    expect(page.get_by_role("heading", level=1)).to_have_text(ROUTE)
    revive = page.get_by_role("button", name="Revive for the re-test")
    revive.click()
    expect(page.locator(".problem")).to_contain_text("revival_unmet")
    page.get_by_label("It holds until").fill((clock.now() + timedelta(days=9)).date().isoformat())
    page.get_by_label("Origin").fill("upstream")
    page.get_by_label("What shows it").fill("a clean release")
    page.get_by_role("button", name="File it").click()
    expect(page.locator(".recorded")).to_contain_text("The evidence is filed")
    expect(page.locator(".conditions [data-state=met]").first).to_be_visible()
    page.get_by_role("button", name="It was right to block").click()
    expect(page.locator(".recorded")).to_contain_text("said to be right")
    revive.click()
    expect(page.locator(".recorded")).to_contain_text("open for its re-test")
    page.get_by_label("passed: it is retired").check()
    page.get_by_label("What it showed").fill("the hashes agree")
    page.get_by_role("button", name="Report it").first.click()
    expect(page.locator("main [data-state=retired]").first).to_be_visible()
    expect(page.locator(".life")).to_contain_text("the hashes agree")
    assert queries.tombstone(world.now(), id=tombstone).state == "retired"
