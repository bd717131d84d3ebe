"""Erasing in the browser: by subject under a hold, by record with its copies, with keys alone, and without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Page, expect

from memory.agents import operations as agents
from memory.ledger.operations import checkpoints
from memory.records.queries import recall
from tests.browser.visits import Visits, grave_findings, grave_findings_in_the_dark, overflow
from tests.erasures.canary import database_files, files_with, holds, new_canary, tables_with
from tests.world import World

pytestmark = pytest.mark.browser


@pytest.fixture
def world(db: None, request: pytest.FixtureRequest) -> World:
    """A namespace of the test's own."""
    return World(f"erasing-{request.node.name.replace('_', '-')[5:60]}")


def family(world: World, canary: str) -> tuple[UUID, UUID, UUID]:
    """A record that says the canary, a merge that quotes it, and what came of that."""
    record = world.save(f"The key of the vault is {canary}", summary="the key", tags=("vault",)).id
    merge = world.merge(record, world.save("The vault opens at nine").id)
    child = world.evolve(merge, content="The vault has a key and opens at nine")
    checkpoints.checkpoint(world.namespace, make_key=True)
    return record, merge, child


def sound(page: Page) -> None:
    """The page is accessible in both schemes, and no wider than a small window."""
    assert grave_findings(page) == []
    assert grave_findings_in_the_dark(page) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 320, "height": 800})
    assert overflow(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})


def confirm(page: Page, reason: str = "a secret that must not be kept") -> None:
    """Fill the last step in, as its own words ask."""
    page.get_by_label("Reason").select_option(label=reason)
    typed = page.get_by_label(re.compile("^Type "))
    label = page.locator(f"label[for='{typed.get_attribute('id')}']").inner_text()
    typed.fill(re.search(r"erase \d+", label)[0])  # type: ignore[index]
    page.get_by_role("button", name="Erase for good").click()


def test_by_subject_a_hold_holds_and_then_the_text_is_nowhere_and_the_proof_stands(
    visits: Visits, world: World
) -> None:
    canary = new_canary()
    record, merge, child = family(world, canary)
    agents.hold(world.alice, held=True, reason="the lawsuit of May")
    page = visits.open(world.alice)
    page.goto(f"/erasures/new?ns={world.name}")
    sound(page)
    page.get_by_label("A word, a phrase or a name").fill(canary)
    page.get_by_role("button", name="Find").click()
    boxes = page.locator("input[name='item']")
    expect(boxes).to_have_count(2)
    sound(page)
    page.get_by_role("button", name="See what it takes").click()

    # Under the hold: who, why, and no way to go on.
    locked = page.get_by_role("region", name=re.compile("On hold"))
    expect(locked).to_contain_text("alice@example.org")
    expect(locked).to_contain_text("the lawsuit of May")
    expect(page.get_by_role("button", name="Erase for good")).to_have_count(0)
    sound(page)
    locked.get_by_role("link", name="The hold").click()
    page.get_by_role("button", name="Lift the hold…").click()
    page.get_by_role("textbox", name="Reason").fill("the lawsuit is over")
    page.get_by_role("button", name="Lift it").click()
    expect(page.get_by_text("The hold is lifted")).to_be_visible()

    # The blast radius, and the act.
    page.goto(f"/erasures/new?ns={world.name}&subject={canary}")
    page.get_by_role("button", name="See what it takes").click()
    rests = page.get_by_role("region", name="What rests on it")
    expect(rests).to_contain_text("The vault has a key")
    expect(rests).to_contain_text("shows as erased")
    sound(page)
    confirm(page)

    # The receipt.
    expect(page.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    expect(page.get_by_role("region", name="Places")).to_contain_text("documents of the search index")
    expect(page.locator("#main")).to_contain_text("not yet scrubbed")
    expect(page.locator("#main")).to_contain_text("Out of reach")
    sound(page)
    assert canary not in page.content()

    # The stub in the graph, the proof, and no trace.
    page.goto(f"/records/{child}?ns={world.name}&up=3")
    for gone in (record, merge):
        node = page.locator(f"svg.lineage a[data-node][href^='/records/{gone}']")
        expect(node).to_contain_text("erased")
    assert canary not in page.content()
    seq = world.address(record)[0]
    page.goto(f"/ledger/{seq}?ns={world.name}")
    verdicts = [one.get_attribute("data-verdict") for one in page.locator(".answers > li").all()]
    assert verdicts[:2] == ["erased", "ok"]
    page.goto(f"/search?ns={world.name}&q={canary}")
    expect(page.locator("#main mark")).to_have_count(0)
    assert recall.recall(world.now(), query=canary).items == ()
    assert tables_with(canary) == []
    assert _files(canary) == []


def _files(canary: str) -> list[str]:
    if connection.vendor != "sqlite":
        return []
    held = [path.name for path in database_files() if holds(path, canary)]
    return [*held, *files_with(canary, Path(settings.PALIMPSEST_HOME))]


def test_from_a_record_its_copy_is_ticked_and_goes_by_the_same_entry_without_scripts(
    visits: Visits, world: World
) -> None:
    canary = new_canary()
    record, merge, _ = family(world, canary)
    page = visits.open(world.alice, java_script_enabled=False)
    page.goto(f"/records/{record}?ns={world.name}")
    page.get_by_role("link", name="Erase…").click()
    copy = page.locator("fieldset", has_text="repeat a line of it").locator("input[name='item']")
    expect(copy).not_to_be_checked()
    page.get_by_role("button", name="See what it takes").click()
    copy = page.locator("fieldset", has_text="repeat a line of it").locator("input[name='item']")
    copy.check()
    page.get_by_role("button", name="Look again with what is ticked").click()
    expect(page.locator("input[type='checkbox'][name='item']")).to_have_count(0)
    confirm(page, "asked for by the person it is about")
    expect(page.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    receipt = page.url
    page.goto(f"/records/{merge}?ns={world.name}")
    expect(page.get_by_role("heading", name="Erased")).to_be_visible()
    assert tables_with(canary) == []

    auditor = visits.open(world.charlie, java_script_enabled=False)
    auditor.goto(receipt)
    expect(auditor.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    with auditor.expect_download() as started:
        auditor.get_by_role("link", name="Commitments").click()
    assert re.fullmatch(r"(?:[0-9a-f]{64}\n)+", started.value.path().read_text())
    auditor.goto(f"/records/{merge}?ns={world.name}")
    expect(auditor.get_by_role("link", name="Erase…")).to_have_count(0)


def test_an_erasure_is_made_with_keys_alone(visits: Visits, world: World) -> None:
    record = world.save("A note that must be gone").id
    page = visits.open(world.alice)
    page.goto(f"/erasures/new?ns={world.name}")
    page.keyboard.type("must be gone")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="See what it takes")
    expect(button).to_be_visible()
    for _ in range(60):
        if button.evaluate("(element) => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    typed = page.get_by_label(re.compile("^Type "))
    expect(typed).to_be_visible()
    for _ in range(60):
        if typed.evaluate("(element) => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type("erase 2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    page.goto(f"/records/{record}?ns={world.name}")
    expect(page.get_by_role("heading", name="Erased")).to_be_visible()
