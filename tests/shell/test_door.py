"""The door of every page: who may come in, where, at which point in time, and what stands around the page."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from memory.agents import operations as agents
from memory.agents.accounts import create_person
from memory.agents.setup import ensure_namespace, found_replay
from memory.base import clock
from memory.base.actor import Actor, RunGiven
from memory.checks.operations import record_run, waive
from tests.browsers import browser
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.shell.door_urls")]

START = datetime(2026, 11, 12, 14, 3, 7, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World("acme")


def stranger(world: World) -> Actor:
    return replace(world.bob, person=create_person("nobody@example.org").pk)


def test_a_stranger_is_sent_to_sign_in_and_back(client: Client) -> None:
    answer = client.get("/door/shown?ns=acme&known_at=seq:1")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/sign-in?next=%2Fdoor%2Fshown%3Fns%3Dacme%26known_at%3Dseq:1"


def test_a_stranger_who_posts_is_answered_401(client: Client) -> None:
    answer = client.post("/door/act")
    assert answer.status_code == 401
    assert "unauthorized" in answer.text


def test_a_part_asked_by_htmx_sends_the_whole_browser_to_sign_in(client: Client) -> None:
    answer = client.get("/door/shown", headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"].startswith("/sign-in?next=")


def test_who_is_a_member_of_nothing_is_told_so(world: World) -> None:
    answer = browser(stranger(world)).get("/door/shown")
    assert answer.status_code == 403
    assert "no member of any namespace" in answer.text


@pytest.mark.parametrize("name", ["elsewhere", "secret-store"])
def test_another_namespace_is_not_found_whether_it_exists_or_not(world: World, name: str) -> None:
    ensure_namespace("secret-store")
    assert browser(world.alice).get(f"/door/shown?ns={name}").status_code == 404


def test_of_several_namespaces_one_is_chosen_and_put_into_the_address(world: World) -> None:
    other = ensure_namespace("ops")
    agents.admit_member(Actor(other, "system"), person=world.alice.person or 0, role="reviewer")
    alice = browser(world.alice)
    assert alice.get("/door/shown?q=x").headers["Location"] == "/door/shown?ns=acme&q=x"
    assert alice.get("/door/shown?ns=ops").json()["role"] == "reviewer"


def test_an_expired_role_opens_nothing(world: World) -> None:
    guest = stranger(world)
    with clock.fixed(START):
        end = START + timedelta(days=1)
        agents.admit_member(world.system, person=guest.person or 0, role="auditor", expires_at=end)
        client = browser(guest)
        assert client.get("/door/shown").json()["role"] == "auditor"
    with clock.fixed(START + timedelta(days=1)):
        assert client.get("/door/shown").status_code == 403


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [("alice", "act", 200), ("bob", "act", 200), ("charlie", "act", 403), ("alice", "own", 200), ("bob", "own", 403)],
)
def test_an_act_is_for_the_roles_that_hold_its_power(world: World, who: str, path: str, status: int) -> None:
    assert browser(getattr(world, who)).post(f"/door/{path}").status_code == status


def test_a_refusal_says_which_role_may(world: World) -> None:
    answer = browser(world.charlie).post("/door/act")
    assert "an act for a reviewer or an owner of acme; you are its auditor" in answer.text


def test_a_post_to_a_page_that_only_shows_is_refused(world: World) -> None:
    assert browser(world.alice).post("/door/shown").status_code == 403


@pytest.mark.parametrize("path", ["act", "own"])
def test_a_post_without_its_token_is_refused(world: World, path: str) -> None:
    assert browser(world.alice, checks_csrf=True).post(f"/door/{path}").status_code == 403


def test_nothing_is_written_from_a_page_that_shows_the_past(world: World) -> None:
    answer = browser(world.alice).post("/door/own?known_at=seq:1&valid_at=2026-11-12T14:00:00Z")
    assert answer.status_code == 409
    assert "You look at the past" in answer.text


def test_a_wall_clock_is_resolved_once_to_a_sequence(world: World) -> None:
    with clock.fixed(datetime(2030, 1, 1, 12, tzinfo=UTC)):
        seq = world.save("first").seq
    with clock.fixed(datetime(2030, 1, 2, 12, tzinfo=UTC)):
        world.save("second")
    alice = browser(world.alice)
    with clock.fixed(datetime(2030, 1, 3, tzinfo=UTC)):
        one = alice.get("/door/shown?q=x&known_at=2030-01-01T18:00:00Z&valid_at=2030-01-01T00:00:00Z")
        both = alice.get("/door/shown?as_of=2030-01-01T18:00:00")
    assert one.headers["Location"] == f"/door/shown?q=x&valid_at=2030-01-01T00:00:00Z&known_at=seq:{seq}"
    assert both.headers["Location"] == f"/door/shown?valid_at=2030-01-01T18:00:00Z&known_at=seq:{seq}"
    assert alice.get(both.headers["Location"]).json()["seq"] == seq


@pytest.mark.parametrize("given", ["known_at=seq:2", "valid_at=2026-11-12T14:03:07Z"])
def test_a_clock_that_is_not_given_is_pinned_beside_the_other(world: World, given: str) -> None:
    alice = browser(world.alice)
    with clock.fixed(START):
        target = alice.get(f"/door/shown?{given}").headers["Location"]
    assert "valid_at=2026-11-12T14:03:07Z" in target
    assert "known_at=seq:" in target
    assert alice.get(target).status_code == 200


def test_an_instant_past_the_head_stays_and_is_marked_provisional(world: World) -> None:
    alice = browser(world.alice)
    with clock.fixed(START):
        target = alice.get("/door/drawn?as_of=2031-01-01T00:00:00").headers["Location"]
    assert target == "/door/drawn?valid_at=2031-01-01T00:00:00Z&known_at=2031-01-01T00:00:00Z"
    assert "more may still be recorded for this time" in alice.get(target).text
    shown = alice.get(target.replace("drawn", "shown")).json()
    assert shown["provisional"]
    assert not shown["can_write"]


def test_what_the_source_knew_keeps_its_address(world: World) -> None:
    answer = browser(world.alice).get("/door/shown?known_at=source:2026-01-01T00:00:00Z").json()
    assert answer["source_at"] == "2026-01-01T00:00:00Z"
    assert not answer["can_write"]


@pytest.mark.parametrize(
    "query",
    [
        "known_at=seq:99999",
        "known_at=yesterday",
        "valid_at=2026-11-12",
        "as_of=x",
        "as_of=2026-11-12T00:00:00&known_at=seq:1",
    ],
)
def test_a_point_that_is_none_is_refused_in_the_frame_of_now(world: World, query: str) -> None:
    answer = browser(world.alice).get(f"/door/drawn?{query}")
    assert answer.status_code == 422
    assert "invalid" in answer.text
    assert 'aria-label="Pages"' in answer.text


def test_the_bar_shows_both_clocks_apart_only_where_they_differ(world: World) -> None:
    with clock.fixed(datetime(2030, 1, 1, 12, tzinfo=UTC)):
        seq = world.save("first").seq
    with clock.fixed(datetime(2030, 1, 2, 12, tzinfo=UTC)):
        world.save("second")
    alice = browser(world.alice)
    one = alice.get(f"/door/drawn?valid_at=2030-01-01T18:00:00Z&known_at=seq:{seq}").text
    apart = alice.get(f"/door/drawn?valid_at=2029-01-01T00:00:00Z&known_at=seq:{seq}").text
    assert f"as of <strong>1 Jan 2030 18:00:00 UTC · seq {seq}</strong>" in one
    assert f"as of <strong>true on 1 Jan 2029, as recorded by 1 Jan 2030 12:00:00 UTC · seq {seq}</strong>" in apart


def test_links_of_the_frame_carry_namespace_and_point(world: World) -> None:
    text = browser(world.alice).get("/door/drawn?ns=acme&valid_at=2026-11-12T00:00:00Z&known_at=seq:1&q=x").text
    assert 'href="/records?ns=acme&amp;valid_at=2026-11-12T00:00:00Z&amp;known_at=seq:1"' in text


def test_a_page_without_a_point_ignores_the_one_in_its_address(world: World) -> None:
    answer = browser(world.alice).get("/door/timeless?known_at=2026-01-01T00:00:00Z")
    assert answer.status_code == 200
    assert "No point in time applies to this page" in answer.text


def test_an_entry_of_the_rail_is_folded_until_its_first_row(world: World) -> None:
    alice = browser(world.alice)
    folded = alice.get("/door/drawn").text.split("<summary>More")[1]
    assert '"/runs"' in folded
    world.save("text", by=replace(world.scout, run=RunGiven(title="ticket 4411")))
    kept, *folded = alice.get("/door/drawn").text.split("<summary>More")
    assert '"/runs"' in kept
    assert all('"/runs"' not in part for part in folded)


def test_a_frozen_agent_stands_on_every_page_with_who_when_and_why(world: World) -> None:
    with clock.fixed(datetime(2030, 1, 1, 12, tzinfo=UTC)):
        agents.freeze(world.alice, agent=world.scout.agent, reason="wrote to the wrong tenant")
    alice = browser(world.alice)
    text = alice.get("/door/drawn").text
    assert "Agent scout is frozen" in text
    assert "By alice@example.org, 1 Jan 2030 12:00:00 UTC: wrote to the wrong tenant." in text
    agents.freeze(world.alice, agent=world.scout.agent, frozen_now=False)
    assert "is frozen" not in alice.get("/door/drawn").text


def test_a_hold_stands_on_every_page_until_it_ends(world: World) -> None:
    with clock.fixed(datetime(2030, 1, 1, 12, tzinfo=UTC)):
        agents.hold(world.alice, held=True, reason="litigation 4411", until_at=datetime(2030, 2, 1, tzinfo=UTC))
        text = browser(world.alice).get("/door/drawn").text
    assert "on hold until 1 Feb 2030" in text
    assert "litigation 4411" in text
    with clock.fixed(datetime(2030, 2, 1, tzinfo=UTC)):
        assert "on hold" not in browser(world.alice).get("/door/drawn").text


def test_what_a_check_found_waits_in_the_rail_with_its_age_until_a_newer_run_or_a_waiver(world: World) -> None:
    def run(verdict: str) -> None:
        record_run(
            world.system, name="ledger_scan", version=1, verdict=verdict, at_seq=1, n_checked=1, found=[], report={}
        )

    alice = browser(world.alice)
    with clock.fixed(datetime(2030, 1, 1, tzinfo=UTC)):
        run("failed")
    with clock.fixed(datetime(2030, 1, 9, tzinfo=UTC)):
        waiting = alice.get("/door/drawn").text
        waive(world.alice, name="ledger_scan", reason="known", expires_at=datetime(2030, 1, 10, tzinfo=UTC))
        waived = alice.get("/door/drawn").text
    with clock.fixed(datetime(2030, 1, 11, tzinfo=UTC)):
        lapsed = alice.get("/door/drawn").text
        run("ok")
        mended = alice.get("/door/drawn").text
    assert '<span class="waiting" data-overdue>1<span class="visually-hidden"> open</span> · 8 d</span>' in waiting
    assert "<title>(1) " in waiting
    assert ['class="waiting"' in text for text in (waived, lapsed, mended)] == [False, True, False]


def test_a_replay_says_so_with_the_notice_of_its_loader_and_takes_no_writes(client: Client) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    store = found_replay("xz", notice="Replayed. Real: lines with a source.", at=start)
    person = create_person("mara@example.org")
    by = Actor(store, "system", event_at=start + timedelta(days=1))
    agents.admit_member(by, person=person.pk, role="owner")
    client.force_login(person)
    text = client.get("/door/drawn").text
    assert "<strong>Replayed.</strong> Real: lines with a source. It takes no writes from people." in text
    assert client.post("/door/own").status_code == 409


def test_a_namespace_of_one_owner_says_so_beside_its_name(world: World) -> None:
    assert "not four eyes" not in browser(world.bob).get("/door/drawn").text
    agents.change_setting(world.alice, name="approval_mode", value="single_owner")
    assert "single owner, not four eyes" in browser(world.bob).get("/door/drawn").text


def test_an_auditor_meets_no_write_control_and_sees_the_last_day(world: World) -> None:
    answer = browser(world.charlie).get("/door/shown").json()
    assert not answer["shows_writes"]
    assert not answer["can_write"]
    assert "This login ends on" in browser(world.charlie).get("/door/drawn").text


def test_a_refusal_of_the_domain_keeps_its_status_as_page_and_as_part(world: World) -> None:
    alice = browser(world.alice)
    page = alice.get("/door/stale")
    part = alice.get("/door/stale", headers={"HX-Request": "true"})
    assert page.status_code == part.status_code == 412
    assert "<html" in page.text
    assert part.text.lstrip().startswith('<section class="problem"')
    assert "stale_version" in part.text


def test_a_page_is_kept_by_no_shared_cache_and_varies_by_who_asks_for_what(world: World) -> None:
    headers = browser(world.alice).get("/door/drawn").headers
    assert "private" in headers["Cache-Control"]
    assert {"Cookie", "HX-Request"} <= {name.strip() for name in headers["Vary"].split(",")}
