"""The frame and the components in a real browser: policy, keys, focus, narrow screens, both schemes, and no script."""

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.fixtures import Settings

from tests.browser.visits import Visits, grave_findings, grave_findings_in_the_dark, overflow

pytestmark = pytest.mark.browser

FAILURE = '<section class="problem" tabindex="-1" data-takes-focus><h2>Internal error</h2></section>'


@pytest.fixture(autouse=True)
def _in_debug(settings: Settings) -> None:
    settings.DEBUG = True


@pytest.fixture
def page(visits: Visits) -> Page:
    opened = visits.open()
    opened.goto("/gallery")
    return opened


# The gallery as of now is walked with the other pages.
@pytest.mark.parametrize("variant", ["past", "stopped"])
def test_no_serious_finding_of_axe_in_either_scheme(visits: Visits, variant: str) -> None:
    page = visits.open()
    page.goto(f"/gallery?frame={variant}")
    assert grave_findings(page) == []
    assert grave_findings_in_the_dark(page) == []


def test_no_width_needs_a_sideways_scroll_of_the_page(page: Page) -> None:
    for width in (320, 400, 800, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) == [], width


def test_without_a_script_menu_rail_help_and_confirmation_open(visits: Visits) -> None:
    page = visits.open(java_script_enabled=False, viewport={"width": 400, "height": 800})
    page.goto("/gallery")
    page.click(".rail-open")
    expect(page.locator("#rail a", has_text="Agents")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_be_hidden()
    page.click(".as-of > summary")
    expect(page.get_by_label("As of, in UTC")).to_be_visible()
    page.click(".as-of details > summary")
    expect(page.get_by_label("As recorded by")).to_be_visible()
    page.click(".as-of > summary")
    page.click("[popovertarget=g-erase] >> nth=0")
    expect(page.get_by_label("Type customer 4411 to confirm")).to_be_visible()
    expect(page.locator(".copy").first).to_be_hidden()


def test_slash_goes_to_the_search_and_escape_leaves_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#search-field")).to_be_focused()
    page.keyboard.type("j?")
    expect(page.locator("#search-field")).to_have_value("j?")
    expect(page.locator("#keys-help")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#search-field")).not_to_be_focused()


def test_j_and_k_walk_the_rows_and_mark_one(page: Page) -> None:
    rows = page.locator("[data-row]")
    for key, marked in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(page.locator("[data-row][data-selected]")).to_have_count(1)
        assert rows.nth(marked).get_attribute("data-selected") == ""
    expect(rows.nth(1).locator("a").first).to_be_focused()


def test_letters_can_be_switched_off_and_stay_off(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("[data-keys-switch]").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("[data-row][data-selected]")).to_have_count(0)
    page.reload()
    page.keyboard.press("/")
    expect(page.locator("#search-field")).not_to_be_focused()


def test_digits_choose_a_verdict(page: Page) -> None:
    page.keyboard.press("4")
    expect(page.locator("[data-verdict-form]").get_by_label("both hold")).to_be_checked()
    page.keyboard.press("2")
    expect(page.locator("[data-verdict-form]").get_by_label("keep B")).to_be_checked()


def test_a_scheme_is_chosen_and_kept_in_the_cookie(page: Page) -> None:
    page.click(".menu[data-align=end] > summary")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(16, 18, 20)")
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    assert cookies["theme"] == "dark"


def test_the_copied_id_is_whole_and_without_spaces(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-copy]").first.click()
    expect(page.locator("#polite")).to_have_text("Copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == "rec_01JCQ8ZK4T7M2V9XW3N5B6R0HD"


def test_arrows_walk_the_edges_of_a_lineage_and_h_goes_to_the_focus(page: Page) -> None:
    page.locator("#lineage-focus").focus()
    start = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    right = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    assert right != start
    joined = page.evaluate(
        "() => [...document.querySelectorAll('#lineage .link')].some((edge) => edge.dataset.to === "
        "document.activeElement.dataset.node && edge.dataset.from === "
        "document.querySelector('#lineage-focus').dataset.node)"
    )
    assert joined
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("h")
    expect(page.locator("#lineage-focus")).to_be_focused()


def test_a_link_in_the_page_is_followed_without_reloading_and_told(page: Page) -> None:
    def without_errors(route: Route) -> None:
        # The gallery shows errors, which would take the focus.
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("data-takes-focus>", ">"))

    page.route("**/gallery?frame=past", without_errors)
    page.evaluate("() => { window.stayed = true; }")
    page.get_by_role("link", name="past", exact=True).click()
    expect(page.locator(".banner[data-kind=past]")).to_be_visible()
    expect(page).to_have_url(f"{page.url.split('?')[0]}?frame=past")
    assert page.evaluate("() => window.stayed")
    expect(page.locator("#main")).to_be_focused()
    expect(page.locator("#polite")).to_contain_text("Gallery")
    page.keyboard.press("/")
    expect(page.locator("#search-field")).to_be_focused()


def test_a_failure_of_the_server_stands_above_the_page_and_gets_the_focus(visits: Visits) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=500, content_type="text/html", body=f"<html><body><main>{FAILURE}</main></body></html>")

    page = visits.open(expects=["500 "])
    page.goto("/gallery")
    page.route("**/gallery?frame=past", fail)
    before = page.url
    page.get_by_role("link", name="past", exact=True).click()
    expect(page.locator("#problem .problem")).to_be_focused()
    expect(page.get_by_role("heading", name="Gallery")).to_be_visible()
    expect(page.locator("#assertive")).to_contain_text("500")
    assert page.url == before


def test_a_lost_reply_is_unknown_and_offers_a_check(visits: Visits) -> None:
    page = visits.open(expects=["Failed to fetch"])
    page.goto("/gallery")
    page.route("**/gallery?frame=past", lambda route: route.abort())
    page.get_by_role("link", name="past", exact=True).click()
    lost = page.locator("#problem .problem")
    expect(lost).to_be_focused()
    expect(lost).to_contain_text("unknown")
    assert lost.get_by_role("link", name="Check").get_attribute("href") == "/gallery"
