"""People as accounts of the site, and the one-time links by which they sign in.

Invariants
- An account is found by its address, whatever the case; it has no password until the person sets one.
- A link names its account and carries a keyed digest of the account's state. Signing in changes that state, so a link
  opens once; of two that are redeemed at one moment, one wins. It works for PASSWORD_RESET_TIMEOUT seconds.
- Nothing of a link is stored.

Source: django.contrib.auth.tokens.
"""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from memory.base import clock
from memory.base.errors import Invalid

ADDRESS_CHARS = 150


class SignInTokens(PasswordResetTokenGenerator):
    """Tokens of sign-in links. Unlike Django's own, two sign-ins within one second still count as two."""

    key_salt = "memory.agents.accounts.SignInTokens"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        seen = "" if user.last_login is None else user.last_login.isoformat()
        return f"{user.pk}/{user.password}/{seen}/{timestamp}"


_tokens = SignInTokens()


def create_person(email: str, *, id: int | None = None) -> User:
    """The account of that address, made if there is none, then with that id.   Raises Invalid (not an address)."""
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        address = ""
    if not 0 < len(address) <= ADDRESS_CHARS:
        raise Invalid.at("email", expected=f"an e-mail address of at most {ADDRESS_CHARS} characters", got=email)
    new = {"email": address, "password": make_password(None), **({} if id is None else {"pk": id})}
    person, _ = User.objects.get_or_create(username=address, defaults=new)
    return person


def sign_in_path(user: User) -> str:
    """The path of a fresh one-time link."""
    return f"/sign-in/{urlsafe_base64_encode(str(user.pk).encode())}/{_tokens.make_token(user)}"


def person_of_link(uid: str, token: str) -> User | None:
    """Whom the link would sign in; None if it is unknown, used, too old, or of an account that is closed."""
    try:
        pk = int(urlsafe_base64_decode(uid).decode("ascii"))
        person = User.objects.filter(pk=pk, is_active=True).first()
    except (ValueError, OverflowError):
        return None
    return person if person is not None and _tokens.check_token(person, token) else None


def redeem_link(uid: str, token: str) -> User | None:
    """Use the link up and answer whom to sign in; None as in `person_of_link`, or if it was used a moment before."""
    person = person_of_link(uid, token)
    if person is None:
        return None
    seen, person.last_login = person.last_login, clock.now()
    won = User.objects.filter(pk=person.pk, last_login=seen).update(last_login=person.last_login)
    return person if won else None
