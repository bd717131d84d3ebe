"""The list of runs, and the same list as CSV and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, is_partial, page
from audit.components import FilterPart
from audit.exports import csv_answer, json_answer
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.runs.words import Reference, model_of, references
from audit.templatetags.console import count
from memory.agents.queries import RunRow, run_rows
from memory.agents.run_story import RunTold, told_runs
from memory.base.errors import Invalid

CAP = 10_000
CHUNK = 500
QUESTION_CHARS = 400
COLUMNS = (
    "id", "kind", "title", "refs", "agent", "person", "on_behalf_of", "model", "started_at", "last_at", "ended_at",
    "n_entries", "n_refused", "seq", "last_seq",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run of the list with what it says beside its row."""

    row: RunRow
    told: RunTold
    title: str
    refs: tuple[Reference, ...]
    model: str
    url: str


@require_safe
@page("runs")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    question = _question(request)
    after = request.GET.get("after", "")
    found = run_rows(visit.at, q=question, after=after)
    kept = pairs_of(request, without=("after",))
    cleared = address("/runs", pairs_of(request, without=("after", "q")))
    rows = _listed(visit, found.items)
    context = {
        "question": question,
        "rows": rows,
        "count_text": count(found.total),
        "total_text": f"{count(found.total)} run{'' if found.total == 1 else 's'}",
        "parts": (FilterPart(f"id, title or reference has {question}", cleared),) if question else (),
        "empty": _empty(visit, question, cleared) if not rows else None,
        "newest_url": address("/runs", kept) if after else "",
        "older_url": address("/runs", [*kept, ("after", found.next)]) if found.next else "",
        "csv_url": address("/runs.csv", kept),
        "json_url": address("/runs.json", kept),
        "export_note": f"the whole filter, at most {count(CAP)} rows, as of seq {count(visit.at.seq)}",
    }
    return render(request, "runs/index.html#rows" if is_partial(request) else "runs/index.html", context)


def _question(request: HttpRequest) -> str:
    question = request.GET.get("q", "").strip()
    if len(question) > QUESTION_CHARS:
        raise Invalid.at("q", expected=f"at most {QUESTION_CHARS} characters", got=len(question))
    return question


def _listed(visit: Visit, rows: Sequence[RunRow]) -> list[ListedRun]:
    told = told_runs(visit.at, [row.id for row in rows]) if rows else {}
    return [
        ListedRun(
            row, told[row.id], row.title, references(row.refs), model_of(row.runtime), f"/runs/{row.id}{visit.carry}"
        )
        for row in rows
    ]


def _empty(visit: Visit, question: str, cleared: str) -> Mapping[str, Any]:
    """Which of the three empty states stands where the rows would."""
    if question:
        return {"kind": "no_match", "words": f"the id, the title or a reference has {question}", "clear_url": cleared}
    if visit.at.is_now:
        how = "The first one comes when an agent says in which task it writes: by the header Palimpsest-Run, or by run."
        connect = Link("Connect an agent", f"/agents{visit.carry}#connect")
        return {"kind": "nothing_yet", "title": "No runs yet", "how": how, "action": connect}
    return {"kind": "not_then", "source_url": "", "first": None, "last": None}


@require_safe
@page("runs")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    rows = _exported(visit, question=_question(request), most=CAP)
    return csv_answer(visit, "runs", columns=COLUMNS, rows=rows)


@require_safe
@page("runs")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    return json_answer(visit, rows=_exported(visit, question=_question(request), most=CAP + 1), most=CAP)


def _exported(visit: Visit, *, question: str, most: int) -> Iterator[Mapping[str, Any]]:
    after = ""
    while most > 0:
        found = run_rows(visit.at, q=question, after=after, limit=min(CHUNK, most))
        yield from (_fields(listed) for listed in _listed(visit, found.items))
        most -= len(found.items)
        after = found.next
        if not after:
            return


def _fields(listed: ListedRun) -> Mapping[str, Any]:
    row, told = listed.row, listed.told
    return {
        "id": row.id, "kind": row.kind, "title": row.title, "refs": dict(row.refs), "agent": told.agent_name,
        "person": told.person_name, "on_behalf_of": told.on_behalf_of, "model": listed.model,
        "started_at": row.started_at, "last_at": row.last_at, "ended_at": row.ended_at, "n_entries": row.n_entries,
        "n_refused": told.n_refused, "seq": row.seq, "last_seq": row.last_seq,
    }  # fmt: skip
