"""An erasure in two steps: what is found and ticked, then what it takes, the reason and the confirmation.

Invariants
- A GET finds and writes nothing; each step says what the next one does, and the act is done by the second alone.
- The second step carries a digest of what would go. If that has changed when it is sent, the answer is 412: what would
  go now, and the form once more.
- Where nothing can be written, the page says why and holds no form.
- Under a hold the act is refused with who placed it, why and until when; what was ticked and typed is kept.
- A form carries a key: sent twice, it is answered twice and written once.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.components import Problem
from audit.navigation import Link
from audit.pages.erasures import shown
from audit.pages.erasures.forms import ErasureForm
from memory.agents.retention import retention
from memory.base.errors import CODES, DomainError, Invalid, StaleVersion
from memory.base.schemas import is_id
from memory.ledger.operations import previews
from memory.ledger.operations.erasing import erase
from memory.ledger.operations.previews import Asked, Preview
from memory.ledger.queries import radius
from memory.records.queries.lines import count_recorded_before, first_lines, recorded_before

MOST = 300
ADDRESS = re.compile(r"([1-9][0-9]{0,14})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Given:
    """What the address or the form names. `rest`: also what names the subject beyond the first MOST.

    `older`: the records that have been kept for longer than the retention allows.
    """

    subject: str = ""
    records: tuple[UUID, ...] = ()
    items: tuple[tuple[int, int], ...] = ()
    rest: bool = False
    older: bool = False


@require_http_methods(["GET", "HEAD", "POST"])
@page("erasures", power="own")
def new(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Find what is to go; see what that takes; erase it."""
    if request.method != "POST" and visit.actor.may("own") and not visit.frame.can_write:
        context = {"trail": _trail(visit), "is_closed": True}
        return render(request, "erasures/new.html", context, status=CODES["conflict"].status)
    require(visit, "own")
    if request.method != "POST":
        return _find(request, visit)
    try:
        given = _given(request.POST)
        items = _ticked(visit, given)
    except DomainError as error:
        return _find(request, visit, problem=problem_of(request, error))
    return _preview(request, visit, given, items)


def _given(pairs: Any) -> Given:
    """Raises Invalid (an id or address that is none)."""
    records, items = pairs.getlist("record"), pairs.getlist("item")
    for name, values, is_right in (("record", records, is_id), ("item", items, ADDRESS.fullmatch)):
        wrong = next((value for value in values if not is_right(value)), None)
        if wrong is not None:
            raise Invalid.at(name, expected="the id of a record" if name == "record" else "SEQ.ITEM", got=wrong[:60])
    found = [ADDRESS.fullmatch(value) for value in items]
    addresses = tuple((int(match[1]), int(match[2])) for match in found if match is not None)
    return Given(
        pairs.get("subject", "").strip(), tuple(UUID(record) for record in records), tuple(dict.fromkeys(addresses)),
        pairs.get("rest") == "yes", pairs.get("older") == "yes",
    )  # fmt: skip


# Find.


def _find(request: HttpRequest, visit: Visit, *, problem: Problem | None = None) -> HttpResponse:
    """The first step: what names the subject, or the records of the address, to be ticked."""
    context: dict[str, Any] = {"problem": problem, "action_url": _url(visit), "trail": _trail(visit), "subject": ""}
    status = problem.status if problem else 200
    try:
        given = _given(request.POST if request.method == "POST" else request.GET)
        context["subject"] = given.subject
        if given.subject:
            context |= _by_subject(visit, given)
        elif given.records or given.items:
            context |= _by_reference(visit, given)
        else:
            context |= _by_age(visit, is_asked=given.older)
    except DomainError as error:
        context["problem"], status = problem_of(request, error), error.status
    return render(request, "erasures/new.html", context, status=status)


def _by_subject(visit: Visit, given: Given) -> dict[str, Any]:
    namings = previews.asked(visit.actor.namespace, subject=given.subject).namings
    whole = [naming for naming in namings if naming.is_whole]
    within = [naming for naming in namings if not naming.is_whole]
    return {
        "groups": shown.of_namings(whole[:MOST], carry=visit.carry),
        "within": shown.of_namings(within[:MOST], carry=visit.carry),
        "n_found": len(whole),
        "n_within": len(within),
        "n_rest": max(0, len(whole) - MOST),
        "is_asked": True,
    }


def _by_reference(visit: Visit, given: Given) -> dict[str, Any]:
    look = previews.look(visit.at, records=given.records, items=given.items)
    lines = first_lines(visit.at, _records(look.parts, ()))
    return {
        "groups": shown.of_parts(look.parts, lines, carry=visit.carry),
        "quotes": shown.of_quotes(look.quotes[:MOST], carry=visit.carry),
        "n_found": len({(part.seq, part.item) for part in look.parts}),
        "is_asked": True,
    }


def _by_age(visit: Visit, *, is_asked: bool) -> dict[str, Any]:
    """How many records are older than the retention allows; the oldest of them where they are asked for."""
    kept_for = retention(visit.actor.namespace)
    if kept_for is None:
        return {"retention": None}
    since = visit.frame.read_at - kept_for
    if not is_asked:
        return {"retention": kept_for, "n_older": count_recorded_before(visit.at, instant=since)}
    oldest = recorded_before(visit.at, instant=since, limit=MOST)
    return _by_reference(visit, Given(records=tuple(oldest))) if oldest else {"is_asked": True, "n_found": 0}


# Preview and act.


def _ticked(visit: Visit, given: Given) -> tuple[tuple[int, int], ...]:
    """The items that the form names.   Raises Invalid (none)."""
    items = given.items
    if given.rest and given.subject:
        namings = previews.asked(visit.actor.namespace, subject=given.subject).namings
        items += tuple((one.seq, one.item) for one in [one for one in namings if one.is_whole][MOST:])
    if not items:
        raise Invalid.at("item", expected="at least one thing that is ticked")
    return tuple(dict.fromkeys(items))


def _preview(request: HttpRequest, visit: Visit, given: Given, items: tuple[tuple[int, int], ...]) -> HttpResponseBase:
    """The second step: what goes, what repeats it, what rests on it; the reason, and the act."""
    try:
        found = previews.preview(visit.actor, found=Asked(items))
    except DomainError as refusal:
        return _find(request, visit, problem=problem_of(request, refusal))
    n_going = len({(part.seq, part.item) for part in found.radius.parts if part.erased_by is None})
    phrase, seen = f"erase {n_going}", _digest(found)
    if request.POST.get("stage") != "erase":
        typed = {name: request.POST.get(name, "") for name in ("reason", "note")}
        form = ErasureForm(initial={"key": uuid4().hex, **typed}, phrase=phrase)
        return _shown(request, visit, given, found, form=form, seen=seen)
    form = ErasureForm(request.POST, phrase=phrase)
    if request.POST.get("seen") != seen:
        stale = StaleVersion("What would go has changed since you looked; it is shown as it is now. Nothing is erased.")
        return _shown(request, visit, given, found, form=form, seen=seen, refused=stale)
    if not form.is_valid():
        return _shown(request, visit, given, found, form=form, seen=seen)
    why = {"reason": form.cleaned_data["reason"], "note": form.cleaned_data["note"].strip()}
    try:
        done = erase(visit.once(form.cleaned_data["key"]), items=items, **why)
    except DomainError as refusal:
        return _shown(request, visit, given, found, form=form, seen=seen, refused=refusal)
    recorded.tell(request, "The text is gone, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/erasures/{done.seq}{visit.carry}")


def _digest(found: Preview) -> str:
    """What stands for the parts that would go."""
    going = sorted((part.seq, part.item, part.part) for part in found.radius.parts if part.erased_by is None)
    return hashlib.sha256(repr(going).encode()).hexdigest()


def _shown(
    request: HttpRequest, visit: Visit, given: Given, found: Preview, *, form: ErasureForm, seen: str,
    refused: DomainError | None = None,
) -> HttpResponse:  # fmt: skip
    parts = [part for part in found.radius.parts if part.erased_by is None]
    affected = found.radius.affected[:MOST]
    lines = first_lines(visit.at, _records(parts, affected))
    context = {
        "trail": _trail(visit),
        "action_url": _url(visit),
        "given": given,
        "ticked": [f"{seq}.{item}" for seq, item in given.items],
        "groups": shown.of_parts(parts[: 3 * MOST], lines, carry=visit.carry),
        "n_parts": len(parts),
        "n_items": len({(part.seq, part.item) for part in parts}),
        "n_gone_before": len(found.radius.parts) - len(parts),
        "quotes": shown.of_quotes(found.radius.quotes[:MOST], carry=visit.carry),
        "n_quotes": found.radius.n_quotes,
        "rests": shown.of_affected(affected, lines, carry=visit.carry),
        "n_rests": found.radius.n_affected,
        "gone_out": shown.gone_out(affected),
        "hold": found.hold,
        "form": form,
        "seen": seen,
        "problem": problem_of(request, refused) if refused is not None else None,
    }
    status = refused.status if refused is not None else 422 if form.is_bound and form.errors else 200
    return render(request, "erasures/preview.html", context, status=status)


def _records(parts: Iterable[radius.Part], affected: Iterable[radius.Affected]) -> list[UUID]:
    named = [part.object for part in parts if part.kind == "record"]
    return [*dict.fromkeys([*named, *(UUID(one.id) for one in affected if one.kind == "record")])]


def _url(visit: Visit) -> str:
    return f"/erasures/new{visit.carry}"


def _trail(visit: Visit) -> tuple[Link, ...]:
    return (Link("Erasures", f"/erasures{visit.carry}"), Link("Erase", ""))
