"""Lists, search and paging: D08, D15, D20, S17, S19, S24, S30."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from tests.browsers import browser
from tests.contract.callers import Caller, caller, places
from tests.field.stated import at_instants, every_page, ids_of
from tests.world import World

pytestmark = pytest.mark.django_db

DAY = "2030-03-0{}T12:00:00Z"
# A token of the usual models is four characters of such text at least.
CHARS_OF_A_TOKEN = 4
MOST_TOKENS = 25_000


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def link_to(page: str, label: str) -> str:
    """The address of the link of the pager."""
    found = re.search(rf'<a [^>]*href="([^"]+)"[^>]*>[^<]*{label}', page)
    assert found is not None, f"no link {label}"
    return unescape(found[1])


def test_d08_a_filtered_list_has_a_second_page_and_its_links_keep_the_filter(
    world: World, agent: Caller, alice: Client
) -> None:
    other = world.agent("other")
    world.save_all(*(f"note {number}" for number in range(60)))
    world.save_all(*(f"of the other {number}" for number in range(55)), by=other)
    first = agent.get("/records", agent="other", limit=25).json()
    assert (first["total"], len(first["items"])) == (55, 25)
    pages = every_page(agent, agent="other", limit=25)
    assert [len(page) for page in pages] == [25, 25, 5]
    assert {row["agent_name"] for page in pages for row in page} == {"other"}

    shown = alice.get("/records?agent=other&type=note").text
    assert "50 of 55" in shown
    address = link_to(shown, "Older")
    assert "agent=other" in address
    assert "type=note" in address
    second = alice.get(address)
    assert "5 of 55" in second.text
    assert "note 1<" not in second.text
    assert "agent=other" in link_to(second.text, "Newer")


def test_d15_an_unknown_filter_is_refused_by_name_on_every_surface(world: World, agent: Caller, alice: Client) -> None:
    world.save("a note", tags=("x",))
    for query, name in (({"tagg": "x"}, "tagg"), ({"created_after": "nonsense"}, "created_after")):
        refused = agent.get("/records", **query)
        assert (refused.status_code, refused.json()["code"], places(refused)) == (422, "invalid", [[name]])
        for path in ("/records", "/records.csv", "/records.json"):
            assert alice.get(path, query).status_code == 422, (path, name)
        assert name in alice.get("/records", query).text
        assert caller(world, world.alice).get("/export", format="prov", **query).status_code == 422
    for name in ("recorded_from", "recorded_to"):
        refused = agent.get("/records", **{name: "nonsense"})
        assert (refused.status_code, places(refused)) == (422, [[name]])
        assert alice.get("/records", {name: "nonsense"}).status_code == 422


def test_d15_the_filters_by_tag_and_by_date_narrow_list_page_and_file(
    world: World, agent: Caller, alice: Client
) -> None:
    with at_instants(*(DAY.format(day) for day in (1, 2, 3, 4))):
        tags = (("red", 'with "quotes" 50%'), ("red ",), ("Red",), ("blue", "red"))
        tagged = [world.save(f"note {n}", tags=of_it).id for n, of_it in enumerate(tags)]
    world.save("red", metadata={"tags": ["red"]}, summary='"red"')
    a, _, _, d = tagged
    for query, expected in (
        ({"tag": "red"}, {a, d}),
        ({"tag": 'with "quotes" 50%'}, {a}),
        ({"tag": ["Red", "blue"]}, {tagged[2], d}),
        ({"tag": "re"}, set()),
        ({"recorded_from": DAY.format(2), "recorded_to": DAY.format(4)}, {tagged[1], tagged[2]}),
        ({"tag": "red", "recorded_from": DAY.format(4)}, {d}),
        ({"tag": "red", "q": "note"}, {a, d}),
    ):
        listed = agent.get("/records", **query).json()
        assert ids_of(listed) == expected, query
        assert listed["total"] == len(expected)
        assert {
            UUID(row["id"]) for row in json.loads(alice.get("/records.json", query).getvalue())["items"]
        } == expected
        page = alice.get("/records", query).text
        assert {one for one in tagged if f"/records/{one}" in page} == expected
    empty = agent.get("/records", recorded_from=DAY.format(2), recorded_to=DAY.format(2))
    assert empty.status_code == 422
    assert "tag:red" in unescape(alice.get("/records?tag=red").text)
    world.erase(a)
    assert ids_of(agent.get("/records", tag="red", include="erased").json()) == {d}


@pytest.mark.slow
def test_d20_a_list_of_thousands_pages_by_a_cursor_that_stands_while_rows_are_added(
    world: World, agent: Caller
) -> None:
    kept = [world.save_all(*(f"{'many words ' * 20}{chunk}-{n}" for n in range(1_000))) for chunk in range(5)]
    expected = {one.id for chunk in kept for one in chunk}
    whole = agent.get("/records")
    assert len(whole.content) / CHARS_OF_A_TOKEN < MOST_TOKENS
    names = agent.get("/records", fields="names", limit=200)
    assert len(names.content) / CHARS_OF_A_TOKEN < MOST_TOKENS
    assert {key for row in names.json()["items"] for key in row} == {"id", "type", "first_line"}

    seen: list[UUID] = []
    after, n_pages = "", 0
    while True:
        page = agent.get("/records", fields="names", limit=200, **({"after": after} if after else {})).json()
        seen += [UUID(row["id"]) for row in page["items"]]
        n_pages += 1
        if n_pages % 5 == 1:
            world.save("written meanwhile")
        if not page["next"]:
            break
        after = page["next"]
    assert len(seen) == len(set(seen)) == 5_000
    assert set(seen) == expected
    assert agent.get("/records", fields="some").status_code == 422


@pytest.mark.parametrize("path", ["/records", "/runs", "/ledger/entries", "/checks", "/erasures", "/facts"])
def test_s17_a_limit_out_of_its_bounds_is_refused_with_the_bounds(agent: Caller, path: str) -> None:
    for limit, bound in (("-1", "1"), ("0", "1"), ("1000000000", "200"), ("abc", "integer")):
        refused = agent.get(path, limit=limit)
        assert (refused.status_code, places(refused)) == (422, [["limit"]]), limit
        assert bound in refused.json()["errors"][0]["expected"], limit
    assert agent.get(path, limit=1).status_code == 200


def test_s17_numbers_are_sorted_as_numbers_and_what_has_no_value_meets_no_filter(world: World, agent: Caller) -> None:
    for number in range(12):
        world.save(f"note {number}")
    seqs = [row["seq"] for row in agent.get("/ledger/entries", sort="seq").json()["items"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) > 10
    run = agent.post("/runs", {"title": "night build"}).json()["id"]
    with_run = agent.post("/records", {"type": "note", "content": "of a run", "run": {"id": run}}).json()["id"]
    assert ids_of(agent.get("/records", run=run).json()) == {UUID(with_run)}
    assert agent.get("/records", agent="nobody").json()["total"] == 0
    assert agent.get("/records", tag="none has it").json()["total"] == 0
    refused = agent.get("/records", sort="metadata.size")
    assert (refused.status_code, places(refused)) == (422, [["sort"]])


def test_s19_an_evolved_record_is_found_by_its_new_tags_alone_unless_the_old_version_is_asked_for(
    world: World, agent: Caller, alice: Client
) -> None:
    body = {"type": "note", "content": "how the boiler is bled", "tags": ["boilerroom"]}
    old = agent.post("/records", body).json()
    derived = agent.post(
        "/derivations",
        {"kind": "evolve", "record": old["id"], "base": old["digest"], "tags": ["cellar"], "reason": "correction"},
    ).json()
    (new,) = derived["records"]
    new_id = new["id"] if isinstance(new, dict) else new
    for key in ("q", "tag"):
        assert ids_of(agent.get("/records", **{key: "cellar"}).json()) == {UUID(new_id)}
        assert ids_of(agent.get("/records", **{key: "boilerroom"}).json()) == set()
        assert agent.get("/records", **{key: "boilerroom"}).json()["hidden"] == {"superseded": 1}
        assert ids_of(agent.get("/records", include="superseded", **{key: "boilerroom"}).json()) == {UUID(old["id"])}
    recalled = agent.post("/recall", {"query": "cellar"}).json()["items"]
    assert [row["id"] for row in recalled] == [new_id]
    page = alice.get("/records?q=boilerroom&include=superseded").text
    assert f"/records/{old['id']}" in page
    assert f"/records/{new_id}" not in page


def test_s24_since_and_until_hold_on_the_engine_in_use(world: World, agent: Caller, alice: Client) -> None:
    """The whole suite of lists runs on both; here the bounds, which are half-open to the microsecond."""
    with at_instants("2030-03-01T00:00:00Z", "2030-03-01T00:00:00.000001Z", "2030-03-02T00:00:00Z"):
        first, second, third = (world.save(f"note {n}").id for n in range(3))
    day = {"recorded_from": "2030-03-01T00:00:00Z", "recorded_to": "2030-03-02T00:00:00Z"}
    assert ids_of(agent.get("/records", **day).json()) == {first, second}
    assert ids_of(agent.get("/records", recorded_from="2030-03-01T00:00:00.000001Z",
                            recorded_to="2030-03-02T00:00:00.000001Z").json()) == {second, third}  # fmt: skip
    listed = json.loads(alice.get("/records.json", day).getvalue())["items"]
    assert {UUID(row["id"]) for row in listed} == {first, second}
    interval = {"from": day["recorded_from"], "to": day["recorded_to"]}
    exported = caller(world, world.alice).get("/export", format="prov", **interval).getvalue().decode()
    assert [str(one) in exported for one in (first, second, third)] == [True, True, False]


@pytest.mark.parametrize("sort", ["valid_from", "-valid_from", "recorded_at", "-recorded_at"])
def test_s30_the_order_by_either_time_is_stable_across_pages_with_ties(
    world: World, agent: Caller, alice: Client, sort: str
) -> None:
    since = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000001Z", None, "1969-12-31T23:59:59.999999Z"]
    rows = [
        {"type": "note", "content": f"note {n}", **({"valid_from": since[n % 4]} if since[n % 4] else {})}
        for n in range(23)
    ]
    agent.post("/records/batch", rows[:11])
    agent.post("/records/batch", rows[11:])
    whole = every_page(agent, sort=sort, limit=200)[0]
    for limit in (1, 4, 7):
        pages = every_page(agent, sort=sort, limit=limit)
        assert [row["id"] for page in pages for row in page] == [row["id"] for row in whole]
        backwards = every_page(agent, sort=sort, limit=limit, is_backwards=True)
        assert backwards == pages[-2::-1]
    known = [row["valid_from"] for row in whole if row["valid_from"]]
    if "valid" in sort:
        assert known == sorted(known, reverse=sort.startswith("-"))
        assert [row["valid_from"] for row in whole[-5:]] == [None] * 5
    ties = [row["id"] for row in whole if row["valid_from"] == since[0].replace("Z", ".000000Z")]
    in_ledger = [row["id"] for row in agent.get("/records", sort="recorded_at", limit=200).json()["items"]]
    assert ties == [one for one in (in_ledger[::-1] if sort.startswith("-") else in_ledger) if one in ties]
    listed = [row["id"] for row in json.loads(alice.get("/records.json", {"sort": sort}).getvalue())["items"]]
    assert listed == [row["id"] for row in whole]
    searched: list[Any] = agent.get("/records", q="note", sort=sort, limit=200).json()["items"]
    assert [row["id"] for row in searched] == [row["id"] for row in whole]
    assert agent.get("/records", sort=sort, after="nonsense").status_code == 422
