"""Routes of calibration: labels and their batches, reports of a run, what people do about an alarm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query
from ninja.responses import Status

from memory.base import batches, gate
from memory.base.bodies import JSON, require_type
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.schemas import Id
from memory.beliefs import payloads
from memory.beliefs.kernel.acts import outcome_document, outcome_schema
from memory.beliefs.kernel.documents import read_payload
from memory.beliefs.profiles import profile_of
from memory.beliefs.schemas import Identifier, Profiled
from memory.calibration.operations import alarms, recording
from memory.calibration.queries import reports
from memory.calibration.schemas import AlarmTurnOut, AnyReportOut, OutcomeBatchOut, OutcomeOut, ReportAsked, TurnIn
from memory.ledger.queries import asof
from memory.ledger.schemas import Point

routes = Routes("calibration")

OUTCOME = outcome_schema(profile="native")
SENT, SENT_BATCH = payloads.sent(OUTCOME), payloads.sent(OUTCOME, many=True)


@routes.write("/outcomes", need=gate.WRITE, answer=OutcomeOut, makes=True, extra=SENT)
def record(request: Entered, asked: Query[Profiled]) -> Status[OutcomeOut]:
    """Tell the true relation of an observation; with a reason, correct what was told before."""
    return _recorded(request, asked)


@routes.write("/labels", need=gate.WRITE, answer=OutcomeOut, makes=True, extra=SENT)
def label(request: Entered, asked: Query[Profiled]) -> Status[OutcomeOut]:
    """The same as `POST /outcomes`."""
    return _recorded(request, asked)


@routes.write("/outcomes/batch", need=gate.WRITE, answer=OutcomeBatchOut, makes=True, extra=SENT_BATCH)
def record_batch(request: Entered, asked: Query[Profiled], *, atomic: bool = True) -> Status[OutcomeBatchOut]:
    """Tell many labels as one entry: all or nothing, or with `atomic=false` those that can be told."""
    return _recorded_batch(request, asked, atomic=atomic)


@routes.write("/labels/batch", need=gate.WRITE, answer=OutcomeBatchOut, makes=True, extra=SENT_BATCH)
def label_batch(request: Entered, asked: Query[Profiled], *, atomic: bool = True) -> Status[OutcomeBatchOut]:
    """The same as `POST /outcomes/batch`."""
    return _recorded_batch(request, asked, atomic=atomic)


@routes.read("/monitors/{path:run_id}/report", answer=AnyReportOut, codes=("conflict",))
def report(
    request: Entered, run_id: Annotated[Identifier, Path()], point: Query[Point], asked: Query[ReportAsked]
) -> HttpResponse:
    """How well the forecasts of a run come true: counts, metrics of both windows, guards, and our audit."""
    at = point.at(request.auth.namespace)
    profile = profile_of(at.namespace, seq=at.seq, asked=asked.profile)
    if asked.is_tree:
        return HttpResponse(
            payloads.told(reports.tree(at, run_id=run_id, profile=profile, as_of=asked.as_of)), content_type=JSON
        )
    return _told(
        reports.report(
            at, run_id=run_id, profile=profile, relation_type=asked.relation_type, source_family=asked.source_family,
            as_of=asked.as_of,
        )
    )  # fmt: skip


@routes.write("/alarms/{alarm}/acknowledge", need=gate.REVIEW, answer=AlarmTurnOut)
def acknowledge(request: Entered, alarm: Annotated[Id, Path()], body: TurnIn) -> AlarmTurnOut:
    """Say that an alarm is seen, with a reason. It stays open."""
    done = alarms.acknowledge(actor(request, body.run), alarm=alarm, reason=body.reason)
    return AlarmTurnOut.of(done, url=_alarm_page(request, done))


@routes.write("/alarms/{alarm}/close", need=gate.REVIEW, answer=AlarmTurnOut)
def close(request: Entered, alarm: Annotated[Id, Path()], body: TurnIn) -> AlarmTurnOut:
    """Close an alarm, with a reason: the processes of its family begin again."""
    done = alarms.close(actor(request, body.run), alarm=alarm, reason=body.reason)
    return AlarmTurnOut.of(done, url=_alarm_page(request, done))


def _recorded(request: Entered, asked: Profiled) -> Status[OutcomeOut]:
    by = actor(request)
    profile = profile_of(by.namespace, asked=asked.profile)
    require_type(request.headers.get("Content-Type", ""))
    document = outcome_document(read_payload(request.body, profile=profile), profile=profile)
    (done,) = recording.record(by, documents=[document])
    return made(OutcomeOut.of(done, url=page(request, "/calibration")), is_new=not done.replayed)


def _recorded_batch(request: Entered, asked: Profiled, *, atomic: bool) -> Status[OutcomeBatchOut]:
    by = actor(request)
    profile = profile_of(by.namespace, asked=asked.profile)
    read = partial(outcome_document, profile=profile)
    items, refusals = payloads.items(request, read, profile=profile)
    if refusals and atomic:
        raise batches.first(refusals)
    store = recording.record if atomic else recording.record_each
    answers = dict(zip(items, store(by, documents=list(items.values())), strict=True)) if items else {}
    head = asof.now(by.namespace).seq
    answer = OutcomeBatchOut.of(answers, refusals, head=head, url=page(request, "/calibration"))
    return made(answer, is_new=not answer.replayed)


def _alarm_page(request: Entered, done: alarms.Turned) -> str:
    return page(request, f"/calibration/alarms/{done.alarm}")


def _told(document: Mapping[str, Any]) -> HttpResponse:
    return HttpResponse(payloads.told(document), content_type=JSON)
