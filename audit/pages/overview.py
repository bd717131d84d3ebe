"""The first page: what this namespace holds, what was verified, what was written lately; before that, its first steps.

Invariants
- An empty namespace shows three steps; each ticks itself from the ledger, and the first thing that is kept ends them:
  a record, a fact, an observation or a dead end.
- What was not checked says so; a number that is a link leads to a page that shows that many.
- Only the last entries and the banners are polled, and only now: neither the past nor a replay changes.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from audit.access import Visit, is_partial, page
from audit.charts.spark import SparkBar, spark_svg
from audit.connecting import blocks, server_url
from audit.entry_words import EntryLine, entry_line
from audit.frame import address, pairs_of
from audit.navigation import Link
from audit.templatetags.console import count
from memory.agents import activity
from memory.agents.activity import Day
from memory.agents.overview import CAP, Overview, overview
from memory.facts.queries.daily import opened_and_closed
from memory.interchange.origins import origins

N_LATEST = 20
KEPT = frozenset({"facts", "beliefs", "tombstones"})
"""Pages that hold what an agent keeps, beside records."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of small bars with its finding in one sentence."""

    caption: str
    unit: str
    svg: SafeString
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """The three first steps, as the ledger has them."""

    has_agent: bool
    has_import: bool
    has_second: bool
    agent_entry: Link | None


@require_safe
@page("overview")
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    if is_partial(request):
        return render(request, "overview/index.html#polled", _polled(request, visit))
    told = overview(visit.at, now=visit.frame.read_at)
    is_empty = not told.counts["every_record"] and not visit.frame.populated & KEPT
    is_first_run = visit.at.is_now and is_empty
    context = _first_run(request, visit, told) if is_first_run else _usual(visit, told)
    return render(request, "overview/index.html", {"told": told, **context, **_polled(request, visit)})


@require_safe
@page("overview")
def as_csv(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The numbers of the strips."""
    told = overview(visit.at, now=visit.frame.read_at)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("day", "writes", "refused", "conflicts opened", "conflicts closed"))
    days = _days(visit, told)
    turns = opened_and_closed(visit.at, [row.day for row in days])
    writer.writerows(
        (row.day.isoformat(), row.n_writes, row.n_refused, *(turn if row.n_writes is not None else (None, None)))
        for row, turn in zip(days, turns, strict=True)
    )
    name = f"{visit.namespace}-days-seq-{visit.at.seq}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _polled(request: HttpRequest, visit: Visit) -> dict[str, Any]:
    """The last entries, and the addresses that read them again or stop that."""
    kept = pairs_of(request, without=("paused",))
    is_paused = request.GET.get("paused") == "yes"
    return {
        "lines": _lines(visit),
        "is_polled": visit.at.is_now and not any(banner.kind == "replay" for banner in visit.frame.banners),
        "is_paused": is_paused,
        "poll_url": address("/", kept),
        "toggle_url": address("/", kept if is_paused else [*kept, ("paused", "yes")]),
    }


def _lines(visit: Visit) -> tuple[EntryLine, ...]:
    return tuple(entry_line(told, carry=visit.carry) for told in activity.latest(visit.at, limit=N_LATEST))


def _first_run(request: HttpRequest, visit: Visit, told: Overview) -> dict[str, Any]:
    carry = visit.carry
    entry = Link(f"seq {count(told.agent_seq)}", f"/ledger/{told.agent_seq}{carry}") if told.agent_seq else None
    has_second = told.n_people > 1 or visit.frame.single_owner
    begun = Begun(told.agent_seq is not None, bool(told.counts["imports"]), has_second, entry)
    curl = blocks(url=server_url(request), namespace=visit.namespace)[0]
    return {"begun": begun, "curl": curl, "may_own": visit.actor.may("own") and visit.frame.can_write}


def _usual(visit: Visit, told: Overview) -> dict[str, Any]:
    return {
        "counts": _counts(visit, told),
        "n_more": told.counts["every_record"] - told.counts["records"] - told.counts["held"],
        "more_url": address(
            "/records",
            [
                *visit.frame.carried,
                ("state", "superseded"),
                ("state", "withdrawn"),
                ("state", "erased"),
                ("state", "not_valid"),
            ],
        ),
        "strips": _strips(visit, _days(visit, told)),
        "csv_url": f"/overview.csv{visit.carry}",
        "origins": origins(visit.at) if told.counts["imports"] else [],
    }


def _counts(visit: Visit, told: Overview) -> dict[str, Link]:
    """What stands here, each with the page that shows it; what is not there is no link."""
    words = {"records": ("record", "records"), "runs": ("run", "runs"), "imports": ("import", "imports")}
    return {
        key: Link(
            f"{_capped(told.counts[key])} {one if told.counts[key] == 1 else many}",
            f"/{key}{visit.carry}" if told.counts[key] else "",
        )
        for key, (one, many) in words.items()
    }


def _capped(n: int) -> str:
    return f"{count(CAP)}+" if n > CAP else count(n)


def _days(visit: Visit, told: Overview) -> list[Day]:
    """The last two weeks up to the point; a replay ends with its last event."""
    until: datetime = visit.at.valid_at
    if told.is_replay or not visit.at.is_now:
        until = visit.at.known_at or until
    return activity.days(visit.at, founded_at=told.founded_at, until=until)


def _strips(visit: Visit, days: Sequence[Day]) -> tuple[Strip, ...]:
    writes = _strip([(row, row.n_writes) for row in days], one="write", many="writes", none="Nothing was written")
    # What the store writes down; a wrong input, a missing right or a stale version is answered and stays in the log.
    refused = _strip(
        [(row, row.n_refused) for row in days],
        one="write refused by a stop", many="writes refused by a stop", none="No write was refused by a stop",
    )  # fmt: skip
    return writes, refused, _conflicts(visit, days)


def _conflicts(visit: Visit, days: Sequence[Day]) -> Strip:
    """Bars of what opened; what closed stands in the words and in the table."""
    turns = opened_and_closed(visit.at, [row.day for row in days])

    def words(opened: int, closed: int) -> str:
        return f"{count(opened)} conflict{'' if opened == 1 else 's'} opened, {count(closed)} closed"

    total = words(*(sum(turn[side] for turn in turns) for side in (0, 1)))
    caption = f"{total} in {len(days)} days" if any(map(any, turns)) else f"No conflict opened in {len(days)} days"
    told = [
        (row, "no data: before the namespace was founded" if row.n_writes is None else words(*turn))
        for row, turn in zip(days, turns, strict=True)
    ]
    bars = [
        SparkBar(f"{row.day:%-d %b}", None if row.n_writes is None else turn[0], said)
        for (row, said), turn in zip(told, turns, strict=True)
    ]
    rows = tuple((f"{row.day:%-d %b %Y}", said.partition(":")[0]) for row, said in told)
    # The drawing escapes what it is given.
    return Strip(caption, "conflicts", mark_safe(spark_svg(bars, title=caption)), rows)  # noqa: S308


def _strip(values: Sequence[tuple[Day, int | None]], *, one: str, many: str, none: str) -> Strip:
    def words(n: int | None) -> str:
        return "no data: before the namespace was founded" if n is None else f"{count(n)} {one if n == 1 else many}"

    total = sum(n or 0 for _, n in values)
    busiest = max(values, key=lambda pair: pair[1] or 0)
    peak = f", most on {busiest[0].day:%-d %b} ({count(busiest[1])})" if total else ""
    caption = f"{words(total)} in {len(values)} days{peak}" if total else f"{none} in {len(values)} days"
    bars = [SparkBar(f"{row.day:%-d %b}", n, words(n)) for row, n in values]
    rows = tuple((f"{row.day:%-d %b %Y}", "no data" if n is None else count(n)) for row, n in values)
    # The drawing escapes what it is given.
    return Strip(caption, many, mark_safe(spark_svg(bars, title=caption)), rows)  # noqa: S308


patterns = [path("", index, name="index"), path("overview.csv", as_csv, name="csv")]
urlpatterns = [path("", include((patterns, "overview")))]
