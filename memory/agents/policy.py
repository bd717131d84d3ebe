"""The review policy of a namespace: which writes of its agents wait for a person, and for how long.

Invariants
- The first row that matches decides; where none does, what is written counts at once (`auto`).
- A row is a pure value: what it matches are words of the write itself, never the state of the store.
- Text and rows say the same: `parsed(as_text(policy))` is the policy.

Text, one row a line: conditions, an arrow, what happens. A row without conditions matches everything.

    agent=docs-bot type=procedure -> hold 14 d
    kind=fact attribute=safe_to_deploy -> auto after 2 independent origins
    -> auto

Source: laws of the store, "Review policy".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memory.base.errors import Invalid

KINDS = ("record", "fact")
CLASSES = ("first_hand", "relayed", "derived")
KEYS = ("kind", "agent", "type", "attribute", "class")
HOLD_DAYS = 30
MOST_DAYS = 3_650
MOST_ROWS = 100
POLICY_CHARS = 20_000
ORIGINS = 2
VALUE_CHARS = 400

_CONDITION = re.compile(r'\s*([a-z_]+)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?=\s|$)')
_DAYS = r"(?P<days>\d{1,4}) ?d(?:ays?)?"
_ACTION = re.compile(
    rf"(?P<auto>auto)|(?P<hold>hold)(?: {_DAYS})?|(?P<origins>auto after 2 independent origins)"
    rf"(?: within {_DAYS.replace('days', 'within')})?"
)
ROW_FORM = "conditions -> auto, hold N d, or auto after 2 independent origins"


@dataclass(frozen=True, slots=True)
class Write:
    """What an agent writes, as a policy sees it; "" is a word that the write does not have."""

    kind: str
    agent: str = ""
    type: str = ""
    attribute: str = ""
    source_class: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. Empty conditions match everything. `days` until a held write lapses; `origins` that confirm it, or 0."""

    holds: bool
    days: int = 0
    origins: int = 0
    kind: str = ""
    agent: str = ""
    type: str = ""
    attribute: str = ""
    source_class: str = ""

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """The words that a write must have, as (key, word)."""
        words = (self.kind, self.agent, self.type, self.attribute, self.source_class)
        return tuple((key, word) for key, word in zip(KEYS, words, strict=True) if word)

    @property
    def life(self) -> timedelta:
        """How long what it holds can be confirmed."""
        return timedelta(days=self.days)

    @property
    def action(self) -> str:
        """What happens, in the words of the text form."""
        if not self.holds:
            return "auto"
        if self.origins:
            return f"auto after {self.origins} independent origins within {self.days} d"
        return f"hold {self.days} d"

    @property
    def text(self) -> str:
        """The row as one line."""
        return " ".join([*(f"{key}={_quoted(word)}" for key, word in self.conditions), "->", self.action])

    def matches(self, write: Write) -> bool:
        """True if every condition is a word of the write."""
        words = {
            "kind": write.kind, "agent": write.agent, "type": write.type, "attribute": write.attribute,
            "class": write.source_class,
        }  # fmt: skip
        return all(words[key] == word for key, word in self.conditions)


@dataclass(frozen=True, slots=True)
class Policy:
    """The rows in their order, and the entry that set them; 0 where none did."""

    rules: tuple[Rule, ...] = ()
    seq: int = 0

    def held_by(self, write: Write) -> int | None:
        """The index of the row that holds the write; None where it counts at once."""
        for index, rule in enumerate(self.rules):
            if rule.matches(write):
                return index if rule.holds else None
        return None

    @property
    def text(self) -> str:
        """The text form."""
        return "\n".join(rule.text for rule in self.rules)

    @property
    def may_hold(self) -> bool:
        """True if any row holds anything."""
        return any(rule.holds for rule in self.rules)


# What stands in place of a policy whose text was erased: nothing may spread by the loss of a rule.
HOLDS_ALL = (Rule(holds=True, days=HOLD_DAYS),)


def parsed(text: str, *, seq: int = 0) -> Policy:
    """The policy of a text.   Raises Invalid, which names the row from 1."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MOST_ROWS:
        raise Invalid.at("value", expected=f"at most {MOST_ROWS} rows", got=len(lines))
    return Policy(tuple(_rule(line, row) for row, line in lines), seq)


def from_rows(rows: Sequence[Any]) -> Policy:
    """The policy of a JSON list: objects of conditions and `then`, or lines of text.   Raises Invalid (names the row).

    `then` is what stands after the arrow: "auto", "hold 14 d", "auto after 2 independent origins".
    """
    if len(rows) > MOST_ROWS:
        raise Invalid.at("value", expected=f"at most {MOST_ROWS} rows", got=len(rows))
    return Policy(tuple(_rule(_line(row, number), number) for number, row in enumerate(rows, 1)))


def _line(row: Any, number: int) -> str:
    if isinstance(row, str):
        return row
    if not isinstance(row, Mapping):
        raise _refused(number, "an object of conditions and `then`, or a line of text", type(row).__name__)
    if unknown := sorted(set(row) - {*KEYS, "then"}):
        raise _refused(number, f"keys {', '.join(KEYS)} and then", unknown[0])
    for key, word in row.items():
        if not isinstance(word, str):
            raise _refused(number, f"{key} as text", word)
    conditions = [f"{key}={json.dumps(row[key], ensure_ascii=False)}" for key in KEYS if key in row]
    return " ".join([*conditions, "->", row.get("then", "")])


def _rule(line: str, row: int) -> Rule:
    rest, words = line, dict[str, str]()
    while (found := _CONDITION.match(rest)) is not None:
        key, word = found[1], _unquoted(found[2])
        if key not in KEYS:
            raise _refused(row, f"a condition on {', '.join(KEYS)}", key)
        if key in words:
            raise _refused(row, f"{key} once", line)
        words[key], rest = _word(row, key, word), rest[found.end() :]
    head, arrow, tail = rest.partition("->")
    action = _ACTION.fullmatch(" ".join(tail.split()))
    if head.strip() or not arrow or action is None:
        raise _refused(row, ROW_FORM, line)
    if (words.get("type") and words.get("kind") == "fact") or (
        words.get("attribute") and words.get("kind") == "record"
    ):
        raise _refused(row, "type for records, attribute for facts", line)
    given = action["days"] or action["within"]
    days = int(given) if given else HOLD_DAYS
    if not 1 <= days <= MOST_DAYS:
        raise _refused(row, f"1 to {MOST_DAYS} days", days)
    holds = action["auto"] is None
    return Rule(
        holds=holds, days=days if holds else 0, origins=ORIGINS if action["origins"] else 0, kind=words.get("kind", ""),
        agent=words.get("agent", ""), type=words.get("type", ""), attribute=words.get("attribute", ""),
        source_class=words.get("class", ""),
    )  # fmt: skip


def _word(row: int, key: str, word: str) -> str:
    known = {"kind": KINDS, "class": CLASSES}.get(key)
    if known is not None and word not in known:
        raise _refused(row, f"{key} {' or '.join(known)}", word)
    if not word or len(word) > VALUE_CHARS or "\n" in word:
        raise _refused(row, f"{key} of 1 to {VALUE_CHARS} characters on one line", word)
    return word


def _quoted(word: str) -> str:
    return word if re.fullmatch(r'[^\s"\\]+', word) else json.dumps(word, ensure_ascii=False)


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word))
    except ValueError:
        return ""


def _refused(row: int, expected: str, got: object) -> Invalid:
    return Invalid.at("value", row, expected=f"row {row}: {expected}", got=got)
