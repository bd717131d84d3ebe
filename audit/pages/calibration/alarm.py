"""One alarm: what crossed, with which label, the reliability on both sides of it, and what people did about it.

Invariants
- Each act is a POST to an address of its own, with a reason; refused, the page is shown with what was typed and why.
- A form carries a key: sent twice, it is answered twice and written once.
- Nothing here changes what is stored of forecasts and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names, problem_of
from audit.charts.figures import Figure
from audit.components import Definition
from audit.navigation import Link
from audit.pages.beliefs.words import named
from audit.pages.calibration.figures import around, lag_figure
from audit.pages.calibration.segment import figure_csv, forecasts_of, law_of
from audit.pages.calibration.words import INSTRUMENTS, day_words, segment_url
from audit.pages.records.verbs import ReasonForm
from audit.posting import posted
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.actor import Actor
from memory.base.errors import DomainError, Invalid
from memory.calibration.kernel.windows import Span
from memory.calibration.operations import alarms as operations
from memory.calibration.queries.alarms import AlarmRow, TurnRow
from memory.calibration.queries.alarms import alarm as read
from memory.calibration.queries.verdicts import SegmentRow, segment

FORM = "/calibration/alarms/{alarm}"
FIGURES: Mapping[str, Callable[[Visit, SegmentRow, AlarmRow], Figure]] = {
    "around": lambda visit, row, alarm: around(visit.at, row, alarm),
    "lag": lambda visit, row, alarm: lag_figure(visit.at, row),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person did: the badge, the word, who, when, why (None once erased) and the entry."""

    badge: str
    word: str
    who: str
    at: datetime
    reason: str | None
    entry: Link


@require_safe
@page("calibration")
def detail(request: HttpRequest, visit: Visit, alarm: UUID) -> HttpResponse:
    return _shown(request, visit, alarm)


@require_safe
@page("calibration")
def as_csv(request: HttpRequest, visit: Visit, alarm: UUID) -> HttpResponseBase:
    """The numbers of one figure."""
    name = request.GET.get("figure", "around")
    if name not in FIGURES:
        raise Invalid.at("figure", expected=" or ".join(FIGURES), got=name[:60])
    found = read(visit.at, alarm)
    return figure_csv(visit, f"alarm-{name}", FIGURES[name](visit, segment(visit.at, found.key), found))


@posted(FORM)
@page("calibration", power="review")
def acknowledge(request: HttpRequest, visit: Visit, alarm: UUID) -> HttpResponse:
    return _done(request, visit, alarm, "acknowledge", operations.acknowledge, "The alarm is acknowledged, recorded")


@posted(FORM)
@page("calibration", power="review")
def close(request: HttpRequest, visit: Visit, alarm: UUID) -> HttpResponse:
    return _done(request, visit, alarm, "close", operations.close, "The alarm is closed, recorded")


def _done(
    request: HttpRequest, visit: Visit, alarm: UUID, name: str, act: Callable[..., operations.Turned], words: str
) -> HttpResponse:
    """Do it and go to the page; refused, show the page with the form as it was filled in."""
    form = ReasonForm(request.POST, auto_id=f"{name}_%s")
    if not form.is_valid():
        return _shown(request, visit, alarm, refused={name: form}, status=422)
    by: Actor = visit.once(form.cleaned_data["key"])
    try:
        done = act(by, alarm=alarm, reason=form.cleaned_data["reason"])
    except DomainError as error:
        return _shown(request, visit, alarm, refused={name: form}, error=error, status=error.status)
    recorded.tell(request, words, seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/calibration/alarms/{alarm}{visit.carry}")


def _shown(
    request: HttpRequest, visit: Visit, alarm: UUID, *, refused: Mapping[str, ReasonForm] | None = None,
    error: DomainError | None = None, status: int = 200,
) -> HttpResponse:  # fmt: skip
    found = read(visit.at, alarm)
    row = segment(visit.at, found.key)
    may_review = visit.actor.may("review") and visit.frame.can_write
    context: dict[str, Any] = {
        "told": recorded.told(request, carry=visit.carry),
        "alarm": found,
        "title": f"Alarm since {day_words(found.opened_at)}: {INSTRUMENTS[found.instrument]}",
        "badge": "retired" if found.closed else "open" if found.acknowledged else "alarm",
        "badge_word": "closed" if found.closed else "acknowledged" if found.acknowledged else "waits for a person",
        "tipped": Link(named(found.observation_id), f"/beliefs/observations/{found.observation}{visit.carry}"),
        "label": named(found.label),
        "segment": Link(named(found.source_family), segment_url(found.key, carried=visit.frame.carried)),
        "definitions": _definitions(visit, found),
        "figures": [
            (told(visit, row, found), f"/calibration/alarms/{alarm}.csv{_with(visit.carry, name)}")
            for name, told in FIGURES.items()
        ],
        "forecasts": _forecasts(visit, row, found),
        "turns": _turns(visit, found),
        "forms": _forms(found, refused or {}) if may_review else {},
        "problem": None if error is None else problem_of(request, error),
        "base_url": f"/calibration/alarms/{alarm}",
        "trail": (
            Link("Calibration", f"/calibration{visit.carry}"),
            Link(named(found.source_family), segment_url(found.key, carried=visit.frame.carried)),
            Link(f"Alarm of {day_words(found.opened_at)}", ""),
        ),
    }  # fmt: skip
    return render(request, "calibration/alarm.html", context, status=status)


def _with(carry: str, figure: str) -> str:
    return f"{carry}&figure={figure}" if carry else f"?figure={figure}"


def _forecasts(visit: Visit, row: SegmentRow, found: AlarmRow) -> Any:
    """Those of the window that ended with the label that tipped it."""
    size = row.run.config.current_size
    span = Span(max(found.n_labels - size, 0), found.n_labels)
    return forecasts_of(visit, row, span, law=law_of(visit, row))


def _definitions(visit: Visit, found: AlarmRow) -> list[Definition]:
    promise = (
        "calibrated forecasts ever reach it with the probability of its share of 1 %"
        if found.instrument == "evidence"
        else "a mean number of labels between false alarms; no probability"
    )
    return [
        Definition("instrument", INSTRUMENTS[found.instrument]),
        Definition("opened", f"seq {count(found.seq)}", url=f"/ledger/{found.seq}{visit.carry}", is_code=True),
        Definition("source family", named(found.source_family)),
        Definition("relation type", named(found.relation_type)),
        Definition("monitor run", named(found.run_id)),
        Definition("level", f"{found.level:.2f} nats"),
        Definition("threshold", f"{found.threshold:.2f} nats", title=promise),
        Definition("label of the segment", count(found.n_labels)),
        Definition("open forecasts then", count(found.n_open),
                   title="the promise of the e-process is exact once these are labelled"),
        Definition("epoch", count(found.epoch)),
        Definition("suspended by it", "nothing: an alarm tells, and changes nothing that is stored"),
    ]  # fmt: skip


def _turns(visit: Visit, found: AlarmRow) -> list[Turn]:
    told = (("open", "acknowledged", found.acknowledged), ("retired", "closed", found.closed))
    names = person_names({turn.person for _, _, turn in told if turn is not None and turn.person is not None})
    return [_turn(visit, badge, word, turn, names) for badge, word, turn in told if turn is not None]


def _turn(visit: Visit, badge: str, word: str, turn: TurnRow, names: Mapping[int, str]) -> Turn:
    who = names.get(turn.person or 0, f"person {turn.person}")
    reason = None if turn.reason is None else covered(turn.reason)
    return Turn(badge, word, who, turn.at, reason, Link(count(turn.seq), f"/ledger/{turn.seq}{visit.carry}"))


def _forms(found: AlarmRow, refused: Mapping[str, ReasonForm]) -> dict[str, ReasonForm]:
    """A fresh form for each act that is left, but for the one that was refused."""
    left = [name for name, turn in (("acknowledge", found.acknowledged), ("close", found.closed))
            if turn is None and found.is_open]  # fmt: skip
    fresh = {name: ReasonForm(initial={"key": uuid4().hex}, auto_id=f"{name}_%s") for name in left}
    return {**fresh, **refused}
