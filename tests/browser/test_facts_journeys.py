"""The way of a conflict from the first page to its proof, by keyboard; and a subject at two points of time.

Each test writes into a namespace of its own.
"""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from audit.frame import in_url
from memory.facts.operations import ending
from memory.facts.queries.entities import entity_named
from memory.facts.queries.status import statuses
from tests.browser.visits import Visits
from tests.facts.stating import SHOP, SPRING, SUMMER, contradict, declare, state
from tests.world import World

pytestmark = pytest.mark.browser


def status(world: World, attribute: str) -> str:
    entity = entity_named(world.now(), subject=SHOP, attribute=attribute)
    assert entity is not None
    return statuses(world.now(), [entity])[0].status


def test_a_conflict_is_settled_by_keyboard_from_the_first_page_to_the_proof_of_its_entry(visits: Visits) -> None:
    world = World("two-conflicts")
    world.save("The register lists both numbers")
    contradict(world, "vat_id", "DE 811 907 980", "DE 811 907 981", valid_from=SPRING)
    contradict(world, "tax_rate", 19, 7, valid_from=SPRING)
    page = visits.open(world.bob)
    page.goto("/?ns=two-conflicts")
    page.get_by_role("link", name="2 conflicts").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Inbox 2")).to_be_visible()
    page.get_by_role("link", name=re.compile("Settle|vat_id")).first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{SHOP} · vat_id")
    expect(page.get_by_role("heading", name="Conflicts 1 of 2")).to_be_visible()

    head = world.now().seq
    page.keyboard.press("4")
    expect(page.locator("input[name=verdict]:checked")).to_have_count(0)
    page.keyboard.press("2")
    expect(page.get_by_label("Keep B")).to_be_checked()
    expect(page.get_by_text("Keep B: this will append 1 entry of 2 items")).to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_text("“Both hold” is an owner’s verdict: “Keep B” stays chosen.")).to_be_visible()
    expect(page.get_by_label("Keep B")).to_be_checked()
    page.get_by_label("Reason").focus()
    page.keyboard.press("Control+Enter")
    assert world.now().seq == head
    page.keyboard.type("the register was corrected by a letter")
    # Somebody else speaks up meanwhile: what was seen is not what stands.
    state(world, "vat_id", "DE 811 907 980", origin="a second letter", valid_from=SUMMER)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert").filter(has_text="The case has moved since you opened it")).to_be_focused()
    expect(page.get_by_label("Reason")).to_have_value("the register was corrected by a letter")
    assert world.now().seq == head + 1
    page.get_by_label("Reason").focus()
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text(f"{SHOP} · tax_rate")
    done = page.get_by_text(f"The verdict “Keep B” is recorded as seq {head + 2}")
    expect(done).to_be_visible()
    assert status(world, "vat_id") == "known"
    expect(done.get_by_role("link", name=f"{SHOP} · vat_id")).to_have_attribute("href", re.compile("/facts/conflicts/"))
    done.get_by_role("link", name=f"seq {head + 2}").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Three verdicts, computed now")).to_be_visible()
    expect(page.locator(".answers > li").first).to_have_attribute("data-verdict", "ok")
    expect(page.get_by_role("main")).to_contain_text("settled a conflict of")


def test_a_conflict_is_settled_without_scripts(visits: Visits) -> None:
    world = World("plain-conflict")
    contradict(world, "tax_rate", 19, 7, valid_from=SPRING)
    page = visits.open(world.alice, java_script_enabled=False)
    page.goto("/facts/conflicts?ns=plain-conflict")
    page.get_by_role("link", name=f"{SHOP} · tax_rate").click()
    page.get_by_label("Both hold").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Both hold: this will append 1 entry of 2 items")).to_be_visible()
    page.get_by_label("Reason").fill("two rates for two kinds of goods")
    page.get_by_role("button", name="Record the verdict").click()
    expect(page.get_by_text("The verdict “Both hold” is recorded as seq")).to_be_visible()
    expect(page.get_by_text("no conflict is open")).to_be_visible()
    assert status(world, "tax_rate") == "known"


def test_a_subject_is_read_as_of_two_dates_and_the_band_says_what_changed(visits: Visits) -> None:
    world = World("two-dates")
    declare(world, "refund_limit")
    old = state(world, "refund_limit", 200, valid_from=SPRING)
    state(world, "city", "Berlin", valid_from=SPRING)
    state(world, "phone", "4411", valid_from=SPRING, valid_to=SUMMER)
    new = state(world, "refund_limit", 250, valid_from=SUMMER)
    ending.supersede(world.bob, fact=old, at=SUMMER, new=new, reason="a new rule")
    seq, spring = world.now().seq, in_url(SPRING + timedelta(days=9))
    state(world, "owner_name", "Ada", valid_from=SPRING)
    page = visits.open(world.charlie)
    page.goto(f"/facts?ns=two-dates&subject={quote(SHOP)}&valid_at={spring}&known_at=seq:{seq}")
    table = page.get_by_role("region", name="Facts")
    expect(table.get_by_role("row", name="refund_limit")).to_contain_text("200")
    expect(table.get_by_role("row", name="owner_name")).to_have_count(0)

    page.get_by_label("then", exact=True).fill("now")
    page.keyboard.press("Enter")
    band = page.get_by_role("group", name="What changed")
    for words in ("1 added", "1 removed", "1 changed", "1 kept"):
        expect(band).to_contain_text(words)
    both = page.get_by_role("region", name="Then and now")
    changed = both.get_by_role("row", name="refund_limit")
    expect(changed.locator("[data-label=then]")).to_contain_text("250")
    expect(changed.locator("[data-label=here]")).to_contain_text("200")
    expect(page.get_by_role("region", name="Then and now").get_by_role("row", name="owner_name")).to_contain_text(
        "removed"
    )

    address = page.url
    other = visits.open(world.bob)
    other.goto(address)
    assert band.inner_text() == other.get_by_role("group", name="What changed").inner_text()
    page.get_by_role("link", name="Stop comparing").click()
    expect(band).to_have_count(0)
    expect(table.get_by_role("row", name="refund_limit")).to_contain_text("200")
