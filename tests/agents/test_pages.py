"""The page of agents and people, and the acts of an owner on it, as a browser gets them."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.agents import operations as agents
from memory.agents import runs
from memory.agents.accounts import create_person
from memory.agents.connecting import connect
from memory.agents.identity import by_token
from memory.agents.people import invite, members
from memory.agents.queries import agent_by_name, agent_rows, frozen, role_of, setting, standing_hold
from memory.base import clock
from memory.base.actor import Actor
from memory.base.errors import Forbidden, Invalid, Stopped, Unauthorized
from memory.ledger.operations.founding import found
from memory.ledger.operations.refusing import refuse
from memory.ledger.queries.entries import entries
from tests.browsers import browser
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECRET = re.compile(r"plm_[A-Za-z0-9_-]{43}")


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def text_of(markup: str) -> str:
    """What a reader sees: no tags, one space between words."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def token_of(world: World, agent: UUID) -> UUID:
    (row,) = [row for row in agent_rows(world.now()) if row.id == agent]
    return row.tokens[0].id


def verbs(world: World) -> list[str]:
    return [row.verb for row in entries(world.now(), limit=200)]


# Every act: its address, what its form sends, and the verb that the ledger then has.
ACTS: dict[str, tuple[Callable[[World], str], dict[str, object], str]] = {
    "connect": (lambda world: "/agents/new", {"name": "triage", "scopes": ["read"], "days": "7"}, "issue_token"),
    "issue": (lambda world: f"/agents/{world.scout_id}/tokens", {"scopes": ["read"], "days": "7"}, "issue_token"),
    "freeze": (lambda world: f"/agents/{world.scout_id}/freeze", {"reason": "wrong tenant"}, "freeze"),
    "rotate": (lambda world: f"/tokens/{token_of(world, world.scout_id)}/rotate", {}, "rotate_token"),
    "revoke": (lambda world: f"/tokens/{token_of(world, world.scout_id)}/revoke", {}, "revoke_token"),
    "invite": (lambda world: "/members", {"email": "dora@example.org", "role": "reviewer"}, "admit_member"),
    "role": (lambda world: f"/members/{world.bob.person}/role", {"role": "auditor"}, "admit_member"),
    "approval_mode": (lambda world: "/settings/approval_mode", {"value": "single_owner"}, "change_setting"),
    "hold": (lambda world: "/hold", {"reason": "litigation 4411"}, "hold"),
}
EVERY_ACT = [*ACTS, "unfreeze", "lift"]


def act(world: World, name: str) -> tuple[str, dict[str, object], str]:
    """Address, form and verb of an act; what must stand before it is done."""
    if name == "unfreeze":
        agents.freeze(world.alice, agent=world.scout_id, reason="wrong tenant")
        return f"/agents/{world.scout_id}/unfreeze", {"reason": "repaired"}, "unfreeze"
    if name == "lift":
        agents.hold(world.alice, held=True, reason="litigation 4411")
        return "/hold/lift", {"reason": "settled"}, "lift_hold"
    address, form, verb = ACTS[name]
    return address(world), form, verb


# Who may.


@pytest.mark.parametrize("name", EVERY_ACT)
def test_an_owner_s_act_is_an_entry(world: World, alice: Client, name: str) -> None:
    address, form, verb = act(world, name)
    before = world.now().seq
    assert alice.post(address, form).status_code in (200, 302)
    (newest, *_) = entries(world.now(), after=before)
    assert (newest.verb, newest.person) == (verb, world.alice.person)


@pytest.mark.parametrize("who", ["bob", "charlie"])
@pytest.mark.parametrize("name", EVERY_ACT)
def test_who_is_no_owner_is_refused_each_act_and_told_who_may(world: World, name: str, who: str) -> None:
    address, form, _ = act(world, name)
    before = world.now().seq
    answer = browser(getattr(world, who)).post(address, form)
    assert answer.status_code == 403
    assert "an act for an owner of acme" in answer.text
    assert world.now().seq == before


@pytest.mark.parametrize("name", EVERY_ACT)
def test_nobody_acts_without_signing_in_or_without_the_token_of_the_form(world: World, name: str) -> None:
    address, form, _ = act(world, name)
    before = world.now().seq
    assert Client().post(address, form).status_code == 401
    assert browser(world.alice, checks_csrf=True).post(address, form).status_code == 403
    assert world.now().seq == before


@pytest.mark.parametrize("name", EVERY_ACT)
def test_no_act_is_done_by_opening_its_address(world: World, alice: Client, name: str) -> None:
    address, _, _ = act(world, name)
    before = world.now().seq
    answer = alice.get(address)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/agents")
    assert world.now().seq == before


@pytest.mark.parametrize("who", ["bob", "charlie"])
def test_others_see_the_same_rows_and_no_control(world: World, who: str) -> None:
    text = browser(getattr(world, who)).get("/agents").text
    assert "scout" in text
    assert "alice@example.org" in text
    main = text.split('<main id="main"')[1].split("</main>")[0]
    assert "<form" not in main
    assert "<button" not in main.replace('class="copy needs-script"', "").split("popovertarget")[0]


def test_the_page_is_about_now_and_says_that_no_point_applies(world: World, alice: Client) -> None:
    world.save("later")
    text = alice.get("/agents?known_at=seq:1").text
    assert "No point in time applies to this page" in text
    assert "scout" in text


# Tokens.


def shown_secret(markup: str) -> str:
    (secret, *others) = dict.fromkeys(SECRET.findall(unescape(markup)))
    assert others == []
    return secret


@pytest.mark.parametrize("name", ["connect", "issue", "rotate"])
def test_a_secret_is_shown_once_by_the_answer_that_made_it_and_opens_the_namespace(
    world: World, alice: Client, name: str
) -> None:
    address, form, _ = act(world, name)
    answer = alice.post(address, form)
    secret = shown_secret(answer.text)
    assert "no-store" in answer.headers["Cache-Control"]
    assert by_token(secret, namespace="acme", now=clock.now()).namespace == world.namespace
    assert f"ledger at seq {world.now().seq} " in text_of(answer.text)
    assert SECRET.findall(alice.get("/agents").text) == []


def test_a_fresh_token_stands_in_one_block_for_each_client(world: World, alice: Client) -> None:
    answer = alice.post(
        "/agents/new", {"name": "triage", "scopes": ["read", "write"], "days": "7"}, HTTP_HOST="localhost"
    )
    text = unescape(answer.text)
    secret = shown_secret(answer.text)
    assert "curl -sS http://localhost/api/v1/namespaces/acme/records" in text
    assert f'"Authorization: Bearer {secret}"' in text
    assert f'"Authorization": "Bearer {secret}"' in text
    assert f"PALIMPSEST_TOKEN={secret}" in text


def test_the_block_for_python_runs_as_it_is_pasted(world: World, alice: Client) -> None:
    markup = alice.post("/agents/new", {"name": "triage", "scopes": ["write"], "days": "7"}).text
    (block,) = re.findall(r'<pre[^>]*aria-label="Python"[^>]*>(.*?)</pre>', markup, re.DOTALL)
    compile(unescape(block), "block", "exec")


def test_a_new_agent_is_in_the_list_of_the_answer_with_its_operator_and_its_token(world: World, alice: Client) -> None:
    form = {"name": "triage", "scopes": ["read"], "days": "7", "operator": str(world.bob.person)}
    text = text_of(alice.post("/agents/new", form).text)
    assert "triage bob@example.org never 0 0 1 not seen yet" in text


def test_an_agent_without_a_name_scope_or_term_is_not_registered_and_what_was_typed_is_kept(
    world: World, alice: Client
) -> None:
    before = world.now().seq
    answer = alice.post("/agents/new", {"name": "triage", "days": "900"})
    assert answer.status_code == 422
    assert "No agent was registered" in answer.text
    assert 'value="triage"' in answer.text
    assert 'value="900"' in answer.text
    assert world.now().seq == before


def test_a_name_that_is_taken_is_refused_where_the_form_is_and_leaves_nothing(world: World, alice: Client) -> None:
    before = world.now().seq
    answer = alice.post("/agents/new", {"name": "scout", "scopes": ["read"], "days": "7"})
    assert answer.status_code == 409
    section = answer.text.split('id="connect"')[1].split("</section>")[0]
    assert "There is an agent named scout." in section
    assert SECRET.findall(answer.text) == []
    assert world.now().seq == before


def test_an_agent_whose_token_cannot_be_made_is_not_registered_either(world: World) -> None:
    before = world.now().seq
    with pytest.raises(Invalid):
        connect(world.alice, name="triage", scopes=("fly",))
    assert world.now().seq == before


def test_rotating_ends_the_old_token_with_the_entry_that_makes_the_new_one(world: World, alice: Client) -> None:
    old = world.secrets[world.scout_id]
    alice.post(f"/tokens/{token_of(world, world.scout_id)}/rotate")
    with pytest.raises(Unauthorized):
        by_token(old, namespace="acme", now=clock.now())
    assert "Ended tokens" in alice.get("/agents").text


def test_a_revoked_token_opens_nothing_and_the_page_says_by_which_entry(world: World, alice: Client) -> None:
    answer = alice.post(f"/tokens/{token_of(world, world.scout_id)}/revoke", follow=True)
    seq = world.now().seq
    assert f'recorded as <a href="/ledger/{seq}">' in answer.text
    assert "No token is live" in answer.text
    with pytest.raises(Unauthorized):
        by_token(world.secrets[world.scout_id], namespace="acme", now=clock.now())


def test_what_was_recorded_is_said_once(world: World, alice: Client) -> None:
    alice.post(f"/tokens/{token_of(world, world.scout_id)}/revoke", follow=True)
    assert "recorded as" not in alice.get("/agents").text


def test_a_second_revocation_is_refused_in_place(world: World, alice: Client) -> None:
    address = f"/tokens/{token_of(world, world.scout_id)}/revoke"
    alice.post(address)
    answer = alice.post(address)
    assert answer.status_code == 409
    assert "revoked already" in answer.text


@pytest.mark.parametrize(
    "address", ["/agents/{}/tokens", "/agents/{}/freeze", "/tokens/{}/rotate", "/tokens/{}/revoke"]
)
def test_what_is_in_another_namespace_is_not_found(world: World, address: str) -> None:
    other = World("other")
    strange = other.scout_id if "agents" in address else token_of(other, other.scout_id)
    form = {"scopes": ["read"], "days": "7", "reason": "why"}
    answer = browser(world.alice).post(f"{address.format(strange)}?ns=acme", form)
    assert answer.status_code == 404
    assert not frozen(other.namespace, other.scout_id)


def test_an_expired_token_is_among_the_ended_ones(world: World) -> None:
    with clock.fixed(START):
        agents.issue_token(world.alice, agent=world.scout_id, life=timedelta(days=1))
    with clock.fixed(START + timedelta(days=2)):
        text = text_of(browser(world.alice).get("/agents").text)
    live, ended = text.split("Ended tokens", 1)
    assert "1 day ago 2030-01-02 12:00:00 UTC expired" in ended
    assert "Live tokens" not in live


# Freezing.


def test_a_frozen_agent_writes_nothing_until_it_is_unfrozen(world: World, alice: Client) -> None:
    alice.post(f"/agents/{world.scout_id}/freeze", {"reason": "wrong tenant"})
    with pytest.raises(Stopped):
        world.save("refused")
    assert "wrong tenant" in alice.get("/agents").text
    answer = alice.post(f"/agents/{world.scout_id}/unfreeze", {"reason": "repaired"}, follow=True)
    assert "Agent scout may write again" in answer.text
    world.save("admitted")


def test_freezing_asks_for_a_reason(world: World, alice: Client) -> None:
    answer = alice.post(f"/agents/{world.scout_id}/freeze", {"reason": "  "})
    assert answer.status_code == 422
    assert "why, in a few words" in answer.text
    assert not frozen(world.namespace, world.scout_id)


def test_the_row_of_an_agent_has_its_last_entry_and_the_counts_of_a_day(world: World) -> None:
    with clock.fixed(START):
        agents.issue_token(world.alice, agent=world.scout_id)
        world.save("two days ago")
    with clock.fixed(START + timedelta(days=2)):
        seq = world.save("now").seq
        refuse(world.scout, code="stopped")
        text = browser(world.alice).get("/agents").text
    row = text.split(f'id="agent-{world.scout_id}"')[1].split("</tr>")[0]
    assert f'href="/ledger/{seq}"' in row
    assert "scout nobody now 1 1 1 active" in text_of(f"<tr {row}")


# The first entry.


def test_the_first_entry_is_waited_for_and_turns_into_a_link(world: World, alice: Client) -> None:
    address = f"/agents/{world.scout_id}/first?after={world.now().seq}"
    part = {"HX-Request": "true"}
    waiting = alice.get(address, headers=part).text
    assert "waiting for its first entry" in waiting
    assert 'hx-trigger="every 5s"' in waiting
    seq = world.save("hello").seq
    connected = alice.get(address, headers=part).text
    assert f'href="/ledger/{seq}"' in connected
    assert "hx-trigger" not in connected
    assert "<html" in alice.get(address).text


def test_the_wait_shows_entries_of_that_agent_alone_and_refuses_what_is_no_entry(world: World, alice: Client) -> None:
    other = world.agent("other")
    seq = world.now().seq
    world.save("not it", by=other)
    assert "waiting" in alice.get(f"/agents/{world.scout_id}/first?after={seq}").text
    assert alice.get(f"/agents/{world.scout_id}/first?after=yesterday").status_code == 422


# People.


def test_who_cannot_sign_in_yet_gets_a_link_that_works_once_and_is_shown_once(world: World, alice: Client) -> None:
    answer = alice.post("/members", {"email": "dora@example.org", "role": "reviewer"})
    assert "no-store" in answer.headers["Cache-Control"]
    (link,) = set(re.findall(r"http://testserver(/sign-in/[^\s<\"]+)", answer.text))
    assert "/sign-in/" not in alice.get("/agents").text.split('<main id="main"')[1]
    dora = Client()
    assert dora.post(link).status_code == 302
    assert dora.get("/agents").status_code == 200
    assert Client().post(link).status_code == 422


def test_who_can_sign_in_already_is_only_admitted(world: World, alice: Client) -> None:
    dora = create_person("dora@example.org")
    dora.set_password("a long and quiet sentence")
    dora.save()
    answer = alice.post("/members", {"email": "Dora@Example.org", "role": "reviewer"}, follow=True)
    assert "is now a reviewer of acme" in answer.text
    assert "sign-in/" not in answer.text
    assert role_of(world.namespace, dora.pk) == "reviewer"


def test_no_link_is_made_for_an_account_that_another_namespace_knows(world: World) -> None:
    other = World("other")
    dora = create_person("dora@example.org")
    agents.admit_member(other.system, person=dora.pk, role="owner")
    assert invite(world.alice, email="dora@example.org", role="reviewer").link == ""
    assert invite(world.alice, email="ella@example.org", role="reviewer").link.startswith("/sign-in/")


def test_an_invitation_that_is_refused_makes_no_account(world: World, alice: Client) -> None:
    with pytest.raises(Forbidden):
        invite(world.bob, email="dora@example.org", role="reviewer")
    answer = alice.post("/members", {"email": "not an address", "role": "reviewer"})
    assert answer.status_code == 422
    assert "Nobody was invited" in answer.text
    assert not User.objects.filter(username__in=["dora@example.org", "not an address"]).exists()


def test_an_auditor_s_role_ends_by_itself(world: World, alice: Client) -> None:
    with clock.fixed(START):
        alice.post("/members", {"email": "dora@example.org", "role": "auditor", "ends_on": "2030-02-01"})
        alice.post("/members", {"email": "ella@example.org", "role": "auditor"})
    ends = {row.address: row.expires_at for row in members(world.namespace)}
    assert ends["dora@example.org"] == datetime(2030, 2, 1, tzinfo=UTC)
    assert ends["ella@example.org"] is not None


def test_a_role_cannot_end_in_the_past(world: World, alice: Client) -> None:
    with clock.fixed(START):
        answer = alice.post("/members", {"email": "dora@example.org", "role": "auditor", "ends_on": "2029-12-31"})
    assert answer.status_code == 422
    assert "a day to come" in answer.text


def test_a_member_gets_another_role_and_is_removed(world: World, alice: Client) -> None:
    bob = world.bob.person or 0
    assert "is now an owner" in alice.post(f"/members/{bob}/role", {"role": "owner"}, follow=True).text
    assert "holds no role any more" in alice.post(f"/members/{bob}/role", {"role": "none"}, follow=True).text
    assert role_of(world.namespace, bob) is None
    assert browser(world.bob).get("/agents").status_code == 403


def test_the_last_owner_stays(world: World, alice: Client) -> None:
    answer = alice.post(f"/members/{world.alice.person}/role", {"role": "none"})
    assert answer.status_code == 409
    assert "The last owner of a namespace cannot be removed" in answer.text
    assert role_of(world.namespace, world.alice.person or 0) == "owner"


@pytest.mark.parametrize(("person", "role", "status"), [("1", "king", 422), (str(10**30), "owner", 404)])
def test_a_role_or_a_person_that_is_none_is_refused(
    world: World, alice: Client, person: str, role: str, status: int
) -> None:
    address = f"/members/{world.bob.person if person == '1' else person}/role"
    assert alice.post(address, {"role": role}).status_code == status
    assert role_of(world.namespace, world.bob.person or 0) == "reviewer"


def test_a_person_of_no_role_here_is_given_none_by_the_list(world: World, alice: Client) -> None:
    stranger = create_person("nobody@example.org").pk
    assert alice.post(f"/members/{stranger}/role", {"role": "reviewer"}).status_code == 404
    assert role_of(world.namespace, stranger) is None


def test_members_are_listed_with_who_admitted_them_and_ended_roles_are_not(world: World) -> None:
    invited = invite(world.alice, email="dora@example.org", role="reviewer")
    agents.admit_member(world.alice, person=world.charlie.person or 0, role="none")
    rows = {row.address: row for row in members(world.namespace)}
    assert "charlie@example.org" not in rows
    assert (rows["dora@example.org"].by, rows["dora@example.org"].by_name) == (world.alice.person, "alice@example.org")
    assert rows["dora@example.org"].seq == invited.seq
    assert rows["alice@example.org"].by is None


# The namespace.


def test_the_approval_mode_is_switched_and_shown_on_every_page(world: World, alice: Client) -> None:
    answer = alice.post("/settings/approval_mode", {"value": "single_owner"}, follow=True)
    assert "single owner, not four eyes" in answer.text
    assert setting(world.namespace, "approval_mode", "two_person") == "single_owner"
    again = alice.post("/settings/approval_mode", {"value": "single_owner"})
    assert again.status_code == 409
    assert alice.post("/settings/approval_mode", {"value": "anarchy"}).status_code == 422


def test_a_hold_is_placed_with_its_reason_and_end_and_lifted(world: World, alice: Client) -> None:
    with clock.fixed(START):
        placed = alice.post("/hold", {"reason": "litigation 4411", "until_on": "2030-03-01"}, follow=True)
        assert "on hold until 1 Mar 2030" in placed.text
        held = standing_hold(world.namespace, START)
        assert held is not None
        assert held.until_at == datetime(2030, 3, 1, tzinfo=UTC)
        assert "The hold is lifted" in alice.post("/hold/lift", {"reason": "settled"}, follow=True).text
        assert standing_hold(world.namespace, START) is None
        assert alice.post("/hold/lift", {"reason": "again"}).status_code == 409


def test_a_hold_asks_for_a_reason_and_a_day_to_come(world: World, alice: Client) -> None:
    with clock.fixed(START):
        answer = alice.post("/hold", {"reason": "", "until_on": "2029-01-01"})
    assert answer.status_code == 422
    assert "No hold was placed" in answer.text
    assert "a day to come" in answer.text
    assert standing_hold(world.namespace, START) is None


def test_what_a_client_named_is_printed_as_text(world: World, alice: Client) -> None:
    agents.create_agent(world.alice, name="<script>alert(1)</script>\u202ebot")
    text = alice.get("/agents").text
    assert "<script>alert" not in text
    assert "U+202E" in text


def test_a_namespace_without_agents_says_how_the_first_one_comes(world: World) -> None:
    empty = found(Actor(0, "system"), name="empty").pk
    agents.admit_member(Actor(empty, "system"), person=world.alice.person or 0, role="owner")
    text = browser(world.alice).get("/agents?ns=empty").text
    assert "No agents yet" in text
    assert 'href="#connect"' in text


def test_the_page_costs_the_same_whatever_it_holds() -> None:
    counts = {}
    for n in (0, 1, 50):
        world = World(f"lab{n}")
        for i in range(n):
            made = agents.create_agent(world.alice, name=f"agent {i}", operator=world.bob.person)
            agents.issue_token(world.alice, agent=made.id)
            if i < 10:
                invite(world.alice, email=f"person{n}.{i}@example.org", role="reviewer")
        counts[f"now {n}"] = count_queries(browser(world.alice), f"/agents?ns=lab{n}")
    assert_baseline("agents:index", counts)


def test_waiting_for_an_entry_costs_one_query_beside_the_frame(world: World, alice: Client) -> None:
    counts = {"now 0": count_queries(alice, f"/agents/{world.scout_id}/first?after={world.now().seq}")}
    runs.open_run(replace(world.scout, run=None))
    counts["now 1"] = count_queries(alice, f"/agents/{world.scout_id}/first")
    assert agent_by_name(world.namespace, "scout") is not None
    assert_baseline("agents:first", counts)
