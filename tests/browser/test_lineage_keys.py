"""The lineage drawing under the keys: along edges, to the focus, a way, a find, a level; one address for two people."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from memory.base.actor import Actor
from tests.browser.visits import Visits
from tests.world import World

pytestmark = pytest.mark.browser


class Line(World):
    """A line of five versions, a branch, and a merge on top."""

    def __init__(self) -> None:
        super().__init__("line")
        self.chain = [self.save("The limit is 100 EUR").id]
        for number in range(1, 5):
            self.chain.append(self.evolve(self.chain[-1], content=f"The limit is {number + 1}00 EUR"))
        self.then = self.now().seq
        self.other = self.save("Refunds take a day", metadata={"owner": "Ann"}).id
        noted = self.evolve(self.chain[-1], content="The limit is 600 EUR", metadata={"owner": "Bob"})
        self.merged = self.merge(noted, self.other)


@pytest.fixture(scope="module")
def world(db: None) -> Line:
    return Line()


def opened(visits: Visits, person: Actor, address: str) -> Page:
    page = visits.open(person)
    page.goto(address)
    return page


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def focused(page: Page) -> str:
    """The record whose node has the focus."""
    return str(page.evaluate("() => document.activeElement.getAttribute('href').split('/')[2].split('?')[0]"))


def node(page: Page, record: UUID) -> None:
    page.locator(f"svg.lineage a[data-node][href^='/records/{record}']").focus()


def test_arrows_walk_along_edges_and_h_goes_to_the_focus(visits: Visits, world: Line) -> None:
    page = opened(visits, world.alice, f"/records/{world.chain[2]}?up=2&down=2")
    node(page, world.chain[2])
    page.keyboard.press("ArrowLeft")
    assert focused(page) == str(world.chain[1])
    page.keyboard.press("ArrowLeft")
    assert focused(page) == str(world.chain[0])
    page.keyboard.press("h")
    assert focused(page) == str(world.chain[2])
    page.keyboard.press("ArrowRight")
    assert focused(page) == str(world.chain[3])


def test_p_shows_the_way_to_a_node_and_hides_it_again(visits: Visits, world: Line) -> None:
    page = opened(visits, world.alice, f"/records/{world.chain[3]}?up=3")
    node(page, world.chain[0])
    page.keyboard.press("p")
    page.wait_for_url("**to=*")
    assert query(page)["to"] == [str(world.chain[0])]
    expect(page.locator(".link[data-path]")).to_have_count(3)
    expect(page.get_by_text("has 3 steps")).to_be_visible()
    node(page, world.chain[0])
    page.keyboard.press("p")
    page.wait_for_url(lambda url: "to=" not in url)
    expect(page.locator(".link[data-path]")).to_have_count(0)


def test_f_goes_to_the_field_that_finds_and_enter_finds(visits: Visits, world: Line) -> None:
    page = opened(visits, world.alice, f"/records/{world.chain[3]}")
    node(page, world.chain[3])
    page.keyboard.press("f")
    page.keyboard.type("limit is 100")
    page.keyboard.press("Enter")
    page.wait_for_url("**find=*")
    page.get_by_role("link", name="The limit is 100 EUR").first.click()
    page.wait_for_url("**to=*")
    assert query(page)["to"] == [str(world.chain[0])]
    expect(page.locator("a[data-match]")).to_have_count(1)


def test_plus_and_minus_open_and_close_one_side_of_one_node(visits: Visits, world: Line) -> None:
    page = opened(visits, world.alice, f"/records/{world.chain[2]}")
    node(page, world.chain[1])
    page.keyboard.press("+")
    page.wait_for_url("**open=*")
    expect(page.locator("svg.lineage a[data-node]")).to_have_count(4)
    node(page, world.chain[1])
    page.keyboard.press("-")
    expect(page.locator("svg.lineage a[data-node]")).to_have_count(3)


def test_a_comparison_is_copied_to_another_person_who_gets_equal_data(visits: Visits, world: Line) -> None:
    point = f"valid_at=2999-01-01T00:00:00Z&known_at=seq:{world.now().seq}"
    page = opened(visits, world.alice, f"/records/{world.merged}?{point}&up=10")
    page.get_by_label("Compare with").fill(f"seq:{world.then}")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url("**against=*")
    expect(page.locator("a[data-change='added']")).to_have_count(3)
    expect(page.locator("a[data-change='kept']")).to_have_count(5)
    bob = opened(visits, world.bob, page.url)
    marked = "links => links.map(one => [one.getAttribute('href'), one.dataset.change, one.dataset.state])"
    assert bob.locator("a[data-change]").evaluate_all(marked) == page.locator("a[data-change]").evaluate_all(marked)
    exports = [one.request.get(page.url.replace("?", "/lineage.json?")).body() for one in (page, bob)]
    assert exports[0] == exports[1]


@pytest.mark.parametrize("scripts", [True, False])
def test_two_versions_are_ticked_and_compared_also_without_scripts(visits: Visits, world: Line, scripts: bool) -> None:
    page = visits.open(world.alice, java_script_enabled=scripts)
    page.goto(f"/records/{world.chain[4]}/versions")
    boxes = page.get_by_role("checkbox", name="Version")
    for number, box in enumerate(boxes.all()):
        box.set_checked(number in (1, 5))
    page.get_by_role("button", name="Compare the two ticked").click()
    expect(page.get_by_role("heading", name="Compare two records")).to_be_visible()
    expect(page.locator(".diff").first).to_contain_text("100")
