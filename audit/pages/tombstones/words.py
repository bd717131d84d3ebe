"""Dead ends in words: scopes, what they rest on, who said what; and scopes out of what people type.

A scope is typed one condition a line, as `series: 5.6`; values of which any will do are divided by a bar. A single line
without a colon is a scope that is a text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from audit.access import person_names
from audit.entry_words import object_url
from audit.navigation import Link
from audit.secrets import covered
from audit.templatetags.console import untrusted
from memory.ledger.queries.mentions import Mention
from memory.tombstones.kernel.scope import Scope
from memory.tombstones.queries import TombstoneRow
from memory.tombstones.saying import Said

SHORT = 8
STATE_KEYS = {"revival_testing": "retest_only"}
STATE_WORDS = {
    "active": "active", "revival_testing": "re-test only", "audit_only": "audit only", "retired": "retired",
}  # fmt: skip
REASONS = {
    "blocked": ("blocked", "blocked"),
    "out_of_scope": ("permitted", "clear: out of scope"),
    "retest_only": ("retest_only", "clear, for the re-test only"),
    "retired": ("retired", "clear: retired"),
    "audit_only": ("audit_only", "clear: it only watches"),
    "none": ("permitted", "clear: nothing is buried there"),
}
"""The mark and the words of what a check is told."""


@dataclass(frozen=True, slots=True)
class Where:
    """One condition of a scope. `key` is empty where the scope is a text."""

    key: str
    words: str


@dataclass(frozen=True, slots=True)
class Rests:
    """A thing that is referred to, with its page."""

    link: Link
    is_erased: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A dead end as its card and its page show it."""

    row: TombstoneRow
    title: str
    url: str
    state: str
    scope: tuple[Where, ...]
    exempt: tuple[Where, ...]
    rests: tuple[Rests, ...]
    conditions: tuple[tuple[int, str, str, int, int], ...]
    who: str


def card(row: TombstoneRow, names: Mapping[int, str], *, carry: str) -> Card:
    """`conditions` are (number, mark, text, origins that speak for it, origins that it asks for)."""
    sign = row.sign
    conditions = tuple(
        (one.position, one.mark, sign.revival[one.position - 1] or "", one.n_live, sign.n_origins[one.position - 1])
        for one in row.standing.conditions
    )
    return Card(
        row, covered(sign.route or "A route whose name is erased"), f"/tombstones/{row.id}{carry}",
        STATE_KEYS.get(row.state, row.state), where(sign.scope), where(sign.out_of_scope or None),
        rests(row.mentions, carry=carry), conditions, who(row.said, names),
    )  # fmt: skip


def where(scope: Scope | None) -> tuple[Where, ...]:
    """The conditions of a scope, in the order in which they were given; none where it is erased."""
    if scope is None:
        return ()
    if isinstance(scope, str):
        return (Where("", covered(scope)),)
    return tuple(Where(key, covered(_words(condition))) for key, condition in scope.items())


def _words(condition: Any) -> str:
    if isinstance(condition, list | tuple):
        return " or ".join(_words(one) for one in condition)
    return str(condition).lower() if isinstance(condition, bool) else str(condition)


def in_line(scope: Scope | None) -> str:
    """A scope for one cell of a table."""
    return ", ".join(f"{one.key}: {one.words}" if one.key else one.words for one in where(scope))


def scope_of(text: str) -> Scope:
    """What was typed: conditions where every line has a key, else the text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [line.partition(":") for line in lines]
    if not lines or not all(mark and key.strip() and value.strip() for key, mark, value in pairs):
        return " ".join(lines)
    return {key.strip(): _typed(value) for key, _, value in pairs}


def _typed(value: str) -> str | list[str]:
    values = [one.strip() for one in value.split("|") if one.strip()]
    return values[0] if len(values) == 1 else values


def plain(text: str) -> str:
    """A text where no mark-up can stand, as in a choice: what is not seen is named, secrets are covered."""
    return unescape(strip_tags(untrusted(covered(text))))


def rests(mentions: Iterable[Mention], *, carry: str) -> tuple[Rests, ...]:
    """What is referred to; where it has no page of its own its entry is shown."""
    return tuple(
        Rests(
            Link(
                f"{one.kind.replace('_', ' ')} {str(one.object)[:SHORT]}",
                object_url(one.kind, one.object, carry=carry) or f"/ledger/{one.seq}{carry}",
            ),
            one.is_erased,
        )
        for one in mentions
    )  # fmt: skip


def who(said: Said, names: Mapping[int, str]) -> str:
    """Who wrote it."""
    if said.person is not None:
        return names.get(said.person, f"person {said.person}")
    return said.agent_name or ("an agent whose name is erased" if said.agent else "the system")


def names_of(said: Sequence[Said]) -> dict[int, str]:
    """The names of the people among them."""
    return person_names({one.person for one in said if one.person is not None})
