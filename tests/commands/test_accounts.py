"""Accounts and one-time links."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from memory.agents.accounts import create_person, person_of_link, redeem_link, sign_in_path
from memory.base import clock
from memory.base.errors import Invalid

pytestmark = pytest.mark.django_db


def link_of(user: User) -> tuple[str, str]:
    empty, page, uid, token = sign_in_path(user).split("/")
    assert (empty, page) == ("", "sign-in")
    return uid, token


def test_an_address_names_one_account_whatever_its_case() -> None:
    first = create_person("Ada@Example.org")
    assert create_person(" ada@example.ORG ").pk == first.pk
    assert (first.username, first.email) == ("ada@example.org", "ada@example.org")


def test_an_account_has_no_password_that_opens_it() -> None:
    assert not create_person("ada@example.org").has_usable_password()


@pytest.mark.parametrize("address", ["", "ada", "ada@", "@example.org", "a b@example.org", "a" * 150 + "@example.org"])
def test_what_is_no_address_makes_no_account(address: str) -> None:
    with pytest.raises(Invalid):
        create_person(address)
    assert not User.objects.exists()


def test_a_link_signs_in_the_person_it_was_made_for() -> None:
    ada, bob = create_person("ada@example.org"), create_person("bob@example.org")
    assert person_of_link(*link_of(ada)) == ada
    assert redeem_link(*link_of(bob)) == bob


def test_looking_at_a_link_does_not_use_it_up() -> None:
    link = link_of(create_person("ada@example.org"))
    assert person_of_link(*link) == person_of_link(*link) is not None


def test_a_link_opens_once() -> None:
    link = link_of(create_person("ada@example.org"))
    assert redeem_link(*link) is not None
    assert redeem_link(*link) is None
    assert person_of_link(*link) is None


def test_a_link_made_and_used_within_the_second_of_another_sign_in_opens_once() -> None:
    ada = create_person("ada@example.org")
    start = datetime(2026, 11, 2, 14, 3, 7, tzinfo=UTC)
    with clock.fixed(start):
        assert redeem_link(*link_of(ada))
    ada.refresh_from_db()
    link = link_of(ada)
    with clock.fixed(start + timedelta(microseconds=400)):
        assert redeem_link(*link) is not None
    assert redeem_link(*link) is None


def test_signing_in_ends_every_other_link_of_the_person() -> None:
    ada = create_person("ada@example.org")
    first, second = link_of(ada), link_of(ada)
    redeem_link(*second)
    assert person_of_link(*first) is None


def test_of_two_who_use_a_link_at_one_moment_one_gets_in() -> None:
    link = link_of(create_person("ada@example.org"))
    others: list[User | None] = []

    def overtaken(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE") and not others:
            others.append(None)
            others[0] = redeem_link(*link)
        return execute(sql, *rest)

    with connection.execute_wrapper(overtaken):
        assert redeem_link(*link) is None
    assert others[0] is not None


def test_a_link_ends_after_a_day() -> None:
    ada = create_person("ada@example.org")
    with time_machine.travel(datetime.now(UTC) - timedelta(days=1, minutes=1)):
        old = link_of(ada)
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=23)):
        young = link_of(ada)
    assert person_of_link(*old) is None
    assert person_of_link(*young) == ada


def test_a_link_of_a_closed_account_opens_nothing() -> None:
    ada = create_person("ada@example.org")
    link = link_of(ada)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert person_of_link(*link) is None


def test_a_link_opens_no_account_but_its_own() -> None:
    ada, bob = create_person("ada@example.org"), create_person("bob@example.org")
    assert person_of_link(link_of(bob)[0], link_of(ada)[1]) is None


@given(uid=st.text(max_size=30), token=st.text(max_size=60))
def test_nothing_that_was_not_made_here_is_a_link(uid: str, token: str) -> None:
    assert person_of_link(uid, token) is None


def test_a_number_too_large_for_the_database_is_no_account() -> None:
    from django.utils.http import urlsafe_base64_encode

    assert person_of_link(urlsafe_base64_encode(b"9" * 40), "x-y") is None
