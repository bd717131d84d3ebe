"""One invariant: what it says and why, how its last run came out, every counterexample with its next step."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names
from audit.components import Definition, Pager
from audit.frame import address
from audit.laws.values import Verdict
from audit.navigation import Link, breadcrumbs
from audit.pages.laws import series, witnesses
from audit.pages.laws.board import n_behind
from audit.pages.laws.durations import taken
from audit.pages.laws.invariants import BY_NAME, Invariant, code_of, listed
from audit.templatetags.console import count, duration
from memory.base.errors import NotFound
from memory.checks.board import Broken, CheckStanding, board, broken
from memory.checks.queries import CheckDetail, check_run

# What is read in a source is no finding in data, and has words of its own.
READINGS: dict[Verdict, str] = {"holds": "holds", "violated": "fails"}


@require_safe
@page("laws", applies=False)
def shown(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    stands = board(visit.at)
    invariant = invariant_of(name, stands)
    standing = stands.get(name) or CheckStanding(name, (), ())
    last = standing.last
    found = check_run(visit.at, id=last.id) if last is not None else None
    slots = series.slots(standing, series.days_of(stands.values()))
    told, waiver = series.caption(standing, slots), standing.waiver(visit.frame.read_at)
    context = {
        "trail": (*breadcrumbs("laws", carry=visit.carry), Link(invariant.name, "")),
        "invariant": invariant,
        "state": series.state_of(last),
        "says": _says(invariant),
        "facts": _facts(visit, standing, found, n_behind(visit, standing, stands.values())),
        "seen": _seen(broken(visit.at, name=name) if standing.runs else Broken(None, None, 0)),
        "waived_until": series.until_words(waiver) if waiver is not None else "",
        "waivers": _waivers(visit, standing),
        "caption": told,
        "strip": series.strip(slots, title=told),
        "slots": slots[::-1],
        "runs": [(run, series.state_of(run)) for run in standing.runs[::-1]],
        "code": code_of(name),
        "recorded": recorded.told(request, carry=visit.carry),
        "can_ask": visit.actor.may("read"),
        "can_waive": visit.actor.may("own") and visit.frame.can_write,
        **(_found(request, visit, found) if found is not None else {}),
    }
    return render(request, "laws/detail.html", context)


def invariant_of(name: str, known: Any = ()) -> Invariant:
    """The invariant of a check that is described, or that has run. Raises NotFound."""
    for invariant in listed(known):
        if invariant.name == name:
            return invariant
    raise NotFound(f"There is no invariant {name[:60]!r}; there are {', '.join(BY_NAME)}.")


def _says(invariant: Invariant) -> tuple[Definition, ...]:
    told = [
        ("statement", invariant.statement), ("why it matters", invariant.matters), ("decided", invariant.decided),
        ("holds here because", invariant.here),
    ]  # fmt: skip
    if (law := invariant.law) is not None:
        told.append(("in ContextFS 0.2.35", f"{READINGS[law.paper]} by its source: {law.paper_because}"))
    return tuple(Definition(term, text) for term, text in told if text)


def _facts(
    visit: Visit, standing: CheckStanding, found: CheckDetail | None, behind: int
) -> tuple[Definition, ...]:  # fmt: skip
    if found is None:
        return ()
    row = found.row
    since = f"; {count(behind)} entr{'y' if behind == 1 else 'ies'} since" if behind else "; nothing since"
    took = taken(visit.at.namespace).get(str(row.id))
    return (
        Definition("looked at", f"seq 1 to {count(row.at_seq)}{since}"),
        *(
            (Definition("took", f"{duration(took)}, from being asked for to being written down"),)
            if took is not None
            else ()
        ),
        Definition("checked", f"{count(row.n_checked)} rows"),
        Definition("found", count(row.n_findings)),
        Definition("recorded as", f"seq {count(row.seq)}", f"/ledger/{row.seq}{visit.carry}"),
        Definition("the whole run", "findings and report", f"/ledger/checks/{row.id}{visit.carry}"),
    )


def _seen(seen: Broken) -> dict[str, Any]:
    return {"first_at": seen.first_at, "last_at": seen.last_at, "n_runs": seen.n_runs}


def _waivers(visit: Visit, standing: CheckStanding) -> list[dict[str, Any]]:
    """Every waiver that was ever given, newest first, with who gave it."""
    names = person_names({one.person for one in standing.waivers if one.person is not None})
    return [
        {
            "row": one,
            "who": names.get(one.person or 0, "somebody whose account is gone"),
            "until": series.until_words(one),
            "is_live": one.is_live(visit.frame.read_at),
            "url": f"/ledger/{one.seq}{visit.carry}",
        }
        for one in standing.waivers
    ]


def _found(request: HttpRequest, visit: Visit, found: CheckDetail) -> dict[str, Any]:
    """One page of the counterexamples; `from` is the place of its first one."""
    every = witnesses.counterexamples(visit, found)
    asked = request.GET.get("from", "")
    start = min(int(asked), len(every)) if asked.isdecimal() and len(asked) < 7 else 0
    rows = every[start : start + witnesses.LISTED]
    kinds = witnesses.kinds_of(found)
    n_violations = sum(kind.count for kind in kinds if kind.severity == "violation")

    def at(place: int) -> str:
        return address(request.path, [*visit.frame.carried, ("from", str(place) if place else "")]) + "#counterexamples"

    before = at(max(0, start - witnesses.LISTED)) if start else ""
    behind = at(start + witnesses.LISTED) if start + witnesses.LISTED < len(every) else ""
    text = f"{count(start + 1)} to {count(start + len(rows))} of {count(len(every))} kept" if rows else ""
    return {
        "found": found,
        "kinds": kinds,
        "n_violations": n_violations,
        "n_unlisted": max(0, n_violations - len(every)),
        "rows": rows,
        "pager": Pager(before, behind, text),
        "asides": witnesses.asides(visit, found),
        "decided_by": witnesses.decided_by(found),
        "is_erased": found.report is None,
    }
