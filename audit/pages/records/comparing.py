"""Two records beside each other, and what a record may be linked to or merged with.

Invariants
- Two texts are compared word by word after what looks like a secret is covered; of an erased one nothing is told.
- The address is the state: `/records/<id>/diff?with=<other>`, at a point like every page.
- Nothing is done by looking: a suggestion leads to a form that is filled in.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.records.detail import head
from audit.pages.records.joining import shown_value
from audit.secrets import covered
from audit.templatetags.records import spaced
from memory.base.errors import Invalid, NotFound
from memory.base.word_diff import WordDiff, word_diff
from memory.lineage.queries.differences import Difference, differences
from memory.lineage.queries.suggestions import Suggestion, suggestions
from memory.records.queries import detail as reads
from memory.records.queries.detail import RecordRow

REASONS = {
    "mentions": "its text names that record", "mentioned_by": "the text of that record names it",
    "same_text": "the same text", "near_text": "nearly the same text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One field that differs. `words` is the difference of a text; `before` and `after` are "" where it has none."""

    field: str
    before: str
    after: str
    words: WordDiff | None
    is_erased: bool


@require_safe
@page("records")
def diff(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """What differs between two records, from this one to `with`."""
    other = _other(visit, request.GET.get("with", ""))
    rows = reads.rows_by_id(visit.at, [record, other])
    missing = next((one for one in (record, other) if one not in rows), None)
    if missing is not None:
        raise NotFound(f"There is no record {missing} as of entry {visit.at.seq}.")
    found = differences(visit.at.namespace, before=record, after=other)
    kept = pairs_of(request, without=("with", "view"))
    view = "split" if request.GET.get("view") == "split" else "unified"
    context = {
        "before": _side(visit, rows[record]), "after": _side(visit, rows[other]), "rows": [_row(one) for one in found],
        "view": view, "is_same": record == other,
        "turned_url": address(f"/records/{other}/diff", [*kept, ("with", str(record)), ("view", view)]),
        "split_url": address(request.path, [*kept, ("with", str(other)), ("view", "split")]),
        "unified_url": address(request.path, [*kept, ("with", str(other))]),
        "trail": (Link("Records", f"/records{visit.carry}"), Link(str(record)[:8], f"/records/{record}{visit.carry}"),
                  Link("compare", "")),
    }  # fmt: skip
    return render(request, "records/diff.html", context)


@require_safe
@page("records")
def compare(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Two ticked records of a list, or of a line, lead to their comparison; the older one stands first."""
    ticked = list(dict.fromkeys(request.GET.getlist("record")))
    if len(ticked) != 2:
        raise Invalid.at("record", expected="two records, ticked", got=len(ticked))
    rows = reads.rows_by_id(visit.at, [_other(visit, one) for one in ticked])
    if len(rows) != 2:
        raise NotFound(f"Not both records stand as of entry {visit.at.seq}.")
    first, second = sorted(rows.values(), key=lambda row: (row.seq, row.id))
    kept = pairs_of(request, without=("record",))
    return HttpResponseRedirect(address(f"/records/{first.id}/diff", [*kept, ("with", str(second.id))]))


def _other(visit: Visit, text: str) -> UUID:
    if not text.strip():
        raise Invalid.at("with", expected="the id of the record to compare with, or the beginning of it")
    return reads.resolved(visit.at, prefix=text.strip().lower())


def _side(visit: Visit, row: RecordRow) -> dict[str, Any]:
    line = "erased" if row.state == "erased" else covered(row.first_line) or "no text"
    return {"row": row, "line": line, "url": f"/records/{row.id}{visit.carry}"}


def _row(one: Difference) -> Row:
    name = spaced(covered(one.field))
    if one.is_erased:
        return Row(name, "", "", None, True)
    if one.words is not None:
        return Row(name, "", "", word_diff(covered(one.before), after=covered(one.after)), False)
    before, after = (shown_value(value) if value not in (None, "") else "" for value in (one.before, one.after))
    return Row(name, before, after, None, False)


@dataclass(frozen=True, slots=True)
class Offer:
    """One suggestion as its row tells it; the addresses are empty for those who write nothing."""

    reason: str
    share: str
    state: str
    line: str
    url: str
    diff_url: str
    link_url: str
    link_words: str
    merge_url: str


@require_safe
@page("records")
def offers(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """What the record may be linked to or merged with."""
    found = reads.record(visit.at, id=record)
    told = [_offer(visit, record, one) for one in suggestions(visit.at, of=found)]
    context = head(request, visit, found, tab="suggestions")
    return render(request, "records/detail.html", {**context, "offers": told})


def _offer(visit: Visit, record: UUID, one: Suggestion) -> Offer:
    other = one.record
    may = visit.frame.can_write and visit.actor.may("write")
    link = f"/records/{one.source}/link{_more(visit, relation=one.relation, target=str(one.target))}"
    merge = f"/records/{record}/merge{_more(visit, **{'with': str(other)})}"
    return Offer(
        reason=REASONS[one.kind], share=f"{one.share:.0%} of the words" if one.share is not None else "",
        state=one.state, line=covered(one.first_line) or "no text", url=f"/records/{other}{visit.carry}",
        diff_url=f"/records/{record}/diff{_more(visit, **{'with': str(other)})}", link_url=link if may else "",
        link_words=f"Link as “{spaced(one.relation)}”", merge_url=merge if may and one.may_merge else "",
    )  # fmt: skip


def _more(visit: Visit, **pairs: str) -> str:
    """The carried query with more pairs."""
    return f"{visit.carry}{'&' if visit.carry else '?'}{urlencode(pairs)}"
