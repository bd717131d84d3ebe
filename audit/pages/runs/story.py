"""The page of one run: everything that one task, session or case did, in the order of the ledger."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, is_partial, page
from audit.components import Definition, Facet, FacetValue, FilterPart, Tab
from audit.entry_words import REFUSED, EntryLine, entry_line, verb_words
from audit.frame import address, pairs_of
from audit.navigation import Link, breadcrumbs
from audit.pages.runs.words import references
from audit.templatetags.console import count, duration
from memory.agents.run_story import RunStory, run_story
from memory.base.errors import Invalid

# A page of this many lines stays within its weight.
LIMIT = 120
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the run and how long after its start it came, in words."""

    line: EntryLine
    since_start: str


@require_safe
@page("runs")
def detail(request: HttpRequest, visit: Visit, run: UUID) -> HttpResponse:
    only = _only(request)
    found = run_story(visit.at, run=run, verbs=only, after=_after(request), limit=LIMIT)
    template = "runs/detail.html#steps" if is_partial(request) else "runs/detail.html"
    return render(request, template, _context(request, visit, found, only))


def _only(request: HttpRequest) -> tuple[str, ...]:
    """The verbs that the page is narrowed to; none for all."""
    if request.GET.get("only") == "refused":
        return REFUSED
    return tuple(dict.fromkeys(value[:32] for value in request.GET.getlist("verb") if value))


def _after(request: HttpRequest) -> int:
    after = request.GET.get("after", "") or "0"
    if not after.isascii() or not after.isdecimal() or len(after) > 15:
        raise Invalid.at("after", expected="the seq of an entry", got=after)
    return int(after)


def _context(request: HttpRequest, visit: Visit, found: RunStory, only: tuple[str, ...]) -> dict[str, Any]:
    row = found.row
    path = request.path
    kept = pairs_of(request, without=("after",))
    whole = address(path, pairs_of(request, without=("after", "verb", "only")))
    refused = address(path, [*pairs_of(request, without=("after", "verb", "only")), ("only", "refused")])
    is_refused_only = request.GET.get("only") == "refused"
    words = "failed or refused" if is_refused_only else " or ".join(verb_words(verb) for verb in only)
    return {
        "row": row,
        "told": found.told,
        "title": row.title or "A run without a title",
        "trail": (*breadcrumbs("runs", carry=visit.carry), Link(row.title or str(row.id)[:8], path)),
        "definitions": _definitions(found),
        "refs": references(row.refs),
        "facets": (_facet(path, found, only, kept=pairs_of(request, without=("after", "verb", "only"))),),
        "segments": (
            Tab("everything", whole, not only), Tab("failed or refused only", refused, is_refused_only),
        ),
        "parts": (FilterPart(f"what happened is {words}", whole),) if only else (),
        "total_text": f"{count(found.n_listed)} {'entry' if found.n_listed == 1 else 'entries'}",
        "whole_url": whole,
        "steps": _steps(visit, found),
        "next_url": address(path, [*kept, ("after", str(found.next))]) if found.next is not None else "",
        "start_url": address(path, kept) if request.GET.get("after") else "",
        "limit": LIMIT,
    }  # fmt: skip


def _steps(visit: Visit, found: RunStory) -> list[Step]:
    return [
        Step(entry_line(told, carry=visit.carry), _since(told.recorded_at - found.row.started_at))
        for told in found.entries
    ]


def _since(distance: timedelta) -> str:
    """Time since the start: "+4.250 s" within the first minute, then in the two largest units."""
    seconds = distance.total_seconds()
    if seconds < 60:
        return f"+{seconds:.3f} s"
    left = int(seconds)
    parts: list[str] = []
    for size, unit in UNITS:
        n, left = divmod(left, size)
        if n or parts:
            parts.append(f"{n} {unit}")
    return "+" + " ".join(parts[:2])


def _definitions(found: RunStory) -> tuple[Definition, ...]:
    row, told = found.row, found.told
    opened_by = told.person_name or told.agent_name or ("the system" if row.agent is None else None)
    runtime = [
        Definition(label, row.runtime.get(name) or None, is_code=name == "prompt_hash")
        for name, label in (("model", "Model"), ("version", "Version"), ("prompt_hash", "Prompt hash"))
    ]
    others = [
        Definition(name, value)
        for name, value in sorted(row.runtime.items())
        if name not in ("model", "version", "prompt_hash")
    ]
    return (
        Definition("Opened by", opened_by),
        Definition("On behalf of", told.on_behalf_of or None, title="who asked"),
        *runtime,
        *others,
        Definition("Took", duration(row.last_at - row.started_at), title="from the first entry to the last"),
    )


def _facet(path: str, found: RunStory, only: tuple[str, ...], *, kept: list[tuple[str, str]]) -> Facet:
    """What it did, by verb; a chosen value is taken away by its link."""
    values = []
    for verb, n in found.verbs:
        others = [one for one in only if one != verb]
        chosen = others if verb in only else [*only, verb]
        url = address(path, [*kept, *(("verb", one) for one in chosen)])
        values.append(FacetValue(verb_words(verb), count(n), url, verb in only))
    return Facet("What happened", tuple(values))
