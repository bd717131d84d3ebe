"""Scans on demand, the page of one while it runs, and one run of any check with what it found."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from audit.access import Visit, is_partial, page, person_names, problem_of
from audit.components import Definition, Progress, VerdictStep
from audit.frame import address, pairs_of
from audit.navigation import Link, breadcrumbs
from audit.pages.ledger.entry import KEPT_CHARS, Answer, as_saved
from audit.templatetags.console import count
from memory.base import jobs
from memory.base.jobs import Job
from memory.checks.queries import CheckDetail, check_run
from memory.checks.tasks import KIND, ask_scan

STATES = {"waiting": "pending", "running": "running", "done": "finished", "failed": "failed"}
TITLES = {
    "content": "Content equals its commitment",
    "inclusion": "Items in their entries, entries in the tree and in every checkpoint",
    "consistency": "Consistent with the checkpoint that you kept",
}
NOTES = {
    "erased": "every text that stands equals its commitment; some is erased, and named by its erasure",
    "content": "every text and every row equals what its item committed to",
    "inclusion": "every leaf, node and signed root was computed again",
    "inclusion/not_checked": "no checkpoint was signed yet, so there was none to hold the tree against",
    "consistency": "the log begins with the checkpoint that was given",
    "consistency/not_checked": "no checkpoint from outside was given",
}


@require_POST
@page("ledger", power="read")
def verify(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Have everything hashed again. A long log is scanned by a worker, and this answers with the page of the task."""
    job = ask_scan(visit.actor, kept=as_saved(request.POST.get("kept", "")[:KEPT_CHARS]))
    return HttpResponseRedirect(_result_url(visit, job) or f"/ledger/scans/{job.id}{visit.carry}")


@require_safe
@page("ledger")
def scan(request: HttpRequest, visit: Visit, job: UUID) -> HttpResponse:
    """A scan that was asked for: how far it is, or what it found where the log could not take it down."""
    found = jobs.job(job, namespace=visit.at.namespace, kind=KIND)
    if (url := _result_url(visit, found)) and not is_partial(request):
        return HttpResponseRedirect(url)
    report = found.outcome.get("report")
    context = {
        "trail": (*breadcrumbs("ledger", carry=visit.carry), Link("Scan", "")),
        "job": found,
        "asked_by": person_names({found.person}).get(found.person, "") if found.person is not None else "the host",
        "progress": progress(found, "Hashing every entry again", unit="entries"),
        "is_silent": found.is_silent(visit.frame.read_at),
        "result_url": url,
        "problem": problem_of(request, jobs.refusal(found)) if found.state == "failed" else None,
        **polling(request, found),
        **(_report(visit, report) if report else {}),
    }
    return render(request, "ledger/scan.html#scan" if is_partial(request) else "ledger/scan.html", context)


def progress(job: Job, label: str, *, unit: str) -> Progress:
    """How far a job is, as the component draws it."""
    if job.state == "done":
        # The last sign of life was given before the end.
        total = job.n_done if job.n_total is None else job.n_total
        return Progress(label, total, total, unit, STATES[job.state])
    return Progress(label, job.n_done, job.n_total, unit, STATES[job.state], job.stage)


def polling(request: HttpRequest, job: Job) -> dict[str, Any]:
    """Where the page of a job asks again, and how that is paused; nowhere once it has ended."""
    kept, is_paused = pairs_of(request, without=("paused",)), request.GET.get("paused") == "yes"
    here = address(request.path, kept)
    toggle_url = here if is_paused else address(request.path, [*kept, ("paused", "yes")])
    urls = {"poll_url": here, "toggle_url": toggle_url}
    return {"is_paused": is_paused, **(dict.fromkeys(urls, "") if job.has_ended else urls)}


def _result_url(visit: Visit, job: Job) -> str:
    run = job.outcome.get("run")
    return f"/ledger/checks/{run}{visit.carry}" if run else ""


@require_safe
@page("ledger")
def check(request: HttpRequest, visit: Visit, run: UUID) -> HttpResponse:
    """One run of a check, with what it found."""
    found = check_run(visit.at, id=run)
    is_scan = isinstance(found.report, dict) and "verdicts" in found.report
    context = {
        "trail": (*breadcrumbs("ledger", carry=visit.carry), Link(f"seq {count(found.row.seq)}", "")),
        "found": found,
        "title": "Scan of the whole ledger" if found.row.name == KIND else f"Check: {found.row.name}",
        "facts": _facts(visit, found),
        "findings": () if is_scan else found.findings,
        **(_report(visit, found.report) if is_scan else {}),
    }
    return render(request, "ledger/check.html", context)


def _facts(visit: Visit, found: CheckDetail) -> tuple[Definition, ...]:
    row = found.row
    return (
        Definition("looked at", f"seq 1 to {count(row.at_seq)}"),
        Definition("checked", f"{count(row.n_checked)} items"),
        Definition("recorded as", f"seq {count(row.seq)}", f"/ledger/{row.seq}{visit.carry}"),
    )


def _report(visit: Visit, report: Mapping[str, Any]) -> dict[str, Any]:
    """The three verdicts apart, what was hashed, and the faults with both sides and their places."""
    return {
        "report": report,
        "answers": [_answer(name, report) for name in TITLES],
        "faults": [_fault(visit, fault) for fault in report["faults"]],
        "n_more": report["n_faults"] - len(report["faults"]),
    }


def _answer(name: str, report: Mapping[str, Any]) -> Answer:
    verdict = str(report["verdicts"][name])
    if verdict == "failed":
        return Answer(TITLES[name], verdict, (VerdictStep(name, verdict, "see the faults below"),))
    if verdict == "erased":
        # Of a whole log the word would say that nothing is left.
        told = VerdictStep(name, "ok", NOTES["erased"])
        return Answer(TITLES[name], "ok", (told,), f"ok, {count(report['erased'])} erased")
    note = NOTES.get(f"{name}/{verdict}", NOTES[name])
    return Answer(TITLES[name], verdict, (VerdictStep(name, verdict, note),))


def _fault(visit: Visit, fault: Mapping[str, Any]) -> VerdictStep:
    """A fault as a step that failed: its code, where it is, and a link to the entry as it stands."""
    where = [f"seq {count(fault['seq'])}"]
    where += [f"item {fault['item']}"] if fault["item"] is not None else []
    where += [f"part {fault['part']}"] if fault["part"] else []
    where += [fault["place"]] if fault["place"] else []
    pairs = [*visit.frame.carried, ("item", str(fault["item"] or ""))]
    evidence = Link("open the entry", address(f"/ledger/{fault['seq']}", pairs))
    return VerdictStep(fault["code"], "failed", ", ".join(where), fault["expected"], fault["got"], evidence)
