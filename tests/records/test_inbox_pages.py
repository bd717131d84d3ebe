"""The Inbox as a browser gets it: one queue of what waits, and the review of held memories."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from audit.frame import in_url
from memory.agents import operations as agents
from memory.base import clock
from memory.checks import operations as checks
from memory.records.models import Held, Review
from memory.records.queries import detail
from tests.browsers import browser
from tests.facts.stating import contradict
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture
def world() -> World:
    made = World("acme")
    agents.change_setting(made.alice, name="review_policy", value="agent=scout type=procedure -> hold 14 d")
    return made


@pytest.fixture
def bob(world: World) -> Client:
    return browser(world.bob)


def words(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def held(world: World, text: str) -> UUID:
    return world.save(text, type="procedure").id


def state(world: World, id: UUID) -> str:
    return detail.record(world.now(), id=id).row.state


def test_a_held_memory_stands_beside_what_is_nearest_with_its_rule_and_its_date(world: World, bob: Client) -> None:
    near = world.save("Go back to 5.4.5 on every host").id
    waits = held(world, "Go back to 5.4.6 on every host")
    alone = held(world, "Zebras are striped")
    page = bob.get("/inbox").text
    text = words(page)
    assert "the oldest waits now" in text
    assert "agent=scout type=procedure -> hold 14 d" in text
    until = Held.objects.get(object=waits).until_at
    assert until is not None
    assert f"withdrawn unreviewed on {until:%-d %b %Y}" in text
    assert f'href="/records/{near}"' in page
    assert re.search(r"<ins[^>]*>6</ins>|<ins>6</ins>", page)
    assert "Zebras are striped Nothing near stands in memory." in text
    assert page.count('name="held"') == 2
    assert f'value="record:{alone}"' in page


def test_everything_that_waits_is_one_queue_by_kind_and_the_rail_says_how_much(world: World, bob: Client) -> None:
    told: dict[str, Any] = {"version": 1, "at_seq": 1, "n_checked": 1, "found": [], "report": {}}
    checks.record_run(world.alice, name="law.L2", verdict="violated", **told)
    checks.record_run(world.alice, name="rebuild", verdict="failed", **told)
    held(world, "a step")
    page = bob.get("/inbox").text
    assert re.findall(r'data-matter="(\w+)"', page) == ["laws", "ledger", "inbox"]
    assert "Inbox 3 open" in words(page)
    assert re.findall(r'data-matter="(\w+)"', bob.get("/inbox?kind=inbox").text) == ["inbox"]
    assert re.findall(r'data-matter="(\w+)"', bob.get("/inbox?mine=yes").text) == ["inbox"]
    assert len(re.findall(r'data-matter="(\w+)"', browser(world.alice).get("/inbox?mine=yes").text)) == 3
    items = bob.get("/inbox.json").json()
    assert [item["kind"] for item in items["items"]] == ["laws", "ledger", "inbox"]
    assert items["total"] == 3
    first = bob.get("/").text
    assert '<a href="/inbox?kind=inbox">1 held memory</a>' in first
    assert "no longer do" not in words(first), "what is held never stood"
    assert "3 wait for a person" in words(first)
    assert bob.get("/inbox?kind=elephants").status_code == 422


def test_what_waits_is_reached_from_the_inbox_whatever_point_the_console_is_read_at(world: World, bob: Client) -> None:
    waits = held(world, "a step")
    rejected = held(world, "no step")
    bob.post("/inbox/review", {"verb": "reject", "held": f"record:{rejected}", "reason": "it is not so"})
    contradict(world, "tax_rate", 19, 7)
    point = f"ns=acme&valid_at={in_url(world.now().valid_at)}&known_at=seq:0"
    for part, things in (("", {f"/records/{waits}", "/facts/conflicts/"}), ("turned_down", {f"/records/{rejected}"})):
        page = bob.get(f"/inbox?kind={part}&{point}").text
        queue = page[page.index('id="inbox-queue"') :]
        found = set(re.findall(r'href="(/(?:records|facts|ledger)/[^"]*)"', queue))
        assert all(any(url.startswith(thing) for url in found) for thing in things)
        assert any(url.startswith("/ledger/") for url in found)
        assert {url: bob.get(unescape(url)).status_code for url in found} == dict.fromkeys(found, 200)


def test_a_selection_is_previewed_and_reviewed_as_one_entry(world: World, bob: Client) -> None:
    ids = [held(world, f"step {n}") for n in range(4)]
    values = [f"record:{one}" for one in ids]
    head = world.now().seq
    shown = bob.get("/inbox/review", {"verb": "confirm", "held": values[:3]}).text
    assert "This confirms 3, rejects 0, appends 1 entry of 3 items." in words(shown)
    assert world.now().seq == head
    (key,) = re.findall(r'name="key" value="(\w+)"', shown)
    form = {"verb": "confirm", "held": values[:3], "reason": "read them", "key": key}
    for _ in range(2):
        done = bob.post("/inbox/review", form, follow=True)
        assert "3 held memories are confirmed, recorded as seq" in words(done.content.decode())
    assert world.now().seq == head + 1
    assert [state(world, one) for one in ids] == ["current"] * 3 + ["held"]
    refused = bob.post("/inbox/review", {"verb": "reject", "held": values[3:], "reason": " "})
    assert refused.status_code == 422
    bob.post("/inbox/review", {"verb": "reject", "held": values[3:], "reason": "it is not so"})
    assert state(world, ids[3]) == "withdrawn"
    assert "it is not so" in words(bob.get("/inbox?kind=turned_down").text)
    again = bob.post("/inbox/review", {"verb": "confirm", "held": values})
    assert again.status_code == 409
    assert "already, by entry" in words(again.content.decode())
    assert "Nothing waits" in words(bob.get("/inbox").text)


def test_s21_an_act_on_a_selection_returns_to_where_it_was_made(world: World, bob: Client) -> None:
    ids = [held(world, f"step {n}") for n in range(3)]
    part = "/inbox?kind=inbox&mine=yes"
    form = re.search(r"<form action=\"/inbox/review\".*?</form>", bob.get(part).text, re.DOTALL)
    assert form is not None
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', form[0]))
    shown = bob.get("/inbox/review", {**sent, "verb": "confirm", "held": [f"record:{one}" for one in ids[:2]]}).text
    assert f'href="{part.replace("&", "&amp;")}"' in shown
    fields = re.findall(r'<input type="hidden" name="(kind|mine|verb)" value="(\w+)">', shown)
    done = bob.post("/inbox/review", {**dict(fields), "held": [f"record:{one}" for one in ids[:2]]})
    assert done.headers["Location"] == part
    left = bob.get(part).text
    assert re.findall(r'value="record:([0-9a-f-]+)"', left) == [str(ids[2])]
    assert "Held memories 1" in words(left)


def test_who_may_not_review_meets_no_control_and_is_refused(world: World) -> None:
    one = held(world, "a step")
    charlie = browser(world.charlie)
    page = charlie.get("/inbox").text
    assert 'name="held"' not in page
    assert "Confirm" not in words(page)
    head = world.now().seq
    for verb in ("confirm", "reject"):
        sent = {"verb": verb, "held": f"record:{one}", "reason": "no"}
        assert charlie.get("/inbox/review", sent).status_code == 403
        assert charlie.post("/inbox/review", sent).status_code == 403
    for wrong in (
        {"verb": "confirm"},
        {"verb": "eat", "held": f"record:{one}"},
        {"verb": "confirm", "held": "record:x"},
    ):
        assert browser(world.bob).post("/inbox/review", wrong).status_code == 422
    assert world.now().seq == head
    assert not Review.objects.filter(namespace=world.namespace).exists()


def test_s01_what_waits_for_a_week_warns_in_header_and_rail_and_what_lapsed_is_gone(
    world: World, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(world, "a step")
    assert "data-overdue" not in bob.get("/inbox").text
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(days=8))
    page = bob.get("/inbox").text
    assert "the oldest waits 8 d" in words(page)
    assert page.count("data-overdue") == 3
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(days=15))
    assert "Nothing waits" in words(bob.get("/inbox").text)


def test_the_page_of_a_held_record_says_so_and_offers_the_review_alone(world: World, bob: Client) -> None:
    one = held(world, "a step")
    page = bob.get(f"/records/{one}").text
    assert "Held by the review policy" in words(page)
    offered = set(re.findall(rf'href="/(?:records/{one}|inbox)/(\w+)', page))
    assert "review" in offered
    assert not offered & {"withdraw", "restore", "evolve", "supersede", "merge", "link"}
    assert "Confirm…" not in browser(world.charlie).get(f"/records/{one}").text


def test_hostile_words_are_text_and_secrets_are_covered(world: World, bob: Client) -> None:
    held(world, "<script>window.ran = true</script> plm_" + "a" * 43)
    page = bob.get("/inbox").text
    assert "<script>window" not in page
    assert "plm_aaaa" not in page


def test_the_queue_is_paged_and_costs_the_same_whatever_waits() -> None:
    counts = {}
    for n in (0, 1, 60):
        world = World(f"lab{n}")
        agents.change_setting(world.alice, name="review_policy", value="type=procedure -> hold 14 d")
        world.save("the way we do step 0")
        for i in range(n):
            held(world, f"the way we do step {i}")
        client = browser(world.bob)
        counts[f"now {n}"] = count_queries(client, f"/inbox?ns=lab{n}")
    assert client.get("/inbox?ns=lab60").text.count('name="held"') == 50
    assert client.get("/inbox?ns=lab60&after=50").text.count('name="held"') == 10
    assert_baseline("inbox:index", counts)


def test_the_policy_is_set_by_a_form_that_shows_it_back_and_names_a_wrong_row(world: World) -> None:
    alice = browser(world.alice)
    sent = "kind=fact attribute=safe_to_deploy -> auto after 2 independent origins\n-> auto"
    page = words(alice.post("/settings/review_policy", {"value": sent}, follow=True).content.decode())
    assert "kind=fact attribute=safe_to_deploy -> auto after 2 independent origins within 30 d" in page
    refused = alice.post("/settings/review_policy", {"value": "-> auto\nagnt=x -> hold"})
    assert refused.status_code == 422
    assert "row 2" in words(refused.content.decode())
    head = world.now().seq
    missing = alice.post("/settings/review_policy", {"rows": "-> auto"})
    assert missing.status_code == 422
    assert "they may be empty, not missing" in missing.text
    assert world.now().seq == head
    assert alice.post("/settings/review_policy", {"value": ""}).status_code == 302
    assert browser(world.bob).post("/settings/review_policy", {"value": sent}).status_code == 403
