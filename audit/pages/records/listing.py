"""The list of records."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, is_partial, page, person_names
from audit.components import Column, Direction, Facet, FacetValue, Pager
from audit.frame import address, in_url, words
from audit.navigation import Link, advanced_pages
from audit.pages.records.filtering import WORDS, Asked, asked, count_text, hidden, parts, typed_address, typed_line
from audit.templatetags.console import count
from memory.records.queries.detail import NO_SOURCE_TIME, RecordRow
from memory.records.queries.lists import CAP, RANKED, RecordPage, records
from memory.records.queries.lists import Facet as Counted
from memory.records.queries.stubs import Stub, span, stubs

FACETS = (("type", "Type"), ("agent", "Agent"), ("state", "State"), ("source", "Source"), ("run", "Run"))
VALUES_SHOWN = 8
ORDERS = {
    "rank": "best match first", "-recorded_at": "newest first", "recorded_at": "oldest first",
    "-valid_from": "true from latest first", "valid_from": "true from earliest first",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A record of the list; `stub` where it is erased, `erased_by` then names who did it."""

    row: RecordRow
    url: str
    stub: Stub | None = None
    erased_by: str = ""


@require_safe
@page("records")
def index(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    if target := typed_address(request):
        return HttpResponseRedirect(target)
    given = asked(request)
    listed = records(visit.at, where=given.where, sort=given.sort, after=given.after)
    template = "records/index.html#rows" if is_partial(request) else "records/index.html"
    return render(request, template, _context(visit, given, listed))


def _context(visit: Visit, given: Asked, listed: RecordPage) -> dict[str, Any]:
    runs = {facet.value: facet.label for facet in listed.facets["run"]}
    total = count_text(listed.total, listed)
    return {
        "ways_on": advanced_pages("records", carry=visit.carry),
        "count_text": total,
        "total_text": f"{total} record{'' if total == '1' else 's'}",
        "line": typed_line(given.pairs),
        "kept": [pair for pair in given.pairs if pair[0] in ("ns", "valid_at", "known_at", "include")],
        "compare_kept": [pair for pair in given.pairs if pair[0] in ("ns", "valid_at", "known_at")],
        "facets": tuple(_facet(given, listed, name, label) for name, label in FACETS if listed.facets[name]),
        "parts": parts(given, runs=runs),
        "clear_url": given.cleared(),
        "hidden": hidden(given, listed),
        "columns": _columns(given),
        "rows": _rows(visit, listed.items),
        "is_ranked": bool(given.where.query),
        "empty": _empty(visit, given, listed),
        "pager": _pager(given, listed),
        "csv_url": given.export("csv"),
        "json_url": given.export("json"),
        "export_note": _export_note(visit, given),
    }


def _rows(visit: Visit, items: Iterable[RecordRow]) -> tuple[ListedRow, ...]:
    items = tuple(items)
    erased = stubs(visit.at.namespace, [row.id for row in items if row.state == "erased"])
    names = person_names({stub.person for stub in erased.values() if stub.person is not None})
    return tuple(
        ListedRow(row, f"/records/{row.id}{visit.carry}", stub, names.get(stub.person or 0, "") if stub else "")
        for row in items
        for stub in [erased.get(row.id)]
    )


def _facet(given: Asked, listed: RecordPage, name: str, label: str) -> Facet:
    active = {value for key, value in given.pairs if key == name}
    values = [_value(given, listed, name, one, active) for one in listed.facets[name]]
    known = {one.value for one in listed.facets[name]} | {one.label for one in listed.facets[name]}
    values += [FacetValue(WORDS.get(one, one), "0", given.without(name, one), True) for one in sorted(active - known)]
    is_open = ("more", name) in given.pairs
    kept = [value for i, value in enumerate(values) if is_open or i < VALUES_SHOWN or value.is_active]
    return Facet(label, tuple(kept), "" if is_open or len(kept) == len(values) else given.setting("more", name))


def _value(given: Asked, listed: RecordPage, name: str, one: Counted, active: set[str]) -> FacetValue:
    key = one.label if name == "agent" and one.label != "erased" else one.value
    shown = one.label or WORDS.get(one.value, one.value[:8] if name == "run" else one.value)
    taken = next((value for value in (key, one.value) if value in active), "")
    url = given.without(name, taken) if taken else given.with_(name, key)
    return FacetValue(shown, count_text(one.count, listed), url, bool(taken))


def _columns(given: Asked) -> tuple[Column, ...]:
    direction: Direction = "descending" if given.sort.startswith("-") else "ascending"
    by_time = given.sort.removeprefix("-") == "recorded_at"
    turned = "recorded_at" if given.sort == "-recorded_at" else "-recorded_at"
    first = Column("first line")
    if given.where.query:
        title = "sorted by how well the text matches"
        first = Column(
            "best match", given.setting("sort", "rank"), "descending" if given.sort == "rank" else None, title=title
        )
    return (
        Column("tick", title="two ticked records can be compared"),
        Column("recorded at", given.setting("sort", turned), direction if by_time else None),
        Column("type"),
        first,
        Column("agent, run"),
        Column("from / to", is_number=True, title="how many records it was derived from, and how many from it"),
        Column("state"),
    )


def _pager(given: Asked, listed: RecordPage) -> Pager:
    newest_first = given.sort not in ("recorded_at", "valid_from")
    before = given.setting("after", listed.previous) if listed.previous else ""
    behind = given.setting("after", listed.next) if listed.next else ""
    order = ORDERS.get(given.sort, "newest first")
    text = f"{count(len(listed.items))} of {count_text(listed.total, listed)}, {order}"
    return Pager(before, behind, text) if newest_first else Pager(behind, before, text)


def _empty(visit: Visit, given: Asked, listed: RecordPage) -> dict[str, Any] | None:
    """Which of the three empty states stands where the rows would, and what it needs."""
    if listed.items:
        return None
    if given.is_narrowed:
        text = " and ".join(part.words for part in parts(given, runs={}))
        return {"kind": "no_match", "words": text, "clear_url": given.cleared()}
    if shown_if_asked := set(listed.hidden) - {NO_SOURCE_TIME}:
        everything = given.setting("include", ",".join(sorted({*given.where.include, *shown_if_asked})))
        return {"kind": "no_match", "words": "the record is current", "clear_url": everything}
    if visit.at.is_now:
        how = "The first one comes when an agent saves what it saw, or when an import brings what you have."
        return {"kind": "nothing_yet", "title": "No records yet", "how": how, "action": Link("Agents", "/agents")}
    return {"kind": "not_then", **_ends(visit, given), "source_url": visit.frame.as_of.source_url}


def _ends(visit: Visit, given: Asked) -> dict[str, Link | None]:
    ends = span(visit.at)
    if ends is None:
        return {"first": None, "last": None}
    kept = [pair for pair in given.pairs if pair[0] not in ("valid_at", "known_at")]

    def link(seq: int, at: Any) -> Link:
        return Link(words(at), address(given.path, [*kept, ("valid_at", in_url(at)), ("known_at", f"seq:{seq}")]))

    return {"first": link(ends.first_seq, ends.first_at), "last": link(ends.last_seq, ends.last_at)}


def _export_note(visit: Visit, given: Asked) -> str:
    most = RANKED if given.where.query else CAP
    return f"the whole filter, at most {count(most)} rows, as of seq {count(visit.at.seq)}"
