"""The acts of people on one record: withdraw, restore, evolve, supersede.

Invariants
- Each act is a page that says its consequence first, and a POST to the same address; a refusal is shown on that page,
  with what was typed.
- An evolve carries the digest that it was made from. If the record has moved on, the answer is 412: what stands now
  beside the draft, and a form that evolves that.
- A form carries a key: sent twice, it is answered twice and written once.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.components import Problem
from audit.navigation import Link
from audit.secrets import covered
from memory.base.actor import Power
from memory.base.errors import DomainError, StaleVersion
from memory.base.text import CONTENT_CHARS, NOTE_CHARS
from memory.lineage.operations import derivations
from memory.lineage.operations.deriving import Cause
from memory.records import operations
from memory.records.queries import detail as reads
from memory.records.queries.detail import RecordDetail

REASONS = (
    ("correction", "correction: it was wrong or badly said"),
    ("observation", "observation: something new was seen"),
    ("inference", "inference: it was worked out"),
    ("decay", "decay: it has worn out"),
)


class ActForm(forms.Form):
    """What every form of an act carries: its key, hidden."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)


class ReasonForm(ActForm):
    reason = forms.CharField(
        label="Reason", max_length=NOTE_CHARS, help_text="Kept with the entry.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )  # fmt: skip


class EvolveForm(ActForm):
    base = forms.CharField(widget=forms.HiddenInput, max_length=64)
    content = forms.CharField(
        label="New text", max_length=CONTENT_CHARS, strip=False, widget=forms.Textarea(attrs={"rows": 12})
    )
    reason = forms.ChoiceField(label="Why it changes", choices=REASONS)
    note = forms.CharField(
        label="Note", max_length=NOTE_CHARS, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class SupersedeForm(ActForm):
    new = forms.CharField(
        label="The record that takes its place", max_length=64, help_text="Its id, or the beginning of it.",
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false", "autocomplete": "off"}),
    )  # fmt: skip
    reason = forms.ChoiceField(label="Why", choices=REASONS)
    note = forms.CharField(
        label="Note", max_length=NOTE_CHARS, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


@dataclass(frozen=True, slots=True)
class Act:
    """One verb as its page tells it; `power` is what a role must hold."""

    verb: str
    title: str
    consequence: str
    button: str
    power: Power
    weight: str = "primary"


WITHDRAW = Act(
    "withdraw", "Withdraw this record",
    "From this entry on it is hidden from lists, recall and context. The text and its proof stay, and it can be "
    "restored. What must be gone is erased instead.",
    "Withdraw", "review", "danger",
)  # fmt: skip
RESTORE = Act(
    "restore", "Restore this record",
    "From this entry on it is shown again wherever it was hidden. The withdrawal stays in the ledger.",
    "Restore", "review",
)  # fmt: skip
EVOLVE = Act(
    "evolve", "Evolve this record",
    "A new version takes its place in the line; this one stays readable and provable. What the form does not name "
    "carries over.",
    "Record the new version", "write",
)  # fmt: skip
SUPERSEDE = Act(
    "supersede", "Supersede this record",
    "From this entry on another record, which exists already, stands in its place. Nothing is copied.",
    "Supersede", "write",
)  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=WITHDRAW.power)
def withdraw(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    return _hiding(request, visit, record, act=WITHDRAW)


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=RESTORE.power)
def restore(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    return _hiding(request, visit, record, act=RESTORE)


def _hiding(request: HttpRequest, visit: Visit, record: UUID, *, act: Act) -> HttpResponseBase:
    require(visit, act.power)
    form = ReasonForm(request.POST or None, initial={"key": uuid4().hex})
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=act, form=form)
    by, reason = visit.once(form.cleaned_data["key"]), form.cleaned_data["reason"]
    operation = operations.withdraw if act is WITHDRAW else operations.restore
    try:
        done = operation(by, record=record, reason=reason)
    except DomainError as error:
        return act_page(request, visit, record, act=act, form=form, error=error)
    words = "The record is withdrawn, recorded" if act is WITHDRAW else "The record is restored, recorded"
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{record}{visit.carry}")


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=EVOLVE.power)
def evolve(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """A new version of the record, from the digest that the form carries."""
    require(visit, EVOLVE.power)
    if request.method != "POST":
        found = reads.record(visit.at, id=record)
        initial = {"key": uuid4().hex, "base": found.digest.hex(), "content": found.content or ""}
        return act_page(request, visit, record, act=EVOLVE, form=EvolveForm(initial=initial), found=found)
    form = EvolveForm(request.POST)
    if not form.is_valid():
        return act_page(request, visit, record, act=EVOLVE, form=form)
    given = form.cleaned_data
    cause = Cause(given["reason"], given["note"])
    changes = {"content": given["content"].replace("\r\n", "\n")}
    try:
        done = derivations.evolve(
            visit.once(given["key"]), record=record, base=given["base"], changes=changes, cause=cause
        )  # fmt: skip
    except StaleVersion as error:
        return _stale(request, visit, error, draft=changes["content"], given=given)
    except DomainError as error:
        return act_page(request, visit, record, act=EVOLVE, form=form, error=error)
    recorded.tell(request, "The new version is recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{done.records[0]}{visit.carry}")


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=SUPERSEDE.power)
def supersede(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """Let a record that exists take this one's place."""
    require(visit, SUPERSEDE.power)
    form = SupersedeForm(request.POST or None, initial={"key": uuid4().hex})
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=SUPERSEDE, form=form)
    given = form.cleaned_data
    try:
        new = reads.resolved(visit.at, prefix=given["new"].strip().lower())
        cause = Cause(given["reason"], given["note"])
        done = derivations.supersede(visit.once(given["key"]), old=record, new=new, cause=cause)
    except DomainError as error:
        return act_page(request, visit, record, act=SUPERSEDE, form=form, error=error)
    recorded.tell(request, "The record is superseded, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{record}{visit.carry}")


def act_page(
    request: HttpRequest, visit: Visit, record: UUID, *, act: Act, form: forms.Form, error: DomainError | None = None,
    found: RecordDetail | None = None,
) -> HttpResponse:  # fmt: skip
    """The page of the act: its consequence, its form, and why it was refused."""
    found = found or reads.record(visit.at, id=record)
    context = _context(visit, found, act=act, form=form, problem=_problem(request, error))
    status = error.status if error is not None else 422 if form.is_bound else 200
    return render(request, "records/act.html", context, status=status)


def _problem(request: HttpRequest, error: DomainError | None) -> Problem | None:
    return None if error is None else problem_of(request, error)


def _context(
    visit: Visit, found: RecordDetail, *, act: Act, form: forms.Form, problem: Problem | None = None
) -> dict[str, Any]:  # fmt: skip
    url = f"/records/{found.row.id}"
    return {
        "act": act,
        "form": form,
        "problem": problem,
        "found": found,
        "line": covered(found.row.first_line) or "No text",
        "action_url": f"{url}/{act.verb}{visit.carry}",
        "record_url": f"{url}{visit.carry}",
        "trail": (Link("Records", f"/records{visit.carry}"), Link(str(found.row.id)[:8], url), Link(act.verb, "")),
    }


def _stale(
    request: HttpRequest, visit: Visit, error: StaleVersion, *, draft: str, given: dict[str, Any]
) -> HttpResponse:  # fmt: skip
    """412: what stands now beside the draft, and a form that evolves what stands now."""
    current = UUID(str(dict(error.extra["current"])["record"]))  # type: ignore[call-overload]
    found = reads.record(visit.at, id=current)
    initial = {**given, "key": uuid4().hex, "base": found.digest.hex(), "content": draft}
    context = _context(visit, found, act=EVOLVE, form=EvolveForm(initial=initial))
    stale = {"current": found.content or "", "draft": draft, "label": f"version {str(current)[:8]}"}
    return render(request, "records/act.html", {**context, "stale": stale}, status=error.status)
