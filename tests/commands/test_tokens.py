"""The commands that let agents and people in and shut them out."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from memory.agents import operations
from memory.agents.accounts import person_of_link
from memory.agents.models import Agent, Token
from memory.agents.operations import secret_hash
from memory.agents.queries import frozen, membership_of, role_of, scopes_of, token_with
from memory.agents.setup import FIRST_AGENT, FIRST_NAMESPACE, ensure_agent, ensure_namespace, first_run, system
from memory.base import clock
from memory.base.actor import Actor
from memory.base.errors import Invalid, Stopped
from memory.ledger.models import Entry, Namespace
from memory.records.content import NewRecord
from memory.records.operations import save

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def refusal(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    return caught.value


def token_of(secret: str) -> Token:
    found = Token.objects.get(secret_hash=secret_hash(secret))
    live = token_with(found.namespace_id, bytes(found.secret_hash), clock.now())
    assert live is not None
    return live


def test_issue_token_prints_the_token_alone() -> None:
    printed = run("issue_token", "--namespace", "lab", "--agent", "scout")
    assert printed.startswith("plm_")
    assert printed.count("\n") == 1
    assert printed.strip() == printed[:-1]
    assert token_of(printed.strip()).agent == Agent.objects.get().id


def test_issue_token_makes_namespace_and_agent_only_where_absent() -> None:
    first = token_of(run("issue_token", "--namespace", "lab", "--agent", "scout").strip())
    second = token_of(run("issue_token", "--namespace", "lab", "--agent", "scout").strip())
    assert (first.namespace_id, first.agent) == (second.namespace_id, second.agent)
    assert first.id != second.id
    assert Namespace.objects.count() == Agent.objects.count() == 1


def test_issue_token_says_on_the_error_stream_alone_that_it_founded_the_namespace() -> None:
    said = []
    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        call_command("issue_token", "--namespace", "nope", "--agent", "scout", stdout=out, stderr=err)
        assert out.getvalue().count("\n") == 1
        said.append(err.getvalue())
    assert "no namespace nope; it was founded" in said[0]
    assert said[1] == ""


def test_issue_token_gives_the_scopes_and_the_life_that_were_asked_for() -> None:
    token = token_of(
        run("issue_token", "--namespace", "n", "--agent", "a", "--scopes", "read, control", "--days", "3").strip()
    )
    assert scopes_of(token.scopes) == ("read", "control")
    assert timedelta(days=2) < token.expires_at - clock.now() <= timedelta(days=3)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--namespace", "Not A Name", "--agent", "a"),
        ("--namespace", "n", "--agent", ""),
        ("--namespace", "n", "--agent", "a", "--scopes", "read,own"),
        ("--namespace", "n", "--agent", "a", "--days", "0"),
        ("--namespace", "n", "--agent", "a", "--days", "9999999999"),
    ],
)
def test_issue_token_refuses_wrong_input_with_2_and_makes_nothing(wrong: tuple[str, ...]) -> None:
    assert refusal("issue_token", *wrong).returncode == 2
    assert not Namespace.objects.exists()


def test_invite_prints_a_link_that_signs_the_person_in_with_the_role() -> None:
    ensure_namespace("lab")
    printed = run(
        "invite", "rev@example.org", "--role", "reviewer", "--namespace", "lab", "--site", "https://p.example/"
    )
    assert printed.startswith("https://p.example/sign-in/")
    person = person_of_link(*printed.strip().split("/")[-2:])
    assert person is not None
    assert person.email == "rev@example.org"
    assert role_of(ensure_namespace("lab"), person.pk) == "reviewer"


def test_inviting_again_changes_no_role_and_gives_another_link() -> None:
    lab = ensure_namespace("lab")
    arguments = ("invite", "own@example.org", "--role", "owner", "--namespace", "lab")
    run(*arguments)
    size = Entry.objects.filter(namespace=lab).count()
    person = person_of_link(*run(*arguments).strip().split("/")[-2:])
    assert person is not None
    assert Entry.objects.filter(namespace=lab).count() == size


def test_an_invited_auditor_s_role_ends_by_itself() -> None:
    lab = ensure_namespace("lab")
    link = run("invite", "aud@example.org", "--role", "auditor", "--namespace", "lab")
    person = person_of_link(*link.strip().split("/")[-2:])
    assert person is not None
    membership = membership_of(lab, person.pk)
    assert membership is not None
    assert membership.expires_at is not None
    assert role_of(lab, person.pk, clock.now()) == "auditor"
    assert role_of(lab, person.pk, membership.expires_at) is None


def test_invite_refuses_an_unknown_namespace_with_2_and_makes_no_account() -> None:
    from django.contrib.auth.models import User

    assert refusal("invite", "a@example.org", "--role", "owner", "--namespace", "none").returncode == 2
    assert not User.objects.exists()


def test_invite_refuses_to_demote_the_last_owner_with_4() -> None:
    ensure_namespace("lab")
    run("invite", "own@example.org", "--role", "owner", "--namespace", "lab")
    assert refusal("invite", "own@example.org", "--role", "reviewer", "--namespace", "lab").returncode == 4


def test_stop_freezes_the_agent_wherever_it_is() -> None:
    stores = [ensure_namespace(name) for name in ("lab", "mill")]
    agents = [ensure_agent(system(store), name="scout") for store in stores]
    other = ensure_agent(system(stores[0]), name="bystander")
    assert run("stop", "--agent", "scout") == "scout is frozen in lab, mill.\n"
    assert all(frozen(store, agent) for store, agent in zip(stores, agents, strict=True))
    assert not frozen(stores[0], other)
    by = Actor(stores[0], "agent", agent=agents[0], powers=frozenset({"write"}))
    with pytest.raises(Stopped):
        save(by, records=[NewRecord("note", "too late")])


def test_stop_with_a_namespace_leaves_the_others_alone() -> None:
    lab, mill = ensure_namespace("lab"), ensure_namespace("mill")
    agents = [ensure_agent(system(store), name="scout") for store in (lab, mill)]
    run("stop", "--agent", "scout", "--namespace", "lab")
    assert frozen(lab, agents[0])
    assert not frozen(mill, agents[1])


def test_stop_refuses_an_unknown_agent_with_2_and_a_frozen_one_with_4() -> None:
    ensure_agent(system(ensure_namespace("lab")), name="scout")
    assert refusal("stop", "--agent", "nobody").returncode == 2
    assert refusal("stop", "--agent", "scout", "--namespace", "nowhere").returncode == 2
    run("stop", "--agent", "scout")
    assert refusal("stop", "--agent", "scout").returncode == 4


def test_the_first_run_makes_one_namespace_one_owner_and_one_token() -> None:
    made = first_run(owner_email="ada@example.org")
    assert made is not None
    store = Namespace.objects.get(name=FIRST_NAMESPACE)
    assert role_of(store.pk, made.owner.pk) == "owner"
    assert token_of(made.secret).agent == ensure_agent(system(store.pk), name=FIRST_AGENT)


def test_the_second_run_makes_nothing() -> None:
    first_run(owner_email="ada@example.org")
    before = Entry.objects.count()
    assert first_run(owner_email="eve@example.org") is None
    assert Entry.objects.count() == before


def test_a_store_whose_namespace_has_no_owner_is_still_at_its_first_run() -> None:
    operations.create_agent(system(ensure_namespace(FIRST_NAMESPACE)), name=FIRST_AGENT)
    assert first_run(owner_email="ada@example.org") is not None
    assert Agent.objects.count() == 1


def test_a_first_run_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(Invalid):
        first_run(owner_email="no address")
    assert not Namespace.objects.exists()
