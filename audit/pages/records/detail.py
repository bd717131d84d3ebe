"""One record: its text as it was written, where it comes from, what it led to, its versions and its entries.

Invariants
- The text is untrusted: escaped, no link made live, unseen characters marked, what looks like a secret covered.
- A record that is erased shows who erased it, when and why, and the hashes that remain; never its text.
- The number of queries of a page does not grow with what the record is tied to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page, person_names, refusal
from audit.components import Tab
from audit.entry_words import verb_words
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages import lineage
from audit.pages.lineage_address import asked
from audit.pages.records import compiled, made, provenance
from audit.secrets import covered, has_secret
from audit.templatetags.console import count
from memory.base.canonical import canonical
from memory.base.errors import CODES, Ambiguous, Invalid, NotFound
from memory.base.word_diff import WordDiff, word_diff
from memory.interchange.queries import runs_about
from memory.interchange.sources import kept_about
from memory.ledger.queries.addressed import erased_parts
from memory.ledger.queries.contents import contents_of
from memory.lineage.queries.timeline import Entry, timeline
from memory.lineage.queries.touching import touching
from memory.records.queries import detail as reads
from memory.records.queries.detail import RecordDetail, RecordRow
from memory.records.queries.stubs import Stub, stubs

FAULTS = {
    "version_repeated": "stands twice", "not_the_next": "did not evolve from",
    "instant_decreases": "was recorded before", "claimed_instant_decreases": "claims an earlier instant than",
}  # fmt: skip
TEXT_SHOWN = 4_000
TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Step:
    """A version beside the one before it; `diff` is None where either text is erased. `why` says how it was made."""

    row: RecordRow
    url: str
    is_here: bool
    diff: WordDiff | None
    why: str
    note: str


@require_safe
@page("records")
def shown(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The record with its lineage; htmx asks for the lineage alone."""
    given = lineage.readable(visit, asked(request, record))
    status = CODES["invalid"].status if given.fault else 200
    if target := lineage.pinned(visit, given):
        return HttpResponseRedirect(target)
    if is_partial(request):
        part = lineage.part(visit, given)
        return render(
            request, "records/detail.html#lineage", {"tab": "lineage", "record_id": record, **part}, status=status
        )
    found = reads.record(visit.at, id=record)
    part = lineage.part(visit, given)
    context = head(request, visit, found, tab="lineage", count_text=part.get("rests", ""))
    told = made.panel(visit, found)
    made_of = compiled.panel(visit, found) if told.is_compiled else None
    panels = {"made": told, "compiled": made_of, "sources_chip": made_of.head_chip if made_of else None}
    return render(request, "records/detail.html", {**context, **part, **panels}, status=status)


def head(request: HttpRequest, visit: Visit, found: RecordDetail, *, tab: str, count_text: str = "") -> dict[str, Any]:
    """What stands on the page of a record whichever tab is open."""
    erased = stubs(visit.at.namespace, [found.row.id]) if found.row.state == "erased" else {}
    stub = erased.get(found.row.id)
    names = _people(found, stub)
    return {
        "tab": tab,
        "record_id": found.row.id,
        "title": _title(found),
        "found": found,
        "stub": stub,
        "erased_by": names.get(stub.person or 0, "the system") if stub else "",
        "strip": provenance.strip(visit, found, who=_who(found, names)),
        "definitions": provenance.definitions(visit, found),
        "hashes": provenance.hashes(found),
        "metadata": canonical(dict(found.metadata)).decode() if found.metadata else "",
        "text": _text(request, visit, found),
        "tabs": _tabs(visit, found, tab=tab, count_text=count_text),
        "notices": _notices(visit, found),
        "twins": [Link(str(twin), f"/records/{twin}{visit.carry}") for twin in found.same_text_as],
        "told": recorded.told(request, carry=visit.carry),
        "verbs": verbs(visit, found),
    }


def verbs(visit: Visit, found: RecordDetail) -> frozenset[str]:
    """The acts that this role may do to this record in this state."""
    may, state = visit.actor.may, found.row.state
    allowed = {
        "review": may("review") and state == "held",
        "withdraw": may("review") and found.withdrawn_seq is None and state not in ("erased", "held"),
        "erase": may("own") and state != "erased",
        "restore": may("review") and found.withdrawn_seq is not None,
        "evolve": may("write") and state == "current",
        "supersede": may("write") and found.superseded_seq is None and state != "held",
        "link": may("write") and state not in ("erased", "held"),
        "merge": may("write") and state in ("current", "superseded"),
    }
    return frozenset(verb for verb, is_allowed in allowed.items() if is_allowed)


def _people(found: RecordDetail, stub: Stub | None) -> Mapping[int, str]:
    told = {found.provenance.person, stub.person if stub else None}
    return person_names({person for person in told if person is not None})


def _who(found: RecordDetail, names: Mapping[int, str]) -> str:
    told = found.provenance
    if told.principal == "person":
        return names.get(told.person or 0, f"person {told.person}")
    if told.principal == "agent":
        name = f"agent {found.row.agent_name}" if found.row.agent_name else "an agent whose name is erased"
        return f"{name}, as its loader tells" if told.loader else name
    return "the system"


def _title(found: RecordDetail) -> str:
    if found.row.state == "erased":
        return "Erased"
    line = covered(found.row.first_line) or "No text"
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"


def _text(request: HttpRequest, visit: Visit, found: RecordDetail) -> dict[str, Any] | None:
    """The text in the form that the address asks for; None where it is erased."""
    if found.content is None:
        return None
    form = request.GET.get("text", "")
    pairs = pairs_of(request, without=("text",))

    def url(value: str) -> str:
        return address(request.path, [*pairs, ("text", value)])

    may_show = visit.role != "auditor"
    whole = canonical(found.content).decode() if form == "canonical" else found.content
    cut = form not in ("whole", "canonical", "uncovered") and len(whole) > TEXT_SHOWN
    return {
        "body": whole[:TEXT_SHOWN] if cut else whole,
        "is_cut": cut,
        "n_characters": len(whole),
        "whole_url": url("whole"),
        "is_canonical": form == "canonical",
        "is_uncovered": form == "uncovered" and may_show,
        "has_secret": has_secret(whole),
        "may_show": may_show,
        "uncovered_url": url("uncovered"),
        "covered_url": url(""),
        "forms": (
            Tab("as written", url(""), is_current=form != "canonical"),
            Tab("canonical", url("canonical"), is_current=form == "canonical"),
        ),
    }


def _tabs(visit: Visit, found: RecordDetail, *, tab: str, count_text: str) -> tuple[Tab, ...]:
    base = f"/records/{found.row.id}"
    tabs = [
        Tab("Lineage", f"{base}{visit.carry}", tab == "lineage", count_text),
        Tab("Versions", f"{base}/versions{visit.carry}", tab == "versions"),
        Tab("Facts drawn from it", f"{base}/facts{visit.carry}", tab == "facts"),
        Tab("Suggestions", f"{base}/suggestions{visit.carry}", tab == "suggestions"),
        Tab("Ledger entries", f"{base}/entries{visit.carry}", tab == "entries"),
    ]
    if found.imported or found.row.source_recorded_at is not None:
        tabs.append(Tab("Raw import row", f"{base}/source{visit.carry}", tab == "source"))
    return tuple(tabs)


def _notices(visit: Visit, found: RecordDetail) -> tuple[tuple[str, str, Link], ...]:
    """(state, words, link) of what became of the record, the gravest first."""
    carry = visit.carry
    notices = []
    if found.withdrawn_seq is not None:
        reason = covered(found.withdrawal_reason) or "no reason was recorded"
        link = Link(f"seq {count(found.withdrawn_seq)}", f"/ledger/{found.withdrawn_seq}{carry}")
        notices.append(("withdrawn", f"Withdrawn: {reason}.", link))
    if found.row.state == "held":
        until = f" Unreviewed it is withdrawn on {found.held_until:%-d %b %Y}." if found.held_until else ""
        words = f"Held by the review policy: no list, recall or context shows it until a person confirms it.{until}"
        notices.append(("held", words, Link("The Inbox", f"/inbox{carry}")))
    if found.superseded_by is not None:
        link = Link("its successor", f"/records/{found.superseded_by}{carry}")
        notices.append(("superseded", f"Superseded by entry {count(found.superseded_seq)}:", link))
    return tuple(notices)


@require_safe
@page("records")
def versions(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The line of versions, each with what changed since the one before."""
    found = reads.record(visit.at, id=record)
    line = timeline(visit.at, line=found.line)
    texts = reads.texts(visit.at, [entry.row.id for entry in line.entries])
    steps: list[Step] = []
    before: str | None = None
    for entry in line.entries:
        row, text = entry.row, texts.get(entry.row.id)
        diff = word_diff(covered(before), after=covered(text)) if before is not None and text is not None else None
        steps.append(Step(row, f"/records/{row.id}/versions{visit.carry}", row.id == record, diff, *_why(entry)))
        before = text
    context = head(request, visit, found, tab="versions", count_text="")
    left = line.branched_from
    told = {
        "line": line, "steps": tuple(reversed(steps)), "compare_kept": pairs_of(request, without=("record",)),
        "branched_from": Link(str(left.record)[:8], f"/records/{left.record}/versions{visit.carry}") if left else None,
        "line_faults": [(FAULTS[one.code], str(one.version)[:8], str(one.before)[:8]) for one in line.faults],
    }  # fmt: skip
    return render(request, "records/detail.html", {**context, **told})


def _why(entry: Entry) -> tuple[str, str]:
    """Why a version was made, in words, and its note."""
    if entry.reason is None:
        return entry.kind, ""
    return f"{entry.kind}, {entry.reason}{'' if entry.reason_given else ' by default'}", covered(entry.note)


@require_safe
@page("records")
def entries(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The entries that touch the record, newest first."""
    found = reads.record(visit.at, id=record)
    touched = touching(visit.at, record=record)
    names = person_names({one.person for one in touched if one.person is not None})
    lines = [
        (one, verb_words(one.verb), names.get(one.person or 0, "") or one.agent_name or one.principal,
         f"/ledger/{one.seq}{visit.carry}")
        for one in touched
    ]  # fmt: skip
    context = head(request, visit, found, tab="entries")
    return render(request, "records/detail.html", {**context, "entry_lines": lines})


@require_safe
@page("records")
def source(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The row of the source that became the record, as it was read."""
    found = reads.record(visit.at, id=record)
    places = kept_about(visit.at.namespace, [found.row.id])
    stored = contents_of(visit.at.namespace, places)
    erased = {
        (seq, item): by for (seq, item, part), by in erased_parts(visit.at.namespace, places).items() if part == "raw"
    }
    # A finding or a row that never kept a raw row has nothing to show and lost nothing.
    raws = [
        (seq, canonical(stored[seq, item]["raw"]).decode() if "raw" in stored[seq, item] else None,
         erased.get((seq, item)))
        for seq, item in places
        if "raw" in stored[seq, item] or (seq, item) in erased
    ]  # fmt: skip
    context = head(request, visit, found, tab="source")
    imported = canonical(dict(found.imported)).decode() if found.imported else ""
    runs = [f"/imports/{run}" for run in runs_about(visit.at, record=found.row.id)]
    return render(request, "records/detail.html", {**context, "raws": raws, "imported": imported, "runs": runs})


@require_safe
@page("records")
def resolved(request: HttpRequest, visit: Visit, prefix: str) -> HttpResponseBase:
    """An id, or the beginning of one, leads to its record; several lead to a list of candidates."""
    try:
        found = reads.resolved(visit.at, prefix=prefix.strip().lower().removeprefix("rec_"))
    except Ambiguous as error:
        candidates = [UUID(one) for one in error.extra["candidates"]]  # type: ignore[attr-defined]
        rows = reads.rows_by_id(visit.at, candidates)
        listed = [(row, f"/records/{row.id}{visit.carry}") for row in rows.values()]
        context = {"prefix": prefix, "listed": listed}
        return render(request, "records/candidates.html", context, status=error.status)
    except (Invalid, NotFound) as error:
        return refusal(request, error, ways_on=(Link("Records", f"/records{visit.carry}"),))
    return HttpResponseRedirect(f"/records/{found}{visit.carry}")
