"""The page of imports and exports: what came in and what left the house, with the forms for both ways."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names
from audit.components import Pager, Problem
from audit.frame import address
from audit.navigation import Link
from audit.pages.imports.forms import ExportForm, RestoreForm, UploadForm
from audit.pages.ledger.checks import progress
from audit.pages.ledger.filtering import seq_of
from memory.agents.labels import labels
from memory.base import jobs
from memory.base.jobs import Job
from memory.interchange import queries
from memory.interchange.exports import ExportRow, exports
from memory.interchange.tasks import KIND, asked_of

PAGE = 50
NAMES = {"jsonl": "archive", "prov": "PROV-JSON", "openlineage": "OpenLineage", "public": "public records"}


@require_safe
@page("imports")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    return listed(request, visit)


def listed(
    request: HttpRequest, visit: Visit, *, form: UploadForm | None = None, problem: Problem | None = None, **given: Any
) -> HttpResponse:
    """The page, with the form that was sent and why it was refused. `given` are those of exports and archives."""
    before = seq_of("before", request.GET.get("before", ""))
    found = queries.import_runs(visit.at, before=before, limit=PAGE + 1)
    more = f"{found[PAGE - 1].seq}" if len(found) > PAGE else ""
    older = address("/imports", [*visit.frame.carried, ("before", more)]) if more else ""
    may_own = visit.actor.may("own") and visit.frame.can_write
    context = {
        "runs": found[:PAGE],
        "pager": Pager("", older),
        "tasks": [_task(visit, job) for job in jobs.jobs(namespace=visit.at.namespace, kind=KIND)] if may_own else [],
        "below": _below(visit),
        "may_own": may_own,
        "form": (form or UploadForm(initial={"base": visit.namespace})) if may_own else None,
        "problem": problem,
        "exports": lines(visit),
        "told": recorded.told(request, carry=visit.carry),
        **_fresh_forms(visit),
        **given,
    }
    refused = next((one for one in (problem, *given.values()) if isinstance(one, Problem)), None)
    status = refused.status if refused else 422 if form is not None or given else 200
    return render(request, "imports/index.html", context, status=status)


def _task(visit: Visit, job: Job) -> dict[str, Any]:
    asked = asked_of(job)
    return {"job": job, "asked": asked, "url": job_url(visit, job), "state": progress(job, "", unit="").state}


def _below(visit: Visit) -> tuple[Link, ...]:
    """The namespaces of this person that imports into this one have founded."""
    prefix = f"{visit.namespace}."
    below = [one.name for one in visit.frame.namespaces if one.name.startswith(prefix)]
    return tuple(Link(name, f"/imports?ns={name}") for name in below)


def job_url(visit: Visit, job: Job) -> str:
    return f"/imports/tasks/{job.id}{visit.carry}"


@dataclass(frozen=True, slots=True)
class ExportLine:
    """One export as a row of the list: who took it, what, and what was asked for in words."""

    row: ExportRow
    who: str
    name: str
    asked: str
    entry_url: str


def lines(visit: Visit) -> list[ExportLine]:
    """The newest exports in words."""
    rows = exports(visit.at, limit=PAGE)
    people = person_names({row.person for row in rows if row.person is not None})
    agents = labels(visit.at.namespace, agents={row.agent for row in rows}).agents if rows else {}
    return [
        ExportLine(
            row, _who(row, people, agents),
            NAMES[row.format], _asked(row), f"/ledger/{row.seq}{visit.carry}",
        )
        for row in rows
    ]  # fmt: skip


def _who(row: ExportRow, people: Mapping[int, str], agents: Mapping[UUID, str]) -> str:
    """Empty where the account is gone or the name erased."""
    if row.person is not None:
        return people.get(row.person, "")
    return agents.get(row.agent, "") if row.agent is not None else "the host"


def _asked(row: ExportRow) -> str:
    if row.filter is None:
        return "erased"
    return ", ".join(f"{name} {_word(value)}" for name, value in row.filter.items()) or "everything"


def _word(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)[:36]


def _fresh_forms(visit: Visit) -> dict[str, Any]:
    """The two forms as the page first shows them."""
    may_own = visit.actor.may("own") and visit.frame.can_write
    return {
        "export_form": ExportForm(),
        "restore_form": RestoreForm(initial={"key": uuid4().hex}, prefix="restore") if may_own else None,
    }
