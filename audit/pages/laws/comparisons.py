"""The page of a comparison that a worker makes: how far it is, then the answer as its own page shows it."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, is_partial, page, person_names, problem_of
from audit.laws.bisimilarity import tasks
from audit.navigation import Link, breadcrumbs
from audit.pages.laws import compare, stores
from audit.pages.ledger.checks import polling, progress
from memory.base import jobs
from memory.base.jobs import Job


@require_safe
@page("laws", applies=False)
def comparison(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """A comparison that was asked for."""
    found = jobs.job(job, namespace=visit.at.namespace, kind=tasks.KIND)
    if found.state == "done" and not is_partial(request):
        return _answered(request, visit, found)
    context = {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link("Comparison", "")),
        "title": "Comparison, class by class",
        "job": found,
        "asked_by": person_names({found.person}).get(found.person, "") if found.person is not None else "the host",
        "progress": progress(found, "Comparing", unit="records"),
        "is_silent": found.is_silent(visit.frame.read_at),
        "result_url": request.path + visit.carry if found.state == "done" else "",
        "problem": problem_of(request, jobs.refusal(found)) if found.state == "failed" else None,
        **polling(request, found),
    }
    return render(request, "laws/task.html#run" if is_partial(request) else "laws/task.html", context)


def _answered(request: HttpRequest, visit: Visit, job: Job) -> HttpResponse:
    given: dict[str, Any] = dict(job.given)
    outcome: dict[str, Any] = dict(job.outcome)
    if given["what"] == "records":
        shown = {**compare.frame_of(visit), **compare.answer(visit, given, outcome), "given": given, "asked": given}
        return render(request, "laws/compare.html", shown)
    asked = {"against": given["against"] or "", "import": given["run"] or ""}
    shown = {**stores.frame_of(visit), **stores.answer(visit, given, outcome), "given": given, "asked": asked}
    return render(request, "laws/stores.html", shown)
