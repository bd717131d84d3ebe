"""Bringing a store in: a dry run, and the import itself."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from audit.access import Visit, is_partial, page, person_names, problem_of
from audit.navigation import Link, breadcrumbs
from audit.pages.imports.forms import UploadForm
from audit.pages.imports.listing import job_url, listed
from audit.pages.ledger.checks import polling, progress
from audit.posting import posted
from audit.templatetags.console import count
from memory.base import jobs
from memory.base.errors import DomainError
from memory.interchange.tasks import KIND, ask_import, asked_of, proceed


@posted("/imports")
@page("imports", power="own")
def upload(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Take a store in and say what importing it would do."""
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return listed(request, visit, form=form)
    try:
        job = ask_import(visit.actor, pieces=form.cleaned_data["file"].chunks(), asked=form.asked()).job
    except DomainError as error:
        return listed(request, visit, form=form, problem=problem_of(request, error))
    return HttpResponseRedirect(job_url(visit, job))


@require_safe
@page("imports")
def task(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """An upload as it stands: how far it is, what it would do, or what it did."""
    found = jobs.job(job, namespace=visit.at.namespace, kind=KIND)
    asked = asked_of(found)
    label = "Looking at the store" if asked.dry_run else "Importing"
    context = {
        "trail": (*breadcrumbs("imports", carry=visit.carry), Link(asked.name or "upload", "")),
        "job": found,
        "asked": asked,
        "asked_by": person_names({found.person}).get(found.person, "") if found.person is not None else "the host",
        "progress": progress(found, label, unit="rows"),
        "is_silent": found.is_silent(visit.frame.read_at),
        "problem": problem_of(request, jobs.refusal(found)) if found.state == "failed" else None,
        **polling(request, found),
        "may_own": visit.actor.may("own") and visit.frame.can_write,
        **(_report(found.outcome, format=asked.format) if found.state == "done" else {}),
    }
    return render(request, "imports/task.html#task" if is_partial(request) else "imports/task.html", context)


def _report(report: Mapping[str, Any], *, format: str) -> dict[str, Any]:
    """What the import says, target by target and code by code."""
    is_beliefs = format == "posterior"
    page = "beliefs" if is_beliefs else "records"
    sources = {target: source for source, target in report["targets"].items()}
    rows = [
        {
            **one, "source": sources.get(one["namespace"], ""),
            "url": f"/imports/{one['run']}?ns={one['namespace']}" if one["run"] else "",
            "records_url": f"/{page}?ns={one['namespace']}" if one["run"] else "",
        }
        for one in report["applied"]
    ]  # fmt: skip
    names = ("n_records", "n_edges", "n_labels", "n_revocations", "n_quarantined", "n_findings", "n_skipped")
    total = {name: sum(one.get(name, 0) for one in report["applied"]) for name in names}
    new = ("n_records", "n_edges", "n_labels", "n_revocations", "n_findings")
    return {
        "report": report,
        "is_beliefs": is_beliefs,
        "rows": rows,
        "total": total,
        "is_nothing_new": not any(total[name] for name in new),
        "resembles": [f"{count(shared)} rows coincide with {other}" for other, shared in report["resembles"].items()],
    }


@require_POST
@page("imports", power="own")
def import_now(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """Import in earnest what the dry run has shown."""
    found = jobs.job(job, namespace=visit.at.namespace, kind=KIND)
    proceed(visit.actor, found)
    return HttpResponseRedirect(job_url(visit, found))


@require_POST
@page("imports", power="own")
def discard(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """Forget an upload with its file. Nothing in the ledger changes."""
    jobs.drop(jobs.job(job, namespace=visit.at.namespace, kind=KIND))
    return HttpResponseRedirect(f"/imports{visit.carry}")
