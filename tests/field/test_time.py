"""Time, on records: D06, D07, D10, D23. What of it touches facts stands with them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.browsers import browser
from tests.contract.callers import Caller, caller, places
from tests.field.stated import at_instants, ids_of
from tests.states import everything
from tests.world import World

pytestmark = pytest.mark.django_db

TIME = re.compile(r'<time datetime="([^"]+)"[^>]*>([^<]+)</time>')
NEAR_MIDNIGHT = "2030-03-01T23:30:00Z"
DAY = {"recorded_from": "2030-03-01T00:00:00Z", "recorded_to": "2030-03-02T00:00:00Z"}
NEXT_DAY = {"recorded_from": "2030-03-02T00:00:00Z", "recorded_to": "2030-03-03T00:00:00Z"}
SAME_INSTANT = (
    "2030-03-01T23:30:00Z", "2030-03-01T23:30:00+00:00", "2030-03-01T16:30:00-07:00", "2030-03-02T05:00:00+05:30",
)  # fmt: skip


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


@pytest.fixture(params=["America/Los_Angeles", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The server's own time zone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def test_d06_a_record_near_midnight_stands_under_its_utc_day_in_list_filter_page_and_export(
    zone: str, world: World, agent: Caller
) -> None:
    with at_instants(NEAR_MIDNIGHT):
        record = world.save("the night shift", valid_from=None).id
    (row,) = agent.get("/records", **DAY).json()["items"]
    assert (UUID(row["id"]), row["recorded_at"]) == (record, "2030-03-01T23:30:00.000000Z")
    assert agent.get("/records", **NEXT_DAY).json()["total"] == 0
    alice = browser(world.alice)
    assert "2030-03-01 23:30:00 UTC" in alice.get("/records", DAY).text
    assert f"/records/{record}" not in alice.get("/records", NEXT_DAY).text
    for kept, day in ((True, DAY), (False, NEXT_DAY)):
        told = {"from": day["recorded_from"], "to": day["recorded_to"]}
        file = caller(world, world.alice).get("/export", format="prov", **told).getvalue().decode()
        assert (str(record) in file) is kept, zone
    assert "2030-03-01T23:30:00" in caller(world, world.alice).get("/export", format="jsonl").getvalue().decode()


def test_d07_same_instant_any_offset_gives_identical_rows_and_the_two_times_have_names_of_their_own(
    world: World, agent: Caller
) -> None:
    with at_instants(NEAR_MIDNIGHT):
        record = agent.post("/records", {"type": "note", "content": "x", "valid_from": SAME_INSTANT[2]}).json()["id"]
    with at_instants("2030-03-01T23:30:01Z"):
        world.save("a second later")
    for name in ("valid_at", "known_at"):
        answers = [agent.get("/records", **{name: instant}).json() for instant in SAME_INSTANT]
        assert all(answer == answers[0] for answer in answers), name
    # True at that instant: both. Recorded by then: the first alone, which is not true yet today.
    assert agent.get("/records", valid_at=SAME_INSTANT[0]).json()["total"] == 2
    by_then = agent.get("/records", known_at=SAME_INSTANT[1]).json()
    assert (by_then["total"], by_then["hidden"]) == (0, {"not_valid": 1})
    for start, end in ((0, 2), (1, 3)):
        narrowed = {"recorded_from": SAME_INSTANT[start], "valid_at": SAME_INSTANT[end]}
        assert UUID(record) in ids_of(agent.get("/records", **narrowed).json())
        closed = {"recorded_to": SAME_INSTANT[start], "valid_at": SAME_INSTANT[end]}
        assert UUID(record) not in ids_of(agent.get("/records", **closed).json())
    page = browser(world.alice).get(
        "/records", {"recorded_from": SAME_INSTANT[3], "valid_at": SAME_INSTANT[2]}, follow=True
    )
    assert f"/records/{record}" in page.text


@pytest.mark.parametrize(
    "instant",
    ["2026-01-01T10:00:00", "2026-01-01", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2016-12-31T23:59:60Z"],
)
def test_d10_an_instant_that_is_none_is_refused_by_its_name_wherever_one_is_taken(
    world: World, agent: Caller, instant: str
) -> None:
    before = everything(world.namespace)
    for name in ("valid_from", "valid_to"):
        refused = agent.post("/records", {"type": "note", "content": "x", name: instant})
        assert (refused.status_code, refused.json()["code"], places(refused)) == (422, "invalid", [[name]])
    for name in ("valid_at", "known_at", "recorded_from", "recorded_to"):
        refused = agent.get("/records", **{name: instant})
        assert (refused.status_code, refused.json()["code"], places(refused)) == (422, "invalid", [[name]])
        assert browser(world.alice).get("/records", {name: instant}).status_code == 422
    assert everything(world.namespace) == before


def test_d10_the_year_9999_is_an_instant_and_is_compared_as_one(world: World, agent: Caller) -> None:
    late = "9999-12-31T23:59:59.999999Z"
    record = agent.post("/records", {"type": "note", "content": "x", "valid_from": late}).json()["id"]
    assert agent.get("/records").json()["hidden"] == {"not_valid": 1}
    assert ids_of(agent.get("/records", valid_at=late).json()) == {UUID(record)}
    assert ids_of(agent.get("/records", sort="-valid_from", include="not_valid").json()) == {UUID(record)}
    assert agent.get("/records", recorded_to=late, include="not_valid").json()["total"] == 1
    assert browser(world.alice).get(f"/records/{record}").status_code == 200


def test_d23_every_time_on_a_page_names_its_zone_and_agrees_with_api_and_export_to_the_second(
    world: World, agent: Caller
) -> None:
    with at_instants(NEAR_MIDNIGHT, "2030-03-01T23:31:07Z"):
        first = world.save("first", valid_from=None)
        second = world.evolve(first.id, content="second")
    told = {agent.get(f"/records/{one}", include="superseded").json()["recorded_at"] for one in (first.id, second)}
    assert told == {"2030-03-01T23:30:00.000000Z", "2030-03-01T23:31:07.000000Z"}
    alice, shown = browser(world.alice), set()
    for address in (
        "/records?include=superseded", f"/records/{second}", f"/records/{second}/versions", "/ledger",
        f"/timeline?record={second}",
    ):  # fmt: skip
        page = alice.get(address, follow=True)
        assert page.status_code == 200, address
        for exact, words in TIME.findall(page.text):
            assert exact.endswith("Z"), address
            assert words.strip().endswith("UTC") or re.fullmatch(r"\d{4}-\d\d-\d\d", words.strip()), (address, words)
            if words.strip().endswith("UTC"):
                assert words.strip() == f"{exact[:10]} {exact[11:19]} UTC"
            shown.add(exact)
    assert told <= shown
    listed = json.loads(alice.get("/records.json?include=superseded").getvalue())["items"]
    assert {row["recorded_at"][:19] for row in listed} == {instant[:19] for instant in told}
    archive = caller(world, world.alice).get("/export", format="jsonl").getvalue().decode()
    assert all(instant[:19] in archive for instant in told)
