"""The review of held memories: what is ticked in the queue, what it would append, and the act.

Invariants
- Opened, the page says what would be written and writes nothing; sent, it writes one entry for all that was ticked.
- A refusal names the first thing that cannot be reviewed, and nothing of the selection is written.
- A form carries a key: sent twice, it is answered twice and written once.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.frame import address
from audit.navigation import MATTERS, Link
from audit.pages.inbox.listing import part_of_queue
from audit.secrets import covered
from memory.base.errors import DomainError, Invalid
from memory.base.schemas import is_id
from memory.base.text import NOTE_CHARS
from memory.records import reviewing
from memory.records.queries.held import held_rows
from memory.records.reviewing import Target

LINE_CHARS = 200
VERBS = ("confirm", "reject")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is ticked, what is to become of it, and the part of the queue in which it was ticked."""

    verb: str
    targets: tuple[Target, ...]
    part: tuple[tuple[str, str], ...] = ()

    @property
    def confirm(self) -> tuple[Target, ...]:
        return self.targets if self.verb == "confirm" else ()

    @property
    def reject(self) -> tuple[Target, ...]:
        return self.targets if self.verb == "reject" else ()


class ConfirmForm(forms.Form):
    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    reason = forms.CharField(
        label="Reason", max_length=NOTE_CHARS, required=False, help_text="Kept with the entry.",
        widget=forms.Textarea(attrs={"rows": 2, "autofocus": True}),
    )  # fmt: skip


class RejectForm(ConfirmForm):
    reason = forms.CharField(
        label="Reason", max_length=NOTE_CHARS, help_text="One for all of them; whoever opens one later reads it.",
        widget=forms.Textarea(attrs={"rows": 2, "autofocus": True}),
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("inbox", applies=False, power="review")
def review(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Confirm or reject what is ticked."""
    require(visit, "review")
    given = _selection(request.POST if request.method == "POST" else request.GET)
    form_of = ConfirmForm if given.verb == "confirm" else RejectForm
    if request.method != "POST":
        return _shown(request, visit, given, form_of(initial={"key": uuid4().hex}))
    form = form_of(request.POST)
    if not form.is_valid():
        return _shown(request, visit, given, form, status=422)
    try:
        done = reviewing.review(
            visit.once(form.cleaned_data["key"]), confirm=given.confirm, reject=given.reject,
            reason=form.cleaned_data["reason"],
        )  # fmt: skip
    except DomainError as error:
        return _shown(request, visit, given, form, error=error)
    n = len(given.targets)
    did = "confirmed" if given.verb == "confirm" else "rejected"
    words = f"{n} held memor{'y is' if n == 1 else 'ies are'} {did}, recorded"
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(_back(visit, given))


def _back(visit: Visit, given: Selection) -> str:
    return address("/inbox", [*visit.frame.carried, *given.part])


def _selection(sent: QueryDict) -> Selection:
    verb = sent.get("verb", "")
    if verb not in VERBS:
        raise Invalid.at("verb", expected=" or ".join(VERBS), got=verb)
    ticked = list(dict.fromkeys(sent.getlist("held")))
    if not ticked:
        raise Invalid.at("held", expected="at least one held memory: tick it in the Inbox")
    targets = []
    for value in ticked:
        kind, _, identity = value.partition(":")
        if kind not in ("record", "fact") or not is_id(identity):
            raise Invalid.at("held", expected="record: or fact: and an id", got=value)
        targets.append(Target(kind, UUID(identity)))
    kind = sent.get("kind", "")
    part = part_of_queue(kind if kind in MATTERS else "", is_mine=sent.get("mine") == "yes")
    return Selection(verb, tuple(targets), tuple(part))


def _shown(
    request: HttpRequest, visit: Visit, given: Selection, form: forms.Form, *, error: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:  # fmt: skip
    preview, problem = None, None
    try:
        preview = reviewing.preview(visit.actor, confirm=given.confirm, reject=given.reject)
    except DomainError as refused:
        error = error or refused
    if error is not None:
        problem, status = problem_of(request, error, ways_on=(Link("Inbox", _back(visit, given)),)), error.status
    context = {
        "given": given, "form": form, "preview": preview, "problem": problem, "rows": _lines(visit, given),
        "action_url": f"/inbox/review{visit.carry}", "back_url": _back(visit, given),
        "trail": (Link("Inbox", _back(visit, given)), Link("Review", "")),
    }  # fmt: skip
    return render(request, "inbox/review.html", context, status=status)


def _lines(visit: Visit, given: Selection) -> list[dict[str, Any]]:
    found = held_rows(visit.at, [(target.kind, target.id) for target in given.targets])
    lines = []
    for target in given.targets:
        row = found.get((target.kind, target.id))
        text = covered(row.shown.text)[:LINE_CHARS] if row is not None and row.shown is not None else ""
        lines.append({"target": target, "value": f"{target.kind}:{target.id}", "text": text, "row": row})
    return lines
