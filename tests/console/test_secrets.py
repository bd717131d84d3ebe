"""What looks like a secret is covered, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.secrets import COVER, covered, has_secret, pieces

# Each is made of its published prefix and of filling; none opens anything.
SECRETS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc=\n-----END RSA PRIVATE KEY-----",
    "AWS access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "GitHub token": "ghp_" + "a1" * 18,
    "GitLab token": "glpat-" + "a1" * 10,
    "Slack token": "xoxb-" + "1" * 12,
    "Stripe key": "sk_live_" + "a1" * 8,
    "Google API key": "AIza" + "b2" * 17 + "c",
    "model API key": "sk-ant-" + "a1" * 12,
    "agent token": "plm_" + "a1" * 21 + "b",
    "signed token": "eyJ" + "a" * 12 + ".eyJ" + "b" * 12 + "." + "c" * 8,
    "password in an address": "mara:hunter22",
    "bearer token": "abc" * 8,
    "password": "hunter2hunter2",
}
AROUND = {
    "password in an address": ("https://", "@db.example/x"),
    "bearer token": ("Authorization: Bearer ", " and more"),
    "password": ('password = "', '", and more'),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_each_kind_is_covered_and_named_and_what_stands_around_it_is_not(kind: str) -> None:
    before, after = AROUND.get(kind, ("the key ", " of the desk"))
    found = pieces(before + SECRETS[kind] + after)
    assert [(piece.text, piece.kind) for piece in found] == [(before, ""), (SECRETS[kind], kind), (after, "")]
    assert covered(before + SECRETS[kind] + after) == before + COVER + after


@pytest.mark.parametrize(
    "text",
    [
        "password: none", "the password is asked for twice", "skating-is-fun", "a token of thanks", "AKIAshort",
        "https://example.org/a:b", "ghp_ is a prefix", "eyJ is how it begins", "secretary=present yes",
    ],
)  # fmt: skip
def test_plain_words_are_left_as_they_are(text: str) -> None:
    assert covered(text) == text
    assert not has_secret(text)


@given(st.lists(st.one_of(st.text(max_size=30), st.sampled_from(sorted(SECRETS.values()))), max_size=6))
def test_the_pieces_joined_give_the_text_back(parts: list[str]) -> None:
    text = " ".join(parts)
    assert "".join(piece.text for piece in pieces(text)) == text


@pytest.mark.parametrize(
    "text", ["-----BEGIN " * 20_000, "eyJ" + "a" * 200_000, "password = " * 20_000, "://a" * 50_000, "A" * 200_000]
)
def test_no_text_takes_long(text: str) -> None:
    # A pattern that goes back over the text would not end within the time that a test is given.
    assert "".join(piece.text for piece in pieces(text)) == text
