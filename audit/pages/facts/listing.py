"""The browser of facts: subjects and attributes with their status at the point, and one subject whole.

Invariants
- Known, unknown and conflict are three answers, each with why; what is left out is counted and one link away.
- The files hold the answers of the API, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page
from audit.components import Pager, Tab
from audit.exports import csv_answer, json_answer
from audit.frame import address, in_url, words
from audit.navigation import Link
from audit.pages.facts import subject
from audit.pages.facts.asking import STATUSES, Asked, asked
from audit.pages.facts.values import entity_row, hidden_of, plain, within
from audit.templatetags.console import count
from memory.facts.answers import EntityOut
from memory.facts.queries.lists import EntityPage, page_of
from memory.facts.queries.spans import span
from memory.facts.queries.status import EntityStatus

SHOWN, MOST = 50, 10_000
COLUMNS = (
    "subject", "attribute", "status", "why", "values", "n_messages", "n_origins", "valid_from", "valid_to",
    "recorded_at", "fresh_until", "conflict", "hidden",
)  # fmt: skip


@require_safe
@page("facts")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    given = asked(request)
    listed = _page(visit, given, after=given.after, tells_hidden=False)
    context = {**_context(visit, given, listed), "told": recorded.told(request, carry=visit.carry)}
    if is_partial(request):
        return render(request, "facts/index.html#rows", context)
    if given.is_subject:
        context["compared"], context["fault"] = subject.compared(visit, given)
    return render(request, "facts/index.html", context, status=422 if context.get("fault") else 200)


def _page(visit: Visit, given: Asked, *, after: int | None, tells_hidden: bool = True) -> EntityPage:
    return page_of(
        visit.at, subject=given.subject, attribute=given.attribute, text=given.text, status=given.status,
        include=given.include, after=after, limit=SHOWN, reader=visit.actor, tells_hidden=tells_hidden,
    )  # fmt: skip


def _context(visit: Visit, given: Asked, listed: EntityPage) -> dict[str, Any]:
    total = f"{count(listed.total)}+" if listed.is_capped else count(listed.total)
    what = "attribute" if given.is_subject else "subject and attribute"
    many = "attributes" if given.is_subject else "subjects and attributes"
    return {
        "given": given,
        "title": given.subject if given.is_subject else "Facts",
        "trail": (Link("Facts", f"/facts{visit.carry}"), Link(given.subject, "")) if given.is_subject else (),
        "count_text": total,
        "total_text": _told_total(given, listed, f"{total} {what if total == '1' else many}"),
        "kept": [*visit.frame.carried, *(pair for pair in given.pairs if pair[0] == "include")],
        "statuses": _statuses(given),
        "parts": given.parts(),
        "clear_url": given.cleared(),
        "stop_url": given.setting("against", ""),
        "hidden": hidden_of(listed.items, given.showing, include=given.include, n_held=listed.n_held),
        "rows": tuple(entity_row(visit, one, hidden_url=given.showing, include=given.include) for one in listed.items),
        "empty": None if listed.items else _empty(visit, given, listed),
        "pager": _pager(given, listed, total),
        "json_url": given.export("json"),
        "csv_url": given.export("csv"),
        "export_note": f"the whole filter, at most {count(MOST)} rows, as of seq {count(visit.at.seq)}",
        "new_url": within(visit, "/facts/new", subject=given.subject, attribute=given.attribute),
        "conflicts_url": f"/facts/conflicts{visit.carry}",
        "may_write": visit.actor.may("write"),
        "timeline_url": within(visit, "/timeline", subject=given.subject) if given.is_subject else "",
        "erase_url": within(visit, "/erasures/new", subject=given.subject) if visit.actor.may("own") else "",
    }


def _told_total(given: Asked, listed: EntityPage, total: str) -> str:
    """A filter by status is judged row by row, so that only those of the page are counted."""
    if given.status in ("known", "unknown") and not (given.subject and given.attribute):
        n = len(listed.items)
        return f"{count(n)} on this page, of {total}"
    return total


def _statuses(given: Asked) -> tuple[Tab, ...]:
    every = Tab("all", given.setting("status", ""), not given.status)
    return (every, *(Tab(one, given.setting("status", one), given.status == one) for one in STATUSES))


def _pager(given: Asked, listed: EntityPage, total: str) -> Pager:
    newest = given.setting("after", "") if given.after is not None else ""
    older = given.setting("after", str(listed.next_doc)) if listed.next_doc is not None else ""
    return Pager(newest, older, f"{count(len(listed.items))} of {total}, the last to be known first")


def _empty(visit: Visit, given: Asked, listed: EntityPage) -> dict[str, Any]:
    """Which of the three empty states stands where the rows would."""
    if given.status and listed.next_doc is not None:
        sentence = " and ".join(part.words for part in given.parts())
        return {"kind": "no_match", "words": f"{sentence}, among those looked at so far", "clear_url": given.cleared()}
    ends = span(visit.at)
    if visit.at.is_now or ends is None or ends.first_seq <= visit.at.seq:
        if given.is_narrowed:
            sentence = " and ".join(part.words for part in given.parts())
            return {"kind": "no_match", "words": sentence, "clear_url": given.cleared()}
        how = "A fact is one checkable value with who said it and since when. Agents assert them, and so do owners."
        new = Link("Assert a fact", f"/facts/new{visit.carry}") if visit.actor.may("write") else None
        return {"kind": "nothing_yet", "title": "No facts yet", "how": how, "action": new}
    kept = [pair for pair in given.pairs if pair[0] not in ("valid_at", "known_at")]
    first, last = (
        Link(words(at), address(given.path, [*kept, ("valid_at", in_url(at)), ("known_at", f"seq:{seq}")]))
        for seq, at in ((ends.first_seq, ends.first_at), (ends.last_seq, ends.last_at))
    )
    return {"kind": "not_then", "first": first, "last": last, "source_url": visit.frame.as_of.source_url}


@require_safe
@page("facts")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as CSV, a row for each subject and attribute."""
    rows = (_fields(one) for _, one in zip(range(MOST), _every(visit, asked(request)), strict=False))
    return csv_answer(visit, "facts", columns=COLUMNS, rows=rows)


@require_safe
@page("facts")
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The whole filter as JSON: the answers that the API gives."""
    rows = (EntityOut.of(one).model_dump(mode="json") for one in _every(visit, asked(request)))
    return json_answer(visit, rows=rows, most=MOST)


def _every(visit: Visit, given: Asked) -> Iterator[EntityStatus]:
    after: int | None = None
    while True:
        listed = _page(visit, given, after=after)
        yield from listed.items
        if listed.next_doc is None:
            return
        after = listed.next_doc


def _fields(one: EntityStatus) -> dict[str, Any]:
    lines = {line.id: line for line in one.facts}
    newest = max((lines[fact] for value in one.values for fact in value.facts), key=lambda each: each.seq, default=None)
    return {
        "subject": one.subject, "attribute": one.attribute, "status": one.status, "why": one.why,
        "values": " | ".join(("not " if value.stance == "denies" else "") + plain(value.value) for value in one.values),
        "n_messages": sum(len(value.facts) for value in one.values),
        "n_origins": len({origin for value in one.values for origin in value.origins}),
        "valid_from": newest and newest.valid_from, "valid_to": newest and newest.valid_to,
        "recorded_at": newest and newest.recorded_at, "fresh_until": one.fresh_until, "conflict": one.case,
        "hidden": dict(one.hidden or {}),
    }  # fmt: skip
