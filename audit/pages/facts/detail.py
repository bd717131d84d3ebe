"""One fact: what it says as it was written, who said it, what it rests on, and what was said of it since.

Invariants
- The value is untrusted: escaped, no link made live, unseen characters marked, what looks like a secret covered.
- Who said it and who may act stand in two boxes: no fact grants an act, however sure it is.
- A retracted, superseded or held fact says so on top; an erased one shows what remains of it, never its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names
from audit.components import Definition
from audit.entry_words import object_url
from audit.frame import words
from audit.navigation import Link
from audit.pages.facts.values import CLASSES, badge, entity_row, fact_shown, fact_url, within
from audit.secrets import covered, has_secret
from audit.templatetags.console import count
from memory.base.canonical import canonical
from memory.facts.queries import detail as reads
from memory.facts.queries.detail import FactDetail, Turn
from memory.facts.queries.relying import Relying, relying_on
from memory.ledger.queries.mentions import Mention

TITLE_CHARS = 90
TURNS = {
    "asserted": "current", "superseded": "superseded", "held": "held", "confirmed": "approved",
    "turned down": "declined", "retracted as wrong": "retracted", "retracted as outdated": "retracted",
    "retracted as duplicate": "retracted",
}  # fmt: skip
KINDS = {"record": "a record", "fact": "a fact", "tombstone": "a dead end", "import_run": "an import"}


@dataclass(frozen=True, slots=True)
class TurnShown:
    """One thing that was done to the fact, as a row of its life."""

    turn: Turn
    key: str
    who: str
    reason: str
    other: Link | None
    entry: Link
    proof_url: str


@require_safe
@page("facts")
def shown(request: HttpRequest, visit: Visit, fact: UUID) -> HttpResponse:
    found = reads.fact(visit.at, id=fact, reader=visit.actor, tells_hidden=False)
    people = {found.line.person, *(one.person for one in found.life)}
    names = person_names({person for person in people if person is not None})
    relied = relying_on(visit.at, [(found.line.seq, found.item)])[found.line.seq, found.item]
    context = {
        "found": found,
        "fact": fact_shown(visit, found.line),
        "title": _title(found),
        "fact_id": str(fact),
        "badge": badge(found.line.state),
        "strip": _strip(visit, found, names),
        "value": _value(request, visit, found),
        "definitions": _definitions(visit, found),
        "rests_on": [_resting(visit, one) for one in found.rests_on],
        "relied_on": [_relying(visit, one) for one in relied],
        "replaces": [Link(str(one)[:8], fact_url(visit, one)) for one in found.replaces],
        "life": [_turn(visit, one, names) for one in found.life],
        "row": entity_row(visit, found.status, hidden_url=lambda why: ""),
        "told": recorded.told(request, carry=visit.carry),
        "verbs": verbs(visit, found),
        "erase_url": within(visit, "/erasures/new", item=f"{found.line.seq}.{found.item}"),
        "trail": (
            Link("Facts", f"/facts{visit.carry}"), Link(found.subject, within(visit, "/facts", subject=found.subject)),
            Link(str(fact)[:8], ""),
        ),
    }  # fmt: skip
    return render(request, "facts/detail.html", context)


def verbs(visit: Visit, found: FactDetail) -> frozenset[str]:
    """The acts that this role may do to this fact in this state."""
    may, state = visit.actor.may, found.line.state
    allowed = {
        "supersede": may("write", "review") and state in ("standing", "candidate"),
        "retract": may("write", "review") and state in ("standing", "candidate", "superseded", "held"),
        "erase": may("own") and state != "erased",
    }
    return frozenset(verb for verb, is_allowed in allowed.items() if is_allowed)


def _title(found: FactDetail) -> str:
    value = fact_text(found)
    said = f"{found.subject} · {found.attribute}: {'not ' if found.line.stance == 'denies' else ''}{value}"
    return said if len(said) <= TITLE_CHARS else said[: TITLE_CHARS - 1] + "…"


def fact_text(found: FactDetail) -> str:
    """The value in one line, with what looks like a secret covered."""
    value = found.line.value
    if value is None:
        return "erased"
    return covered(value) if isinstance(value, str) else canonical(value).decode()


def _value(request: HttpRequest, visit: Visit, found: FactDetail) -> dict[str, Any]:
    """The value as it was written; covered unless the address asks for it and the role may see it."""
    value = found.line.value
    text = value if isinstance(value, str) else "" if value is None else canonical(value).decode()
    may_show = visit.role != "auditor"
    path = f"/facts/{found.line.id}"
    return {
        "text": text, "is_gone": value is None, "has_secret": has_secret(text), "may_show": may_show,
        "is_uncovered": may_show and request.GET.get("text") == "uncovered",
        "uncovered_url": within(visit, path, text="uncovered"), "covered_url": within(visit, path),
    }  # fmt: skip


def _strip(visit: Visit, found: FactDetail, names: dict[int, str]) -> dict[str, Any]:
    """Who said it, in the order of the strip of records: what is known, and the names of what was not given."""
    line, carry = found.line, visit.carry
    person = names.get(line.person or 0, f"person {line.person}") if line.person is not None else ""
    agent = f"agent {line.agent_name}" if line.agent is not None else ""
    told = CLASSES[line.source_class] + (", authenticated" if line.authenticated else "")
    rows = (
        Definition("recorded at", words(line.recorded_at)),
        Definition("said by", agent or person or None, url=f"/agents{carry}" if agent else ""),
        Definition("run", (found.run_title or "without title") if found.run else None,
                   url=f"/runs/{found.run}{carry}" if found.run else ""),
        Definition("source", told, title="authenticated: the server itself saw who said it"),
        Definition("origin", covered(line.origin) or None),
        Definition("pointer", covered(found.pointer) or None),
        Definition("confidence", _confidence(found), title="how sure the writer says to be; it decides nothing"),
        Definition("as the source says", words(found.source_recorded_at) if found.source_recorded_at else None),
        Definition("ledger seq", count(line.seq), url=f"/ledger/{line.seq}{carry}", is_code=True),
    )  # fmt: skip
    return {
        "known": tuple(row for row in rows if row.value), "not_given": tuple(row.term for row in rows if not row.value)
    }  # fmt: skip


def _confidence(found: FactDetail) -> str | None:
    line = found.line
    if line.confidence is None:
        return None
    return f"{line.confidence:g} on the scale “{line.scale}”" if line.scale else f"{line.confidence:g}, no scale named"


def _definitions(visit: Visit, found: FactDetail) -> tuple[Definition, ...]:
    line, spec = found.line, found.status.spec
    many = "many at a time" if spec.cardinality == "many" else "one at a time"
    declared = many if spec.seq is None else f"{many}, declared by seq {count(spec.seq)}"
    rows = (
        Definition("Subject", found.subject, url=within(visit, "/facts", subject=found.subject)),
        Definition("Attribute", found.attribute,
                   url=within(visit, "/facts", subject=found.subject, attribute=found.attribute)),
        Definition("Stance", "denies it" if line.stance == "denies" else "asserts it"),
        Definition("Values", declared, url=f"/ledger/{spec.seq}{visit.carry}" if spec.seq is not None else ""),
        Definition("Note", covered(found.note) or None),
    )  # fmt: skip
    return tuple(row for row in rows if row.value is not None)


def _resting(visit: Visit, one: Mention) -> tuple[str, Link, bool]:
    return _linked(visit, one.kind, one.object, one.seq), Link(str(one.object)[:8], _url(visit, one)), one.is_erased


def _relying(visit: Visit, one: Relying) -> tuple[str, Link]:
    return _linked(visit, one.kind, one.object, one.seq), Link(str(one.object)[:8], _url(visit, one))


def _linked(visit: Visit, kind: str, about: UUID, seq: int) -> str:
    return KINDS.get(kind, kind.replace("_", " "))


def _url(visit: Visit, one: Mention | Relying) -> str:
    return object_url(one.kind, one.object, carry=visit.carry) or f"/ledger/{one.seq}{visit.carry}"


def _turn(visit: Visit, one: Turn, names: dict[int, str]) -> TurnShown:
    who = names.get(one.person or 0, "") or one.agent_name or "the system"
    return TurnShown(
        one, TURNS[one.what], who, covered(one.reason or ""),
        Link(str(one.other)[:8], fact_url(visit, one.other)) if one.other is not None else None,
        Link(count(one.seq), f"/ledger/{one.seq}{visit.carry}"), f"/ledger/{one.seq}/proof.json{visit.carry}",
    )  # fmt: skip
