"""The first page: three steps while a namespace is empty, then what stands, what was verified, what was written."""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO
from pathlib import Path

import pytest
from django.test import Client

from audit.frame import in_url
from memory.agents import operations as agents
from memory.agents import runs
from memory.agents.setup import ensure_namespace
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.base.errors import Forbidden
from memory.checks.ledger_scan import verify
from memory.checks.operations import Found, record_run
from memory.ledger.operations.checkpoints import checkpoint
from memory.ledger.operations.founding import found
from memory.ledger.operations.refusing import refuse
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.tombstones.burials import buried
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

START = datetime(2030, 1, 14, 12, tzinfo=UTC)
PART = {"HX-Request": "true"}


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


@pytest.fixture
def _signing(settings: object, tmp_path: Path) -> None:
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "signing.key"  # type: ignore[attr-defined]


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def main_of(markup: str) -> str:
    return markup.split('<main id="main"')[1].split("</main>", maxsplit=1)[0]


def steps(markup: str) -> list[bool]:
    """Which of the first steps are done, in their order."""
    part = markup.split('class="steps first-steps"')[1].split("</ol>", maxsplit=1)[0]
    return ['data-state="done"' in step for step in part.split("<li")[1:]]


def lines(markup: str) -> list[str]:
    part = markup.split('class="entry-lines"')[1].split("</ol>", maxsplit=1)[0]
    return [text_of("<li" + line) for line in part.split("<li")[1:]]


def alone(name: str = "empty") -> Actor:
    """The only person of a new namespace, its owner."""
    namespace = found(Actor(0, "system"), name=name).pk
    owner = replace(World("elsewhere").alice, namespace=namespace)
    agents.admit_member(Actor(namespace, "system"), person=owner.person or 0, role="owner")
    return owner


# The first run.


def test_an_empty_namespace_shows_three_steps_with_a_block_to_paste() -> None:
    owner = alone()
    markup = browser(owner).get("/?ns=empty", HTTP_HOST="localhost:8000").text
    assert steps(markup) == [False, False, False]
    assert "curl -sS http://localhost:8000/api/v1/namespaces/empty/records" in unescape(markup)
    for address in (
        "/agents?ns=empty#connect",
        "/imports?ns=empty",
        "/agents?ns=empty#people",
        "/agents?ns=empty#namespace",
    ):
        assert f'href="{address}"' in markup


def test_each_step_ticks_itself_from_the_ledger() -> None:
    owner = alone()
    client = browser(owner)
    made = agents.create_agent(owner, name="scout")
    assert steps(client.get("/?ns=empty").text) == [False, False, False]
    agent = Actor(owner.namespace, "agent", agent=made.id, powers=frozenset({"write"}), run=RunGiven(title="first"))
    _, seq, _ = runs.open_run(agent)
    markup = client.get("/?ns=empty").text
    assert steps(markup) == [True, False, False]
    assert f'href="/ledger/{seq}?ns=empty"' in markup
    agents.change_setting(owner, name="approval_mode", value="single_owner")
    assert steps(client.get("/?ns=empty").text) == [True, False, True]


def test_a_second_person_ticks_the_third_step(alice: Client) -> None:
    assert steps(alice.get("/").text) == [False, False, True]


def test_the_first_record_turns_the_page_into_the_usual_one_for_good(world: World, alice: Client) -> None:
    assert "Begin here" in alice.get("/").text
    saved = world.save("hello")
    assert "Begin here" not in alice.get("/").text
    world.erase(saved.id)
    assert "Begin here" not in alice.get("/").text


def test_an_observation_a_fact_or_a_dead_end_begins_a_namespace_as_a_record_does() -> None:
    begins: dict[str, Callable[[World], object]] = {
        "observation": lambda world: (world.bind(law="cyclic:2"), world.observe("ab", "a", "b", [0.9, 0.1])),
        "fact": lambda world: world.tell("eu", "limit", 5),
        "dead end": buried,
    }
    for name, begin in begins.items():
        world, address = World(name.replace(" ", "-")), f"/?ns={name.replace(' ', '-')}"
        client = browser(world.alice)
        assert "Begin here" in client.get(address).text, name
        begin(world)
        assert "Begin here" not in client.get(address).text, name


def test_who_may_not_begin_meets_no_control(world: World) -> None:
    for who in (world.bob, world.charlie):
        main = main_of(browser(who).get("/").text)
        assert "Make a token" not in main
        assert "Import a store" not in main
        assert "An owner makes it" in text_of(main)


# What stands.


def test_the_sentence_has_the_numbers_and_links_to_what_they_count(world: World, alice: Client) -> None:
    first = world.save("one")
    world.evolve(first.id, content="two")
    runs.open_run(replace(world.scout, run=RunGiven(title="Ticket 4411")))
    seq = world.save("three").seq
    markup = main_of(alice.get("/").text)
    sentence = "acme holds 2 records that stand and 1 that no longer does, from 1 run and no import."
    assert f"{sentence} The last entry is seq {seq}" in text_of(markup)
    links = [
        unescape(link) for link in re.findall(r'href="([^"]+)"', markup.split('class="standing"')[1].split("</p>")[0])
    ]
    assert links == [
        "/records",
        "/records?state=superseded&state=withdrawn&state=erased&state=not_valid",
        "/runs",
        f"/ledger/{seq}",
    ]
    assert text_of(alice.get(links[0]).text).count("2 records")
    assert text_of(alice.get(links[1]).text).count("1 record")


def test_what_was_never_verified_or_signed_says_so(world: World, alice: Client) -> None:
    world.save("one")
    text = text_of(alice.get("/").text)
    assert "not checked the ledger was never scanned whole" in text
    assert "not signed no checkpoint yet" in text
    assert "no agent frozen no hold" in text


@pytest.mark.usefixtures("_signing")
def test_what_was_verified_and_signed_says_how_far_and_since_when(world: World, alice: Client) -> None:
    with clock.fixed(START):
        world.save("one")
        signed = checkpoint(world.namespace, make_key=True)
        verify(world.system)
    with clock.fixed(START + timedelta(hours=2, minutes=1)):
        text = text_of(alice.get("/").text)
    assert f"verified ledger to seq {world.now().seq - 1} , 2 hours ago" in text
    assert f"signed checkpoint over seq {signed.seq} , 2 hours ago" in text


def test_a_scan_that_found_a_fault_is_never_drawn_like_a_good_one(world: World, alice: Client) -> None:
    world.save("one")
    record_run(
        world.system, name="ledger_scan", version=1, verdict="failed", at_seq=5, n_checked=9,
        found=[Found("payload_mismatch", seq=3)], report={},
    )  # fmt: skip
    markup = main_of(alice.get("/").text)
    assert 'data-state="failed" data-tone="danger"' in markup
    assert "verified" not in markup


def test_frozen_agents_and_a_hold_stand_in_the_line(world: World, alice: Client) -> None:
    world.save("one")
    agents.freeze(world.alice, agent=world.scout_id, reason="why")
    agents.hold(world.alice, held=True, reason="litigation")
    text = text_of(main_of(alice.get("/").text))
    assert "frozen 1 agent on hold nothing can be erased" in text


def test_no_number_of_the_page_leads_to_an_empty_page(world: World, alice: Client) -> None:
    world.save("one")
    markup = main_of(alice.get("/").text)
    standing = markup.split('class="standing"')[1].split("</ul>")[0]
    assert "/runs" not in standing
    assert "/imports" not in standing


# The two weeks.


def test_two_weeks_of_writes_and_refusals_have_their_numbers_as_a_table_and_as_a_file(world: World) -> None:
    with clock.fixed(START):
        old = World("old")
        old.save("one")
    with clock.fixed(START + timedelta(days=3)):
        old.save_all("two", "three")
        refuse(old.scout, code="stopped")
        client = browser(old.alice)
        markup = main_of(client.get("/?ns=old").text)
        rows = list(csv.DictReader(StringIO(client.get("/overview.csv?ns=old").text)))
    text = text_of(markup)
    assert re.search(r"\d+ writes in 14 days, most on 14 Jan \(\d+\)", text)
    assert "1 write refused by a stop in 14 days, most on 17 Jan (1)" in text
    assert "13 Jan 2030 no data" in text
    assert markup.count('class="gap"') == 3 * 10
    assert [(row["day"], row["writes"], row["refused"]) for row in rows][-4:][1:] == [
        ("2030-01-15", "0", "0"), ("2030-01-16", "0", "0"), ("2030-01-17", "1", "1"),
    ]  # fmt: skip
    assert [*rows[0].values()] == ["2030-01-04", "", "", "", ""]


def test_no_more_is_claimed_of_refusals_than_is_counted(world: World, alice: Client) -> None:
    world.save("one")
    # A missing right is refused and counted nowhere.
    with pytest.raises(Forbidden):
        world.save("not his to write", by=world.charlie)
    text = text_of(main_of(alice.get("/").text))
    assert "No write was refused by a stop in 14 days" in text
    assert "Nothing was refused" not in text


# The last entries.


def test_the_last_twenty_entries_are_told_newest_first(world: World, alice: Client) -> None:
    for n in range(25):
        world.save(f"text {n}")
    told = lines(alice.get("/").text)
    assert len(told) == 20
    assert "scout saved text 24" in told[0]
    assert "scout saved text 5" in told[-1]


def test_the_polled_part_is_the_list_with_the_banners_and_can_be_paused(world: World, alice: Client) -> None:
    world.save("one")
    page = alice.get("/").text
    assert 'hx-get="/" hx-trigger="every 5s"' in page
    assert 'href="/?paused=yes"' in page
    paused = alice.get("/?paused=yes", headers=PART).text
    assert "hx-trigger" not in paused
    assert 'href="/"' in paused
    agents.hold(world.alice, held=True, reason="litigation 4411")
    part = alice.get("/", headers=PART).text
    assert part.lstrip().startswith('<section id="latest"')
    assert '<hx-partial hx-target="#banners"' in part
    assert "litigation 4411" in part
    assert "Fourteen days" not in part


def test_the_past_is_not_polled_and_has_the_numbers_of_then(world: World, alice: Client) -> None:
    world.save("one")
    at = world.now()
    world.save("two")
    markup = alice.get(f"/?valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}").text
    assert "acme holds 1 record that stands, from no run and no import." in text_of(markup)
    assert "hx-trigger" not in main_of(markup)
    assert "Begin here" not in alice.get(f"/?valid_at={in_url(at.valid_at)}&known_at=seq:1").text


def test_what_clients_wrote_is_printed_as_text(world: World, alice: Client) -> None:
    world.save("<script>alert(1)</script>\u202e")
    text = alice.get("/").text
    assert "<script>alert" not in text
    assert "U+202E" in text


# Where the records come from.


def test_a_namespace_that_nothing_was_imported_to_says_so(world: World, alice: Client) -> None:
    world.save("one")
    assert "nothing was imported" in text_of(alice.get("/").text)


def test_a_replay_says_whose_clock_it_has_and_shows_the_days_of_its_events(world: World) -> None:
    story = found(Actor(0, "system", event_at=START - timedelta(days=400)), name="story", host_clock="replay").pk
    agents.admit_member(Actor(story, "system"), person=world.alice.person or 0, role="owner")
    loader = Actor(story, "system", event_at=START)
    world.save("an event", by=loader)
    markup = browser(world.alice).get("/?ns=story").text
    assert "replays events : its clock is theirs" in text_of(markup)
    assert "a check or an export, is an entry of the system and has the instant of the last event" in text_of(markup)
    assert "14 Jan 2030" in markup
    assert "hx-trigger" not in main_of(markup)
    assert ensure_namespace("story") == story


# What it costs.


def test_the_page_costs_the_same_whatever_it_holds() -> None:
    counts = {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        for i in range(n):
            world.save(
                f"text {i}", by=replace(world.scout, run=RunGiven(title=f"run {i}"), on_behalf_of=f"customer {i}")
            )
        alice = browser(world.alice)
        counts[f"now {n}"] = count_queries(alice, f"/?ns=lab{n}")
        counts[f"polled {n}"] = count_part(alice, f"/?ns=lab{n}")
    at = world.now()
    world.save("recorded later")
    counts["past 50"] = count_queries(alice, f"/?valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}&ns=lab50")
    assert max(n for state, n in counts.items() if state.startswith("polled")) <= 3
    assert_baseline("overview:index", counts)


def count_part(client: Client, path: str) -> int:
    """The queries of the polled part."""
    client.defaults["HTTP_HX_REQUEST"] = "true"
    try:
        return count_queries(client, path)
    finally:
        del client.defaults["HTTP_HX_REQUEST"]
