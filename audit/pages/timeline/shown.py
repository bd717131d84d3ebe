"""The page of a timeline: picture, answer at the point, what was learned between two recordings, the same as a table.

Invariants
- The point of the page is the crosshair; moving it is a link, so the address always says what is shown.
- The picture, the table and the files come from one value. The table and the files hold every version that was read.
- The number of queries does not grow with the versions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.charts.bitemporal import MARKS, bitemporal_svg, title_of
from audit.charts.bitemporal_values import BEGINNING, Known, Learned, Point, Version
from audit.components import Hidden, Pager, Tab
from audit.frame import address, words
from audit.navigation import Link
from audit.pages.timeline import choosing, lines, subjects
from audit.pages.timeline.asking import (
    Asked,
    asked,
    compared_with,
    horizon,
    pinned,
    point_pairs,
    shown_instant,
    typed,
)
from audit.pages.timeline.told import Steps, Told, stands_how, steps
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.base.errors import CODES, NotFound
from memory.records.queries.detail import NO_SOURCE_TIME, entries_of

ROWS, LEARNED_ROWS = 25, 20
HIDDEN_WORDS = {NO_SOURCE_TIME: "without an instant of the source", "candidate": "unconfirmed"}
STEP_WORDS = {
    "left": "to the change before, of what is true", "right": "to the next change of what is true",
    "down": "to the recording before", "up": "to the next recording",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One version of the table; `known_from_url` and `known_to_url` lead to the entries."""

    version: Version
    how: str
    is_here: bool
    known_from_url: str
    known_to_url: str


@dataclass(frozen=True, slots=True)
class Step:
    """One way of the crosshair: the key, the arrow it has, where it leads ("" where nothing lies there)."""

    way: str
    arrow: str
    words: str
    url: str


@require_safe
@page("timeline")
def index(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """A timeline; without one asked for, what there is to choose from."""
    given = typed(request, asked(request))
    if isinstance(given, str):
        return HttpResponseRedirect(given)
    against, given = compared_with(visit, given)
    if target := pinned(visit, given, against):
        return HttpResponseRedirect(target)
    if given.record is None and not given.subject:
        return render(request, "timeline/choose.html", choosing.context(visit, given))
    status = CODES["invalid"].status if given.faults else 200
    upto = horizon(visit, given, against)
    try:
        found = read(visit, given, upto, against)
    except NotFound:
        # It came to be after the last entry that is asked for, or never.
        whole = read(visit, given, replace(upto, seq=upto.head, source_at=None), None)
        return render(request, "timeline/index.html", _nothing(visit, given, whole, whole), status=status)
    if not found.versions:
        whole = read(visit, given, replace(upto, seq=upto.head, source_at=None), None)
        return render(request, "timeline/index.html", _nothing(visit, given, found, whole), status=status)
    return render(request, "timeline/index.html", _context(visit, given, found, upto), status=status)


def read(visit: Visit, given: Asked, upto: AsOf, against: AsOf | None) -> Told:
    """The timeline that the address asks for. Raises NotFound (of no record by then)."""
    point = Point(visit.at.valid_at, _known(visit.at))
    if given.record is None:
        return subjects.told(visit, given, until=upto.seq, point=point, against=against)
    other = _other(visit, against)
    return lines.told(visit, given, record=given.record, horizon=upto, point=point, against=other)


def _known(at: AsOf) -> Known:
    """The recording of the point. Before the first entry there is none: it stands before every one."""
    if at.source_at is not None:
        return Known(at.source_at)
    return Known(at.known_at, at.seq) if at.known_at is not None and at.seq else BEGINNING


def _other(visit: Visit, against: AsOf | None) -> Known | None:
    """The recording to compare with, by one query where its instant is not known yet.

    Readings of two kinds do not mix: a seq beside a source's own instants is read by its recorded instant.
    """
    if against is None:
        return None
    if against.source_at is not None:
        return Known(against.source_at)
    if against.seq == 0:
        return BEGINNING
    if against.seq == visit.at.seq and visit.at.known_at is not None:
        return Known(visit.at.known_at, against.seq)
    return Known(entries_of(visit.at.namespace, [against.seq])[against.seq].recorded_at, against.seq)


def _context(visit: Visit, given: Asked, found: Told, upto: AsOf) -> dict[str, Any]:
    picture = found.picture(is_ordinal=given.is_ordinal)
    rows = sorted(found.versions, key=lambda one: (one.group, one.known_from, one.id), reverse=True)
    shown = rows[given.after : given.after + ROWS]
    return {
        **_head(visit, given, found),
        # The drawing escapes all that it is given.
        "svg": mark_safe(bitemporal_svg(picture)),  # noqa: S308
        "caption": title_of(picture).removeprefix("Timeline: "),
        "answers": found.answers,
        "announce": _announced(found),
        "steps": _steps(visit, given, found),
        "scales": (
            Tab("true", given.setting(scale=""), is_current=not given.is_ordinal),
            Tab("ordinal", given.setting(scale="ordinal"), is_current=given.is_ordinal),
        ),
        **_compared(given, found),
        "rows": tuple(_row(visit, found, one) for one in shown),
        "total_text": f"{count(len(rows))} version{'' if len(rows) == 1 else 's'}",
        "n_left_out": count(found.n_total - len(rows)) if found.n_total > len(rows) else "",
        "pager": _pager(given, len(rows), len(shown)),
        "until": f"drawn up to seq {count(upto.seq)}",
    }


def _head(visit: Visit, given: Asked, found: Told) -> dict[str, Any]:
    """What stands on the page whether or not there is something to draw."""
    known = found.point.known
    recorded_by = dict(given.pairs).get("known_at", "")
    return {
        "title": found.title,
        "kind": found.kind,
        "about_url": found.url,
        "trail": (Link("Timeline", f"/timeline{visit.carry}"), Link(found.title[:60], "")),
        "attributes": _attributes(given, found),
        "hidden": tuple(
            Hidden(HIDDEN_WORDS.get(word, word), count(n), _showing(visit, given, word))
            for word, n in sorted(found.hidden.items())
        ),
        "fields_kept": given.without("true_on", "recorded_by"),
        "against_kept": given.without("against"),
        "true_on": shown_instant(found.point.valid_at) if visit.at.valid_pinned else "",
        "recorded_by": recorded_by or (f"seq:{known.seq}" if visit.at.valid_pinned else ""),
        "against_typed": dict(given.pairs).get("against", ""),
        "faults": dict(given.faults),
        "is_claimed": found.is_claimed,
        "csv_url": given.export("csv"),
        "json_url": given.export("json"),
    }


def _attributes(given: Asked, found: Told) -> tuple[Tab, ...]:
    if len(found.attributes) < 2:
        return ()
    every = Tab("all", given.setting(attribute=""), is_current=not given.attribute)
    return (every, *(
        Tab(name, given.setting(attribute=name), is_current=name == given.attribute, count_text=count(n))
        for name, n in found.attributes
    ))  # fmt: skip


def _showing(visit: Visit, given: Asked, word: str) -> str:
    """The address that shows what is left out: more of it, or the present where no reading of a source has it."""
    if word == NO_SOURCE_TIME:
        return given.setting(known_at="")
    return given.setting(include=",".join(sorted({*given.include, word})))


def _announced(found: Told) -> str:
    told = "; ".join(
        (f"{one.group}: " if one.group else "")
        + (" or ".join(side.value for side in one.sides) if one.status == "known" else one.status)
        for one in found.answers
    )
    known = found.point.known
    return f"true on {words(found.point.valid_at)}, recorded by seq {known.seq}: {told}"


def _steps(visit: Visit, given: Asked, found: Told) -> tuple[Step, ...]:
    """The four ways of the arrow keys, each a link that sets both clocks."""
    moves: Steps = steps(found.versions, found.point)
    point = found.point

    def url(to: Point | None) -> str:
        if to is None:
            return ""
        known_at = f"source:{point_pairs(to.known.at, '')['valid_at']}" if found.is_claimed else f"seq:{to.known.seq}"
        return given.setting(**point_pairs(to.valid_at, known_at))

    targets = {
        "left": Point(moves.left, point.known) if moves.left else None,
        "down": Point(point.valid_at, moves.down) if moves.down else None,
        "up": Point(point.valid_at, moves.up) if moves.up else None,
        "right": Point(moves.right, point.known) if moves.right else None,
    }
    arrows = {"left": "←", "down": "↓", "up": "↑", "right": "→"}
    return tuple(Step(way, arrows[way], STEP_WORDS[way], url(targets[way])) for way in arrows)


def _learned(one: Learned) -> dict[str, Any]:
    return {
        "group": one.group, "mark": MARKS[one.change], "change": one.change, "valid_from": one.valid_from,
        "valid_to": one.valid_to, "before": [side.value for side in one.before],
        "after": [side.value for side in one.after],
    }  # fmt: skip


def _compared(given: Asked, found: Told) -> dict[str, Any]:
    """What was learned between the two recordings, as many stretches as there is room for, and how many in all."""
    if found.against is None:
        return {"against": None}
    told = found.learned
    earlier, later = sorted((found.against, found.point.known))
    counts = {change: sum(one.change == change for one in told) for change in ("added", "removed", "changed")}
    against = {
        "earlier": _recording(earlier), "later": _recording(later), "without_url": given.setting(against=""),
        "counts": tuple((change, count(n)) for change, n in counts.items()),
        "n_more": count(len(told) - LEARNED_ROWS) if len(told) > LEARNED_ROWS else "", "json_url": given.export("json"),
    }  # fmt: skip
    return {"against": against, "learned": tuple(_learned(one) for one in told[:LEARNED_ROWS])}


def _recording(known: Known) -> str:
    if known == BEGINNING:
        return "the beginning"
    return f"seq {count(known.seq)}" if known.seq else f"what the source says it knew by {words(known.at)}"


def _row(visit: Visit, found: Told, version: Version) -> Row:
    ends = (version.known_from, version.known_to)
    urls = [f"/ledger/{end.seq}{visit.carry}" if end is not None and end.seq else "" for end in ends]
    return Row(version, stands_how(version, found.point), version.stands(found.point), *urls)


def _pager(given: Asked, n_rows: int, n_shown: int) -> Pager:
    before = given.setting(after=str(max(0, given.after - ROWS))) if given.after else ""
    behind = given.setting(after=str(given.after + ROWS)) if given.after + ROWS < n_rows else ""
    last = given.after + n_shown
    return Pager(before, behind, f"{count(given.after + 1)} to {count(last)} of {count(n_rows)}, newest first")


def _nothing(visit: Visit, given: Asked, found: Told, whole: Told) -> dict[str, Any]:
    """Nothing stands in the timeline up to what is drawn: where something does in the whole of it, as links."""
    if not whole.versions and not whole.hidden:
        asked_of = f"subject is {given.subject}" + (f" and attribute is {given.attribute}" if given.attribute else "")
        kept = [pair for pair in given.pairs if pair[0] in ("ns", "valid_at", "known_at")]
        empty = {"kind": "no_match", "words": asked_of, "clear_url": address(given.path, kept)}
        return {**_head(visit, given, found), "empty": empty}
    begun = sorted(version.known_from for version in whole.versions)
    ends = [
        Link(words(known.at), given.setting(**point_pairs(known.at, f"seq:{known.seq}"), until=""))
        for known in (begun[:1] + begun[-1:] if begun else ())
    ]
    return {
        **_head(visit, given, found),
        "empty": {"kind": "not_then", "first": ends[0] if ends else None, "last": ends[-1] if ends else None,
                  "source_url": visit.frame.as_of.source_url},
    }  # fmt: skip
