"""What owners do with a dead end: file, judge, revive, report a re-test, retire, keep; and set the limit.

Invariants
- Each is a POST to an address of its own; refused, the page of the dead end is shown again with what was typed and why.
- A form carries a key: sent twice, it is answered twice and written once.
"""

from collections.abc import Callable
from uuid import UUID

from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from audit import recorded
from audit.access import Visit, page
from audit.pages.agents.forms import midnight
from audit.pages.tombstones.forms import (
    EvidenceForm,
    FalseBlockForm,
    KeepForm,
    LimitForm,
    RetestForm,
    RetireForm,
    ReviveForm,
)
from audit.pages.tombstones.listing import listed
from audit.pages.tombstones.shown import Answer, conditions_of, shown
from audit.pages.tombstones.words import card
from audit.posting import posted
from memory.agents.operations import change_setting
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import DomainError
from memory.tombstones.operations import living
from memory.tombstones.queries import tombstone as read

FORM = "/tombstones/{tombstone}"
Act = Callable[[Actor], Appended | living.Filed]


def _done(
    request: HttpRequest, visit: Visit, tombstone: UUID, name: str, form: Form, act: Act, words: str
) -> HttpResponse:
    """Do it and go to the page; refused, show the page with the form as it was filled in."""
    if not form.is_valid():
        return shown(request, visit, tombstone, answer=Answer(422, {name: form}))
    try:
        done = act(visit.once(form.cleaned_data["key"]))
    except DomainError as error:
        return shown(request, visit, tombstone, answer=Answer(error.status, {name: form}, error))
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/tombstones/{tombstone}{visit.carry}")


@posted(FORM)
@page("tombstones", power="write")
def evidence(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    conditions = conditions_of(card(read(visit.at, id=tombstone), {}, carry=visit.carry))
    form = EvidenceForm(request.POST, conditions=conditions)

    def act(by: Actor) -> living.Filed:
        given = form.cleaned_data
        return living.file_evidence(
            by, tombstone=tombstone, condition=given["condition"], valid_until=midnight(given["until_on"]),
            origin=given["origin"], note=given["note"], references=given["references"],
        )  # fmt: skip

    return _done(request, visit, tombstone, "evidence", form, act, "The evidence is filed, recorded")


@posted(FORM)
@page("tombstones", power="write")
def false_block(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    return _judged(request, visit, tombstone, is_false=True)


@posted(FORM)
@page("tombstones", power="write")
def right_block(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    return _judged(request, visit, tombstone, is_false=False)


def _judged(request: HttpRequest, visit: Visit, tombstone: UUID, *, is_false: bool) -> HttpResponse:
    form = FalseBlockForm(request.POST)

    def act(by: Actor) -> Appended:
        given = form.cleaned_data
        return living.judge_block(
            by, tombstone=tombstone, is_false=is_false, check=given["check"], note=given["reason"],
            references=given["references"],
        )  # fmt: skip

    words = f"The block is said to be {'false' if is_false else 'right'}, recorded"
    return _done(request, visit, tombstone, "false_block", form, act, words)


@posted(FORM)
@page("tombstones", power="own")
def revive(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    form = ReviveForm(request.POST)

    def act(by: Actor) -> Appended:
        return living.revive(by, tombstone=tombstone, note=form.cleaned_data["reason"])

    return _done(request, visit, tombstone, "revive", form, act, "The route is open for its re-test, recorded")


@posted(FORM)
@page("tombstones", power="own")
def retest(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    form = RetestForm(request.POST)

    def act(by: Actor) -> Appended:
        given = form.cleaned_data
        return living.retest(
            by, tombstone=tombstone, passed=given["outcome"] == "passed", note=given["reason"], next_at=form.next_at,
            references=given["references"],
        )  # fmt: skip

    return _done(request, visit, tombstone, "retest", form, act, "The re-test is reported, recorded")


@posted(FORM)
@page("tombstones", power="own")
def retire(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    form = RetireForm(request.POST)

    def act(by: Actor) -> Appended:
        return living.retire(by, tombstone=tombstone, reason=form.cleaned_data["reason"])

    return _done(request, visit, tombstone, "retire", form, act, "The dead end is retired, recorded")


@posted(FORM)
@page("tombstones", power="own")
def keep(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    form = KeepForm(request.POST)

    def act(by: Actor) -> Appended:
        given = form.cleaned_data
        return living.keep(
            by, tombstone=tombstone, review_at=midnight(given["review_on"]), reason=given["reason"]
        )  # fmt: skip

    return _done(request, visit, tombstone, "keep", form, act, "It stands until its next review, recorded")


@posted("/tombstones")
@page("tombstones", power="own")
def limit(request: HttpRequest, visit: Visit) -> HttpResponse:
    """How many false blocks demote a dead end of this namespace."""
    form = LimitForm(request.POST)
    if not form.is_valid():
        return listed(request, visit, limit_form=form)
    done = change_setting(visit.actor, name="false_block_limit", value=str(form.cleaned_data["limit"]))
    recorded.tell(request, "The limit is set, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/tombstones{visit.carry}")
