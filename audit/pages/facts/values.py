"""What the pages of facts draw: values, sides and statuses in words, made from the answers of the queries.

Invariants
- A value is untrusted: the template escapes it; what looks like a secret is covered here.
- A text that reads like a number or a truth value is told apart from one: "2" and 2 are two values.
- Messages and origins are counted apart: ten messages of one origin are one origin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.access import Visit
from audit.components import Hidden
from audit.frame import address
from audit.navigation import Link
from audit.secrets import covered
from audit.templatetags.console import count, duration
from memory.base.canonical import canonical
from memory.facts.kernel.values import Value
from memory.facts.queries.status import EntityStatus, FactLine

WHY = {
    "no_evidence": "nothing says anything of this instant", "expired": "what was said has ended before it",
    "source_erased": "the value that covered it is erased",
}  # fmt: skip
STATES = {
    "standing": ("current", "standing"), "superseded": ("superseded", ""), "retracted": ("retracted", ""),
    "rejected": ("declined", "turned down"), "candidate": ("proposed", "candidate"), "held": ("held", ""),
    "erased": ("erased", ""),
}  # fmt: skip
CLASSES = {"first_hand": "first-hand", "relayed": "relayed", "derived": "derived"}
INCLUDABLE = ("superseded", "withdrawn", "held", "erased")


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as it stands on a page. `kind` is "" for text; `is_gone` where it is erased."""

    text: str
    kind: str = ""
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Badge:
    """A state of the console, with the word that the page has for it."""

    key: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class FactShown:
    """One fact on a page: its value, how it stands, and where it leads."""

    line: FactLine
    value: Shown
    badge: Badge
    is_denied: bool
    url: str
    until: datetime | None
    ended: str


@dataclass(frozen=True, slots=True)
class SideShown:
    """One side of a status: its value, its newest fact, and what supports it in words."""

    value: Shown
    is_denied: bool
    lead: FactShown
    support: str
    origins: tuple[str, ...]
    freshness: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One value of a row with the fact that stands for it; `side` is None for a fact that counts for nothing."""

    fact: FactShown
    side: SideShown | None


@dataclass(frozen=True, slots=True)
class Entity:
    """A subject and an attribute as a row. `more` are facts that the address asks to see beside those that count."""

    status: EntityStatus
    why: str
    sides: tuple[SideShown, ...]
    more: tuple[FactShown, ...]
    hidden: tuple[Hidden, ...]
    url: str
    subject_url: str
    timeline_url: str
    case_url: str
    last_known: Link | None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The lines of the row, one for each value."""
        return (*(Piece(side.lead, side) for side in self.sides), *(Piece(fact, None) for fact in self.more))


def shown(value: Value | None) -> Shown:
    """The value in words; None is an erased one."""
    if value is None:
        return Shown("erased", is_gone=True)
    if isinstance(value, bool):
        return Shown("true" if value else "false", "truth value")
    if isinstance(value, int | float):
        return Shown(canonical(value).decode(), "number")
    return Shown(covered(value))


def plain(value: Value) -> str:
    """The value in one word, for lists of values."""
    return shown(value).text


def badge(state: str) -> Badge:
    """How the state of a fact is printed."""
    return Badge(*STATES[state])


def fact_shown(visit: Visit, line: FactLine) -> FactShown:
    """One fact with its link."""
    until, ended = line.valid_to, ""
    if line.superseded_at is not None and (until is None or line.superseded_at < until):
        until, ended = line.superseded_at, "superseded"
    if line.retracted_as is not None:
        ended = f"retracted as {line.retracted_as}"
    return FactShown(
        line, shown(line.value), badge(line.state), line.stance == "denies", fact_url(visit, line.id), until, ended
    )  # fmt: skip


def fact_url(visit: Visit, fact: UUID) -> str:
    return f"/facts/{fact}{visit.carry}"


def case_url(visit: Visit, case: UUID) -> str:
    return f"/facts/conflicts/{case}{visit.carry}"


def within(visit: Visit, path: str, **names: str) -> str:
    """An address at the same point, with these names."""
    return address(path, [*visit.frame.carried, *names.items()])


def entity_row(
    visit: Visit, one: EntityStatus, *, hidden_url: Any, include: Collection[str] = ()
) -> Entity:  # fmt: skip
    """The status as a row; `hidden_url` makes the address that shows what is hidden for one reason too.

    include : the reasons that are no longer left out.
    """
    lines = {line.id: line for line in one.facts}
    counted = {fact for value in one.values for fact in value.facts}
    names = {"subject": one.subject, "attribute": one.attribute}
    return Entity(
        status=one,
        why=WHY.get(one.why or "", ""),
        sides=tuple(_side(visit, one, value, [lines[fact] for fact in value.facts]) for value in one.values),
        more=tuple(fact_shown(visit, line) for line in one.facts if line.id not in counted),
        hidden=hidden_of([one], hidden_url, include=include),
        url=within(visit, "/facts", **names),
        subject_url=within(visit, "/facts", subject=one.subject),
        timeline_url=within(visit, "/timeline", **names),
        case_url=case_url(visit, one.case) if one.case is not None else "",
        last_known=Link("what was known last", fact_url(visit, one.last_known)) if one.last_known else None,
    )


def _side(visit: Visit, one: EntityStatus, value: Any, lines: list[FactLine]) -> SideShown:
    lead = lines[-1]
    return SideShown(
        shown(value.value), value.stance == "denies", fact_shown(visit, lead),
        support(len(lines), len(value.origins)), tuple(covered(origin) for origin in value.origins),
        freshness(visit, one, lead),
    )  # fmt: skip


def support(n_messages: int, n_origins: int) -> str:
    """What independent support a value has."""
    messages = f"{count(n_messages)} message{'' if n_messages == 1 else 's'}"
    return f"{messages}, {count(n_origins)} origin{'' if n_origins == 1 else 's'}"


def freshness(visit: Visit, one: EntityStatus, lead: FactLine) -> str:
    """How old the newest support is beside what is declared for its attribute; "" where nothing is declared."""
    if one.spec.freshness_seconds is None:
        return ""
    allowed = duration(one.spec.freshness_seconds)
    age = duration(visit.at.valid_at - max(lead.recorded_at, lead.valid_from))
    return f"{age} old, fresh for {allowed}"


def hidden_of(
    found: Iterable[EntityStatus], url: Any, *, include: Collection[str] = (), n_held: int = 0
) -> tuple[Hidden, ...]:
    """What is left out of these, by why; candidates count for nothing until somebody asserts them.

    n_held : held facts of subjects and attributes that are left out whole.
    """
    total: dict[str, int] = {"held": n_held}
    for one in found:
        for why, n in (one.hidden or {}).items():
            total[why] = total.get(why, 0) + n
    return tuple(Hidden(why, count(n), url(why)) for why, n in _ordered(total) if why not in include)


def _ordered(total: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(why, total[why]) for why in (*INCLUDABLE, "candidate") if total.get(why)]
