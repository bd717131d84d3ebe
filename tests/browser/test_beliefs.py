"""The journey of a belief: the strongest conflict first, to its observation and origin, revoked, and believed anew."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from memory.beliefs.models import Revocation
from tests.beliefs.told import ODD, asked, told
from tests.browser.visits import Visits
from tests.world import World

pytestmark = pytest.mark.browser


def conflicts(page: Page) -> str:
    return page.locator("#conflicts figcaption").inner_text()


@pytest.mark.parametrize("scripted", [True, False])
def test_from_the_strongest_conflict_to_a_revocation_and_what_is_believed_then_and_now(
    visits: Visits, scripted: bool
) -> None:
    world = World("beliefs" if scripted else "plain")
    ids = told(world)
    asked(world, "calm", nodes=["a", "b"])
    asked(world)
    before = world.now().seq
    page = visits.open(world.bob, java_script_enabled=scripted)
    page.goto(f"/beliefs?ns={world.name}")
    expect(page.get_by_role("heading", name="What a conflict is")).to_be_visible()
    worst = page.locator("tr[data-state=contradicted]").first
    expect(worst).to_contain_text("+0.85")
    worst.get_by_role("link").first.click()

    expect(page.locator("#conflicts figcaption")).to_contain_text("contradicts a → c by 0.8 nats")
    if scripted:
        expect(page.locator("[data-plot][data-drawn]")).to_have_count(3)
        expect(page.locator("#conflicts details")).not_to_have_attribute("open", "")
    else:
        expect(page.locator("#conflicts details table")).to_be_visible()
    page.locator(".relations a[data-standing=contradicted]").first.focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("a → c")
    expect(page.locator(".untrusted-text")).to_contain_text('"tool": "scan"')
    page.get_by_role("link", name="Revoke…").click()
    expect(page.locator("main")).to_contain_text("1 observation derived from it speaks no more")
    page.get_by_label("Reason").fill("the probe was broken")
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator(".recorded")).to_contain_text("Revoked with 1 derived from it")
    expect(page.locator("main")).to_contain_text("the probe was broken")
    revocation = Revocation.objects.get(namespace=world.namespace, observation=ids[ODD])

    page.get_by_role("link", name="The graph around it").click()
    expect(page.locator("#conflicts figcaption")).to_contain_text("Nothing is contradicted")
    expect(page.locator("main")).to_contain_text("Confidence is not authority: this belief grants no act.")
    page.get_by_label("As recorded by").last.fill(f"seq:{before}")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main")).to_contain_text(re.compile(rf"Since seq {before}.*1 went", re.DOTALL))
    address = page.url
    page.goto(f"{address}&valid_at=2030-01-01T00:00:00Z&known_at=seq:{before}")
    expect(page.locator("#conflicts figcaption")).to_contain_text("contradicts a → c by 0.8 nats")
    expect(page.locator(".banner[data-kind=past]")).to_be_visible()
    page.goto(f"/ledger/{revocation.seq}?ns={world.name}")
    expect(page.locator("main")).to_contain_text("revoke")
