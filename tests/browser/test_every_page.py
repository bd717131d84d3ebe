"""Every page of the site, found by the URL conf: accessible, quiet, narrow, and unmoved by what its texts say.

A route without a sample address fails here, so a new page is walked from its first day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import resolve
from playwright.sync_api import Browser, Page
from pytest_django.fixtures import Settings

from tests.browser.addresses import FILES, PAGES, REFUSALS, Sample, routes
from tests.browser.furnished import Furnished
from tests.browser.visits import RULES_OF_COLOUR, Visits, grave_findings, grave_findings_in_the_dark, overflow
from tests.browsers import browser

pytestmark = pytest.mark.browser

CONVERTED = re.compile(r"<(?P<kind>\w+):\w+>")
STANDING_FOR = {"uuid": "00000000-0000-0000-0000-000000000000", "int": "1", "str": "x", "slug": "x", "path": "x"}
WIDE = {"width": 1280, "height": 900}
# 1280 by 1024 at a zoom of 400 %.
ZOOMED = {"width": 320, "height": 256}


@pytest.fixture(scope="module")
def world(db: None, tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    return Furnished(tmp_path_factory.mktemp("store"))


@pytest.fixture(autouse=True)
def _in_debug(settings: Settings, request: pytest.FixtureRequest) -> None:
    if "gallery" in request.node.name:
        settings.DEBUG = True


def answers_get(client: Client, route: str) -> bool:
    """True unless the route is for acts alone."""
    address = f"/{CONVERTED.sub(lambda match: STANDING_FOR[match['kind']], route)}"
    return not hasattr(resolve(address).func, "form") and client.get(address).status_code != 405


def test_every_route_that_answers_a_get_has_its_sample_and_no_sample_is_stale(world: Furnished) -> None:
    client = browser(world.alice)
    shown = {route for route in routes() if answers_get(client, route)}
    assert shown == ({name.partition("#")[0] for name in PAGES} | FILES.keys()) - {"api/v1/docs"}


def test_files_are_answered_as_files(world: Furnished) -> None:
    for route, samples in FILES.items():
        for sample in samples(world):
            client = browser(getattr(world, sample.by)) if sample.by else Client()
            answer = client.get(sample.address)
            assert answer.status_code in (sample.status, sample.or_status), route
            assert "text/html" not in answer.headers["Content-Type"]


class Reader:
    """One page for each person of the world, on which they open one address after another, as in life."""

    def __init__(self, visits: Visits, world: Furnished) -> None:
        self.visits, self.world = visits, world
        self._pages: dict[str, Page] = {}

    def page_of(self, name: str) -> Page:
        """Wide and in the light scheme. Nobody, "", begins anew each time: what they open may sign them in."""
        if not name:
            return self.visits.open()
        if name not in self._pages:
            self._pages[name] = self.visits.open(getattr(self.world, name))
        page = self._pages[name]
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(WIDE)
        return page


@pytest.fixture(scope="module")
def all_visits(chromium: Browser, site: str) -> Iterator[Visits]:
    visits = Visits(chromium, site)
    yield visits
    visits.close()


@pytest.fixture(scope="module")
def reader(all_visits: Visits, world: Furnished) -> Reader:
    return Reader(all_visits, world)


@pytest.fixture(autouse=True)
def _quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    """What was opened in a test must have been quiet at its end."""
    yield
    if "reader" in request.fixturenames:
        complaints = request.getfixturevalue("all_visits").complaints
        found = "\n".join(complaints)
        complaints.clear()
        assert not found, found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_serves_everyone_whatever_it_shows(reader: Reader, world: Furnished, name: str) -> None:
    for index, sample in enumerate(PAGES[name](world)):
        # The colours of one page are those of the route; the gallery shows every state in both schemes.
        _walk(reader, sample, with_colours=index == 0)


@pytest.mark.parametrize("sample", REFUSALS, ids=lambda sample: f"{sample.address} by {sample.by or 'nobody'}")
def test_a_refusal_serves_everyone_too(reader: Reader, sample: Sample) -> None:
    _walk(reader, sample)


def _walk(reader: Reader, sample: Sample, *, with_colours: bool = True) -> None:
    page = reader.page_of(sample.by)
    answer = page.goto(sample.address)
    assert answer is not None
    assert answer.status == sample.status, sample
    assert grave_findings(page, but=() if with_colours else RULES_OF_COLOUR) == [], sample
    assert not with_colours or grave_findings_in_the_dark(page) == [], sample
    # The gallery shows each part of a page more than once.
    assert _faults_of_structure(page) == [] or sample.address == "/gallery", sample
    assert not page.evaluate("() => 'ran' in window"), sample
    assert _turned_texts(page) == [], sample
    page.set_viewport_size(ZOOMED)
    assert overflow(page) == [], sample


def _faults_of_structure(page: Page) -> list[str]:
    """What a reader by ear misses: one heading of the first level, a language, a title, landmarks, distinct ids."""
    return list(
        page.evaluate(
            """() => {
                const all = (selector) => [...document.querySelectorAll(selector)];
                const ids = all("[id]").map((element) => element.id);
                return [
                    all("h1").length === 1 || `${all("h1").length} headings of the first level`,
                    document.documentElement.lang === "en" || "no language",
                    document.title.length > 0 || "no title",
                    all("main").length === 1 || "no main landmark",
                    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `the id ${id} twice`),
                ].filter((fault) => fault !== true);
            }"""
        )
    )


def _turned_texts(page: Page) -> list[str]:
    """Texts of the page, its title among them, that hold a mark which turns what stands around it."""
    return list(
        page.evaluate(
            """() => {
                const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
                const marks = /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/;
                const found = [];
                while (walker.nextNode()) {
                    const { data, parentElement } = walker.currentNode;
                    // What stands in a field is sent back as it stands.
                    if (marks.test(data) && parentElement.tagName !== "TEXTAREA") found.push(parentElement.outerHTML);
                }
                return found;
            }"""
        )
    )
