"""Routes of records: saving, reading, recalling, withdrawing."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Path, Query
from ninja.responses import Status
from pydantic import Field

from memory.base import batches, gate
from memory.base.bodies import JSON, NDJSON
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.schemas import Id
from memory.ledger.queries import asof
from memory.ledger.queries.contents import names_of
from memory.ledger.schemas import Point, rests_on
from memory.records import operations, reviewing
from memory.records.batches import checked
from memory.records.batches import saved as saved_as
from memory.records.listed import RecordFilter, RecordList
from memory.records.queries import detail, lists
from memory.records.queries.recall import beside
from memory.records.queries.recall import recall as recalled
from memory.records.review_schemas import ConfirmIn, HeldIn, ReviewedOut, ReviewIn
from memory.records.schemas import (
    BatchOut,
    Include,
    RecalledOut,
    RecallIn,
    RecallOut,
    RecordDetailOut,
    RecordIn,
    ResolvedOut,
    SavedOut,
    WithdrawIn,
    WithdrawnOut,
)

routes = Routes("records")

routes.append_only("record", code="raw_is_append_only", expected="no change of what stands: a new version is an evolve")

Record = Annotated[Id, Path()]
BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/RecordIn"}, "minItems": 1}},
            NDJSON: {"schema": {"type": "string"}},
        },
    }
}


@routes.write("/records", need=gate.WRITE, answer=SavedOut, makes=True)
def save(request: Entered, body: RecordIn) -> Status[SavedOut]:
    """Save one record."""
    (saved,) = operations.save(actor(request, body.run), records=[body.given()])
    return made(SavedOut.of(saved, url=page(request, f"/records/{saved.id}")), is_new=not saved.replayed)


@routes.write("/records/batch", need=gate.WRITE, answer=BatchOut, makes=True, extra=BATCH)
def save_batch(request: Entered, *, atomic: bool = True) -> Status[BatchOut]:
    """Save many records as one entry: all or nothing, or with `atomic=false` those that can be saved."""
    items, refusals = checked(batches.read(request.body, request.headers.get("Content-Type", "")))
    if refusals and atomic:
        raise batches.first(refusals)
    saved = saved_as(actor(request, batches.run_of(items)), items, atomic=atomic)
    head = asof.now(request.auth.namespace).seq
    answer = BatchOut.of(saved, refusals, url=page(request, "/records"), head=head)
    return made(answer, is_new=not answer.replayed)


@routes.read("/records", answer=RecordList)
def index(request: Entered, point: Query[Point], where: Query[RecordFilter], wanted: Query[Include]) -> RecordList:
    """Records, newest first unless it is sorted otherwise; a text query may be sorted by rank."""
    at = point.at(request.auth.namespace)
    given = where.given(include=wanted.words, reader=request.auth.agent)
    found = lists.records(at, where=given, sort=where.sort, after=where.after, limit=where.limit)
    return RecordList.of(found, by_name=where.fields == "names", **rests_on(at))


@routes.read("/records/resolve", answer=ResolvedOut, codes=("ambiguous",))
def resolve(
    request: Entered, point: Query[Point], prefix: Annotated[str, Field(min_length=4, max_length=40)]
) -> ResolvedOut:
    """The one record whose id begins so."""
    at = point.at(request.auth.namespace)
    found = detail.resolved(at, prefix=prefix)
    return ResolvedOut(id=found, url=page(request, f"/records/{found}"), **rests_on(at))


@routes.write("/records/reviews", need=gate.REVIEW, answer=ReviewedOut, codes=("erased",))
def review(request: Entered, body: ReviewIn) -> ReviewedOut:
    """Confirm some held memories and turn others down, as one entry."""
    by = actor(request, body.run)
    done = reviewing.review(
        by, confirm=body.targets(body.confirm), reject=body.targets(body.reject), reason=body.reason
    )
    return ReviewedOut.of(done, confirmed=body.confirm, rejected=body.reject, url=page(request, "/inbox"))


@routes.read("/records/{record}", answer=RecordDetailOut, codes=("withdrawn", "erased"))
def record(request: Entered, record: Record, point: Query[Point], wanted: Query[Include]) -> RecordDetailOut:
    """One record whole. A withdrawn or erased one is shown only where `include` asks for it.

    What is held is shown to people and to the agent that wrote it alone.
    """
    at = point.at(request.auth.namespace)
    detail.require_confirmed(at, request.auth, record)
    found = detail.record(at, id=record)
    detail.require_shown(found, include=wanted.words)
    return RecordDetailOut.of(found, url=page(request, f"/records/{record}"), **rests_on(at))


@routes.read("/recall", answer=RecallOut, method="POST")
def recall(request: Entered, body: RecallIn, point: Query[Point]) -> RecallOut:
    """What memory answers to a question: what is known of the subjects, then current records, best first, and why."""
    at = point.at(request.auth.namespace)
    known = beside(at, subjects=body.subjects, query=body.query, budget_tokens=body.budget_tokens, limit=body.limit)
    left, room = body.budget_tokens - known.n_tokens, body.limit - len(known.items)
    found = recalled(at, query=body.query, budget_tokens=left, limit=room, types=body.types, reader=request.auth.agent)
    first = [RecalledOut.beside(one, at) for one in known.items]
    types = names_of(at.namespace, {one.type for one in found.items})
    return RecallOut.of(found, types, first=first, left_out=known.hidden, **rests_on(at))


@routes.write("/records/{record}/confirm", need=gate.REVIEW, answer=ReviewedOut, codes=("erased",))
def confirm(request: Entered, record: Record, body: ConfirmIn) -> ReviewedOut:
    """Confirm a held record: it counts from here on."""
    done = reviewing.review(actor(request, body.run), confirm=[reviewing.Target("record", record)], reason=body.reason)
    return ReviewedOut.of(done, confirmed=[HeldIn(id=record)], url=page(request, f"/records/{record}"))


@routes.write("/records/{record}/reject", need=gate.REVIEW, answer=ReviewedOut, codes=("erased",))
def reject(request: Entered, record: Record, body: WithdrawIn) -> ReviewedOut:
    """Turn a held record down: it is withdrawn, and stays readable."""
    done = reviewing.review(actor(request, body.run), reject=[reviewing.Target("record", record)], reason=body.reason)
    return ReviewedOut.of(done, rejected=[HeldIn(id=record)], url=page(request, f"/records/{record}"))


@routes.write("/records/{record}/withdraw", need=gate.WITHDRAW, answer=WithdrawnOut)
def withdraw(request: Entered, record: Record, body: WithdrawIn) -> WithdrawnOut:
    """Hide a record on every read by default; its text stays."""
    done = operations.withdraw(actor(request, body.run), record=record, reason=body.reason)
    return WithdrawnOut.of(record, done, url=page(request, f"/records/{record}"))


@routes.write("/records/{record}/restore", need=gate.REVIEW, answer=WithdrawnOut)
def restore(request: Entered, record: Record, body: WithdrawIn) -> WithdrawnOut:
    """Show a withdrawn record again."""
    done = operations.restore(actor(request, body.run), record=record, reason=body.reason)
    return WithdrawnOut.of(record, done, url=page(request, f"/records/{record}"))
