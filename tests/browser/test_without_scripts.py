"""The site without JavaScript: whatever can be read is read, and the first act that needs no script is done."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.furnished import Furnished
from tests.browser.visits import Visits, come_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def world(db: None, tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    return Furnished(tmp_path_factory.mktemp("store"))


@pytest.fixture
def page(visits: Visits, world: Furnished) -> Page:
    return visits.open(world.bob, java_script_enabled=False)


def test_a_person_comes_in_by_a_link_and_reads_from_the_list_to_the_proof(visits: Visits, world: Furnished) -> None:
    page = visits.open(java_script_enabled=False)
    come_in(page, world.bob)
    page.get_by_role("link", name="Later").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.locator("#latest li")).to_have_count(20)
    # What only a script could do is not offered.
    expect(page.get_by_role("link", name="pause")).to_be_hidden()

    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Records").click()
    page.get_by_label("Filter records").fill("type:summary limit")
    page.get_by_role("main").get_by_role("button", name="Filter").click()
    expect(page.locator(".filter-line")).to_contain_text("type is summary")
    page.get_by_role("link", name="Remove the filter: the text has limit").click()
    expect(page.locator("[data-row]")).not_to_have_count(0)
    page.goto(f"/records/{world.deepest}")

    page.get_by_text("The same as a list").click()
    ancestors = page.locator(".lineage-list")
    expect(ancestors.get_by_role("heading", name="What it rests on")).to_be_visible()
    page.get_by_role("link", name="as a table, all of it").click()
    expect(page.get_by_role("region", name="The whole lineage")).to_contain_text("Refunds above 200 EUR")

    page.get_by_role("link", name="Ledger entries").click()
    page.locator("table a[href^='/ledger/']").last.click()
    expect(page.locator(".answers > li")).to_have_count(3)
    expect(page.locator(".answers > li").first).to_have_attribute("data-verdict", "ok")
    expect(page.get_by_role("link", name=re.compile("^proof-"))).to_be_visible()


def test_a_lineage_opens_level_by_level_and_its_list_is_as_deep(page: Page, world: Furnished) -> None:
    page.goto(f"/records/{world.deepest}")
    node = page.locator(f"svg.lineage a[data-node][href^='/records/{world.root}']")
    for _ in range(3):
        expect(node).to_have_count(0)
        page.locator("a[data-way='expand-up']").first.click()
    expect(node).to_be_visible()
    page.get_by_text("The same as a list").click()
    # An entry inside an entry for each level up to the root.
    expect(page.locator(f".lineage-list {'li ' * 4}> a[href^='/records/{world.root}']")).to_be_visible()


def test_runs_imports_agents_and_the_search_are_read(page: Page, world: Furnished) -> None:
    page.goto("/search")
    page.get_by_label("Search records, facts, runs, agents and ids").fill("4411")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    page.get_by_role("main").get_by_role("link", name="Refund of order 4411").first.click()
    expect(page.locator("#run-steps tbody tr")).to_have_count(4)
    page.get_by_role("navigation", name="Filters").get_by_role("link").first.click()
    expect(page.locator(".filter-line")).to_contain_text("what happened is")

    page.goto("/imports")
    page.get_by_role("region", name="Imports").locator("tbody a").first.click()
    page.get_by_role("region", name="Findings").locator("tbody th a").first.click()
    expect(page.get_by_role("main")).to_contain_text("identifiers of the source")

    page.goto("/agents")
    expect(page.get_by_role("region", name="Agents", exact=True)).to_contain_text("scout")
    expect(page.get_by_role("region", name="People", exact=True)).to_contain_text("charlie@example.org")
    page.goto("/ledger/checkpoints?first=1&second=9")
    expect(page.get_by_role("main")).to_contain_text("begins with that of 1")


def test_the_past_is_entered_and_left(page: Page, world: Furnished) -> None:
    page.goto("/records")
    page.locator(".as-of > summary").click()
    page.locator(".as-of details > summary").click()
    page.get_by_label("As recorded by").fill("seq:9")
    page.locator(".as-of details").get_by_role("button", name="Go there").click()
    expect(page.locator(".banner[data-kind=past]")).to_be_visible()
    page.locator(".banner[data-kind=past]").get_by_role("link", name="Back to now").click()
    expect(page.locator(".banner[data-kind=past]")).to_have_count(0)


def test_a_reviewer_withdraws_a_record(page: Page, world: Furnished) -> None:
    record = world.save("A remark that should not be seen").id
    page.goto(f"/records/{record}")
    page.get_by_role("link", name="Withdraw").click()
    page.get_by_label("Reason").fill("It names a person.")
    page.get_by_role("main").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("status").filter(has_text="withdrawn, recorded as")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("It names a person.")
