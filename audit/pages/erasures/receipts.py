"""What was erased: the list, the receipt of one erasure, and its commitments as a file."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names
from audit.components import Pager
from audit.frame import address
from audit.navigation import Link
from audit.pages.erasures import shown as items
from audit.pages.erasures.forms import REASON_WORDS
from audit.pages.ledger.filtering import seq_of
from audit.secrets import covered
from memory.agents.retention import retention
from memory.ledger.queries import receipts
from memory.ledger.queries.receipts import OUT_OF_REACH, STAYS, ErasureRow, Receipt

PAGE = 50
PARTS_SHOWN = 900

PLACES: Mapping[str, str] = {
    "content": "texts and values",
    "salts": "salts, each with its text",
    "names": "names of the dictionary",
    "record_states": "rows behind lists and recall",
    "record_texts": "documents of the search index",
    "run_references": "references by which runs are found",
    "staged_rows": "staged rows of imports",
    "uploads": "uploads, previews and other finished jobs",
    "task_results": "results of finished tasks",
}
NO_TEXT = frozenset({"heads", "nodes"})
"""Derived tables without any text: they have nothing to forget."""


@require_safe
@page("erasures")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Every erasure, newest first."""
    before = seq_of("before", request.GET.get("before", ""))
    found = receipts.erasures(visit.at, before=before, limit=PAGE + 1)
    rows = found[:PAGE]
    names = person_names({row.person for row in rows if row.person is not None})
    more = str(rows[-1].seq) if len(found) > PAGE else ""
    context = {
        "rows": [_row(row, names) for row in rows],
        "pager": Pager("", address("/erasures", [*visit.frame.carried, ("before", more)]) if more else ""),
        "is_unscrubbed": bool(rows) and before is None and receipts.scrub_after(visit.at, seq=rows[0].seq) is None,
        "newest": rows[0].seq if rows else 0,
        "retention": retention(visit.actor.namespace),
        "may_own": visit.actor.may("own") and visit.frame.can_write,
        "new_link": Link("Erase by subject", f"/erasures/new{visit.carry}"),
    }
    return render(request, "erasures/index.html", context)


@require_safe
@page("erasures")
def shown(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    """The receipt: what is gone, what stays and why, what nobody here can reach."""
    found = receipts.receipt(visit.at, seq=seq, most=PARTS_SHOWN)
    names = person_names({found.row.person} if found.row.person is not None else set())
    context = {
        "trail": (Link("Erasures", f"/erasures{visit.carry}"), Link(f"seq {seq}", "")),
        "found": found,
        "row": _row(found.row, names),
        "note": covered(found.note),
        "touched": _touched(found),
        "groups": items.of_parts(found.parts, {}, carry=visit.carry),
        "n_left_out": found.row.n_parts - len(found.parts),
        "stays": STAYS,
        "out_of_reach": OUT_OF_REACH,
        "told": recorded.told(request, carry=visit.carry),
        "proof_url": f"/ledger/{found.parts[0].seq}{visit.carry}",
        "json_url": f"/api/v1/namespaces/{visit.namespace}/erasures/{seq}",
        "text_url": f"/erasures/{seq}.txt{visit.carry}",
    }
    return render(request, "erasures/detail.html", context)


@require_safe
@page("erasures")
def commitments(request: HttpRequest, visit: Visit, seq: int) -> HttpResponse:
    """One commitment on each line: what a restore of an older archive is given, so that nothing comes back."""
    found = receipts.receipt(visit.at, seq=seq)
    text = "".join(f"{commitment.hex()}\n" for commitment in found.commitments.values())
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{visit.namespace}-erased-{seq}.txt"'
    return response


def _row(row: ErasureRow, names: Mapping[int, str]) -> dict[str, Any]:
    who = names.get(row.person or 0, f"person {row.person}") if row.person is not None else "the system"
    return {"row": row, "who": who, "reason": REASON_WORDS.get(row.reason, row.reason)}


def _touched(found: Receipt) -> tuple[tuple[str, int], ...] | None:
    """(place in words, how many) of every place that an erasure goes through; None where the counts are erased."""
    if found.touched is None:
        return None
    counts: dict[str, int] = {name: found.touched[name] for name in ("content", "salts", "names")}
    elsewhere = {**found.touched["projections"], **found.touched["swept"]}
    counts |= {name: n for name, n in elsewhere.items() if name not in NO_TEXT}
    return tuple((PLACES.get(name, name.replace("_", " ")), n) for name, n in counts.items())
