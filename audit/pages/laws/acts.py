"""What may be done on the board: run laws now, follow the run, and say until when a broken one may stand.

Invariants
- Whoever may read may have a law run; a waiver is an owner's, with a reason and an end.
- A long run is a task with its own page; what it found stands in the ledger, on the board and on each law's page.
"""

from collections import defaultdict
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import recorded
from audit.access import Visit, is_partial, page, person_names, problem_of, require
from audit.components import Definition
from audit.laws import tasks
from audit.laws.clauses import BY_CLAUSE, BY_NAME, LAWS
from audit.laws.values import ClauseName, Verdict, worst
from audit.laws.words import VERDICTS
from audit.navigation import Link, breadcrumbs
from audit.pages.laws.detail import invariant_of
from audit.pages.laws.invariants import Invariant
from audit.pages.laws.series import state_of
from audit.pages.ledger.checks import polling, progress
from memory.base import jobs
from memory.base.errors import DomainError, NotFound
from memory.base.jobs import Job
from memory.base.text import NOTE_CHARS
from memory.checks.board import CheckStanding, board
from memory.checks.operations import LONGEST_WAIVER
from memory.checks.operations import waive as waive_check


@require_POST
@page("laws", applies=False, power="read")
def run_all(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Have every law checked, by one pass over the log."""
    return HttpResponseRedirect(_after(visit, tasks.ask_laws(visit.actor)))


@require_POST
@page("laws", applies=False, power="read")
def run(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    """Have one law checked."""
    if name not in BY_NAME:
        raise NotFound(f"There is no law {name[:60]!r} to run here; there are {', '.join(BY_NAME)}.")
    return HttpResponseRedirect(_after(visit, tasks.ask_laws(visit.actor, clauses=[BY_NAME[name].clause])))


def _after(visit: Visit, job: Job) -> str:
    """Where to go: to the law, or the board, where the run is over; to the page of the task where it is not."""
    return _result_url(visit, job) or f"/laws/runs/{job.id}{visit.carry}"


def _result_url(visit: Visit, job: Job) -> str:
    """Where what was found stands; "" while it is not known, and where the log could not take it down."""
    if job.state != "done" or not job.outcome.get("runs"):
        return ""
    clauses = job.given["clauses"]
    return f"/laws/{BY_CLAUSE[clauses[0]].name}{visit.carry}" if len(clauses) == 1 else f"/laws{visit.carry}"


def _unrecorded(job: Job) -> tuple[Definition, ...]:
    """The verdicts of a run that the log could not take down."""
    report = job.outcome.get("report") or {"clauses": []}
    found: dict[ClauseName, list[Verdict]] = defaultdict(list)
    for one in report["clauses"]:
        found[one["clause"]].append(one["verdict"])
    told = [law for law in LAWS if law.clause in job.given["clauses"] and law.clause in found]
    return tuple(Definition(law.title, VERDICTS[worst(found[law.clause])].lower()) for law in told)


@require_safe
@page("laws", applies=False)
def task(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """A run that was asked for: how far it is, or what it found where the log could not take it down."""
    found = jobs.job(job, namespace=visit.at.namespace, kind=tasks.KIND)
    url = _result_url(visit, found)
    if url and not is_partial(request):
        return HttpResponseRedirect(url)
    context = {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link("Run", "")),
        "job": found,
        "title": "Run of the laws",
        "laws": [law for law in LAWS if law.clause in found.given["clauses"]],
        "asked_by": person_names({found.person}).get(found.person, "") if found.person is not None else "the host",
        "progress": progress(found, "Reading the log", unit="entries"),
        "is_silent": found.is_silent(visit.frame.read_at),
        "result_url": url,
        "unrecorded": _unrecorded(found),
        "problem": problem_of(request, jobs.refusal(found)) if found.state == "failed" else None,
        **polling(request, found),
    }
    return render(request, "laws/task.html#run" if is_partial(request) else "laws/task.html", context)


class WaiverForm(forms.Form):
    """Why a broken invariant may stand, and until which day."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    reason = forms.CharField(
        label="Why it may stand", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept with the entry and shown on this page for ever.",
    )  # fmt: skip
    until = forms.DateField(
        label="Until", widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The last day (UTC) on which it counts as settled, at most a year from now.",
    )  # fmt: skip

    def expires_at(self) -> datetime:
        """The end of the day."""
        day: Any = self.cleaned_data["until"]
        return datetime.combine(day, time.min, UTC) + timedelta(days=1)


@require_http_methods(["GET", "HEAD", "POST"])
@page("laws", applies=False, power="own")
def waive(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    """The form of a waiver, and the waiver."""
    require(visit, "own")
    stands = board(visit.at)
    invariant = invariant_of(name, stands)
    standing = stands.get(name) or CheckStanding(name, (), ())
    form = WaiverForm(request.POST or None, initial={"key": uuid4().hex})
    if request.method != "POST" or not (form.is_valid() and _is_near(form, visit.frame.read_at)):
        return _asked(request, visit, invariant, standing, form=form)
    given = form.cleaned_data
    try:
        done = waive_check(visit.once(given["key"]), name=name, reason=given["reason"], expires_at=form.expires_at())
    except DomainError as error:
        return _asked(request, visit, invariant, standing, form=form, error=error)
    recorded.tell(request, f"{invariant.title}: waived", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/laws/{name}{visit.carry}")


def _asked(
    request: HttpRequest, visit: Visit, invariant: Invariant, standing: CheckStanding, *, form: WaiverForm,
    error: DomainError | None = None,
) -> HttpResponse:  # fmt: skip
    """The form, with why it was refused."""
    back = f"/laws/{invariant.name}{visit.carry}"
    context = {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link(invariant.name, back), Link("Waive", "")),
        "invariant": invariant,
        "state": state_of(standing.last),
        "last": standing.last,
        "is_broken": standing.last is not None and standing.last.is_broken,
        "form": form,
        "problem": problem_of(request, error) if error is not None else None,
        "back_url": back,
    }
    status = error.status if error is not None else 422 if form.is_bound else 200
    return render(request, "laws/waive.html", context, status=status)


def _is_near(form: WaiverForm, now: datetime) -> bool:
    """False, with the words for it, where the last day is over or lies too far away."""
    # By its day: the last one of the calendar has no end that can be computed.
    until = form.cleaned_data["until"]
    if until < now.astimezone(UTC).date():
        form.add_error("until", "This day is over: today (UTC) or later.")
    elif until >= (now.astimezone(UTC) + LONGEST_WAIVER).date():
        form.add_error("until", "At most a year from now; it can be waived again.")
    return form.is_valid()
