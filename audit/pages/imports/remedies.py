"""What can be done about an import that stands: its source reconciled, and the import undone. Both are previewed."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.components import Pager
from audit.frame import address, pairs_of
from audit.navigation import Link, breadcrumbs
from audit.pages.imports.runs import called
from audit.templatetags.console import count
from memory.base.errors import DomainError, Invalid
from memory.base.text import NOTE_CHARS
from memory.interchange.contextfs.kernel.agreement import Disagreement
from memory.interchange.operations import apply_ties, undo_import
from memory.interchange.queries import RunDetail
from memory.interchange.reconciling import Offer, Reconciled, reconciled
from memory.interchange.reports import told_codes
from memory.interchange.undoing import undo_of
from memory.records.queries.detail import RecordRow, rows_by_id

ROWS = 50
MOST_CHOSEN = 500
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A record that disagrees after the rule, with what became of it."""

    row: Disagreement
    record: RecordRow | None
    url: str
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    meanings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferLine:
    """A quarantined tie that can become a link."""

    offer: Offer
    source: str
    target: str
    source_url: str
    target_url: str
    finding_url: str
    entry_url: str


@require_http_methods(["GET", "HEAD", "POST"])
@page("imports", power="own")
def reconciliation(request: HttpRequest, visit: Visit, run: UUID) -> HttpResponse:
    """Edges beside claims, before and after the rule; what is quarantined can be linked, by choice."""
    if request.method != "POST":
        return _reconciliation(request, visit, run)
    chosen = request.POST.getlist("finding")
    try:
        done = apply_ties(
            visit.once(request.POST.get("key", "")[:64]), run=run, findings=[_finding(one) for one in chosen]
        )
    except DomainError as error:
        return _reconciliation(request, visit, run, error=error)
    words = f"{count(len(set(chosen)))} tie{'' if len(set(chosen)) == 1 else 's'} linked"
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/imports/{run}/reconciliation{visit.carry}")


def _finding(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid.at("finding", expected="the id of a finding", got=text) from error


def _reconciliation(request: HttpRequest, visit: Visit, run: UUID, *, error: DomainError | None = None) -> HttpResponse:
    found = reconciled(visit.at, run=run)
    after = _offset(request)
    shown = found.rows[after : after + ROWS]
    problem = problem_of(request, error) if error is not None else None
    context = {
        "trail": _trail(visit, found.run, "Reconciliation"),
        "title": called(found.run),
        "run": found.run,
        "found": found.found,
        "n_erased": found.n_erased,
        "lines": [_line(visit, found, one.row, one.record) for one in shown],
        "reasons": told_codes(found.found.by_code),
        "pager": _pager(request, after, len(shown), len(found.rows)),
        "offers": [_offer(visit, found, one) for one in found.offers[:MOST_CHOSEN]],
        "n_open": sum(one.applied_by is None for one in found.offers[:MOST_CHOSEN]),
        "key": uuid4().hex,
        "may_own": visit.actor.may("own") and visit.frame.can_write,
        "problem": problem,
        "told": recorded.told(request, carry=visit.carry),
    }
    return render(request, "imports/reconciliation.html", context, status=problem.status if problem else 200)


def _line(visit: Visit, found: Reconciled, row: Disagreement, record: UUID | None) -> ComparedLine:
    meanings = tuple(str(one["meaning"]) for one in told_codes(dict.fromkeys(row.codes, 1)))
    return ComparedLine(
        row, found.records.get(record) if record is not None else None,
        f"/records/{record}{visit.carry}" if record is not None else "",
        tuple(tie for tie in row.own if tie not in row.edges), tuple(tie for tie in row.edges if tie not in row.own),
        meanings,
    )  # fmt: skip


def _offer(visit: Visit, found: Reconciled, offer: Offer) -> OfferLine:
    def text(record: UUID) -> str:
        row = found.records.get(record)
        return row.first_line if row is not None else ""

    return OfferLine(
        offer, text(offer.source), text(offer.target), f"/records/{offer.source}{visit.carry}",
        f"/records/{offer.target}{visit.carry}", f"/imports/findings/{offer.finding}{visit.carry}",
        f"/ledger/{offer.applied_by}{visit.carry}" if offer.applied_by is not None else "",
    )  # fmt: skip


def _offset(request: HttpRequest) -> int:
    value = request.GET.get("after", "")
    if value and not (value.isascii() and value.isdecimal() and len(value) <= 6):
        raise Invalid.at("after", expected="a whole number", got=value)
    return int(value) if value else 0


def _pager(request: HttpRequest, after: int, n_shown: int, total: int) -> Pager:
    kept = pairs_of(request, without=("after",))

    def page_at(start: int) -> str:
        return address(request.path, [*kept, *([("after", str(start))] if start else [])])

    before = page_at(max(0, after - ROWS)) if after else ""
    behind = page_at(after + ROWS) if after + n_shown < total else ""
    return Pager(before, behind, f"{count(after + 1)} to {count(after + n_shown)} of {count(total)}" if n_shown else "")


def _trail(visit: Visit, run: RunDetail, here: str) -> tuple[Link, ...]:
    above = Link(called(run), f"/imports/{run.row.id}{visit.carry}")
    return (*breadcrumbs("imports", carry=visit.carry), above, Link(here, ""))


class UndoForm(forms.Form):
    """Why an import is undone; the reason stands at every record that it hides."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    reason = forms.CharField(
        label="Reason", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 3}),
        help_text="It stands at each of the records, for whoever wonders where it went.",
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("imports", applies=False, power="own")
def undo(request: HttpRequest, visit: Visit, run: UUID) -> HttpResponse:
    """What undoing would withdraw, and the undoing."""
    require(visit, "own")
    form = UndoForm(request.POST or None, initial={"key": uuid4().hex})
    if request.method != "POST" or not form.is_valid():
        return _undo(request, visit, run, form=form)
    given = form.cleaned_data
    try:
        done = undo_import(visit.once(given["key"]), run=run, reason=given["reason"])
    except DomainError as error:
        return _undo(request, visit, run, form=form, error=error)
    recorded.tell(request, "The import was undone: its records are withdrawn", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/imports/{run}{visit.carry}")


def _undo(
    request: HttpRequest, visit: Visit, run: UUID, *, form: UndoForm, error: DomainError | None = None
) -> HttpResponse:
    found = undo_of(visit.at, run=run)
    first = list(found.records[:SHOWN])
    rows = rows_by_id(visit.at, [*first, *found.resting])
    problem = problem_of(request, error) if error is not None else None
    context = {
        "trail": _trail(visit, found.run, "Undo"),
        "title": called(found.run),
        "undo": found,
        "n_records": len(found.records),
        "first": [(rows[one], f"/records/{one}{visit.carry}") for one in first if one in rows],
        "resting": [(rows[one], f"/records/{one}{visit.carry}") for one in found.resting if one in rows],
        "form": form,
        "problem": problem,
        "back_url": f"/imports/{run}{visit.carry}",
    }
    status = problem.status if problem else 422 if form.errors else 200
    return render(request, "imports/undo.html", context, status=status)
