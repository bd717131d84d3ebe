"""Conflicts: the queue of what a person must settle, and one case with both sides beside each other.

Invariants
- Nothing is settled by recency; a case says of each side who said it, of how near, and how many origins it has.
- What differs between the sides is marked by a word and a bar, and what both claim is drawn once.
- The verdict form carries the version that was shown; who may not settle meets no control.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from audit.access import Visit, page, person_names
from audit.charts.intervals import Stretch, intervals_svg
from audit.entry_words import object_url
from audit.frame import address, short_age, words
from audit.navigation import Link
from audit.pages.facts.forms import VerdictForm
from audit.pages.facts.settled import VERDICTS, ended, settled, told
from audit.pages.facts.values import CLASSES, FactShown, case_url, fact_shown, shown, support, within
from audit.secrets import covered
from audit.templatetags.console import count, day
from memory.base.errors import Invalid
from memory.facts.operations.adjudicating import OWNERS_VERDICT
from memory.facts.queries import conflicts as reads
from memory.facts.queries.conflicts import Case, CaseLine, CaseSide
from memory.facts.queries.queue import MOST, Queued, queue
from memory.facts.queries.relying import Relying, relying_on

KINDS = {"overlap": "values that exclude each other", "contradiction": "one denies what the other asserts"}
MOST_SHOWN = 12
PAGE = 50


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case of the queue. `age` is since it opened."""

    line: CaseLine
    kind: str
    values: tuple[str, ...]
    age: str
    url: str


@dataclass(frozen=True, slots=True)
class Place:
    """A case beside the one that is shown."""

    queued: Queued
    age: str
    url: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class SideShown:
    """One side of the case. `others` say the same as its leading fact."""

    letter: str
    fact: FactShown
    support: str
    others: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of both sides: words for each, links where they lead somewhere, and whether they differ."""

    name: str
    a: tuple[Link, ...]
    b: tuple[Link, ...]

    @property
    def differs(self) -> bool:
        return [link.label for link in self.a] != [link.label for link in self.b]


@dataclass(frozen=True, slots=True)
class Choice:
    """One verdict of the form; `refusal` says who may where this role may not."""

    value: str
    label: str
    consequence: str
    refusal: str
    is_chosen: bool


@require_safe
@page("conflicts")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The queue, the case that waits longest first."""
    after = request.GET.get("after", "")
    if after and not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise Invalid.at("after", expected="the cursor of a page", got=after[:60])
    found = reads.cases(visit.at, after=int(after) if after else None, limit=PAGE)
    total = f"{count(found.total)}+" if found.total == reads.COUNTED else count(found.total)
    context = {
        "count_text": total,
        "rows": [_row(visit, line) for line in found.items],
        "told": told(request, visit),
        "oldest_url": address(request.path, visit.frame.carried) if after else "",
        "newer_url": address(request.path, [*visit.frame.carried, ("after", str(found.next_place))])
        if found.next_place is not None
        else "",
        "facts_url": f"/facts{visit.carry}",
        "trail": (Link("Facts", f"/facts{visit.carry}"), Link("Conflicts", "")),
    }
    return render(request, "facts/conflicts.html", context)


def _row(visit: Visit, line: CaseLine) -> CaseRow:
    values = tuple(shown(value).text for value in line.values[:MOST_SHOWN])
    age = short_age(line.opened_at, read_at=visit.frame.read_at)
    return CaseRow(line, KINDS[line.kind], values, age, case_url(visit, line.id))


@require_safe
@page("conflicts")
def case(request: HttpRequest, visit: Visit, case: UUID) -> HttpResponse:
    """One case with its verdict form."""
    found = reads.case(visit.at, id=case, a=_named(request, "a"), b=_named(request, "b"))
    context = {**case_context(visit, found), "told": told(request, visit)}
    return render(request, "facts/case.html", context)


def _named(request: HttpRequest, name: str) -> UUID | None:
    value = request.GET.get(name, "")
    try:
        return UUID(value) if value else None
    except ValueError as error:
        raise Invalid.at(name, expected="the whole id of a fact", got=value[:60]) from error


def fresh_form(found: Case, given: Mapping[str, Any] | None = None) -> VerdictForm | None:
    """The form for the case as it stands, with what was typed before; None where there is nothing to settle."""
    if found.a is None or found.b is None:
        return None
    kept = {name: (given or {}).get(name, "") for name in ("verdict", "reason", "split_at")}
    pair = {"a": found.a.fact.id, "b": found.b.fact.id, "version": found.version}
    return VerdictForm(initial={**kept, **pair, "key": uuid4().hex})


def case_context(visit: Visit, found: Case, *, form: VerdictForm | None = None) -> dict[str, Any]:
    """All that the page of a case shows. `form` is one that was sent; without it a fresh one stands."""
    places = queue(visit.at)
    sides = _sides(visit, found)
    names = person_names(_persons(found))
    may = visit.actor.may("review")
    form = form if form is not None else fresh_form(found)
    return {
        "found": found,
        "kind": KINDS[found.kind],
        "title": f"{found.subject} · {found.attribute}",
        "places": [_place(visit, one, found.id) for one in places[:MOST]],
        "progress": _progress(places, found.id),
        "sides": sides,
        "fields": _fields(visit, found, names) if sides else (),
        "picture": _picture(found),
        "verdicts": [settled(visit, one, names) for one in found.verdicts],
        "ended": ended(visit, found, names),
        "form": form if may and sides else None,
        "choices": _choices(visit, form),
        "may_settle": may,
        "split_hint": _split_hint(found),
        "action_url": f"/facts/conflicts/{found.id}/verdict{visit.carry}",
        "preview_url": f"/facts/conflicts/{found.id}/preview{visit.carry}",
        "entity_url": within(visit, "/facts", subject=found.subject, attribute=found.attribute),
        "timeline_url": within(visit, "/timeline", subject=found.subject, attribute=found.attribute),
        "next_url": next_url(visit, places, found.id),
        "trail": (Link("Facts", f"/facts{visit.carry}"), Link("Conflicts", f"/facts/conflicts{visit.carry}"),
                  Link(str(found.id)[:8], "")),
    }  # fmt: skip


def next_url(visit: Visit, places: tuple[Queued, ...], here: UUID) -> str:
    """The case that follows in the queue, the first one behind the last; "" where this is the only one."""
    ids = [one.id for one in places]
    others = [one for one in ids if one != here]
    if not others:
        return ""
    behind = ids[ids.index(here) + 1 :] if here in ids else ids
    return case_url(visit, behind[0] if behind else others[0])


def _place(visit: Visit, one: Queued, here: UUID) -> Place:
    return Place(one, short_age(one.opened_at, read_at=visit.frame.read_at), case_url(visit, one.id), one.id == here)


def _progress(places: tuple[Queued, ...], here: UUID) -> str:
    ids = [one.id for one in places]
    total = f"{count(MOST)}+" if len(ids) > MOST else count(len(ids))
    return f"{ids.index(here) + 1} of {total}" if here in ids else f"{total} open"


def _sides(visit: Visit, found: Case) -> tuple[SideShown, ...]:
    if found.a is None or found.b is None:
        return ()
    return tuple(
        SideShown(
            letter, fact_shown(visit, side.fact), support(len(side.facts), len(side.origins)),
            tuple(Link(str(line.id)[:8], f"/facts/{line.id}{visit.carry}")
                  for line in side.facts if line.id != side.fact.id),
        )
        for letter, side in (("A", found.a), ("B", found.b))
    )  # fmt: skip


def _persons(found: Case) -> set[int]:
    sides = [line.person for side in (found.a, found.b) if side is not None for line in side.facts]
    others = [one.person for one in (*found.verdicts, found.ended) if one is not None]
    return {person for person in (*sides, *others) if person is not None}


def _fields(visit: Visit, found: Case, names: Mapping[int, str]) -> tuple[Field, ...]:
    assert found.a is not None
    assert found.b is not None
    relied = relying_on(visit.at, [(side.fact.seq, side.item) for side in (found.a, found.b)])
    told = [_told(visit, side, names, relied[side.fact.seq, side.item]) for side in (found.a, found.b)]
    return tuple(Field(name, told[0][name], told[1][name]) for name in told[0])


def _told(
    visit: Visit, side: CaseSide, names: Mapping[int, str], relied: tuple[Relying, ...]
) -> dict[str, tuple[Link, ...]]:
    line = side.fact
    who = f"agent {line.agent_name}" if line.agent else names.get(line.person or 0, "the system")
    sure = "not given" if line.confidence is None else f"{line.confidence:g} {line.scale}".strip()
    holds = f"[{day(line.valid_from)} → {day(line.valid_to) or 'open'})"
    origins = [covered(names.get(line.person or 0, one) if one == f"person {line.person}" else one)
               for one in side.origins]  # fmt: skip
    return {
        "says": (Link("denies it" if line.stance == "denies" else "asserts it", ""),),
        "holds": (Link(holds, ""),),
        "said by": (Link(who, ""),),
        "source": (Link(CLASSES[line.source_class] + (", authenticated" if line.authenticated else ""), ""),),
        "origins": tuple(Link(one, "") for one in origins),
        "messages": (Link(count(len(side.facts)), ""),),
        "confidence": (Link(sure, ""),),
        "recorded at": (Link(f"{words(line.recorded_at)}, seq {count(line.seq)}", f"/ledger/{line.seq}{visit.carry}"),),
        "rests on": _links(visit, side.rests_on) or (Link("nothing was named", ""),),
        "relied on by": _links(visit, relied) or (Link("nothing", ""),),
    }  # fmt: skip


def _links(visit: Visit, found: Any) -> tuple[Link, ...]:
    return tuple(
        Link(f"{one.kind.replace('_', ' ')} {str(one.object)[:8]}",
             object_url(one.kind, one.object, carry=visit.carry) or f"/ledger/{one.seq}{visit.carry}")
        for one in found[:MOST_SHOWN]
    )  # fmt: skip


def _picture(found: Case) -> SafeString | str:
    if found.a is None or found.b is None or found.shared_from is None:
        return ""
    a, b = (Stretch(letter, side.fact.valid_from, side.fact.superseded_at or side.fact.valid_to)
            for letter, side in (("A", found.a), ("B", found.b)))  # fmt: skip
    until = day(found.shared_to) or "an open end"
    title = f"Both claim the instants from {day(found.shared_from)} to {until}"
    # The drawing escapes what it is given.
    return mark_safe(intervals_svg(a, b, start=found.shared_from, end=found.shared_to, title=title))  # noqa: S308


def _split_hint(found: Case) -> str:
    if found.shared_from is None:
        return ""
    return f"An instant that both claim: from {day(found.shared_from)} up to {day(found.shared_to) or 'an open end'}."


def _choices(visit: Visit, form: VerdictForm | None) -> tuple[Choice, ...]:
    chosen = str(form["verdict"].value() or "") if form is not None else ""
    return tuple(
        Choice(
            value, label, consequence,
            "an owner’s verdict" if value == OWNERS_VERDICT and not visit.actor.may("own") else "", value == chosen,
        )
        for value, label, consequence in VERDICTS
    )  # fmt: skip
