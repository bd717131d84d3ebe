"""Figures in a browser: drawn under the policy, repainted with the scheme, and never the only place of a number."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.fixtures import Settings

from tests.browser.visits import Visits

pytestmark = pytest.mark.browser

FIGURE = "#conflicts-few"
INK = f"() => getComputedStyle(document.querySelector('{FIGURE} .xtick text')).fill"
RULES = "() => document.getElementById('plotly.js-style-global').sheet.cssRules.length"


@pytest.fixture(autouse=True)
def _in_debug(settings: Settings) -> None:
    settings.DEBUG = True


def drawn(page: Page) -> None:
    expect(page.locator("[data-plot][data-drawn]")).to_have_count(page.locator("[data-plot]").count())


def test_a_figure_is_drawn_repainted_with_the_scheme_and_drawn_again_after_a_swap(visits: Visits) -> None:
    page = visits.open()
    page.goto("/gallery")
    drawn(page)
    # Nothing of what the library writes into the sheet was refused, or the mode bar would lie over the plot.
    assert page.evaluate(RULES) > 40
    expect(page.locator(f"{FIGURE} details")).not_to_have_attribute("open", "")
    light = page.evaluate(INK)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(before) => ({INK})() !== before", arg=light)
    page.evaluate("() => { window.stayed = true; }")
    page.get_by_role("link", name="past", exact=True).click()
    expect(page.locator(".banner[data-kind=past]")).to_be_visible()
    drawn(page)
    assert page.evaluate("() => window.stayed")
    plots = page.locator("[data-plot]").count()
    assert page.locator("[data-plot] .main-svg:first-child").count() == plots
    expect(page.locator("script[src*=plotly]")).to_have_count(1)


def test_a_label_of_a_figure_is_no_link_and_the_plot_fits_a_narrow_window(visits: Visits) -> None:
    page = visits.open(viewport={"width": 1280, "height": 900})
    page.goto("/gallery")
    drawn(page)
    expect(page.locator("[data-plot] a")).to_have_count(0)
    page.set_viewport_size({"width": 320, "height": 600})
    page.wait_for_function(
        """() => [...document.querySelectorAll("[data-plot]")].every(
            (plot) => Math.abs(plot.querySelector(".main-svg").getAttribute("width") - plot.clientWidth) <= 1)"""
    )
    expect(page.locator(f"{FIGURE} .ytick text").first).to_have_text("mirror → build")


def test_where_the_library_does_not_come_the_table_stands_open(visits: Visits) -> None:
    page = visits.open(expects=["plotly"])
    page.route("**/plotly-cartesian.min.js", lambda route: route.abort())
    page.goto("/gallery")
    expect(page.locator(f"{FIGURE} [data-plot]")).to_be_hidden()
    expect(page.locator(f"{FIGURE} details")).to_have_attribute("open", "")
    visits.complaints[:] = [one for one in visits.complaints if "plotly" not in one]


def test_without_a_script_the_numbers_are_there_and_no_library_is_asked_for(visits: Visits) -> None:
    page = visits.open(java_script_enabled=False)
    asked: list[str] = []

    def note(route: Route) -> None:
        asked.append(route.request.url)
        route.continue_()

    page.route("**/vendor/plotly/**", note)
    page.goto("/gallery")
    expect(page.locator(f"{FIGURE} [data-plot]")).to_be_hidden()
    expect(page.locator(f"{FIGURE} details")).to_contain_text("+12.40")
    expect(page.locator(f"{FIGURE} details table")).to_be_visible()
    assert asked == []
