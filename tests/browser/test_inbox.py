"""The way of ten held memories: found from the first page, ticked and settled in bulk by keyboard, proven by an entry.

The test writes into a namespace of its own.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from memory.agents import operations as agents
from memory.records.queries import detail
from tests.browser.visits import Visits
from tests.world import World

pytestmark = pytest.mark.browser


def tick(page: Page, n: int) -> None:
    """Mark the first rows and tick them, by keys alone."""
    for _ in range(n):
        page.keyboard.press("j")
        page.keyboard.press("x")


def settled(page: Page, reason: str) -> None:
    page.keyboard.type(reason)
    page.keyboard.press("Control+Enter")


def test_ten_held_memories_are_confirmed_and_rejected_in_bulk_by_keyboard(visits: Visits) -> None:
    world = World("ten-held")
    agents.change_setting(world.alice, name="review_policy", value="type=procedure -> hold 14 d")
    world.save("Go back to release 4 on every host")
    held = [world.save(f"Go back to release {n} on every host", type="procedure").id for n in range(10)]
    page = visits.open(world.bob)
    page.goto("/?ns=ten-held")
    page.get_by_role("link", name="10 held memories").click()
    expect(page.get_by_role("heading", name="Inbox 10")).to_be_visible()
    expect(page.locator(".inbox-row .diff ins, .inbox-row .diff del").first).to_be_visible()

    tick(page, 6)
    assert page.locator("input[name=held]:checked").count() == 6
    page.keyboard.press("c")
    expect(page.get_by_text("This confirms 6, rejects 0, appends 1 entry of 6 items.")).to_be_visible()
    head = world.now().seq
    settled(page, "compared with the advisory")
    expect(page.get_by_text("6 held memories are confirmed, recorded as seq")).to_be_visible()
    assert world.now().seq == head + 1

    tick(page, 4)
    page.keyboard.press("r")
    expect(page.get_by_text("This confirms 0, rejects 4, appends 1 entry of 8 items.")).to_be_visible()
    settled(page, "nobody asked for these")
    done = page.get_by_text("4 held memories are rejected, recorded as seq")
    expect(done).to_be_visible()
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    states = [detail.record(world.now(), id=one).row.state for one in held]
    assert states == ["current"] * 6 + ["withdrawn"] * 4

    page.locator(".recorded a").click()
    expect(page).to_have_url(re.compile(rf"/ledger/{head + 2}"))
    expect(page.get_by_text("rejected").first).to_be_visible()
    page.goto("/inbox?ns=ten-held&kind=turned_down")
    expect(page.get_by_text("nobody asked for these")).to_have_count(4)
