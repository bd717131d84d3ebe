"""The timeline of a line of records, as a browser gets it."""

from __future__ import annotations

import re
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from audit.frame import in_url
from memory.agents import operations as agents
from tests.browsers import browser
from tests.ledger.shown import words
from tests.lineage.lines import line, on
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

ANSWER = re.compile(r'data-answer="(\w+)"')


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def point(day: int, seq: int) -> str:
    return f"valid_at={in_url(on(day))}&known_at=seq:{seq}"


def html(client: Client, address: str, *, status: int = 200) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == status, address
    return response.content.decode()


def query(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_answer_is_that_of_the_api_at_every_point(world: World, alice: Client, seed: int) -> None:
    record = line(world, Random(seed), n_acts=10)
    token = {"HTTP_AUTHORIZATION": f"Bearer {world.secrets[world.scout_id]}"}
    statuses = set()
    for seq in range(2, world.now().seq + 1):
        for day in (0, 3, 7):
            asked = point(day, seq)
            told = Client().get(f"/api/v1/namespaces/lab/records/{record}/timeline?{asked}", **token)  # type: ignore[arg-type]
            expected = told.json()["answer"] if told.status_code == 200 else None
            (answer,) = alice.get(f"/timeline.json?record={record}&{asked}").json()["answers"]
            assert [id for value in answer["values"] for id in value["rests_on"]] == ([expected] if expected else [])
            statuses.add(answer["status"])
    assert statuses == {"known", "unknown"}
    page = html(alice, f"/timeline?record={record}&{asked}")
    assert ANSWER.findall(page) == [answer["status"]]


def test_the_panel_says_why_and_every_version_is_drawn_and_listed(world: World, alice: Client) -> None:
    first = world.save("the limit is 100 EUR", valid_from=on(0)).id
    second = world.evolve(first, content="the limit is 200 EUR", valid_from=on(4))
    then = world.now().seq
    world.withdraw(second)
    gone = world.save("elsewhere").id
    page = html(alice, f"/timeline?record={first}&{point(5, then)}")
    told = words(page)
    assert "the limit is 200 EUR newest recorded version covering 6 Nov 2026, recorded at seq 8" in told
    assert f"/records/{second}" in page
    assert len(re.findall("data-version=", page)) == len(re.findall("<tr data-row", page)) == 2
    assert "withdrawn by seq 9" in told
    assert "2 of 2 versions shown" in told
    before = words(html(alice, f"/timeline?record={first}&{point(2, then)}"))
    assert "no version recorded by then is true on 3 Nov 2026" not in before
    assert "the last version that covered it was superseded by seq 8" in before
    after = words(html(alice, f"/timeline?record={first}&{point(5, then + 1)}"))
    assert "the last version that covered it was withdrawn by seq 9" in after
    never = words(html(alice, f"/timeline?record={first}&{point(5, 1)}"))
    assert "no version was recorded by then; the first one is, at seq 7" in never
    world.erase(gone)
    erased = html(alice, f"/timeline?record={gone}")
    assert "the version that covers it is erased" in words(erased)
    assert "elsewhere" not in erased


def test_an_address_of_the_past_names_its_last_drawn_entry_and_keeps_its_bytes(world: World, alice: Client) -> None:
    first = world.save("version 1").id
    second = world.evolve(first, content="version 2")
    head = world.now().seq
    response = alice.get(f"/timeline?record={first}&valid_at={in_url(on(0))}&against=seq:7")
    pinned = alice.get(response.headers["Location"]).headers["Location"]
    assert query(pinned) == {
        "record": [str(first)], "valid_at": [in_url(on(0))], "known_at": [f"seq:{head}"], "against": ["seq:7"],
        "until": [f"seq:{head}"],
    }  # fmt: skip
    assert alice.get(pinned).status_code == 200
    files = [pinned.replace("/timeline?", f"/timeline.{suffix}?") for suffix in ("json", "csv")]

    def read() -> list[bytes]:
        return [b"".join(alice.get(one)) for one in files]  # type: ignore[call-overload]

    before = read()
    world.withdraw(second)
    world.save("something else")
    assert read() == before
    assert b"version 2" in before[0]
    assert html(alice, pinned).count("data-version=") == 2
    assert html(alice, pinned.replace(f"until=seq:{head}", f"until=seq:{head + 9}"), status=422)


def test_what_is_typed_becomes_the_point_and_what_is_none_is_said_beside_its_field(world: World, alice: Client) -> None:
    record = world.save("a note", valid_from=on(0)).id
    seq = world.now().seq
    typed = f"/timeline?record={record}&until=seq:{seq}&true_on=2026-11-03+10:30&recorded_by=seq+{seq}"
    assert query(alice.get(typed).headers["Location"]) == {
        "record": [str(record)], "until": [f"seq:{seq}"], "valid_at": ["2026-11-03T10:30:00Z"],
        "known_at": [f"seq:{seq}"],
    }  # fmt: skip
    day = alice.get(f"/timeline?record={record}&true_on=2026-11-03&recorded_by=").headers["Location"]
    assert query(day) == {"record": [str(record)], "valid_at": ["2026-11-03T00:00:00Z"]}
    wrong = f"/timeline?record={record}&true_on=tomorrow&recorded_by=%3Cb%3E&{point(0, seq)}&until=seq:{seq}"
    page = html(alice, wrong, status=422)
    assert "Expected a day such as 2026-11-01" in words(page)
    assert "&lt;b&gt;" in page
    assert page.count('aria-invalid="true"') == 2
    assert ANSWER.findall(page) == ["known"]
    compared = html(alice, f"/timeline?record={record}&against=yesterday", status=422)
    assert 'aria-describedby="against-fault"' in compared


def test_two_recordings_are_told_apart_by_mark_and_word(world: World, alice: Client) -> None:
    first = world.save("100 EUR", valid_from=on(0), valid_to=on(9)).id
    then = world.now().seq
    world.evolve(first, content="200 EUR", valid_from=on(5), valid_to=on(12))
    address = f"/timeline?record={first}&{point(6, world.now().seq)}&against=seq:{then}&until=seq:{world.now().seq}"
    page = html(alice, address)
    rows = re.findall(r'<tr data-change="(\w+)">(.+?)</tr>', page, flags=re.DOTALL)
    assert [change for change, _ in rows] == ["removed", "changed", "added"]
    assert words(rows[1][1]) == " ≠ changed [ 2026-11-06 → 2026-11-10 ) 100 EUR 200 EUR "
    assert page.count("data-change=") == 6
    turned = html(alice, address.replace(f"seq:{then}&", "seq:8&").replace("known_at=seq:8", f"known_at=seq:{then}"))
    assert re.findall(r'<tr data-change="(\w+)">', turned) == ["removed", "changed", "added"]


def test_the_arrows_lead_to_the_neighbouring_change_points(world: World, alice: Client) -> None:
    first = world.save("100 EUR", valid_from=on(0), valid_to=on(9)).id
    began = world.now().seq
    world.save("something else")
    world.evolve(first, content="200 EUR", valid_from=on(5), valid_to=on(12))
    head = world.now().seq
    page = html(alice, f"/timeline?record={first}&{point(6, head - 1)}&until=seq:{head}")
    links = dict(re.findall(r'href="([^"]+)" data-step="(\w+)"', page))
    ways = {way: query(url.replace("&amp;", "&")) for url, way in links.items()}
    assert ways["left"]["valid_at"] == [in_url(on(5))]
    assert ways["right"]["valid_at"] == [in_url(on(9))]
    assert ways["up"]["known_at"] == [f"seq:{head}"]
    assert ways["down"]["known_at"] == [f"seq:{began}"]
    assert {way: one["until"] for way, one in ways.items()} == {way: [f"seq:{head}"] for way in ways}
    lowest = html(alice, f"/timeline?record={first}&{point(6, began)}&until=seq:{head}")
    assert f"known_at=seq:{began - 1}" in lowest


def test_three_kinds_of_nothing_are_told_apart(world: World, alice: Client) -> None:
    assert 'data-kind="nothing_yet"' in html(alice, "/timeline")
    world.save("before")
    record = world.save("a note").id
    seq = world.now().seq
    early = html(alice, f"/timeline?record={record}&{point(0, seq - 1)}&until=seq:{seq - 1}")
    assert 'data-kind="not_then"' in early
    assert f"known_at=seq:{seq}" in early
    assert html(alice, "/timeline?record=00000000-0000-0000-0000-000000000000", status=404)
    for wrong in ("record=abc", "include=everything", "scale=log", "until=9", "after=x"):
        assert html(alice, f"/timeline?{wrong}", status=422)
    chosen = html(alice, "/timeline")
    assert f"record={record}" in chosen


def test_what_is_held_is_counted_and_shown_where_it_is_asked_for(world: World, alice: Client) -> None:
    agents.change_setting(world.alice, name="review_policy", value="agent=scout type=procedure -> hold 14 d\n-> auto")
    held = world.save("go back to 5.4.6", type="procedure").id
    page = html(alice, f"/timeline?record={held}")
    assert "go back" not in page
    assert "Left out: 1 held" in words(page)
    shown = html(alice, f"/timeline?record={held}&include=held")
    assert "go back to 5.4.6" in shown
    assert ANSWER.findall(shown) == ["unknown"]
    assert "held for a review" in words(shown)


def test_a_sources_reading_is_dashed_and_labelled(world: World, alice: Client) -> None:
    record = world.save("a relayed note", source_recorded_at=on(1)).id
    page = html(alice, f"/timeline?record={record}&known_at=source:{in_url(on(2))}")
    assert 'class="bitemporal"' in page
    assert 'data-claimed=""' in page
    assert "Claimed by the source, not proven here." in words(page)
    assert "claimed by its source for 2 Nov 2026" in words(page)
    ours = html(alice, f"/timeline?record={record}")
    assert 'class="claim"' in ours
    assert "claimed 2026-11-02 00:00:00 UTC" in words(ours)


def test_a_secret_is_covered_and_a_hostile_text_stays_text(world: World, alice: Client) -> None:
    text = "<script>ran()</script> password: hunter2-hunter2"
    record = world.save(text).id
    for address in (f"/timeline?record={record}", f"/timeline.json?record={record}", "/timeline"):
        told = html(alice, address)
        assert "hunter2" not in told
        assert "<script>ran" not in told or address.startswith("/timeline.json")


def test_a_timeline_costs_the_same_whatever_it_holds(world: World, alice: Client) -> None:
    counts: dict[str, int] = {"no question 0": count_queries(alice, "/timeline")}
    for n in (1, 50):
        record = head = world.save("version 1", by=world.scout, valid_from=on(0)).id
        for number in range(1, n):
            head = world.evolve(head, content=f"version {number + 1}", valid_from=on(number % 9))
        if n == 50:
            world.withdraw(head)
            world.restore(head)
        seq = world.now().seq
        asked = f"/timeline?record={record}"
        counts[f"record, now {n}"] = count_queries(alice, asked)
        counts[f"record, past {n}"] = count_queries(alice, f"{asked}&{point(3, seq - 1)}&until=seq:{seq}")
        against = f"{asked}&{point(3, seq - 1)}&until=seq:{seq}&against=seq:2"
        counts[f"record, against {n}"] = count_queries(alice, against)
    counts["no question 50"] = count_queries(alice, "/timeline")
    assert_baseline("timeline:index", counts)
    whole = alice.get(against, HTTP_ACCEPT_ENCODING="identity").content
    assert len(whole) <= 100_000
