"""A subject as of two dates: the crosshair by keys and by drag, what was learned between, one address for two."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from audit.frame import in_url
from memory.facts.operations import ending
from tests.browser.visits import Visits, grave_findings, grave_findings_in_the_dark, overflow
from tests.timeline.histories import SUBJECT, on
from tests.world import World

pytestmark = pytest.mark.browser


class Limits(World):
    """A limit that was raised, corrected late, and contradicted."""

    def __init__(self) -> None:
        super().__init__("limits")
        self.declare("limit")
        old = self.tell(SUBJECT, "limit", "100 EUR", valid_from=on(0)).id
        self.then = self.now().seq
        new = self.tell(SUBJECT, "limit", "200 EUR", valid_from=on(10), valid_to=on(40)).id
        ending.supersede(self.bob, fact=old, at=on(10), new=new, reason="a new handbook")
        self.later = self.now().seq
        self.tell(SUBJECT, "limit", "250 EUR", valid_from=on(20), valid_to=on(30))
        self.head = self.now().seq

    def address(self, day: float, seq: int, **names: str) -> str:
        point = {"valid_at": in_url(on(day)), "known_at": f"seq:{seq}", "until": f"seq:{self.head}"}
        return f"/timeline?{urlencode({'ns': self.name, 'subject': SUBJECT, **point, **names}, safe=':')}"


@pytest.fixture(scope="module")
def world(db: None) -> Limits:
    return Limits()


def asked(page: Page) -> tuple[str, str]:
    """(true on, as recorded by) of the address."""
    query = parse_qs(urlsplit(page.url).query)
    return query["valid_at"][0], query["known_at"][0]


def value(page: Page) -> list[str]:
    return page.locator(".timeline-value").all_text_contents()


def press(page: Page, key: str, *, becomes: tuple[float, int]) -> None:
    """One step of the crosshair from the drawing, on which the focus stays."""
    page.keyboard.press(key)
    day, seq = becomes
    page.wait_for_url(lambda url: f"valid_at={in_url(on(day))}" in url and f"known_at=seq:{seq}&" in f"{url}&")
    expect(page.locator("#timeline-plot")).to_be_focused()
    # The address changes before the swap has settled; a key that is pressed in between could be lost.
    page.wait_for_load_state("networkidle")
    page.wait_for_function("!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")


def test_a_subject_as_of_two_dates_by_keys_with_what_was_learned_between(visits: Visits, world: Limits) -> None:
    page = visits.open(world.alice)
    page.goto(world.address(25, world.head))
    expect(page.locator("[data-answer='conflict']")).to_be_visible()
    page.locator("#timeline-plot").focus()
    press(page, "ArrowDown", becomes=(25, world.later))
    assert value(page) == ["200 EUR"]
    press(page, "ArrowLeft", becomes=(20, world.later))
    press(page, "ArrowLeft", becomes=(10, world.later))
    assert value(page) == ["200 EUR"]
    press(page, "ArrowLeft", becomes=(0, world.later))
    assert value(page) == ["100 EUR"]
    press(page, "ArrowRight", becomes=(10, world.later))
    page.get_by_label("what we learned since or until").fill(f"seq:{world.then}")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**against=*")
    expect(page.locator("tr[data-change]")).to_have_count(2)
    expect(page.locator("svg [data-change='changed']")).to_have_count(1)
    expect(page.locator("svg [data-change='removed']")).to_have_count(1)
    page.get_by_role("link", name="ordinal").click()
    page.wait_for_url("**scale=ordinal*")
    assert grave_findings(page) == []
    assert grave_findings_in_the_dark(page) == []

    # The address alone says it all: another person in a fresh browser, narrow and without scripts, gets equal data.
    other = visits.open(world.bob, java_script_enabled=False, viewport={"width": 320, "height": 700})
    other.goto(page.url)
    assert overflow(other) == []
    for part in (".timeline-answer", ".timeline-table", ".timeline-learned", "svg.bitemporal"):
        assert other.locator(part).text_content() == page.locator(part).text_content(), part
    files = [one.request.get(page.url.replace("/timeline?", "/timeline.json?")).body() for one in (page, other)]
    assert files[0] == files[1]


def test_the_crosshair_is_dragged_to_a_point_and_the_fields_say_where(visits: Visits, world: Limits) -> None:
    page = visits.open(world.alice)
    page.goto(world.address(5, world.then))
    assert value(page) == ["100 EUR"]
    handle = page.locator(".handle").first
    handle.scroll_into_view_if_needed()
    start = handle.bounding_box()
    assert start is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    # Where it stands now: taking the focus may have scrolled the page.
    target = page.locator("[data-version]", has_text="200 EUR").first.locator(".box").bounding_box()
    assert target is not None
    page.mouse.move(target["x"] + target["width"] / 4, target["y"] + target["height"] / 2, steps=4)
    label = page.locator(".crosshair .cross-label")
    expect(label).to_contain_text(f"recorded by seq:{world.later}")
    said = label.text_content() or ""
    page.mouse.up()
    page.wait_for_url(lambda url: "valid_at=2026-11-01T" not in url and f"seq:{world.then}&" not in url)
    true_on, recorded_by = asked(page)
    assert in_url(on(10)) < true_on < in_url(on(40))
    assert said == f"true on {true_on}, recorded by {recorded_by}"
    expect(page.locator("#timeline-plot")).to_be_focused()
    expect(page.locator("[name=recorded_by]")).to_have_value(recorded_by)
    assert "200 EUR" in value(page)
    # A version that is only clicked is a link.
    page.locator("[data-version] .box").last.click()
    page.wait_for_url("**/facts/*")
