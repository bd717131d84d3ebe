"""Checkpoints: their list, the text of one, signing one now, and two beside each other."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from audit import recorded
from audit.access import Visit, page, problem_of
from audit.components import Pager, Problem
from audit.frame import address
from audit.navigation import Link, breadcrumbs
from audit.pages.ledger.entry import KEPT_CHARS, answer, as_saved
from audit.pages.ledger.filtering import existing, seq_of
from audit.pages.ledger.listing import outside
from audit.posting import posted
from audit.templatetags.console import count
from memory.base.errors import DomainError
from memory.checks.standing import standing
from memory.ledger.operations import checkpoints as signing
from memory.ledger.queries import signed
from memory.worker import target

PAGE = 50


@require_safe
@page("ledger")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    return _shown(request, visit)


@posted("/ledger/checkpoints")
@page("ledger", power="read")
def compare(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The log beside the checkpoint that the reader pastes. Nothing is written."""
    return _shown(request, visit, kept=request.POST.get("kept", "")[:KEPT_CHARS])


@require_POST
@page("ledger", power="own")
def sign(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Sign the log as it stands, and deliver the checkpoint where a folder is named for it."""
    stood = signed.checkpoints(visit.at, limit=1).items
    made = signing.checkpoint(visit.actor.namespace)
    words = "The log is signed, and the checkpoint stands"
    if (folder := _folder()) is not None:
        signing.deliver(visit.actor.namespace, folder)
        words = "The log is signed, the checkpoint was delivered, and it stands"
    recorded.tell(request, words, seq=made.seq, replayed=bool(stood) and stood[0].seq == made.seq)
    return HttpResponseRedirect(f"/ledger{visit.carry}")


def _folder() -> Path | None:
    try:
        return target()
    except ImproperlyConfigured:
        return None


@require_safe
@page("ledger")
def text(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    """The signed note, as it is kept elsewhere."""
    row = signed.checkpoint(visit.at, seq=existing(seq, last=visit.at.seq))
    headers = {"Content-Disposition": f'attachment; filename="{visit.namespace}-{seq:012d}.txt"'}
    return HttpResponse(row.text, content_type="text/plain; charset=utf-8", headers=headers)


def _shown(request: HttpRequest, visit: Visit, *, kept: str = "") -> HttpResponse:
    listed = signed.checkpoints(visit.at, before=seq_of("before", request.GET.get("before", "")), limit=PAGE)
    stands = standing(visit.at)
    problem: Problem | None = None
    answers = []
    try:
        if kept:
            answers.append(answer("Yours beside this log", signed.beside(visit.at, kept=as_saved(kept))))
        between = _between(request, visit)
    except DomainError as error:
        problem, between = problem_of(request, error), {}
    context = {
        "trail": (*breadcrumbs("ledger", carry=visit.carry), Link("Checkpoints", "")),
        "listed": listed,
        "pager": _pager(visit, listed),
        "stands": stands,
        "outside": outside(visit, stands),
        "answers": answers,
        "problem": problem,
        "kept": kept,
        "first": request.GET.get("first", ""),
        "second": request.GET.get("second", ""),
        "carried": visit.frame.carried,
        **between,
    }
    return render(request, "ledger/checkpoints.html", context, status=problem.status if problem else 200)


def _between(request: HttpRequest, visit: Visit) -> dict[str, Any]:
    """The proof between two sizes, where both are asked for.   Raises Invalid."""
    first, second = (seq_of(name, request.GET.get(name, "")) for name in ("first", "second"))
    if first is None or second is None:
        return {}
    proof, step = signed.between(visit.at, first=first, second=second)
    title = f"The log of {count(second)} entries begins with that of {count(first)}"
    return {"proof": proof, "path": [one.hex() for one in proof.path], "between": answer(title, (step,))}


def _pager(visit: Visit, listed: signed.CheckpointPage) -> Pager:
    older = address("/ledger/checkpoints", [*visit.frame.carried, ("before", str(listed.next or ""))])
    text = f"{count(len(listed.items))} of {count(listed.total)}, newest first"
    return Pager("", older if listed.next is not None else "", text)
