"""What an address asks of the browser of facts: the filter, told in words and changed by links.

Invariants
- The address is the state: subject, attribute, words of a subject, status, what is shown too, and the cursor.
- Every condition has words and a link that takes it away.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from audit.components import FilterPart
from audit.frame import address, pairs_of
from memory.base.errors import Invalid
from memory.base.text import NAME_CHARS
from memory.facts.schemas import HIDDEN

STATUSES = ("known", "unknown", "conflict")
NARROWING = ("subject", "attribute", "q", "status")
WORDS = {"subject": "subject is", "attribute": "attribute is", "q": "the subject's name has", "status": "status is"}
SHOWN_TOO = {"withdrawn": "retracted and turned down"}
MOST_SEQ = 10**18


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks. `pairs` are all of its pairs but the cursor, in order."""

    path: str
    pairs: tuple[tuple[str, str], ...]
    subject: str
    attribute: str
    text: str
    status: str
    include: frozenset[str]
    after: int | None
    against: str

    @property
    def is_narrowed(self) -> bool:
        return any(name in NARROWING for name, _ in self.pairs)

    @property
    def is_subject(self) -> bool:
        """One subject whole: its page, not a list."""
        return bool(self.subject) and not (self.attribute or self.text or self.status)

    def setting(self, name: str, value: str) -> str:
        """The address with `name` set to `value` alone; an empty value takes it away."""
        return address(self.path, [*(pair for pair in self.pairs if pair[0] != name), (name, value)])

    def showing(self, word: str) -> str:
        """The address that shows what is hidden for this reason too; what has no word of its own is on the facts."""
        if word not in HIDDEN:
            return self.setting("include", ",".join(sorted(self.include)))
        return self.setting("include", ",".join(sorted({*self.include, word})))

    def cleared(self) -> str:
        """The address without any condition, at the same point."""
        return address(self.path, [pair for pair in self.pairs if pair[0] not in (*NARROWING, "include", "against")])

    def export(self, suffix: str) -> str:
        return address(f"/facts.{suffix}", [pair for pair in self.pairs if pair[0] != "against"])

    def parts(self) -> tuple[FilterPart, ...]:
        """Each condition in words."""
        told = [
            FilterPart(f"{WORDS[name]} {value}", self.setting(name, ""))
            for name, value in self.pairs
            if name in NARROWING
        ]
        for word in sorted(self.include):
            others = ",".join(sorted(self.include - {word}))
            told.append(FilterPart(f"{SHOWN_TOO.get(word, word)} shown too", self.setting("include", others)))
        return tuple(told)


def asked(request: HttpRequest) -> Asked:
    """Read the address. Raises Invalid (a word that no list knows, a text that is too long, no cursor)."""
    given = request.GET
    for name in ("subject", "attribute", "q"):
        if len(given.get(name, "")) > NAME_CHARS:
            raise Invalid.at(name, expected=f"at most {NAME_CHARS} characters", got=len(given[name]))
    status = given.get("status", "")
    if status and status not in STATUSES:
        raise Invalid.at("status", expected=" or ".join(STATUSES), got=status)
    include = frozenset(word.strip() for word in given.get("include", "").split(",") if word.strip())
    if unknown := sorted(include - set(HIDDEN)):
        raise Invalid.at("include", expected=f"some of {', '.join(HIDDEN)}", got=unknown[0])
    return Asked(
        path=request.path, pairs=tuple(pairs_of(request, without=("after",))),
        subject=given.get("subject", "").strip(), attribute=given.get("attribute", "").strip(),
        text=given.get("q", "").strip(), status=status, include=include, after=_cursor(given.get("after", "")),
        against=given.get("against", "").strip(),
    )  # fmt: skip


def _cursor(value: str) -> int | None:
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and int(value[:19]) <= MOST_SEQ):
        raise Invalid.at("after", expected="the cursor of a page", got=value[:60])
    return int(value)
