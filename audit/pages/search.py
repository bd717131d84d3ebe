"""The page of the search field: an id or a whole name jumps, all else is answered in groups, references of runs first.

What is superseded, withdrawn or erased stays behind counted links; nothing is dropped in silence.
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import include, path
from django.views.decorators.http import require_safe

from audit import search
from audit.access import Visit, page
from audit.components import Hidden
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.beliefs.words import named, relation_url
from audit.search import Piece
from audit.templatetags.console import count
from memory.agents.finding import agents_named
from memory.agents.queries import RunRow, run_rows
from memory.base.asof import AsOf
from memory.base.errors import Ambiguous, Invalid, NotFound
from memory.beliefs.queries import finding as beliefs
from memory.calibration.queries import alarms
from memory.facts.queries import finding as facts
from memory.records import fulltext
from memory.records.queries.detail import RecordRow, resolved
from memory.records.queries.lists import CAP, Filter, RecordPage, records
from memory.records.queries.passages import texts

RUNS_SHOWN = 5
RECORDS_SHOWN = 20
FACTS_SHOWN = 5
QUESTION_CHARS = 400
HIDDEN_WORDS = {"not_valid": "not true then"}


@dataclass(frozen=True, slots=True)
class RunHit:
    """A run whose reference, title or id has the question; `matched` are the references that do."""

    row: RunRow
    title: tuple[Piece, ...]
    matched: tuple[tuple[str, tuple[Piece, ...]], ...]
    url: str


@dataclass(frozen=True, slots=True)
class RecordHit:
    row: RecordRow
    passage: tuple[Piece, ...]
    url: str


@require_safe
@page("search")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    question = request.GET.get("q", "").strip()
    if len(question) > QUESTION_CHARS:
        raise Invalid.at("q", expected=f"at most {QUESTION_CHARS} characters", got=len(question))
    if not question:
        return render(request, "search/index.html", {"question": ""})
    ids = _records_with_id(visit.at, question)
    if target := _jump(visit, question, ids):
        return HttpResponseRedirect(target)
    called = [_belief(visit, one, question) for one in beliefs.named_so(visit.at, question)]
    if len(called) == 1 and not search.is_word(question):
        return HttpResponseRedirect(called[0].url)
    found = _found(request, visit, question, ids)
    n_found = found["n_found"] + len(called)
    return render(request, "search/index.html", {**found, "beliefs": called, "n_found": n_found})


def _belief(visit: Visit, one: beliefs.Found, name: str = "") -> Link:
    if one.kind == "relation type":
        return Link(f"{one.kind} {named(name)}", relation_url(name, carry=visit.carry))
    place = "observations" if one.kind == "observation" else "saved"
    return Link(f"{one.kind} {named(name)}", f"/beliefs/{place}/{one.id}{visit.carry}")


def _records_with_id(at: AsOf, question: str) -> list[str]:
    """The ids of records that begin with the question, where it can only be an id."""
    digits = search.id_digits(question)
    if not digits:
        return []
    try:
        return [str(resolved(at, prefix=digits))]
    except NotFound:
        return []
    except Ambiguous as error:
        candidates = error.extra["candidates"]
        assert isinstance(candidates, list)
        return candidates


def _jump(visit: Visit, question: str, ids: list[str]) -> str:
    """The address of the one thing that the question names; "" where it may be more than one."""
    seq = search.named_entry(question, head=visit.at.seq)
    if seq is not None:
        return f"/ledger/{seq}{visit.carry}"
    digits = search.id_digits(question)
    if not digits:
        return ""
    runs = [row for row in run_rows(visit.at, q=digits, limit=2).items if row.id.hex.startswith(digits)]
    stated = facts.with_digits(visit.at, digits, limit=2)
    believed = beliefs.with_digits(visit.at, digits, limit=2)
    rung = alarms.with_digits(visit.at, digits, limit=2)
    addresses = [
        *(f"/records/{one}" for one in ids), *(f"/runs/{row.id}" for row in runs),
        *(f"/facts/{one.id}" for one in stated), *(f"/calibration/alarms/{one}" for one in rung),
    ]  # fmt: skip
    found = [*(one + visit.carry for one in addresses), *(_belief(visit, one).url for one in believed)]
    return found[0] if len(found) == 1 else ""


def _found(request: HttpRequest, visit: Visit, question: str, ids: list[str]) -> dict[str, Any]:
    words = fulltext.words(question)
    include = frozenset(word for word in request.GET.get("include", "").split(",") if word)
    listed = records(visit.at, where=Filter(query=question, include=include), sort="rank", limit=RECORDS_SHOWN)
    runs = run_rows(visit.at, q=question, limit=RUNS_SHOWN)
    in_list = [*visit.frame.carried, ("q", question)]
    context: dict[str, Any] = {
        "question": question,
        "places": search.places(question, head=visit.at.seq, carry=visit.carry),
        "ids": [Link(one, f"/records/{one}{visit.carry}") for one in ids],
        "runs": _run_hits(visit, runs.items, question),
        "more_runs": _more(runs.total - len(runs.items), "runs", address("/runs", in_list)),
        "facts": _fact_hits(visit, question, words),
        "more_facts_url": address("/facts", in_list),
        "records": _record_hits(visit, listed, words),
        "records_text": _capped(listed),
        "more_records": _more(listed.total - len(listed.items), "records", address("/records", in_list)),
        "hidden": _hidden(request, include, listed),
        "agents": [
            Link(name, f"/agents{visit.carry}#agent-{agent}") for agent, name in agents_named(visit.at, question)
        ],
        "single_words": [Link(word, address("/search", [*visit.frame.carried, ("q", word)])) for word in words],
    }
    groups = ("places", "ids", "runs", "records", "facts", "agents")
    return {**context, "n_found": sum(len(context[group]) for group in groups)}


def _run_hits(visit: Visit, rows: tuple[RunRow, ...], question: str) -> list[RunHit]:
    """Those found by a reference first, each kind newest first."""
    words = fulltext.words(question)
    hits = [
        RunHit(
            row,
            search.marked(row.title or "A run without a title", words),
            tuple(
                (key, search.marked(value, words))
                for key, value in sorted(row.refs.items())
                if question.lower() in value.lower()
            ),
            f"/runs/{row.id}{visit.carry}",
        )
        for row in rows
    ]
    return sorted(hits, key=lambda hit: not hit.matched)


def _record_hits(visit: Visit, listed: RecordPage, words: list[str]) -> list[RecordHit]:
    shown = texts(visit.at, [row.id for row in listed.items])
    return [
        RecordHit(row, search.passage(shown.get(row.id, row.first_line), words), f"/records/{row.id}{visit.carry}")
        for row in listed.items
    ]


def _fact_hits(visit: Visit, question: str, words: list[str]) -> list[tuple[str, tuple[Piece, ...], str]]:
    """(address, the subject with the words marked, attribute) of subjects that are called so."""
    return [
        (
            address("/facts", [*visit.frame.carried, ("subject", one.subject), ("attribute", one.attribute)]),
            search.marked(one.subject, words), one.attribute,
        )
        for one in facts.of_subjects(visit.at, question, limit=FACTS_SHOWN)
    ]  # fmt: skip


def _hidden(request: HttpRequest, include: frozenset[str], listed: RecordPage) -> tuple[Hidden, ...]:
    kept = pairs_of(request, without=("include",))
    return tuple(
        Hidden(
            HIDDEN_WORDS.get(word, word),
            count(n),
            address("/search", [*kept, ("include", ",".join(sorted({*include, word})))]),
        )
        for word, n in listed.hidden.items()
    )


def _capped(listed: RecordPage) -> str:
    return f"{count(listed.total)}+" if listed.is_capped or listed.total > CAP else count(listed.total)


def _more(n: int, what: str, url: str) -> Link | None:
    return Link(f"{count(n)} more {what}", url) if n > 0 else None


patterns = [path("search", index, name="index")]
urlpatterns = [path("", include((patterns, "search")))]
