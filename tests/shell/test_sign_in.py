"""How a person comes in and leaves: what a browser is answered."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from memory.agents import operations as agents
from memory.agents.accounts import create_person, sign_in_path
from memory.agents.setup import ensure_namespace
from memory.base import clock
from memory.base.actor import Actor

pytestmark = pytest.mark.django_db

PASSWORD = "a long and quiet sentence"
START = datetime(2026, 11, 12, 14, 3, 7, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _empty_counters() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def mara() -> User:
    person = create_person("mara@example.org")
    person.set_password(PASSWORD)
    person.save()
    agents.admit_member(Actor(ensure_namespace("main"), "system"), person=person.pk, role="owner")
    return person


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def try_password(client: Client, password: str, *, email: str = "mara@example.org", address: str = "192.0.2.1") -> int:
    return client.post("/sign-in", {"email": email, "password": password}, REMOTE_ADDR=address).status_code


def test_a_password_signs_in_and_leads_where_the_person_was_going(client: Client, mara: User) -> None:
    response = client.post("/sign-in", {"email": "Mara@Example.org", "password": PASSWORD, "next": "/records?ns=main"})
    assert (response.status_code, response.headers["Location"]) == (302, "/records?ns=main")
    assert signed_in(client)


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"]
)
def test_no_address_of_another_site_is_followed_after_signing_in(client: Client, mara: User, target: str) -> None:
    answer = client.post("/sign-in", {"email": "mara@example.org", "password": PASSWORD, "next": target})
    assert answer.headers["Location"] == "/"


def test_a_wrong_password_and_a_wrong_address_are_answered_alike(client: Client, mara: User) -> None:
    answers = [
        client.post("/sign-in", {"email": email, "password": "not this one"})
        for email in ("mara@example.org", "nobody@example.org")
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    for answer in answers:
        assert "The address or the password is wrong." in answer.text
        assert "not this one" not in answer.text
    assert not signed_in(client)


def test_after_ten_failures_even_the_right_password_waits_fifteen_minutes(client: Client, mara: User) -> None:
    with clock.fixed(START):
        assert [try_password(client, f"guess {n}") for n in range(10)] == [422] * 10
    with clock.fixed(START + timedelta(minutes=5)):
        refused = client.post("/sign-in", {"email": "mara@example.org", "password": PASSWORD}, REMOTE_ADDR="192.0.2.1")
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "600"
    assert "rate_limited" in refused.text
    assert not signed_in(client)
    with clock.fixed(START + timedelta(minutes=15)):
        assert try_password(client, PASSWORD) == 302


def test_an_account_is_closed_to_every_address_and_an_address_to_every_account(client: Client, mara: User) -> None:
    for n in range(10):
        try_password(client, "guess", address=f"192.0.2.{n}")
    assert try_password(client, PASSWORD, address="198.51.100.7") == 429
    for n in range(10):
        try_password(client, "guess", email=f"person{n}@example.org", address="203.0.113.9")
    assert try_password(client, "guess", email="another@example.org", address="203.0.113.9") == 429
    assert try_password(client, "guess", email="another@example.org", address="203.0.113.10") == 422


def test_signing_in_forgets_the_failures_before_it(client: Client, mara: User) -> None:
    for _ in range(2):
        for _ in range(9):
            assert try_password(client, "guess") == 422
        assert try_password(client, PASSWORD) == 302


def test_opening_a_link_signs_nobody_in_and_uses_nothing_up(client: Client, mara: User) -> None:
    link = sign_in_path(mara)
    for _ in range(3):
        page = client.get(link)
        assert page.status_code == 200
        assert '<form class="stack panel" method="post"' in page.text
    assert not signed_in(client)
    assert client.post(link).status_code == 302
    assert signed_in(client)


def test_a_link_signs_in_once(client: Client, mara: User) -> None:
    link = sign_in_path(mara)
    client.post(link)
    other = Client()
    assert other.get(link).status_code == other.post(link).status_code == 422
    assert not signed_in(other)


def test_guessing_links_closes_the_door_to_the_address(client: Client, mara: User) -> None:
    uid = sign_in_path(mara).split("/")[2]
    for n in range(10):
        assert client.post(f"/sign-in/{uid}/abc123-{n:032x}").status_code == 422
    answer = client.post(sign_in_path(mara))
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


def test_who_comes_by_a_link_without_a_password_is_asked_to_set_one(client: Client) -> None:
    person = create_person("new@example.org")
    answer = client.post(sign_in_path(person))
    assert answer.headers["Location"] == "/sign-in/password"
    assert client.post("/sign-in/password", {"new": PASSWORD, "again": PASSWORD}).status_code == 302
    assert signed_in(client)
    assert try_password(Client(), PASSWORD, email="new@example.org") == 302


def test_a_link_lets_a_forgotten_password_be_replaced(client: Client, mara: User) -> None:
    client.post(sign_in_path(mara))
    client.post("/sign-in/password", {"new": "another long sentence", "again": "another long sentence"})
    assert try_password(Client(), "another long sentence") == 302


def test_changing_a_password_asks_for_the_one_in_use_and_ends_other_sessions(client: Client, mara: User) -> None:
    other = Client()
    try_password(client, PASSWORD)
    try_password(other, PASSWORD)
    new = {"new": "another long sentence", "again": "another long sentence"}
    assert client.post("/sign-in/password", {**new, "old": "a guess"}).status_code == 422
    assert client.post("/sign-in/password", {**new, "old": PASSWORD}).status_code == 302
    assert client.get("/sign-in/password").status_code == 200
    assert other.get("/sign-in/password").status_code == 302


@pytest.mark.parametrize(
    ("new", "again"), [("short", "short"), ("password123", "password123"), (PASSWORD, PASSWORD + "!")]
)
def test_a_weak_or_mistyped_password_is_refused(client: Client, new: str, again: str) -> None:
    person = create_person("new@example.org")
    client.post(sign_in_path(person))
    assert client.post("/sign-in/password", {"new": new, "again": again}).status_code == 422
    person.refresh_from_db()
    assert not person.has_usable_password()


def test_the_page_of_the_password_is_for_the_signed_in(client: Client) -> None:
    for answer in (client.get("/sign-in/password"), client.post("/sign-in/password", {"new": PASSWORD})):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/sign-in?next=")


def test_signing_out_takes_a_post_and_ends_the_session(client: Client, mara: User) -> None:
    try_password(client, PASSWORD)
    assert client.get("/sign-out").status_code == 405
    assert signed_in(client)
    assert client.post("/sign-out").headers["Location"] == "/sign-in"
    assert not signed_in(client)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-in/MQ/abc-def", "/sign-in/password", "/sign-out"])
def test_a_form_of_this_page_without_its_token_is_refused(mara: User, path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(mara)
    assert client.post(path, {"email": "mara@example.org", "password": PASSWORD}).status_code == 403


def test_nothing_of_these_pages_is_kept_by_a_cache(client: Client, mara: User) -> None:
    for path in ("/sign-in", sign_in_path(mara)):
        assert "no-store" in client.get(path).headers["Cache-Control"]
