"""What was decided of a conflict, in words: each verdict with what became of its two sides, and what else ended it.

Invariants
- A and B of a verdict are the facts that it was given on, with their values, whatever stands beside each other now.
- What is erased says so, and still leads to its fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from audit import recorded
from audit.access import Visit
from audit.entry_words import verb_words
from audit.navigation import Link
from audit.pages.facts.values import Shown, case_url, fact_url, shown
from audit.recorded import Recorded
from audit.secrets import covered
from audit.templatetags.console import count, day
from memory.agents.labels import labels
from memory.facts.kernel.values import Value
from memory.facts.queries.conflicts import Case
from memory.facts.queries.verdicts import Ended, Verdict, entity_of

VERDICTS = (
    ("keep_a", "Keep A", "side B is retracted as wrong"),
    ("keep_b", "Keep B", "side A is retracted as wrong"),
    ("split_at", "Split at a date", "the side that begins first holds until then, the other from then on"),
    ("both_hold", "Both hold", "the attribute may have many values from now on; a change of it is an owner’s"),
    ("retract_both", "Retract both", "neither holds; the status becomes unknown"),
    ("needs_more", "Needs more", "the case stays open, marked as waiting for evidence"),
)  # fmt: skip
LABELS = {value: label for value, label, _ in VERDICTS}
FATES = {
    "keep_a": ("kept", "took back"), "keep_b": ("took back", "kept"), "both_hold": ("both hold:", "and"),
    "retract_both": ("took back", "took back"), "needs_more": ("not yet decided between", "and"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SideThen:
    """One side of a verdict: what became of it, its letter then, and what it said."""

    fate: str
    letter: str
    value: Shown
    is_denied: bool
    url: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A verdict that was given before. What was kept stands first."""

    verdict: Verdict
    label: str
    sides: tuple[SideThen, ...]
    who: str
    reason: str
    entry: Link


@dataclass(frozen=True, slots=True)
class EndedShown:
    """The act that ended the case without a verdict."""

    told: Ended
    who: str
    verb: str
    facts: tuple[SideThen, ...]
    reason: str
    entry: Link


@dataclass(frozen=True, slots=True)
class Told:
    """What an act has written; `about` leads to the case that it settled."""

    done: Recorded
    about: Link | None


def settled(visit: Visit, one: Verdict, names: Mapping[int, str]) -> Settled:
    return Settled(
        one, LABELS[one.verdict], tuple(_sides(visit, one)), _who(one.person, names), covered(one.reason or ""),
        Link(count(one.seq), f"/ledger/{one.seq}{visit.carry}"),
    )  # fmt: skip


def ended(visit: Visit, found: Case, names: Mapping[int, str]) -> EndedShown | None:
    """What ended the case where no verdict did; None where one did, or where it is open."""
    one = found.ended
    if one is None:
        return None
    who = f"agent {covered(one.agent_name)}" if one.agent_name else _who(one.person, names)
    facts = tuple(_then(visit, "", "", fact.id, (fact.stance, fact.value)) for fact in one.facts)
    entry = Link(count(one.seq), f"/ledger/{one.seq}{visit.carry}")
    return EndedShown(one, who, verb_words(one.verb), facts, covered(one.reason or ""), entry)


def _who(person: int | None, names: Mapping[int, str]) -> str:
    return names.get(person or 0, "the system" if person is None else f"person {person}")


def _sides(visit: Visit, one: Verdict) -> Iterable[SideThen]:
    if one.split_at is not None:
        first, second = f"until {day(one.split_at)}:", "from then on:"
        fates = (first, second) if one.begins == "a" else (second, first)
    else:
        fates = FATES[one.verdict]
    a = _then(visit, fates[0], "A", one.a, (one.a_stance, one.a_value))
    b = _then(visit, fates[1], "B", one.b, (one.b_stance, one.b_value))
    return (b, a) if one.verdict == "keep_b" or fates[0] == "from then on:" else (a, b)


def _then(visit: Visit, fate: str, letter: str, fact: UUID, said: tuple[str, Value | None]) -> SideThen:
    stance, value = said
    return SideThen(fate, letter, shown(value), stance == "denies", fact_url(visit, fact))


def told(request: HttpRequest, visit: Visit) -> tuple[Told, ...]:
    """What was kept for this page, with the cases that it is about; their names are read now, since they may go."""
    found = recorded.told(request, carry=visit.carry)
    return tuple(Told(one, _about(visit, UUID(one.about)) if one.about else None) for one in found)


def _about(visit: Visit, case: UUID) -> Link | None:
    entity = entity_of(visit.at.namespace, case)
    if entity is None:
        return None
    names = labels(visit.at.namespace, names=entity).names
    return Link(covered(" · ".join(names.get(name, "erased") for name in entity)), case_url(visit, case))
