"""The journey of an alarm: from its verdict to the label that tipped it, its observation, and what a person says."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from memory.base import clock
from memory.calibration.models import AlarmTurn
from memory.calibration.queries.alarms import alarms
from tests.browser.visits import Visits, grave_findings
from tests.calibration.filled import filled, watched_world
from tests.world import World

pytestmark = pytest.mark.browser

LONG_AGO = datetime.now(UTC) - timedelta(days=10)


@pytest.fixture(scope="module")
def world(db: None) -> World:
    """Forecasts that came true until more than a week ago, and since today do not."""
    with clock.fixed(LONG_AGO):
        world = watched_world("drifting", n=200)
        filled(world, n=100, turns_at=100, n_pending=0)
    filled(world, start=100, n=200, turns_at=100)
    return world


def drawn(page: Page, n: int) -> None:
    expect(page.locator("[data-plot][data-drawn]")).to_have_count(n)


@pytest.mark.parametrize("scripted", [True, False])
def test_from_a_verdict_to_the_label_that_tipped_its_alarm_and_to_last_week(
    visits: Visits, world: World, scripted: bool
) -> None:
    told = f"seen, {'with' if scripted else 'without'} scripts"
    page = visits.open(world.bob, java_script_enabled=scripted)
    page.goto(f"/calibration?ns={world.name}")
    first = page.locator(".verdicts > li").first
    expect(first).to_contain_text(re.compile(r"scanner\s+alarm since .*: over-confident at 0\.\d\d"))
    if scripted:
        drawn(page, 1)
    else:
        expect(page.locator("#reliability details table")).to_be_visible()
    first.get_by_role("link", name="scanner", exact=True).click()

    expect(page.locator("#reliability figcaption")).to_contain_text("the last 40 labels")
    page.get_by_role("link", name="What the two instruments hold").click()
    expect(page).to_have_url(re.compile(r"open=wealth"))
    expect(page.locator("#wealth figcaption")).to_contain_text("The first alarm came with label")
    if scripted:
        drawn(page, 2)
        assert not grave_findings(page)
    page.get_by_role("link", name=re.compile("ever miscalibrated")).first.click()

    alarm = alarms(world.now())[-1]
    expect(page.locator(".verdict-head")).to_contain_text(f"of {alarm.observation_id} tipped it")
    page.locator(".verdict-head a").first.click()
    expect(page.locator(".panel").last).to_contain_text(alarm.observation_id)
    page.go_back()
    if AlarmTurn.objects.filter(alarm=alarm.id, kind="acknowledge").exists():
        page.get_by_label("Reason").last.fill(told)
        page.get_by_role("button", name="Close the alarm").click()
    else:
        page.get_by_label("Reason").first.fill(told)
        page.get_by_role("button", name="Acknowledge").click()
    expect(page.locator(".recorded")).to_contain_text("recorded as seq")
    expect(page.locator("main")).to_contain_text(told)
    if scripted:
        drawn(page, 2)
        assert not grave_findings(page)

    page.goto(f"/calibration?ns={world.name}")
    page.locator(".as-of summary").first.click()
    page.get_by_role("link", name="a week ago").click()
    expect(page.locator(".banner[data-kind=past]")).to_be_visible()
    expect(page.locator(".verdicts > li")).to_contain_text(re.compile(r"scanner\s+calibrated"))
    expect(page.locator(".verdicts > li")).not_to_contain_text("alarm")
