"""The board: a row for every invariant, what is broken first, and what has not run told as loudly.

Invariants
- The board has no point in time: it says what is known now. A run says over which entries it looked.
- A waiver moves a row down and is named on it; the verdict beside it stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page
from audit.exports import csv_answer, json_answer
from audit.pages.laws.durations import taken
from audit.pages.laws.invariants import Invariant, listed
from audit.pages.laws.series import caption, days_of, slots, state_of, strip, until_words
from memory.checks.board import CheckStanding, RunPoint, WaiverRow, board

COLUMNS = (
    "check", "title", "family", "state", "violations", "checked", "last_run_at", "at_seq", "seq", "waived_until",
)  # fmt: skip
RANKS = {"violated": 0, "not_run": 1, "undecidable": 3, "holds": 4}
WAIVED_RANK = 2


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One invariant. `n_behind` counts the entries since the last run, and since those that were made beside it.

    took : how long the last run took; None where that is not known.
    """

    invariant: Invariant
    url: str
    state: str
    last: RunPoint | None
    n_behind: int
    waiver: WaiverRow | None
    strip: SafeString
    caption: str
    took: timedelta | None

    @property
    def waived_until(self) -> str:
        return until_words(self.waiver) if self.waiver is not None else ""

    @property
    def n_violations(self) -> int | None:
        return self.last.n_findings if self.last is not None and self.last.is_broken else None

    @property
    def rank(self) -> int:
        if self.state == "violated" and self.waiver is not None:
            return WAIVED_RANK
        return RANKS.get(self.state, WAIVED_RANK)


@require_safe
@page("laws", applies=False)
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    rows = board_rows(visit)
    context = {
        "rows": rows,
        "standing": _standing(rows),
        "recorded": recorded.told(request, carry=visit.carry),
        "can_ask": visit.actor.may("read"),
        "csv_url": f"/laws.csv{visit.carry}",
        "json_url": f"/laws.json{visit.carry}",
    }
    return render(request, "laws/index.html", context)


@require_safe
@page("laws", applies=False)
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The board as CSV."""
    return csv_answer(visit, "invariants", columns=COLUMNS, rows=[_fields(row) for row in board_rows(visit)])


@require_safe
@page("laws", applies=False)
def as_json(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """The board as JSON."""
    rows = [_fields(row) for row in board_rows(visit)]
    return json_answer(visit, rows=rows, most=len(rows))


def board_rows(visit: Visit) -> tuple[BoardRow, ...]:
    """Every invariant in the order of the board: broken, not run, waived, undecidable, holding. Two queries."""
    stands = board(visit.at)
    days, lengths = days_of(stands.values()), taken(visit.at.namespace)
    rows = []
    for invariant in listed(stands):
        standing = stands.get(invariant.name) or CheckStanding(invariant.name, (), ())
        shown = slots(standing, days)
        told = caption(standing, shown)
        row = BoardRow(
            invariant, f"/laws/{invariant.name}{visit.carry}", state_of(standing.last), standing.last,
            n_behind(visit, standing, stands.values()), standing.waiver(visit.frame.read_at),
            strip(shown, title=told), told, lengths.get(str(standing.last.id)) if standing.last is not None else None,
        )  # fmt: skip
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: row.rank))


def n_behind(visit: Visit, standing: CheckStanding, stands: Iterable[CheckStanding]) -> int:
    """How many entries stand behind the last run. Runs over the same entries were made together, and none counts."""
    last = standing.last
    if last is None:
        return 0
    together = [run.seq for other in stands for run in other.runs if run.at_seq == last.at_seq]
    return visit.at.seq - max(together, default=last.seq)


def _standing(rows: tuple[BoardRow, ...]) -> str:
    """The board in one sentence."""
    n_broken = sum(row.rank == RANKS["violated"] for row in rows)
    n_waived = sum(row.rank == WAIVED_RANK for row in rows)
    n_not_run = sum(row.state == "not_run" for row in rows)
    parts = [f"{n_broken} {'is' if n_broken == 1 else 'are'} broken"] if n_broken else []
    parts += [f"{n_waived} {'is' if n_waived == 1 else 'are'} broken and waived"] if n_waived else []
    parts = parts or ["none is known to be broken"]
    parts += [f"{n_not_run} {'has' if n_not_run == 1 else 'have'} never run"] if n_not_run else []
    listed_so = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"Of {len(rows)} invariants {listed_so}."


def _fields(row: BoardRow) -> dict[str, Any]:
    last = row.last
    return {
        "check": row.invariant.name, "title": row.invariant.title, "family": row.invariant.family, "state": row.state,
        "violations": row.n_violations, "checked": last.n_checked if last else None,
        "last_run_at": last.recorded_at if last else None, "at_seq": last.at_seq if last else None,
        "seq": last.seq if last else None, "waived_until": row.waiver.expires_at if row.waiver else None,
    }  # fmt: skip
