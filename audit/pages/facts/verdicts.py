"""The verdict on a conflict: previewed, sent, refused with the draft kept, and recorded with the next case.

Invariants
- A preview writes nothing. A verdict is one entry, and the page that follows names it and the case that it settled.
- A verdict on a case that has moved is answered 412: what stands now beside the draft, and a form for that.
- Any other refusal keeps what was typed. A form carries a key: sent twice, it is written once.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render

from audit import recorded
from audit.access import Visit, is_partial, page, problem_of
from audit.pages.facts.conflicts import case_context, fresh_form, next_url
from audit.pages.facts.forms import PreviewForm, VerdictForm
from audit.pages.facts.settled import LABELS
from audit.posting import posted
from audit.templatetags.console import count
from memory.base.errors import DomainError, StaleVersion
from memory.facts.operations import adjudicating
from memory.facts.operations.adjudicating import Asked, Plan
from memory.facts.queries import conflicts as reads
from memory.facts.queries.conflicts import Case
from memory.facts.queries.queue import queue
from memory.ledger.queries import asof


@posted("/facts/conflicts/{case}")
@page("conflicts", power="review")
def verdict(request: HttpRequest, visit: Visit, case: UUID) -> HttpResponseBase:
    """Settle the case, and go on to the next."""
    form = VerdictForm(request.POST)
    if not form.is_valid():
        return _again(request, visit, case, form, status=422)
    given = form.cleaned_data
    before = queue(visit.at)
    try:
        done = adjudicating.adjudicate(visit.once(given["key"]), case=case, asked=_asked(given), base=given["version"])
    except StaleVersion as error:
        return _stale(request, visit, case, given, error)
    except DomainError as error:
        return _again(request, visit, case, form, status=error.status, error=error)
    words = f"The verdict “{LABELS[given['verdict']]}” is recorded"
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed, about=case)
    return HttpResponseRedirect(next_url(visit, before, case) or f"/facts/conflicts{visit.carry}")


@posted("/facts/conflicts/{case}")
@page("conflicts", power="review")
def preview(request: HttpRequest, visit: Visit, case: UUID) -> HttpResponseBase:
    """What the verdict would append; nothing is written."""
    form = PreviewForm(request.POST)
    words, refusal = "", ""
    if form.is_valid():
        try:
            words = _words(
                form.cleaned_data, adjudicating.preview(visit.actor, case=case, asked=_asked(form.cleaned_data))
            )
        except DomainError as error:
            places = "; ".join(f"expected {place.expected}" for place in error.errors if place.expected)
            refusal = f"It would be refused: {places or error.detail}"
    else:
        refusal = str(next(iter(error for errors in form.errors.values() for error in errors), ""))
    told = {"preview": words, "preview_refusal": refusal}
    if is_partial(request):
        return render(request, "facts/case.html#preview", told)
    found = reads.case(visit.at, id=case)
    kept = fresh_form(found, request.POST)
    return render(request, "facts/case.html", {**case_context(visit, found, form=kept), **told})


def _asked(given: dict[str, Any]) -> Asked:
    return Asked(given["verdict"], given["reason"], given["a"], given["b"], given["split_at"])


def _words(given: dict[str, Any], plan: Plan) -> str:
    """The entry that the verdict would be, in words."""
    retracted = sum(one.seq_column == "retracted_seq" for one in plan.endings)
    parts = ["the verdict"]
    for n, one, many in (
        (retracted, "retraction as wrong", "retractions as wrong"),
        (len(plan.endings) - retracted, "supersession", "supersessions"),
        (len(plan.restated), "fact stated anew beside the date", "facts stated anew beside the date"),
        (int(plan.declaration is not None), "declaration of the attribute", ""),
    ):
        if n:
            parts.append(f"{count(n)} {one if n == 1 else many}")
    n_items = plan.n_items
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    size = f"1 entry of {count(n_items)} item{'' if n_items == 1 else 's'}"
    return f"{LABELS[given['verdict']]}: this will append {size}: {listed}."


def _again(
    request: HttpRequest, visit: Visit, case: UUID, form: VerdictForm, *, status: int, error: DomainError | None = None
) -> HttpResponse:
    """The case with the refusal, and what was typed."""
    found = reads.case(asof.now(visit.at.namespace), id=case)
    context = case_context(visit, found, form=form)
    if error is not None:
        context["problem"] = problem_of(request, error)
    context["draft"] = _draft(form.data)
    return render(request, "facts/case.html", context, status=status)


def _stale(
    request: HttpRequest, visit: Visit, case: UUID, given: dict[str, Any], error: StaleVersion
) -> HttpResponse:  # fmt: skip
    """412: what stands now, with the draft in a form for that."""
    found = reads.case(asof.now(visit.at.namespace), id=case)
    form = fresh_form(found, given)
    context = case_context(visit, found, form=form)
    context |= {"stale": _moved(found, given), "draft": _draft(given)}
    return render(request, "facts/case.html", context, status=error.status)


def _draft(given: Any) -> dict[str, str]:
    return {"verdict": LABELS.get(given.get("verdict", ""), "none chosen"), "reason": given.get("reason", "")}


def _moved(found: Case, given: dict[str, Any]) -> str:
    """What became of the pair that was shown."""
    if found.a is None or found.b is None:
        return "Nothing of the case clashes any more."
    here = {line.id for side in (found.a, found.b) for line in side.facts}
    gone = [letter for letter, one in (("A", given["a"]), ("B", given["b"])) if one not in here]
    if gone:
        return f"What was side {' and '.join(gone)} is not in the case any more; A and B below are what clashes now."
    return "Facts, declarations or verdicts of the case have come since; A and B below are as they stand now."
