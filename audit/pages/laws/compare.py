"""Two records beside each other, blind to what chance and clocks gave them: one class or two, and in what they differ.

Invariants
- Every state is an address: the two records, the point, and the point of the second where it is another one.
- A large namespace is compared by a task, asked for by a POST; its answer is the same page.
- One page shows one namespace: the second record is of this one too.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from audit.access import Visit, page
from audit.frame import words
from audit.laws.bisimilarity import tasks
from audit.navigation import Link, breadcrumbs
from audit.pages.laws.asking import Comparison, shown
from audit.pages.ledger.filtering import seq_of
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.ledger.queries import asof
from memory.records.queries import detail as reads
from memory.records.queries.detail import RecordDetail

KINDS = {
    "value": "says something else",
    "targets": "points at other records",
    "order": "names the same in another order; this alone tells no two records apart",
}
SHOWN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Beside:
    """One difference with what stands on both sides, None where a page cannot show it."""

    name: str
    words: str
    kind: str
    first: str | None
    second: str | None


@require_http_methods(["GET", "HEAD", "POST"])
@page("laws", power="read")
def records(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form, and the answer where both records are named; a POST has a large namespace compared by a worker."""
    asked = {name: request.GET.get(name, "").strip().lower() for name in ("first", "second", "against")}
    comparison = Comparison("laws/compare.html", frame_of, _given, answer)
    return shown(request, visit, comparison, asked=asked, is_asked=bool(asked["first"] and asked["second"]))


def frame_of(visit: Visit) -> dict[str, Any]:
    """What the page shows whatever was asked."""
    return {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link("Compare two records", "")),
        "carried": visit.frame.carried,
    }


def _given(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    """What is compared. Raises Invalid, NotFound, Ambiguous."""
    against = seq_of("against", asked["against"].removeprefix("seq:"))
    then = _point(visit, against)
    first, second = (
        _resolved(at, asked[name]) for at, name in ((visit.at, "first"), (then, "second"))
    )  # fmt: skip
    return tasks.given_records(seq=visit.at.seq, first=first, second=second, against=against)


def _resolved(at: AsOf, text: str) -> UUID:
    """A record by its id or the beginning of it."""
    return reads.resolved(at, prefix=text.replace("-", ""))


def _point(visit: Visit, seq: int | None) -> AsOf:
    return visit.at if seq is None else asof.resolve(visit.at.namespace, known_at=f"seq:{seq}")


def answer(visit: Visit, given: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """The answer in words, with both records as they stand at their points."""
    then = _point(visit, given["against"])
    first = reads.record(_point(visit, given["seq"]), id=UUID(given["first"]))
    second = reads.record(then, id=UUID(given["second"]))
    return {
        "is_same": outcome["is_same_class"],
        "sentence": _sentence(outcome),
        "first": _shown(visit, first, given["seq"]),
        "second": _shown(visit, second, given["against"] if given["against"] is not None else given["seq"]),
        "differences": [_beside(one, first, second) for one in outcome["differences"]],
        "rounds": outcome["rounds"],
    }


def _sentence(outcome: dict[str, Any]) -> str:
    if outcome["is_same_class"]:
        if outcome["differences"]:
            return "Only the order in which they name records differs, and order tells no two of them apart."
        return "Nothing but identifiers and instants tells them apart, however far one follows them."
    parted_at = outcome["parted_at"]
    if parted_at == 0:
        return "They differ in what they say themselves."
    steps = "1 step" if parted_at == 1 else f"{parted_at} steps"
    return f"They say the same; what differs is seen {steps} away, in what they point at."


def _shown(visit: Visit, found: RecordDetail, seq: int) -> dict[str, Any]:
    return {
        "row": found.row, "line": covered(found.row.first_line) or "No text", "seq": seq,
        "url": f"/records/{found.row.id}{visit.carry}",
    }  # fmt: skip


def _beside(one: dict[str, Any], first: RecordDetail, second: RecordDetail) -> Beside:
    name, kind = one["name"], one["kind"]
    if one["is_relation"]:
        told = (_records_words(one["n_first"]), _records_words(one["n_second"]))
        return Beside(name.replace("_", " "), KINDS[kind], kind, *told)
    return Beside(name, KINDS[kind], kind, _value(first, name), _value(second, name))


def _records_words(n: int) -> str:
    return f"{count(n)} record{'' if n == 1 else 's'}" if n else "none"


def _value(found: RecordDetail, name: str) -> str | None:
    """A field as it is read; None for what a record does not have or a page does not hold."""
    row = found.row
    plain: dict[str, Any] = {
        "content": found.content if found.content is not None else "erased", "summary": found.summary,
        "type": row.type, "tags": ", ".join(found.tags), "origin": found.origin, "pointer": found.pointer,
        "source class": row.source_class, "withdrawn": "yes" if found.withdrawn_seq is not None else "no",
        "parents in quarantine": found.n_quarantined,
        "valid from": words(row.valid_from) if row.valid_from else "open",
        "valid to": words(row.valid_to) if row.valid_to else "open",
        **{f"metadata.{key}": value for key, value in found.metadata.items()},
    }  # fmt: skip
    value = plain.get(name)
    if value is None or value == "":
        return None
    text = covered(str(value))
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
