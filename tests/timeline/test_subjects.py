"""The timeline of a subject: at every point it answers what the API answers, and it loses no fact."""

from __future__ import annotations

import re
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from audit.frame import in_url
from memory.agents import operations as agents
from memory.base import clock
from memory.facts.content import NewFact
from memory.facts.operations import ending
from memory.facts.operations.asserting import assert_facts
from memory.facts.queries import stretches
from memory.facts.queries.stretches import busiest_subjects, subject_stretches
from tests.browsers import browser
from tests.ledger.shown import words
from tests.query_counts import assert_baseline, count_queries
from tests.timeline.histories import SUBJECT, history, on
from tests.world import World

pytestmark = pytest.mark.django_db

PAGE = f"/timeline?{urlencode({'subject': SUBJECT})}"
FILE = PAGE.replace("?", ".json?")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def point(day: float, seq: int) -> str:
    return f"valid_at={in_url(on(day))}&known_at=seq:{seq}"


def html(client: Client, address: str, *, status: int = 200) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == status, address
    return response.content.decode()


@pytest.mark.parametrize(("cardinality", "declared"), [
    ("one", {"freshness_seconds": 3 * 86_400}), ("many", {"exclusive": (("red", "green"),)}), ("one", {}),
])  # fmt: skip
def test_the_answer_is_that_of_the_api_at_every_point(
    world: World, alice: Client, cardinality: str, declared: dict[str, Any]
) -> None:
    with clock.fixed(on(0)):
        world.declare("colour", cardinality, **declared)
        facts = history(world, Random(cardinality + str(declared)), attribute="colour", n_acts=16)
    token = {"HTTP_AUTHORIZATION": f"Bearer {world.secrets[world.scout_id]}"}
    statuses = set()
    for seq in range(8, world.now().seq + 1, 2):
        for day in (-1, 0, 2, 4.5, 8):
            asked = f"{urlencode({'subject': SUBJECT, 'attribute': 'colour'})}&{point(day, seq)}"
            (expected,) = Client().get(f"/api/v1/namespaces/lab/facts?{asked}", **token).json()["items"] or [None]  # type: ignore[arg-type]
            (answer,) = alice.get(f"/timeline.json?{asked}").json()["answers"]
            if expected is None:
                assert (answer["status"], answer["values"]) == ("unknown", [])
                continue
            assert answer["status"] == expected["status"], asked
            told = {value["value"] for value in answer["values"]}
            assert told == {denied(value) + value["value"] for value in expected["values"]}
            rests_on = {fact for value in answer["values"] for fact in value["rests_on"]}
            assert rests_on <= {fact for value in expected["values"] for fact in value["facts"]}
            assert bool(rests_on) == bool(expected["values"])
            statuses.add(answer["status"])
    assert len(statuses) > 1
    found = alice.get(FILE).json()
    assert {item["id"] for item in found["items"]} | set(map(str, candidates(world))) == set(map(str, facts))


def denied(value: dict[str, Any]) -> str:
    return "not " if value["stance"] == "denies" else ""


def candidates(world: World) -> list[Any]:
    found = subject_stretches(world.now(), until=world.now().seq, subject=SUBJECT, include={"candidate"})
    return [one.fact for one in found.stretches if one.lane == "candidate"]


@pytest.mark.sqlite_only
def test_a_conflict_stands_in_lanes_and_leads_to_its_case(world: World, alice: Client) -> None:
    world.declare("limit")
    one = world.tell(SUBJECT, "limit", "200 EUR", valid_from=on(0), origin="handbook")
    other = world.tell(SUBJECT, "limit", "150 EUR", valid_from=on(2), valid_to=on(9))
    page = html(alice, f"{PAGE}&{point(3, other.seq)}")
    assert 'data-answer="conflict"' in page
    assert "/facts/conflicts/" in page
    assert {f"/facts/{one.id}", f"/facts/{other.id}"} <= set(re.findall(r'href="(/facts/[0-9a-f-]{36})', page))
    assert "2 of 2 versions shown in 2 lanes" in words(page)
    before = html(alice, f"{PAGE}&{point(1, other.seq)}")
    assert 'data-answer="known"' in before
    assert "newest recorded fact covering 2 Nov 2026, recorded at seq 8; 1 message, 1 origin" in words(before)


@pytest.mark.sqlite_only
def test_what_ended_says_how_and_what_was_learned_since_is_told(world: World, alice: Client) -> None:
    world.declare("limit")
    old = world.tell(SUBJECT, "limit", "100 EUR", valid_from=on(0))
    wrong = world.tell(SUBJECT, "limit", "100 EUR", valid_from=on(-9), valid_to=on(-5))
    then = world.now().seq
    ending.supersede(world.bob, fact=old.id, at=on(4), new=None, reason="a new handbook")
    ending.retract(world.bob, fact=wrong.id, retracted_as="wrong", reason="misread")
    world.tell(SUBJECT, "limit", "200 EUR", valid_from=on(4), valid_to=on(12))
    head = world.now().seq
    page = html(alice, f"{PAGE}&{point(5, head)}&against=seq:{then}")
    told = words(page)
    assert f"superseded by seq {then + 1}" in told
    assert f"retracted as wrong by seq {then + 2}" in told
    assert page.count('fill="url(#timeline-ended)"') == 1
    rows = re.findall(r'<tr data-change="(\w+)">(.+?)</tr>', page, flags=re.DOTALL)
    assert [change for change, _ in rows] == ["removed", "changed", "removed"]
    assert "100 EUR 200 EUR" in words(rows[1][1])
    nothing = html(alice, f"{PAGE}&{point(5, head)}&against=seq:{head}")
    assert "Nothing was learned between the two" in nothing


@pytest.mark.sqlite_only
def test_attributes_stand_in_lanes_of_their_own_and_one_can_be_asked_for(world: World, alice: Client) -> None:
    world.tell(SUBJECT, "colour", "red", valid_from=on(0))
    world.tell(SUBJECT, "limit", 200, valid_from=on(0))
    world.tell("another", "limit", 900, valid_from=on(0))
    page = html(alice, PAGE)
    assert page.count('data-answer="known"') == 2
    assert "lane 1 of 2 · colour" in page
    assert "900" not in words(page).partition("Timeline of")[0]
    alone = html(alice, f"{PAGE}&attribute=limit")
    assert alone.count('data-answer="known"') == 1
    assert "red" not in re.findall(r'class="timeline-value">([^<]+)<', alone)
    assert 'data-kind="no_match"' in html(alice, f"{PAGE}&attribute=nothing")
    early = html(alice, f"{PAGE}&{point(0, 6)}&until=seq:6")
    assert 'data-kind="not_then"' in early


@pytest.mark.sqlite_only
def test_what_is_held_or_a_candidate_is_counted_and_asked_for(world: World, alice: Client) -> None:
    world.tell(SUBJECT, "limit", "a guess", candidate=True)
    agents.change_setting(world.alice, name="review_policy", value="agent=scout -> hold 14 d\n-> auto")
    world.tell(SUBJECT, "limit", "go back to 100")
    page = html(alice, PAGE)
    assert "go back" not in page
    assert "a guess" not in page
    assert {"1 held", "1 unconfirmed"} <= set(re.findall(r"1 held|1 unconfirmed", words(page)))
    shown = html(alice, f"{PAGE}&include=held,candidate")
    assert "go back to 100" in shown
    assert "a guess" in shown
    assert 'data-answer="unknown"' in shown


def test_a_sources_reading_stands_on_its_own_instants(world: World, alice: Client) -> None:
    world.tell(SUBJECT, "limit", "100 EUR", valid_from=on(0), source_recorded_at=on(1))
    world.tell(SUBJECT, "limit", "200 EUR", valid_from=on(0))
    asked = f"{PAGE}&valid_at={in_url(on(5))}&known_at=source:{in_url(on(2))}"
    page = html(alice, asked)
    assert 'data-claimed=""' in page
    assert "Claimed by the source, not proven here." in words(page)
    assert re.findall(r'class="timeline-value">([^<]+)<', page) == ["100 EUR"]
    assert "1 without an instant of the source" in words(page)
    assert 'data-answer="unknown"' in html(alice, asked.replace(in_url(on(2)), in_url(on(0))))


def test_above_the_bound_what_counts_at_the_point_is_still_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "MOST", 3)
    world.declare("limit")
    first = world.tell(SUBJECT, "limit", "0", valid_from=on(0), valid_to=on(1))
    for number in range(1, 8):
        world.tell(SUBJECT, "limit", str(number), valid_from=on(number), valid_to=on(number + 1))
    at = world.at(world.now().seq, valid_at=on(0.5))
    found = subject_stretches(at, until=at.seq, subject=SUBJECT)
    assert first.id in {one.fact for one in found.stretches}
    assert found.n_read == 4
    assert found.n_facts == 8
    (status,) = found.statuses
    assert [side.value for side in status.status.sides] == ["0"]


def test_the_busiest_subjects_come_first_and_a_name_finds(world: World, alice: Client) -> None:
    for value in ("red", "green"):
        world.tell(SUBJECT, "colour", value)
    world.tell("invoice 7", "colour", "red")
    assert [(one.subject, one.n_facts) for one in busiest_subjects(world.now())] == [(SUBJECT, 2), ("invoice 7", 1)]
    chosen = html(alice, "/timeline?q=invoice")
    assert "subject=invoice+7" in chosen
    assert "4411" not in chosen
    assert 'data-kind="no_match"' in html(alice, "/timeline?q=nothingofthekind")


@pytest.mark.sqlite_only
def test_a_subject_costs_the_same_whatever_it_holds(world: World, alice: Client) -> None:
    world.declare("limit", "many", exclusive=(("1", "2"),))
    counts: dict[str, int] = {}
    for n in (1, 150):
        told = [
            NewFact(SUBJECT, "limit", f"reading {i % 7} of the limit", valid_from=on(i / 24), valid_to=on((i + 1) / 24))
            for i in range(n)
        ]
        assert_facts(world.scout, facts=told)
        seq = world.now().seq
        counts[f"now {n}"] = count_queries(alice, PAGE)
        past = f"{PAGE}&{point(3, seq)}&until=seq:{seq}&against=seq:3"
        counts[f"against {n}"] = count_queries(alice, past)
    assert_baseline("timeline:subject", counts)
    page = alice.get(past).content
    assert page.count(b"data-version=") == 90
    assert b"90 of 151 versions shown" in page
    assert len(page) <= 100_000
