"""Scans on demand and the pages of checks, as a browser gets them."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from memory.base import jobs
from memory.checks import tasks
from memory.checks.ledger_scan import report_of
from memory.checks.models import CheckRun
from memory.checks.operations import Found, record_run
from memory.ledger.models import Node
from memory.ledger.queries.verification import scan
from tests.browsers import browser
from tests.ledger.shown import edit, verdicts, words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


@pytest.mark.parametrize("who", ["alice", "bob", "charlie"])
def test_every_member_has_the_ledger_verified(who: str, world: World) -> None:
    world.save("a note")
    answer = browser(getattr(world, who)).post("/ledger/verify", follow=True)
    assert answer.status_code == 200
    assert verdicts(answer.text) == ["ok", "not_checked", "not_checked"]
    assert "Nothing that is stored was believed" in words(answer.text)
    assert CheckRun.objects.filter(namespace=world.namespace).count() == 1


@pytest.mark.parametrize("path", ["verify", "checkpoint", "checkpoints/compare", "1/consistency"])
def test_a_stranger_acts_on_no_ledger(path: str, world: World, client: Client) -> None:
    assert client.post(f"/ledger/{path}").status_code == 401
    eve = World("other").person("eve", role="owner")
    assert browser(eve).post(f"/ledger/{path}?ns=acme").status_code == 404
    assert not CheckRun.objects.exists()


@pytest.mark.parametrize("path", ["verify", "checkpoint"])
def test_an_act_is_never_a_get(path: str, world: World, alice: Client) -> None:
    answer = alice.get(f"/ledger/{path}")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "This address takes POST, not GET" in words(answer.text)


@pytest.mark.parametrize(("path", "form"), [("checkpoints/compare", "checkpoints"), ("1/consistency", "1")])
def test_the_address_of_a_refused_form_leads_back_to_the_form(path: str, form: str, alice: Client) -> None:
    answer = alice.get(f"/ledger/{path}?ns=acme&known_at=seq:1&kept=x")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/ledger/{form}?ns=acme&known_at=seq:1")
    assert alice.put(f"/ledger/{path}").status_code == 405


def test_a_fault_is_shown_with_its_code_its_place_and_both_sides(world: World, alice: Client) -> None:
    seq = world.save("as it was said").seq
    edit(world, seq)
    answer = alice.post("/ledger/verify", follow=True)
    assert verdicts(answer.text) == ["failed", "not_checked", "not_checked"]
    shown = words(answer.text)
    assert "payload_mismatch" in shown
    assert f"seq {seq}, item 0, part content" in shown
    assert answer.text.count("<dt>expected</dt>") == 1
    assert f'href="/ledger/{seq}"' in answer.text


def test_a_long_scan_is_a_page_that_asks_again_until_it_has_ended(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Queue:
        def enqueue(self, job: str) -> None:
            """A worker will come."""

    monkeypatch.setattr(tasks, "IN_REQUEST_ITEMS", 0)
    monkeypatch.setattr(tasks, "scan_ledger", Queue())
    address = alice.post("/ledger/verify").headers["Location"]
    (job,) = jobs.jobs(namespace=world.namespace, kind=tasks.KIND)
    text = alice.get(address).text
    assert 'hx-trigger="every 2s"' in text
    assert "It waits for a worker" in text
    assert "alice@example.org" in text
    assert "hx-trigger" not in re.sub(r"(?s)<head.*?</head>", "", alice.get(f"{address}?paused=yes").text)
    with jobs.running(job.id) as work:
        work.tell("hashing", 30, 60)
        part = alice.get(address, headers={"HX-Request": "true"}).text
        assert "50 %" in words(part)
        assert "<html" not in part
        work.end({"run": None, "report": _report(world)})
    ended = alice.get(address).text
    assert "hx-trigger" not in re.sub(r"(?s)<head.*?</head>", "", ended)
    assert "could not be written down" in ended
    eve = World("other").person("eve", role="owner")
    assert browser(eve).get(address).status_code == 404


def _report(world: World) -> dict[str, Any]:
    Node.objects.filter(namespace=world.namespace, level=0, index=0).delete()
    return report_of(scan(world.namespace))


def test_a_scan_of_a_log_with_erasures_is_ok_and_counts_them(world: World, alice: Client) -> None:
    world.erase(world.save("private").id, world.save("private too").id)
    answer = alice.post("/ledger/verify", follow=True)
    gone = verify_told(world)["erased"]
    assert gone >= 2
    for text in (answer.text, alice.get("/ledger").text):
        assert f"ok, {gone} erased" in words(text)
        assert 'data-state="erased"' not in text.split('class="list-page"')[0]


def verify_told(world: World) -> dict[str, Any]:
    return report_of(scan(world.namespace))


def test_a_run_of_any_check_has_a_page(world: World, alice: Client) -> None:
    run = record_run(
        world.alice, name="laws", version=1, verdict="violated", at_seq=3, n_checked=9, report={"n": 1},
        found=[Found("L4", seq=2, item=0)],
    )  # fmt: skip
    text = alice.get(f"/ledger/checks/{run.id}").text
    assert "Check: laws" in words(text)
    assert "violated" in words(text)
    assert 'href="/ledger/2"' in text
    assert alice.get(f"/ledger/checks/{uuid4()}").status_code == 404
