"""Whether confidence means what it says: one verdict line for each segment, alarms first, and one figure beside them.

How it is decided is folded, and its fold is in the address; the rates of false alarms stand at the foot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.exports import csv_answer
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.pages.beliefs.words import named
from audit.pages.calibration.figures import reliability_of
from audit.pages.calibration.measured import COMMAND, FALSE_ALARMS, POWER, POWER_COMMAND, SIZE_WORDS
from audit.pages.calibration.words import INSTRUMENTS, VerdictWords, about, evidence_words, segment_url, verdict_of
from audit.templatetags.console import count
from memory.base.errors import Invalid
from memory.calibration.kernel.watching import ALPHA, RUN_LENGTH
from memory.calibration.queries.verdicts import SegmentRow, segments

MOST = 50
CSV_COLUMNS = (
    "source_family", "relation_type", "run_id", "verdict", "since", "confidence", "came_true", "labels", "pending",
    "labels_needed", "evidence_nats", "evidence_threshold_nats", "alarms_open", "bets", "bets_per_lane",
    "outside_bands",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """A segment in one line. `alarms` are those that stand, each a link."""

    verdict: VerdictWords
    url: str
    family: str
    under: str
    n_labeled: int
    n_pending: int
    evidence: str
    alarms: tuple[Link, ...]
    is_listed: bool


@require_safe
@page("calibration")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    start = _start(request)
    rows = segments(visit.at)
    shown = rows[start : start + MOST]
    first = rows[0] if rows else None
    is_open = request.GET.get("how") == "open"
    context = {
        "lines": [_line(visit, row) for row in shown],
        "count_text": count(len(rows)),
        "range_text": _range(start, len(shown), len(rows)),
        "next_url": _page_url(request, start + MOST) if start + MOST < len(rows) else "",
        "first_url": _page_url(request, 0) if start else "",
        "told": _told(rows),
        "figure": None if first is None else reliability_of(first),
        "figure_title": "" if first is None else about(first),
        "figure_url": "" if first is None else segment_url(first.key, carried=visit.frame.carried),
        "figure_csv": ""
        if first is None
        else segment_url(first.key, carried=visit.frame.carried, suffix=".csv", figure="reliability"),
        "how_is_open": is_open,
        "how_url": _how_url(request, is_open=not is_open),
        "alpha": f"{100 * ALPHA:g} %",
        "run_length": count(RUN_LENGTH),
        "n_listed": sum(row.is_listed for row in rows),
        "false_alarms": FALSE_ALARMS,
        "measured_on": SIZE_WORDS,
        "command": COMMAND,
        "power": POWER,
        "power_command": POWER_COMMAND,
        "csv_url": f"/calibration.csv{visit.carry}",
        "empty": None if rows else _empty(visit),
        "actions": (Link("Beliefs", f"/beliefs{visit.carry}"),),
    }
    return render(request, "calibration/index.html", context)


@require_safe
@page("calibration")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Every segment, with its verdict."""
    rows = ({**dict.fromkeys(CSV_COLUMNS), **_cells(row)} for row in segments(visit.at))
    return csv_answer(visit, "calibration", columns=CSV_COLUMNS, rows=rows)


def _cells(row: SegmentRow) -> dict[str, Any]:
    found: dict[str, Any] = {
        "source_family": named(row.source_family), "relation_type": named(row.relation_type),
        "run_id": named(row.run_id), "verdict": row.verdict, "since": row.since, "labels": row.n_labeled,
        "pending": row.n_pending, "labels_needed": row.n_needed, "evidence_nats": f"{row.watch.log_evidence:.4f}",
        "evidence_threshold_nats": f"{row.watch.evidence_threshold:.4f}", "alarms_open": len(row.standing),
        "bets": row.watch.n_bets, "bets_per_lane": f"{row.watch.bets_per_lane:.2f}", "outside_bands": row.is_outside,
    }  # fmt: skip
    if row.lean is not None:
        found |= {"confidence": f"{row.lean.confidence:.4f}", "came_true": f"{row.lean.accuracy:.4f}"}
    return found


def _line(visit: Visit, row: SegmentRow) -> Line:
    return Line(
        verdict_of(row), segment_url(row.key, carried=visit.frame.carried), named(row.source_family),
        f"{named(row.relation_type)} · {named(row.run_id)}", row.n_labeled, row.n_pending, evidence_words(row),
        tuple(
            Link(INSTRUMENTS[alarm.instrument], f"/calibration/alarms/{alarm.id}{visit.carry}")
            for alarm in row.standing
        ),
        row.is_listed,
    )  # fmt: skip


def _told(rows: list[SegmentRow]) -> str:
    """The verdicts counted, in one line."""
    words = (("alarm", "with an alarm"), ("no_alarm", "without an alarm yet"), ("calibrated", "calibrated"),
             ("too_few", "with too few labels to say"))  # fmt: skip
    counted = [(sum(row.verdict == verdict for row in rows), said) for verdict, said in words]
    return ", ".join(f"{count(n)} {said}" for n, said in counted if n)


def _start(request: HttpRequest) -> int:
    text = request.GET.get("after", "")
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise Invalid.at("after", expected="a whole number", got=text)
    return int(text or 0)


def _page_url(request: HttpRequest, start: int) -> str:
    kept = pairs_of(request, without=("after",))
    return address("/calibration", [*kept, ("after", str(start) if start else "")])


def _how_url(request: HttpRequest, *, is_open: bool) -> str:
    kept = pairs_of(request, without=("how",))
    return address("/calibration", [*kept, ("how", "open" if is_open else "")]) + "#how"


def _range(start: int, n_shown: int, n_all: int) -> str:
    if n_shown == n_all:
        return ""
    return f"{start + 1} to {start + n_shown} of {count(n_all)}, alarms first; {count(n_all - n_shown)} on other pages"


def _empty(visit: Visit) -> dict[str, Any]:
    if not visit.at.is_now:
        how = "What is watched now is on this page at the present; a point in time shows what was watched by then."
        return {"kind": "nothing_yet", "title": "No forecast was watched by then", "how": how, "action": None}
    how = "A monitor run is opened by PUT /monitors; observations that name it are kept as forecasts, and each label "
    how += "that comes for one is scored."
    return {"kind": "nothing_yet", "title": "No forecast is watched yet", "how": how, "action": None}
