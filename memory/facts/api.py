"""Routes of facts: declaring attributes, asserting, reading on two clocks, ending, and settling conflicts."""

from __future__ import annotations

import re
from typing import Annotated, Any
from uuid import UUID

from ninja import Path, Query
from ninja.responses import Status
from pydantic import Field, TypeAdapter

from memory.base import batches, gate
from memory.base.bodies import JSON, NDJSON
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import Invalid
from memory.base.schemas import Id, Name
from memory.facts.answers import CaseList, CaseOut, EntityList, FactDetailOut, FactTimelineOut
from memory.facts.operations import adjudicating, asserting, declaring, ending
from memory.facts.queries import conflicts, detail
from memory.facts.queries.lists import open_case, page_of
from memory.facts.queries.timeline import timeline as history
from memory.facts.schemas import (
    AssertedOut,
    Attribute,
    AttributeIn,
    AttributeOut,
    EndedOut,
    FactBatchOut,
    FactFilter,
    FactIn,
    IncludeFacts,
    RetractIn,
    SupersedeFactIn,
    VerdictIn,
    VerdictOut,
)
from memory.ledger.queries import asof
from memory.ledger.queries.contents import name_ids
from memory.ledger.schemas import Limit, Point, SeqParameter, rests_on

routes = Routes("facts")

Fact = Annotated[Id, Path()]
Case = Annotated[Id, Path()]
MATCH = re.compile(r'"([0-9a-f]{64})"')
BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/FactIn"}, "minItems": 1}},
            NDJSON: {"schema": {"type": "string"}},
        },
    }
}
_ITEMS = TypeAdapter(list[FactIn])


@routes.write(
    "/attributes/{name}", need=gate.WRITE, answer=AttributeOut, method="PUT", makes=True, codes=("stale_version",),
    takes_match=True,
)  # fmt: skip
def declare(request: Entered, name: Annotated[Attribute, Path()], body: AttributeIn) -> Status[AttributeOut]:
    """Declare an attribute. Changing what is declared is an owner's act."""
    by = actor(request, body.run)
    done = declaring.declare(by, attribute=name, declaration=body.given(), base=_match(request))
    return made(AttributeOut.of(done, url=page(request, "/facts")), is_new=not done.replayed)


@routes.write("/facts", need=gate.WRITE, answer=AssertedOut, makes=True)
def assert_fact(request: Entered, body: FactIn) -> Status[AssertedOut]:
    """Assert one fact."""
    by = actor(request, body.run)
    (done,) = asserting.assert_facts(by, facts=[body.given()])
    conflict = open_case(asof.now(by.namespace), fact=done.id)
    answer = AssertedOut.of(done, conflict=conflict, url=page(request, f"/facts/{done.id}"))
    return made(answer, is_new=not done.replayed)


@routes.write("/facts/batch", need=gate.WRITE, answer=FactBatchOut, makes=True, extra=BATCH)
def assert_batch(request: Entered, *, atomic: bool = True) -> Status[FactBatchOut]:
    """Assert many facts as one entry: all or nothing, or with `atomic=false` those that can be asserted."""
    lines = batches.read(request.body, request.headers.get("Content-Type", ""))
    items, refusals = batches.checked(_ITEMS, lines)
    if refusals and atomic:
        raise batches.first(refusals)
    by = actor(request, batches.run_of(items))
    given = [item.given() for item in items.values()]
    assert_all = asserting.assert_facts if atomic else asserting.assert_each
    answers = dict(zip(items, assert_all(by, facts=given), strict=True)) if given else {}
    head = asof.now(by.namespace).seq
    answer = FactBatchOut.of(answers, refusals, head=head, url=page(request, "/facts"))
    return made(answer, is_new=not answer.replayed)


@routes.read("/facts", answer=EntityList)
def index(request: Entered, point: Query[Point], where: Query[FactFilter], wanted: Query[IncludeFacts]) -> EntityList:
    """The status of subjects and attributes: known, unknown or conflict, with what each rests on."""
    at = point.at(request.auth.namespace)
    found = page_of(
        at, subject=where.subject, attribute=where.attribute, text=where.q, status=where.status or "",
        include=wanted.words, after=where.after, limit=where.limit, reader=request.auth,
    )  # fmt: skip
    return EntityList.of(
        list(found.items), after=found.next_doc, total=found.total, is_capped=found.is_capped, n_held=found.n_held,
        **rests_on(at),
    )  # fmt: skip


@routes.read("/facts/timeline", answer=FactTimelineOut)
def timeline(
    request: Entered, point: Query[Point], subject: Name, wanted: Query[IncludeFacts],
    attribute: Annotated[str, Field(max_length=64)] = "",
) -> FactTimelineOut:  # fmt: skip
    """The history of a subject as rectangles of valid time and known seq."""
    at = point.at(request.auth.namespace)
    names = name_ids(at.namespace, [subject, attribute] if attribute else [subject])
    if subject not in names or (attribute and attribute not in names):
        return FactTimelineOut(items=[], next=None, total=0, subject=subject, truncated=False, **rests_on(at))
    found = history(
        at, subject=names[subject], attribute=names.get(attribute), include=wanted.words, reader=request.auth
    )
    return FactTimelineOut.of(found, **rests_on(at))


@routes.read("/facts/conflicts", answer=CaseList)
def cases(request: Entered, point: Query[Point], after: SeqParameter | None = None, limit: Limit = 50) -> CaseList:
    """The open conflicts, the one that waits longest first."""
    at = point.at(request.auth.namespace)
    return CaseList.of(conflicts.cases(at, after=after, limit=limit), **rests_on(at))


@routes.read("/facts/conflicts/{case}", answer=CaseOut)
def case(request: Entered, case: Case, point: Query[Point], a: Id | None = None, b: Id | None = None) -> CaseOut:
    """One conflict with both sides."""
    at = point.at(request.auth.namespace)
    found = conflicts.case(at, id=case, a=a, b=b)
    return CaseOut.of(found, url=page(request, f"/facts/conflicts/{case}"), **rests_on(at))


@routes.write(
    "/facts/conflicts/{case}/verdict", need=gate.REVIEW, answer=VerdictOut, codes=("stale_version",), takes_match=True
)
def verdict(request: Entered, case: Case, body: VerdictIn) -> VerdictOut:
    """Settle a conflict."""
    by = actor(request, body.run)
    done = adjudicating.adjudicate(by, case=case, asked=body.given(), base=_match(request))
    still = conflicts.case(asof.now(by.namespace), id=case).is_open
    url = page(request, f"/facts/conflicts/{case}")
    return VerdictOut(id=case, verdict=body.verdict, is_open=still, seq=done.seq, url=url, replayed=done.replayed)


@routes.read("/facts/{fact}", answer=FactDetailOut, codes=("withdrawn", "erased"))
def fact(request: Entered, fact: Fact, point: Query[Point], wanted: Query[IncludeFacts]) -> FactDetailOut:
    """One fact whole. A retracted or erased one is shown only where `include` asks for it."""
    at = point.at(request.auth.namespace)
    found = detail.fact(at, id=fact, reader=request.auth)
    detail.require_shown(found, include=wanted.words)
    return FactDetailOut.of(found, url=page(request, f"/facts/{fact}"), **rests_on(at))


@routes.write("/facts/{fact}/supersede", need=ending.SUPERSEDE, answer=EndedOut)
def supersede(request: Entered, fact: Fact, body: SupersedeFactIn) -> EndedOut:
    """Close a fact from an instant on."""
    by = actor(request, body.run)
    done = ending.supersede(by, fact=fact, at=body.at, new=body.by, reason=body.reason)
    return _ended(request, by.namespace, fact, done.seq, replayed=done.replayed)


@routes.write("/facts/{fact}/retract", need=ending.SUPERSEDE, answer=EndedOut)
def retract(request: Entered, fact: Fact, body: RetractIn) -> EndedOut:
    """Take a fact back as wrong, outdated or a duplicate."""
    by = actor(request, body.run)
    done = ending.retract(by, fact=fact, retracted_as=body.as_, reason=body.reason)
    return _ended(request, by.namespace, fact, done.seq, replayed=done.replayed)


def _ended(request: Entered, namespace: int, fact: UUID, seq: int, *, replayed: bool) -> EndedOut:
    conflict = open_case(asof.now(namespace), fact=fact)
    return EndedOut(id=fact, conflict=conflict, seq=seq, url=page(request, f"/facts/{fact}"), replayed=replayed)


def _match(request: Entered) -> str:
    """The version in If-Match; "" for none. Raises Invalid."""
    sent = request.headers.get("If-Match", "")
    if not sent:
        return ""
    found = MATCH.fullmatch(sent)
    if found is None:
        raise Invalid.at("If-Match", expected='one version in quotes, "…" with 64 hex digits', got=sent)
    return found[1]
