"""Routes of lineage: derivations, links, what a record came from and what came of it."""

from __future__ import annotations

import re
from typing import Annotated

from django.http import HttpResponse
from ninja import Body, Path, Query
from ninja.responses import Status

from memory.base import gate
from memory.base.actor import Actor
from memory.base.doors import Entered, Routes, actor, made, page
from memory.base.errors import Invalid
from memory.base.schemas import Id
from memory.ledger.queries import asof
from memory.ledger.schemas import Point, rests_on
from memory.lineage.answers import (
    DiffFilter,
    DiffOut,
    MakingOut,
    SuggestionOut,
    SuggestionsOut,
    TimelineFilter,
    TimelineOut,
    WalkLimit,
    WalkOut,
)
from memory.lineage.compiled_answers import CompiledFilter, CompiledList
from memory.lineage.graph_answers import GraphFilter, GraphOut
from memory.lineage.operations import compiling, derivations, links, merging
from memory.lineage.operations.deriving import Derived
from memory.lineage.queries import ancestry as walks
from memory.lineage.queries import compiled as compilations
from memory.lineage.queries import graph as graphs
from memory.lineage.queries import making as makings
from memory.lineage.queries import suggestions as offered
from memory.lineage.queries import timeline as lines
from memory.lineage.queries.comparing import compared, other_point
from memory.lineage.queries.differences import differences
from memory.lineage.queries.pages import lineage_page
from memory.lineage.schemas import (
    CompileIn,
    DerivationIn,
    DerivedOut,
    EdgeIn,
    EdgeOut,
    EvolveIn,
    MergeIn,
    SplitIn,
    SupersedeIn,
)
from memory.records.queries import detail

routes = Routes("lineage")

Record = Annotated[Id, Path()]
# A version has one digest, so a list of tags or a weak one (RFC 9110, section 8.8.3) can name none.
MATCH = re.compile(r'\*|"([0-9a-f]{64})"')


@routes.write(
    "/derivations", need=gate.WRITE, answer=DerivedOut, makes=True, codes=("withdrawn", "stale_version"),
    takes_match=True,
)  # fmt: skip
def derive(request: Entered, body: Annotated[DerivationIn, Body()]) -> Status[DerivedOut]:
    """Evolve, merge, split or supersede records, or compile one out of them."""
    base = _base(request, body)
    by = actor(request, body.run)
    done = _derived(by, body, base=base)
    shown = done.records[0] if done.records else getattr(body, "new", None)
    rebuild = None
    if isinstance(body, CompileIn):
        rebuild = compilations.rebuild_of(asof.now(by.namespace), record=done.records[0])
    url = page(request, f"/records/{shown}")
    return made(DerivedOut.of(done, url=url, rebuild=rebuild), is_new=not done.replayed)


def _base(request: Entered, body: DerivationIn) -> str:
    """The version that the client knows: by the body, or by If-Match where a record is evolved."""
    match = request.headers.get("If-Match")
    if not isinstance(body, EvolveIn):
        if match is not None:
            raise Invalid.at("If-Match", expected="no condition: only an evolve replaces a version")
        return ""
    named = None if match is None else _matched(match)
    if named not in (None, derivations.ANY_CURRENT) and body.base not in (None, named):
        raise Invalid.at("If-Match", expected=f"the digest that the body names, {body.base}", got=match)
    base = body.base or named
    if base is None:
        raise Invalid.at("base", expected="the digest of the version that you know", got="nothing", code="missing")
    return base


def _matched(match: str) -> str:
    """The digest in an If-Match, or that any current version will do.   Raises Invalid."""
    found = MATCH.fullmatch(match.strip())
    if found is None:
        raise Invalid.at("If-Match", expected="* or the digest of a version, in double quotes", got=match)
    return found[1] or derivations.ANY_CURRENT


def _derived(by: Actor, body: DerivationIn, *, base: str) -> Derived:
    match body:
        case EvolveIn():
            return derivations.evolve(by, record=body.record, base=base, changes=body.changes(), cause=body.cause())
        case MergeIn():
            return merging.merge(
                by, records=body.records, cause=body.cause(), strategy=body.strategy, content=body.content,
                summary=body.summary, type=body.type, valid_time=body.valid_time, interval=body.interval(),
                of_current=body.superseded == "refuse",
            )  # fmt: skip
        case SplitIn():
            return derivations.split(by, record=body.record, parts=body.contents(), cause=body.cause())
        case SupersedeIn():
            return derivations.supersede(by, old=body.old, new=body.new, cause=body.cause())
        case CompileIn():
            return compiling.compile_record(
                by, sources=body.sources, recipe=body.recipe(), cause=body.cause(), content=body.content, id=body.id,
                type=body.type, summary=body.summary, tags=body.tags, interval=body.interval(),
            )  # fmt: skip


@routes.write("/edges", need=gate.WRITE, answer=EdgeOut, makes=True)
def link(request: Entered, body: EdgeIn) -> Status[EdgeOut]:
    """Relate two records."""
    source, relation, target = links.stored_direction(body.source, body.relation, body.target)
    done = links.link(actor(request, body.run), source=source, relation=relation, target=target)
    answer = EdgeOut(
        source=source, relation=relation, target=target, seq=done.seq, replayed=done.replayed,
        url=page(request, f"/records/{source}"),
    )  # fmt: skip
    return made(answer, is_new=not done.replayed)


@routes.read("/records/{record}/ancestry", answer=WalkOut)
def ancestry(
    request: Entered, response: HttpResponse, record: Record, point: Query[Point], limit: WalkLimit = 1_000
) -> WalkOut | HttpResponse:
    """Everything that a record came from. It never changes, so its digest is its entity tag."""
    at = point.at(request.auth.namespace)
    walk = walks.ancestry(at, record=record, limit=limit)
    tag = f'"{walk.digest.hex()}"'
    if tag in [one.strip().removeprefix("W/") for one in request.headers.get("If-None-Match", "").split(",")]:
        return HttpResponse(status=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return WalkOut.of(walk, **rests_on(at))


@routes.read("/records/{record}/descendants", answer=WalkOut)
def descendants(request: Entered, record: Record, point: Query[Point], limit: WalkLimit = 1_000) -> WalkOut:
    """Everything that came of a record by the point."""
    at = point.at(request.auth.namespace)
    return WalkOut.of(walks.descendants(at, record=record, limit=limit), **rests_on(at))


@routes.read("/records/{record}/timeline", answer=TimelineOut)
def timeline(request: Entered, record: Record, point: Query[Point], where: Query[TimelineFilter]) -> TimelineOut:
    """The line of versions that a record belongs to: who changed what, when and why, and whether the line is sound."""
    at = point.at(request.auth.namespace)
    detail.require_confirmed(at, request.auth, record)
    found = lines.timeline(at, line=lines.line_of(at, record=record))
    by_source = at.source_at is not None
    entries = lines.narrowed(
        found.entries, by_source=by_source, at=where.at, since=where.since, reason=where.by_reason or ""
    )  # fmt: skip
    return TimelineOut.of(found, entries, **rests_on(at))


@routes.read("/records/{record}/derivation", answer=MakingOut)
def derivation(request: Entered, record: Record, point: Query[Point]) -> MakingOut:
    """How a record came to be: reason, note, rules, sources, and what the sources of a merge do not agree on."""
    at = point.at(request.auth.namespace)
    lines.line_of(at, record=record)
    made_of = compilations.compiled(at, record=record)
    return MakingOut.of(record, makings.making(at, record=record), made_of, **rests_on(at))


@routes.read("/compilations", answer=CompiledList)
def compiled(request: Entered, point: Query[Point], where: Query[CompiledFilter]) -> CompiledList:
    """Compiled records with how they were made and whether they still say what their sources say, newest first."""
    at = point.at(request.auth.namespace)
    found = compilations.compiled_records(
        at, output=where.output or "", state=where.state or "", after=where.after, limit=where.limit
    )
    return CompiledList.of(found, **rests_on(at))


@routes.read("/records/{record}/diff", answer=DiffOut)
def diff(request: Entered, record: Record, point: Query[Point], where: Query[DiffFilter]) -> DiffOut:
    """What differs between two records that stand at the point, texts word by word."""
    at = point.at(request.auth.namespace)
    for one in (record, where.with_):
        lines.line_of(at, record=one)
    detail.require_confirmed(at, request.auth, record, where.with_)
    found = differences(at.namespace, before=record, after=where.with_)
    return DiffOut.of(record, where.with_, found, **rests_on(at))


@routes.read("/records/{record}/suggestions", answer=SuggestionsOut)
def suggestions(request: Entered, record: Record, point: Query[Point]) -> SuggestionsOut:
    """Records that a record may be linked to or merged with. Nothing is done until somebody confirms it."""
    at = point.at(request.auth.namespace)
    detail.require_confirmed(at, request.auth, record)
    found = offered.suggestions(at, of=detail.record(at, id=record))
    return SuggestionsOut(record=record, items=[SuggestionOut.of(one) for one in found], **rests_on(at))


@routes.read("/lineage", answer=GraphOut)
def graph(request: Entered, point: Query[Point], where: Query[GraphFilter]) -> GraphOut:
    """A slice of the lineage around one record: nodes and links, with what is left out counted."""
    at = point.at(request.auth.namespace)
    detail.require_confirmed(at, request.auth, where.focus)
    if where.after is not None:
        if where.against or where.to is not None:
            raise Invalid.at("after", expected="nothing beside it: pages are of one point and show no way")
        alone = graphs.graph(at, focus=where.focus, up=0, down=0, groups=where.groups)
        page = lineage_page(at, focus=where.focus, groups=where.groups, after=where.after, limit=where.limit)
        return GraphOut.paged(alone, page, **rests_on(at))
    if where.against:
        against = other_point(at, where.against)
        found = compared(
            at, against=against, focus=where.focus, up=where.up, down=where.down, groups=where.groups, to=where.to
        )  # fmt: skip
        return GraphOut.compared(found, against, **rests_on(at))
    slice_ = graphs.graph(at, focus=where.focus, up=where.up, down=where.down, groups=where.groups, to=where.to)
    return GraphOut.of(slice_, **rests_on(at))
