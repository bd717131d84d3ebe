"""The pages of runs: found by reference, told in the order of the ledger, with what was refused."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.cache import cache
from django.test import Client

from audit.frame import in_url
from audit.pages.runs.words import outside_url
from memory.agents import runs
from memory.agents.run_story import run_story, told_runs
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.base.errors import NotFound
from memory.ledger.operations.refusing import refuse
from memory.records.operations import withdraw
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_refusal_of_before() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def opened(world: World, title: str = "Refund", *, by: Actor | None = None, **refs: str) -> UUID:
    """The id of a new run of scout's."""
    given = RunGiven(title=title, refs=tuple(sorted(refs.items())), runtime=(("model", "large"), ("version", "4")))
    run, _, _ = runs.open_run(replace(by or world.scout, run=given))
    return run


def within(world: World, run: UUID) -> Actor:
    """Scout, writing in the run."""
    return replace(world.scout, run=RunGiven(id=run))


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def titles(text: str) -> list[str]:
    return [text_of(found) for found in re.findall(r'<a class="run-title"[^>]*>(.*?)</a>', text, re.DOTALL)]


def happened(text: str) -> list[str]:
    """What each line of a run says happened."""
    return [text_of(found) for found in re.findall(r'<td class="what">(.*?)</td>', text, re.DOTALL)]


def seqs(text: str) -> list[int]:
    steps = text.split('class="data-table run-steps"')[1]
    return [int(seq) for seq in re.findall(r'<a class="mono" href="/ledger/(\d+)', steps)]


# The list.


def test_a_run_is_found_by_a_part_of_its_reference_its_title_and_the_beginning_of_its_id(
    world: World, alice: Client
) -> None:
    run = opened(world, "Refund for a customer", ticket="DESK-4411")
    opened(world, "Nightly summary", ticket="DESK-7")
    for question in ("4411", "desk-44", "for a cust", run.hex[:6], str(run)):
        assert titles(alice.get("/runs", {"q": question}).text) == ["Refund for a customer"], question


def test_the_list_is_newest_first_and_says_who_worked_for_whom_with_which_model(world: World, alice: Client) -> None:
    opened(world, "first")
    opened(world, "second", by=replace(world.scout, on_behalf_of="customer 7"))
    text = alice.get("/runs").text
    assert titles(text) == ["second", "first"]
    assert "scout for customer 7 large 4" in text_of(text)


def test_a_run_that_a_person_opened_is_theirs(world: World, alice: Client) -> None:
    opened(world, "by hand", by=world.alice)
    assert "none alice@example.org large 4" in text_of(alice.get("/runs").text)


def test_refused_acts_are_counted_with_their_run(world: World) -> None:
    run = opened(world)
    assert refuse(within(world, run), code="stopped") is not None
    for _ in range(3):
        assert refuse(within(world, run), code="stopped") is None
    cache.delete(f"refusal/{world.namespace}/{world.scout_id}/stopped/None/recent")
    refuse(within(world, run), code="stopped")
    assert told_runs(world.now(), [run])[run].n_refused == 5


def test_what_was_refused_opens_no_run(world: World) -> None:
    unknown = replace(world.scout, run=RunGiven(id=uuid4()))
    titled = replace(world.scout, run=RunGiven(title="never begun", refs=(("ticket", "9"),)))
    assert refuse(unknown, code="stopped") is not None
    assert refuse(titled, code="forbidden") is not None
    assert titles(browser(world.alice).get("/runs").text) == []


def test_the_list_is_read_in_pages_that_hold_every_run_once(world: World, alice: Client) -> None:
    for n in range(120):
        opened(world, f"run {n}")
    found, address = [], "/runs"
    while address:
        text = alice.get(address).text
        found += titles(text)
        following = re.findall(r'rel="next" href="([^"]+)"', text)
        address = unescape(following[0]) if following else ""
    assert found == [f"run {n}" for n in range(119, -1, -1)]
    assert 'href="/runs">← Newest' in text


def test_the_three_empty_lists_say_which_one_they_are(world: World, alice: Client) -> None:
    assert "No runs yet" in alice.get("/runs").text
    opened(world)
    assert "No row where the id, the title or a reference has zzz" in text_of(alice.get("/runs?q=zzz").text)
    past = f"valid_at={in_url(world.now().valid_at)}&known_at=seq:1"
    assert "Nothing at that point in time" in alice.get(f"/runs?{past}").text


def test_the_past_knows_no_run_that_was_opened_later(world: World, alice: Client) -> None:
    opened(world, "early")
    at = world.now()
    opened(world, "late")
    assert titles(alice.get(f"/runs?valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}").text) == ["early"]


@pytest.mark.parametrize("query", ["after=x", "after=1", f"q={'x' * 401}"])
def test_a_cursor_or_a_question_that_is_none_is_refused(world: World, alice: Client, query: str) -> None:
    assert alice.get(f"/runs?{query}").status_code == 422


def test_the_part_asked_by_htmx_is_the_list_alone(world: World, alice: Client) -> None:
    opened(world, "Refund")
    text = alice.get("/runs", headers={"HX-Request": "true"}).text
    assert text.lstrip().startswith("<section")
    assert titles(text) == ["Refund"]


def test_the_whole_list_is_one_file_of_csv_and_of_json(world: World, alice: Client) -> None:
    for n in range(3):
        opened(world, f"=run {n}", ticket=f"T-{n}")
    answer = alice.get("/runs.csv?q=T-")
    rows = list(csv.DictReader(StringIO(answer.getvalue().decode())))
    assert [(row["title"], row["refs"], row["agent"]) for row in rows] == [
        (f"'=run {n}", f"ticket=T-{n}", "scout") for n in (2, 1, 0)
    ]
    assert f"acme-runs-seq-{world.now().seq}.csv" in answer.headers["Content-Disposition"]
    told = json.loads(alice.get("/runs.json?q=T-1").getvalue())
    assert [(row["title"], row["refs"], row["n_entries"]) for row in told["items"]] == [
        ("=run 1", {"ticket": "T-1"}, 1)
    ]
    assert (told["seq"], told["truncated"]) == (world.now().seq, False)


# One run.


def story(world: World) -> UUID:
    """A run that opens, saves twice, evolves, is refused, withdraws and ends, two seconds apart."""
    ticks = iter(range(100))
    with clock.injected(lambda: START + timedelta(seconds=2 * next(ticks))):
        run = opened(world, "Refund", ticket="4411")
        by = within(world, run)
        first = world.save("asked twice", by=by)
        world.save("a rule", by=by)
        with clock.fixed(START + timedelta(minutes=2, seconds=13)):
            refuse(by, code="stopped")
        with clock.fixed(START + timedelta(days=1, hours=3)):
            withdraw(by, record=first.id, reason="wrong number")
            runs.end_run(by, run=run, note="refunded 180 EUR")
    return run


def test_a_run_is_told_in_the_order_of_the_ledger_with_links_and_the_time_since_its_start(
    world: World, alice: Client
) -> None:
    world.save("of no run")
    run = story(world)
    world.save("of no run either")
    text = alice.get(f"/runs/{run}").text
    assert happened(text) == [
        "opened the run", "saved asked twice", "saved a rule", "was refused stopped", "withdrew asked twice",
        "ended the run",
    ]  # fmt: skip
    assert seqs(text) == sorted(seqs(text))
    since = re.findall(r'<time datetime="[^"]+">(\+[^<]+)</time>', text)
    assert since[0] == "+0.000 s"
    assert since[3:5] == ["+2 min 13 s", "+1 d 3 h"]
    assert text.count('href="/records/') == 3


def test_the_head_of_a_run_says_what_was_said_and_what_was_not(world: World, alice: Client) -> None:
    text = text_of(alice.get(f"/runs/{story(world)}").text)
    assert "ended" in text
    assert "refunded 180 EUR" in text
    assert "Model large Version 4 Prompt hash not recorded" in text
    assert "On behalf of not recorded" in text
    assert "not ended" in text_of(alice.get(f"/runs/{opened(world)}").text)


def test_a_run_narrows_to_what_was_refused_and_to_any_verb(world: World, alice: Client) -> None:
    run = story(world)
    assert happened(alice.get(f"/runs/{run}?only=refused").text) == ["was refused stopped"]
    assert happened(alice.get(f"/runs/{run}?verb=save").text) == ["saved asked twice", "saved a rule"]
    both = alice.get(f"/runs/{run}?verb=save&verb=withdraw").text
    assert happened(both) == ["saved asked twice", "saved a rule", "withdrew asked twice"]
    assert "3 entries" in text_of(both)
    facets = unescape(both.split('class="facets"')[1].split("</nav>")[0])
    assert f'href="/runs/{run}?verb=withdraw" aria-current="true"' in facets
    assert f'href="/runs/{run}?verb=save&verb=withdraw&verb=refuse"' in facets


def test_a_run_without_refusals_says_that_nothing_matches(world: World, alice: Client) -> None:
    text = text_of(alice.get(f"/runs/{opened(world)}?only=refused").text)
    assert "No row where what happened is failed or refused" in text


def test_several_objects_of_one_entry_are_counted_behind_the_first(world: World, alice: Client) -> None:
    run = opened(world)
    world.save_all("one", "two", "three", by=within(world, run))
    assert happened(alice.get(f"/runs/{run}").text)[1] == "saved one and 2 more"


def test_a_long_run_is_read_in_pages_without_a_gap(world: World, alice: Client) -> None:
    run = opened(world)
    for n in range(210):
        world.save(f"step {n}", by=within(world, run))
    first = alice.get(f"/runs/{run}").text
    assert len(happened(first)) == 120
    (following,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = alice.get(unescape(following)).text
    assert seqs(first) + seqs(second) == [entry.seq for entry in run_story(world.now(), run=run, limit=500).entries]
    assert "From the start" in second


def test_the_past_shows_what_the_run_had_done_by_then(world: World, alice: Client) -> None:
    run = opened(world)
    world.save("early", by=within(world, run))
    at = world.now()
    world.save("late", by=within(world, run))
    runs.end_run(world.scout, run=run)
    past = f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
    text = alice.get(f"/runs/{run}?{past}").text
    assert happened(text) == ["opened the run", "saved early"]
    assert "not ended" in text


def test_a_run_of_another_namespace_or_of_later_is_not_found(world: World, alice: Client) -> None:
    strange = opened(World("other"))
    with pytest.raises(NotFound):
        run_story(world.now(), run=strange)
    past = f"valid_at={in_url(world.now().valid_at)}&known_at=seq:1"
    for address in (f"/runs/{strange}?ns=acme", f"/runs/{uuid4()}?ns=acme", f"/runs/{opened(world)}?{past}&ns=acme"):
        assert alice.get(address).status_code == 404, address


@pytest.mark.parametrize("after", ["x", "-1", "9" * 16, "\u0663"])
def test_a_place_to_go_on_from_that_is_none_is_refused(world: World, alice: Client, after: str) -> None:
    assert alice.get(f"/runs/{opened(world)}", {"after": after}).status_code == 422


def test_only_a_whole_web_address_leads_out_of_the_console(world: World, alice: Client) -> None:
    run = opened(world, url="https://desk.example.org/t/4411", script="javascript:alert(1)", ticket="4411")
    for page in (alice.get(f"/runs/{run}").text, alice.get("/runs").text):
        assert re.search(r'<a href="https://desk\.example\.org/t/4411" rel="[^"]*noopener', page)
        assert "leads out of the console" in page
        assert 'href="javascript' not in page


NO_WEB_ADDRESSES = (
    "javascript:alert(1)", "//desk.example.org", "https://", "http:/x", "ftp://x.org", "https://a b", "https://[",
    "4411", "https://x.org/\u202e",
)  # fmt: skip


@pytest.mark.parametrize("value", NO_WEB_ADDRESSES)
def test_what_is_no_web_address_is_text(value: str) -> None:
    assert outside_url(value) == ""


def test_what_a_client_wrote_is_printed_as_text(world: World, alice: Client) -> None:
    run = opened(world, "<script>alert(1)</script>\u202e", ticket="<b>1</b>")
    world.save("<img src=x onerror=alert(1)>", by=within(world, run))
    for address in (f"/runs/{run}", "/runs"):
        text = alice.get(address).text
        assert "<script>alert" not in text
        assert "<b>1" not in text
        assert "<img" not in text
        assert "U+202E" in text


def test_an_erased_record_of_a_run_is_named_without_its_text(world: World, alice: Client) -> None:
    run = opened(world)
    saved = world.save("a telephone number", by=within(world, run))
    world.erase(saved.id)
    assert happened(alice.get(f"/runs/{run}").text) == ["opened the run", "saved a record"]


# What they cost.


def point(world: World) -> str:
    at = world.now()
    return f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"


def test_the_list_costs_the_same_whatever_it_holds() -> None:
    counts = {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        for i in range(n):
            opened(world, f"run {i}", by=replace(world.scout, on_behalf_of=f"customer {i}"), ticket=str(i))
        alice = browser(world.alice)
        counts[f"now {n}"] = count_queries(alice, f"/runs?ns=lab{n}")
        past = point(world)
        world.save("recorded later")
        counts[f"past {n}"] = count_queries(alice, f"/runs?{past}&ns=lab{n}")
    counts["text 50"] = count_queries(alice, "/runs?ns=lab50&q=run")
    assert_baseline("runs:index", counts)


def test_a_run_costs_the_same_whatever_it_did() -> None:
    counts = {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        run = opened(world, ticket="4411")
        for i in range(n):
            world.save_all(f"step {i}", f"more {i}", by=within(world, run))
        alice = browser(world.alice)
        counts[f"now {n}"] = count_queries(alice, f"/runs/{run}?ns=lab{n}")
        past = point(world)
        world.save("recorded later")
        counts[f"past {n}"] = count_queries(alice, f"/runs/{run}?{past}&ns=lab{n}")
    counts["refused 50"] = count_queries(alice, f"/runs/{run}?ns=lab50&only=refused")
    assert_baseline("runs:detail", counts)
