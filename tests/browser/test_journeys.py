"""Ways through the site as people go them, each from its beginning to its evidence.

Each test writes into a namespace of its own. No page on the way logs an error or breaks its content policy: `visits`
fails the test otherwise.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from django.test import Client
from playwright.sync_api import Locator, Page, expect

from memory.agents import operations as agents
from memory.agents import runs
from memory.base import jobs
from memory.base.actor import RunGiven
from memory.ledger.operations import checkpoints
from tests.browser.furnished import unpacked
from tests.browser.visits import Visits, come_in
from tests.world import World

pytestmark = pytest.mark.browser

PASSWORD = "a long and quiet sentence"
MOST_TABS = 80


def verdicts(page: Page) -> list[str | None]:
    return [one.get_attribute("data-verdict") for one in page.locator(".answers > li").all()]


def saved(page: Page, link: Locator, folder: Path) -> Path:
    """What the link downloads, in the folder under its own name."""
    with page.expect_download() as started:
        link.click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def verified(command: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The command of the page, by this Python, from the folder alone."""
    arguments = [sys.executable, "-I", *shlex.split(command)[1:], *more]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False, env={"LC_ALL": "C"})


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    for _ in range(MOST_TABS):
        if target.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{MOST_TABS} times Tab do not lead to {target}")


def test_from_a_one_time_link_to_a_proof_that_a_script_checks_in_an_empty_folder(
    visits: Visits, tmp_path: Path
) -> None:
    world = World("evidence")
    first = world.save("Refunds above 200 EUR need a second look").id
    checkpoints.checkpoint(world.namespace, make_key=True)
    second = world.evolve(first, content="Refunds above 250 EUR need a second look")
    other = world.save("A second look takes a day").id
    world.merge(second, other, type="summary", content="Refunds: the limit is 250 EUR, a look takes a day.")
    checkpoints.checkpoint(world.namespace)
    page = visits.open()

    come_in(page, world.person("erin", role="owner"))
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("New password, again").fill(PASSWORD)
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Records").click()
    page.get_by_role("navigation", name="Filters").get_by_role("link", name="summary").click()
    expect(page.locator(".filter-line")).to_contain_text("1 record where type is summary")
    page.locator("[data-row] a.first-line").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Refunds: the limit"))

    drawing = page.locator("svg.lineage")
    oldest = drawing.locator(f"a[data-node][href^='/records/{first}']")
    expect(oldest).to_have_count(0)
    drawing.locator("a[data-way='expand-up']").click()
    expect(oldest).to_be_visible()
    assert f"open={second}:up" in page.url
    oldest.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refunds above 200 EUR need a second look")

    page.get_by_role("link", name="Ledger entries").click()
    page.locator("table a[href^='/ledger/']").last.click()
    expect(page.get_by_role("heading", name="Three verdicts, computed now")).to_be_visible()
    assert verdicts(page) == ["ok", "ok", "not_checked"]
    entry = page.url
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Ledger").click()
    page.get_by_role("link", name="Checkpoints", exact=True).click()
    expect(page.get_by_role("heading", name="Checkpoints 2")).to_be_visible()
    _, kept = (saved(page, link, tmp_path) for link in page.get_by_role("link", name="text", exact=True).all())
    page.goto(entry)
    page.get_by_text("Compare with a checkpoint that you kept").click()
    page.get_by_label("The whole text of the checkpoint").fill(kept.read_text())
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".answers > li").last).to_have_attribute("data-verdict", "ok")
    assert verdicts(page) == ["ok", "ok", "ok"]

    folder = tmp_path / "empty"
    folder.mkdir()
    proof = saved(page, page.get_by_role("link", name=re.compile(r"^proof-.*\.json$")), folder)
    saved(page, page.get_by_role("link", name="verifier.py"), folder)
    command = page.locator("pre", has_text="python3 verifier.py").inner_text()
    kept.rename(folder / "kept.txt")
    answer = verified(command, folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert {line.split()[0] for line in answer.stdout.splitlines()} == {"ok"}, answer.stdout
    proof.write_text(proof.read_text().replace("200 EUR", "900 EUR"))
    assert verified(command, folder).returncode == 3


def test_a_store_of_another_memory_is_looked_at_and_then_imported(visits: Visits, tmp_path: Path) -> None:
    world = World("keep")
    before = world.now().seq
    page = visits.open(world.alice)
    page.goto("/imports?ns=keep")
    page.get_by_label("The store").set_input_files(unpacked(tmp_path))
    page.get_by_role("button", name="Look at it first").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("What importing violations.db would do")
    targets = page.get_by_role("region", name="Targets").locator("tbody tr")
    expected = {row.locator("[data-label=target]").inner_text(): _counts(row) for row in targets.all()}
    assert len(expected) == 6
    findings = page.get_by_role("heading", name="What was found in it")
    expect(findings).to_be_visible()
    expect(page.get_by_role("region", name="Preview").locator("tbody tr")).to_have_count(50)
    assert world.now().seq == before

    page.get_by_role("button", name=re.compile("^Import 64 records into 6 namespaces$")).click()
    expect(page.get_by_role("heading", name="Where it went")).to_be_visible()
    assert {row.locator("[data-label=target]").inner_text(): _counts(row) for row in targets.all()} == expected
    targets.filter(has_text="keep.app-core").get_by_role("link", name="the import").click()
    expect(page.get_by_role("heading", name=re.compile("^From "), level=1)).to_be_visible()
    page.get_by_role("navigation", name="Filters").get_by_role("link", name="quarantined").click()
    expect(page.locator(".filter-line")).to_contain_text("quarantined")
    page.get_by_role("region", name="Findings").locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name=re.compile("^Rows "))).not_to_have_count(0)

    page.goto("/records?ns=keep.app-core&include=superseded,withdrawn,not_valid")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Records {expected['→ keep.app-core'][0]}")
    page.locator("[data-row] a.first-line").first.click()
    expect(page.locator("dl.provenance")).to_contain_text("relayed")


def _counts(row: Locator) -> tuple[str, ...]:
    labels = ("records", "edges", "findings", "quarantined")
    return tuple(row.locator(f"[data-label='{label}']").inner_text() for label in labels)


def test_a_ticket_leads_to_its_run_and_the_run_to_everything_it_did(visits: Visits) -> None:
    world = World("work")
    told = RunGiven(title="Refund of order 4411", refs=(("ticket", "HELP-4411"),), runtime=(("model", "demo-model"),))
    run = runs.open_run(replace(world.scout, run=told))[0]
    inside = replace(world.scout, run=RunGiven(id=run))
    written = world.save("The customer of order 4411 asked for a refund", by=inside)
    world.save("A note of nobody's run")
    world.scout = inside
    changed = world.evolve(written.id, content="The customer of order 4411 asked for half of it back")
    runs.end_run(inside, run=run, note="paid")
    agents.freeze(world.alice, agent=world.scout_id, reason="it wrote at night")
    headers = {"Authorization": f"Bearer {world.secrets[world.scout_id]}", "Palimpsest-Run": str(run)}
    late = {"type": "note", "content": "Written too late"}
    door = "/api/v1/namespaces/work/records"
    assert Client().post(door, late, content_type="application/json", headers=headers).status_code == 423

    page = visits.open(world.charlie)
    page.goto("/records?ns=work")
    page.keyboard.press("/")
    page.keyboard.type("HELP-4411")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name=re.compile("Refund of order 4411")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refund of order 4411")

    steps = page.locator("#run-steps tbody tr")
    seqs = [int(text) for text in steps.locator("td:first-child").all_inner_texts()]
    assert seqs == sorted(seqs)
    assert len(seqs) == len(set(seqs)) == 5
    for link in page.locator("#run-steps tbody a").all():
        assert page.request.get(link.get_attribute("href") or "").ok
    page.get_by_role("link", name="failed or refused only").click()
    expect(steps).to_have_count(1)
    expect(steps).to_have_attribute("data-state", "refused")
    page.get_by_role("link", name="everything").click()
    steps.locator(f"a[href^='/records/{changed}']").click()
    expect(page.locator("dl.provenance").get_by_role("link", name="Refund of order 4411")).to_be_visible()


def test_an_owner_withdraws_a_record_by_the_keyboard_alone_with_a_reason(visits: Visits) -> None:
    world = World("desk")
    world.save("The desk closes at five")
    world.save("A remark about a customer, better not kept")
    page = visits.open(world.alice)
    page.goto("/records?ns=desk")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("A remark about a customer, better not kept")
    tab_to(page, page.get_by_role("link", name="Withdraw"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Withdraw this record")
    tab_to(page, page.get_by_label("Reason"))
    page.keyboard.type("It names a person.")
    tab_to(page, page.get_by_role("main").get_by_role("button", name="Withdraw"))
    page.keyboard.press("Enter")

    told = page.get_by_role("status").filter(has_text="withdrawn, recorded as")
    expect(told).to_be_visible()
    expect(told.get_by_role("link")).to_have_text(f"seq {world.now().seq}")
    expect(page.locator(".notice")).to_contain_text("Withdrawn: It names a person.")
    page.goto("/records?ns=desk")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator(".filter-line").get_by_role("link", name="1 withdrawn")).to_be_visible()


def test_a_form_that_was_overtaken_is_refused_and_keeps_the_draft(visits: Visits) -> None:
    world = World("drafts")
    first = world.save("The desk closes at five").id
    page = visits.open(world.alice)
    page.goto(f"/records/{first}/evolve?ns=drafts")
    draft = "The desk closes at five,\nexcept on Fridays"
    page.get_by_label("New text").fill(draft)
    second = world.evolve(first, content="The desk closes at six")

    with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
        page.get_by_role("button", name="Record the new version").click()
    assert answered.value.status == 412
    stale = page.locator(".problem[data-kind=stale]")
    expect(stale).to_contain_text("closes at six")
    expect(page.get_by_label("New text")).to_have_value(draft)
    assert world.now().seq == world.address(second)[0]

    page.get_by_role("button", name="Evolve what stands now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The desk closes at five,")
    third = UUID(page.url.partition("?")[0].rpartition("/")[2])
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_role("main")).to_contain_text("except on Fridays")
    assert third not in (first, second)


def test_an_auditor_meets_no_control_that_writes(visits: Visits) -> None:
    world = World("audit")
    record = world.save("A note to be read").id
    page = visits.open(world.charlie)
    reads = re.compile(r"/sign-out|/imports/exports|/ledger/verify|/ledger/checkpoints/compare|/ledger/\d+/consistency")
    for path in (
        "",
        "records",
        f"records/{record}",
        "runs",
        "ledger",
        "ledger/1",
        "ledger/checkpoints",
        "agents",
        "imports",
    ):
        page.goto(f"/{path}?ns=audit")
        actions = page.locator("form[method=post]").evaluate_all("(forms) => forms.map((form) => form.action)")
        assert [action for action in actions if not reads.search(action)] == [], path
        # Absent, not greyed.
        expect(page.locator("button:disabled, .write-refusal")).to_have_count(0)
    page.goto(f"/records/{record}?ns=audit")
    for verb in ("Evolve", "Supersede", "Withdraw", "Restore"):
        expect(page.get_by_role("main").get_by_role("link", name=verb)).to_have_count(0)
    refused = page.goto(f"/records/{record}/withdraw?ns=audit")
    assert refused is not None
    assert refused.status == 403
    expect(page.locator(".problem")).to_contain_text("reviewer or an owner")


def test_the_past_is_tinted_writes_nothing_and_is_the_same_for_everyone(visits: Visits) -> None:
    world = World("then")
    old = world.save("The limit is 200 EUR").id
    then = world.now().seq
    world.evolve(old, content="The limit is 250 EUR")
    page = visits.open(world.alice)
    page.goto("/records?ns=then")
    plain = _ground(page, ".top-bar")

    page.locator(".as-of > summary").click()
    page.get_by_text("Separate the clocks").click()
    page.get_by_label("As recorded by").fill(f"seq:{then}")
    page.locator(".as-of details").get_by_role("button", name="Go there").click()
    expect(page.locator(".as-of")).to_have_attribute("data-state", "past")
    assert f"known_at=seq:{then}" in page.url
    assert "valid_at=" in page.url
    assert _ground(page, ".banner[data-kind=past]") == _colour(page, "--gone-tint") != plain
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("The limit is 200 EUR")

    foot = page.get_by_role("link", name="JSON").get_attribute("href") or ""
    here = page.request.get(foot).body()
    assert [item["id"] for item in json.loads(here)["items"]] == [str(old)]
    page.locator("[data-row] a.first-line").click()
    expect(page.locator(".write-refusal")).to_contain_text("You look at the past")
    expect(page.locator(".record-verbs")).to_have_count(0)
    refused = page.goto(page.url.replace("?", "/withdraw?"))
    assert refused is not None
    assert refused.status == 409

    world.save("Written meanwhile")
    elsewhere = visits.open(world.charlie, color_scheme="dark", locale="da-DK", timezone_id="Pacific/Auckland")
    elsewhere.goto(page.url.replace("/withdraw", ""))
    assert elsewhere.request.get(foot).body() == here

    page.goto("/records?ns=then&as_of=2999-01-01T00:00:00")
    expect(page.locator(".banner[data-kind=past]")).to_contain_text("Provisional")


def _ground(page: Page, selector: str) -> str:
    return str(page.locator(selector).evaluate("(element) => getComputedStyle(element).backgroundColor"))


def _colour(page: Page, token: str) -> str:
    """What a token is as a colour: read from an element that wears it."""
    return str(
        page.evaluate(
            """(token) => {
                const probe = document.body.appendChild(document.createElement("i"));
                probe.style.backgroundColor = `var(${token})`;
                const colour = getComputedStyle(probe).backgroundColor;
                probe.remove();
                return colour;
            }""",
            token,
        )
    )


def test_a_task_that_is_polled_stays_in_its_place(visits: Visits) -> None:
    world = World("poll")
    job = jobs.ask(world.charlie, kind="ledger_scan", given={"kept": "", "namespace": "poll"})
    page = visits.open(world.charlie)
    page.goto(f"/ledger/scans/{job.id}?ns=poll")
    for _ in range(2):
        with page.expect_response(lambda answer: "/ledger/scans/" in answer.url):
            pass
    expect(page.locator("#scan")).to_have_count(1)
    page.get_by_role("link", name="pause").click()
    expect(page.get_by_role("link", name="resume")).to_be_visible()
    expect(page.locator("#scan")).to_have_count(1)
    expect(page.locator("h1")).to_have_count(1)


def test_d23_a_time_names_its_zone_and_is_the_same_for_a_reader_elsewhere(visits: Visits) -> None:
    world = World("zones")
    world.save("a note")
    told = []
    for zone in ("UTC", "Asia/Tokyo"):
        page = visits.open(world.alice, timezone_id=zone)
        page.goto("/records?ns=zones")
        time = page.locator("[data-row] time[datetime]").first
        time.hover()
        told.append((time.get_attribute("datetime"), time.inner_text()))
        # What is true where the reader is stands in the title alone, and names its zone too.
        assert ("GMT+9" in (time.get_attribute("title") or "")) is (zone == "Asia/Tokyo")
    assert told[0] == told[1]
    assert told[0][1].endswith("UTC")
