"""The queue of everything that waits for a person: held memories, conflicts, dead ends due, what checks found.

Invariants
- What waits longest comes first; the oldest age stands in the header, and warns from a week on.
- The queue is one query, whatever waits; held memories add what they say, the row of the policy that holds them and
  the memory that stands nearest to each.
- No point in time applies: the queue is about now, and so are its links to what waits, which may be younger than the
  point that the rest of the console is read at. What was turned down or lapsed is one link away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, is_partial, page, person_names
from audit.components import Pager, Tab
from audit.frame import address, short_age
from audit.navigation import MATTERS, Link, Matter, carried_query
from audit.secrets import covered
from audit.templatetags.console import count
from memory.agents.waiting import Wait, waits
from memory.base import instants
from memory.base.errors import Invalid
from memory.base.word_diff import WordDiff, word_diff
from memory.records.queries.held import HeldRow, Settled, held_rows, turned_down

PAGE = 50
DEEPEST = 10_000
TURNED_DOWN = "turned_down"
SHOWN_CHARS = 1_200
OVERDUE_AFTER = timedelta(days=7)
THING_PAGES = {"record": "/records/{}", "fact": "/facts/{}"}
CAUSES = {"person": "rejected", "author": "taken back by its author", "lapse": "lapsed"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A held text beside the nearest memory, both cut to what a reader takes in; `is_cut` says that there is more."""

    diff: WordDiff
    url: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One thing that waits. `value` names it in the form; `held` is set for a held memory."""

    wait: Wait
    matter: Matter
    title: str
    url: str
    age: str
    is_overdue: bool
    is_mine: bool
    value: str = ""
    held: HeldRow | None = None
    text: str = ""
    is_cut: bool = False
    beside: Comparison | None = None


@dataclass(frozen=True, slots=True)
class SettledRow:
    row: Settled
    word: str
    url: str
    who: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of the queue that the address asks for."""

    kind: str
    is_mine: bool
    offset: int


@require_safe
@page("inbox", applies=False)
def index(request: HttpRequest, visit: Visit) -> HttpResponse:
    asked = _asked(request)
    told = recorded.told(request, carry=visit.carry)
    template = "inbox/index.html#queue" if is_partial(request) else "inbox/index.html"
    return render(request, template, {"recorded": told, **_context(visit, asked)})


@require_safe
@page("inbox", applies=False)
def as_json(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The same rows for a program."""
    rows, following = _queue(visit, _asked(request))
    items = [
        {
            "kind": row.wait.key, "id": str(row.wait.about), "of": row.wait.about_kind, "label": row.title,
            "agent": row.wait.agent_name, "seq": row.wait.seq, "since": instants.text(row.wait.since),
            "until": instants.text(row.held.until_at) if row.held is not None and row.held.until_at else None,
            "rule": row.held.rule if row.held is not None else None, "url": row.url,
        }
        for row in rows
    ]  # fmt: skip
    return JsonResponse({"items": items, "next": following or None, "total": visit.frame.n_waiting})


def _asked(request: HttpRequest) -> Asked:
    kind, after = request.GET.get("kind", ""), request.GET.get("after", "")
    if kind and kind not in (*MATTERS, TURNED_DOWN):
        raise Invalid.at("kind", expected=" or ".join((*MATTERS, TURNED_DOWN)), got=kind)
    if after and not (after.isascii() and after.isdecimal() and len(after) <= 5 and int(after) <= DEEPEST):
        raise Invalid.at("after", expected="a cursor from `next`", got=after)
    return Asked(kind, request.GET.get("mine") == "yes", int(after or 0))


def _context(visit: Visit, asked: Asked) -> dict[str, Any]:
    settled: tuple[SettledRow, ...] = ()
    rows: Sequence[QueueRow] = ()
    if asked.kind == TURNED_DOWN:
        settled, following = _settled(visit, asked)
    else:
        rows, following = _queue(visit, asked)
    before = str(max(0, asked.offset - PAGE)) if asked.offset else ""
    return {
        "asked": asked,
        "tabs": _tabs(visit, asked),
        "rows": rows,
        "settled": settled,
        "is_settled": asked.kind == TURNED_DOWN,
        "may_review": visit.actor.may("review") and visit.frame.can_write,
        "has_held": any(row.held is not None for row in rows),
        "mine": Link(
            "everything" if asked.is_mine else "mine to decide", _url(visit, asked.kind, is_mine=not asked.is_mine)
        ),
        "review_url": "/inbox/review",
        "kept": [*visit.frame.carried, *part_of_queue(asked.kind, is_mine=asked.is_mine)],
        "pager": Pager(
            _url(visit, asked.kind, is_mine=asked.is_mine, after=before) if asked.offset else "",
            _url(visit, asked.kind, is_mine=asked.is_mine, after=following) if following else "",
            _range(asked, len(rows) + len(settled)),
        ),
        "now": _now(visit),
        "json_url": f"/inbox.json{visit.carry}",
    }


def part_of_queue(kind: str, *, is_mine: bool) -> list[tuple[str, str]]:
    """The pairs that lead back to a part of the queue: an act on a selection returns where it was made."""
    return [pair for pair in (("kind", kind), ("mine", "yes" if is_mine else "")) if pair[1]]


def _range(asked: Asked, n_rows: int) -> str:
    first = asked.offset + 1 if n_rows else 0
    return f"{count(first)} to {count(asked.offset + n_rows)}, longest waiting first"


def _url(visit: Visit, kind: str, *, is_mine: bool = False, after: str = "") -> str:
    return address("/inbox", [*visit.frame.carried, *part_of_queue(kind, is_mine=is_mine), ("after", after)])


def _tabs(visit: Visit, asked: Asked) -> tuple[Tab, ...]:
    tabs = [Tab("All", _url(visit, "", is_mine=asked.is_mine), not asked.kind, count(visit.frame.n_waiting))]
    for key, matter in MATTERS.items():
        n = visit.frame.n_waits.get(key, 0)
        if n or key in ("inbox", asked.kind):
            tabs.append(Tab(matter.title, _url(visit, key, is_mine=asked.is_mine), key == asked.kind, count(n)))
    return (*tabs, Tab("Turned down or lapsed", _url(visit, TURNED_DOWN), asked.kind == TURNED_DOWN))


def _queue(visit: Visit, asked: Asked) -> tuple[tuple[QueueRow, ...], str]:
    keys = [asked.kind] if asked.kind else list(MATTERS)
    if asked.is_mine:
        keys = [key for key in keys if visit.actor.may(MATTERS[key].power)]
    now = visit.frame.read_at
    found = waits(visit.actor.namespace, now=now, keys=keys, limit=PAGE + 1, offset=asked.offset)
    shown = found[:PAGE]
    held = held_rows(visit.at, [(one.about_kind, one.about) for one in shown if one.key == "inbox"])
    following = str(asked.offset + PAGE) if len(found) > PAGE else ""
    return tuple(_row(visit, one, held.get((one.about_kind, one.about))) for one in shown), following


def _row(visit: Visit, wait: Wait, held: HeldRow | None) -> QueueRow:
    matter = MATTERS[wait.key]
    path = THING_PAGES[wait.about_kind] if wait.key == "inbox" else matter.path
    url = path.format(wait.about, about=wait.about, told=wait.told) + _now(visit)
    title = covered(wait.told) or f"{matter.one} without a name"
    age = short_age(wait.since, read_at=visit.frame.read_at)
    is_overdue = visit.frame.read_at - wait.since >= OVERDUE_AFTER
    is_mine = visit.actor.may(matter.power)
    if held is None or held.shown is None:
        return QueueRow(wait, matter, title, url, age, is_overdue, is_mine, _value(wait), held)
    text, near = covered(held.shown.text), held.shown.near
    beside = None
    if near is not None:
        there = covered(near.text)
        is_cut = max(len(text), len(there)) > SHOWN_CHARS
        diff = word_diff(there[:SHOWN_CHARS], after=text[:SHOWN_CHARS])
        beside = Comparison(diff, THING_PAGES[wait.about_kind].format(near.id) + _now(visit), is_cut)
    return QueueRow(
        wait, matter, title, url, age, is_overdue, is_mine, _value(wait), held, text[:SHOWN_CHARS],
        len(text) > SHOWN_CHARS, beside,
    )  # fmt: skip


def _now(visit: Visit) -> str:
    """What links to things of now end with: the namespace alone."""
    return carried_query({name: value for name, value in visit.frame.carried if name == "ns"})


def _value(wait: Wait) -> str:
    return f"{wait.about_kind}:{wait.about}" if wait.key == "inbox" else ""


def _settled(visit: Visit, asked: Asked) -> tuple[tuple[SettledRow, ...], str]:
    found = turned_down(visit.at, limit=PAGE + 1, offset=asked.offset)
    names = person_names({one.person for one in found if one.person is not None})
    rows = tuple(
        SettledRow(
            one, CAUSES.get(one.cause, one.cause), THING_PAGES[one.kind].format(one.id) + _now(visit),
            names.get(one.person or 0, ""),
        )
        for one in found[:PAGE]
    )  # fmt: skip
    return rows, str(asked.offset + PAGE) if len(found) > PAGE else ""
