"""Routes of beliefs: laws, observations and their revocation, questions and decisions, monitor runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query
from ninja.responses import Status

from memory.base import batches, gate
from memory.base.bodies import JSON
from memory.base.doors import Entered, Routes, actor, made, page
from memory.beliefs import payloads
from memory.beliefs.answers import CapsuleOut, DecisionOut, ObservationList, ObservationOut
from memory.beliefs.kernel.acts import revocation_document
from memory.beliefs.kernel.decision import decision
from memory.beliefs.kernel.documents import ObservationDocument, observation_document, observation_schema
from memory.beliefs.kernel.monitoring import config_schema, parse_config
from memory.beliefs.kernel.questions import decision_document, decision_schema, query_document, query_schema
from memory.beliefs.kernel.reading import members
from memory.beliefs.operations import binding, monitors, observing, revoking, saving
from memory.beliefs.operations.observing import Asked
from memory.beliefs.payloads import placed_schema, sent
from memory.beliefs.profiles import profile_of
from memory.beliefs.queries import lists as listing
from memory.beliefs.queries import observed
from memory.beliefs.queries.asking import ask
from memory.beliefs.queries.deciding import decide
from memory.beliefs.queries.saved import saved_queries
from memory.beliefs.queries.types import relation_rows
from memory.beliefs.schemas import (
    BoundOut,
    Identifier,
    MonitorOut,
    ObservationFilter,
    ObservedBatchOut,
    ObservedOut,
    Profiled,
    RelationIn,
    RelationList,
    RevokedOut,
    RevokeIn,
    SavedIn,
    SavedList,
    SavedQueryOut,
)
from memory.ledger.queries import asof
from memory.ledger.queries.contents import name_ids
from memory.ledger.schemas import Point, rests_on

routes = Routes("beliefs")


OBSERVATION = placed_schema(observation_schema(profile="native"))
QUERY = placed_schema(query_schema())
DECISION = placed_schema(decision_schema())
MONITOR = config_schema()


@routes.write("/relations/{path:relation_type}", need=gate.WRITE, answer=BoundOut, method="PUT", makes=True)
def register(
    request: Entered, relation_type: Annotated[Identifier, Path()], body: RelationIn, asked: Query[Profiled]
) -> Status[BoundOut]:
    """Bind a relation type to its law, a finite group; for good."""
    by = actor(request, body.run)
    profile = profile_of(by.namespace, asked=asked.profile)
    done = binding.register(by, binding=body.given(relation_type), profile=profile)
    return made(BoundOut.of(done, url=page(request, f"/beliefs/relations/{relation_type}")), is_new=not done.replayed)


@routes.read("/relations", answer=RelationList)
def relations(request: Entered, point: Query[Point]) -> RelationList:
    """The relation types, each with its law and how many observations it has."""
    at = point.at(request.auth.namespace)
    return RelationList.of(relation_rows(at), **rests_on(at))


@routes.write("/observations", need=gate.WRITE, answer=ObservedOut, makes=True, extra=sent(OBSERVATION))
def observe(request: Entered, asked: Query[Profiled]) -> Status[ObservedOut]:
    """Store one observation: a posterior over the relation of two nodes."""
    by = actor(request)
    profile = profile_of(by.namespace, asked=asked.profile)
    document = observation_document(payloads.document(request, profile=profile), profile=profile)
    (done,) = observing.observe(by, documents=[document], asked=Asked(profile))
    url = page(request, f"/beliefs/observations/{done.id}")
    return made(ObservedOut.of(done, url=url), is_new=not done.replayed)


@routes.read("/observations", answer=ObservationList)
def observations(request: Entered, point: Query[Point], where: Query[ObservationFilter]) -> ObservationList:
    """What was observed, the newest first."""
    at = point.at(request.auth.namespace)
    asked = {key: text for key in ("relation_type", "node") if (text := getattr(where, key))}
    names = name_ids(at.namespace, asked.values()) if asked else {}
    if any(text not in names for text in asked.values()):
        return ObservationList(items=[], next=None, total=0, **rests_on(at))
    found = listing.observations(
        at, **{key: names[text] for key, text in asked.items()}, after=where.after, limit=where.limit
    )
    return ObservationList.of(found, **rests_on(at))


@routes.write(
    "/observations/batch",
    need=gate.WRITE,
    answer=ObservedBatchOut,
    makes=True,
    extra=sent(OBSERVATION, many=True),
)
def observe_batch(request: Entered, asked: Query[Profiled], *, atomic: bool = True) -> Status[ObservedBatchOut]:
    """Store many observations as one entry: all or nothing, or with `atomic=false` those that can be stored."""
    by = actor(request)
    profile = profile_of(by.namespace, asked=asked.profile)

    def read(value: Any) -> ObservationDocument:
        return observation_document(payloads.placed(request, value, profile=profile), profile=profile)

    items, refusals = payloads.items(request, read, profile=profile)
    if refusals and atomic:
        raise batches.first(refusals)
    store = observing.observe if atomic else observing.observe_each
    given = list(items.values())
    answers = dict(zip(items, store(by, documents=given, asked=Asked(profile)), strict=True)) if given else {}
    head = asof.now(by.namespace).seq
    answer = ObservedBatchOut.of(answers, refusals, head=head, url=page(request, "/beliefs"))
    return made(answer, is_new=not answer.replayed)


@routes.write("/observations/{path:observation_id}/revoke", need=revoking.REVOKE, answer=RevokedOut)
def revoke(
    request: Entered, observation_id: Annotated[Identifier, Path()], body: RevokeIn, asked: Query[Profiled]
) -> RevokedOut:
    """Revoke an observation: it counts no more, nor does what was derived from it."""
    by = actor(request, body.run)
    profile = profile_of(by.namespace, asked=asked.profile)
    given = body.model_dump(include={"reason", "at", "cascade", "reexpose"}, exclude_none=True)
    document = revocation_document(given, profile=profile)
    done = revoking.revoke(by, observation_id=observation_id, asked=document, profile=profile)
    return RevokedOut.of(done, url=page(request, f"/beliefs/observations/{done.observation}"))


@routes.read("/observations/{path:observation_id}", answer=ObservationOut)
def observation(request: Entered, observation_id: Annotated[Identifier, Path()], point: Query[Point]) -> ObservationOut:
    """One observation whole: what it says, what it comes of, what came of it, and which revocations reach it."""
    at = point.at(request.auth.namespace)
    row = revoking.named(at.namespace, observation_id)
    url = page(request, f"/beliefs/observations/{row.id}")
    return ObservationOut.of(observed.observation(at, id=row.id), url=url, **rests_on(at))


@routes.read("/beliefs/query", answer=CapsuleOut, method="POST", codes=("conflict", "erased"), extra=sent(QUERY))
def query(request: Entered, point: Query[Point], asked: Query[Profiled]) -> HttpResponse:
    """Reconcile what was observed: the exact belief about each node as seen from the root."""
    at = point.at(request.auth.namespace)
    profile = profile_of(at.namespace, seq=at.seq, asked=asked.profile)
    document = query_document(payloads.document(request, profile=profile))
    return HttpResponse(
        payloads.told(ask(at, query=document, profile=profile).capsule(profile=profile)), content_type=JSON
    )


@routes.read("/beliefs/decision", answer=DecisionOut, method="POST", codes=("conflict", "erased"), extra=sent(DECISION))
def decision_of(request: Entered, point: Query[Point], asked: Query[Profiled]) -> HttpResponse:
    """One node of an answer, with its alternatives; a capsule may be handed in instead of a query."""
    at = point.at(request.auth.namespace)
    profile = profile_of(at.namespace, seq=at.seq, asked=asked.profile)
    document = decision_document(payloads.document(request, profile=profile))
    if document.query is None:
        assert document.capsule is not None
        payloads.require_here(request, document.capsule, profile=profile)
        return HttpResponse(
            payloads.told(decision(document.capsule, options=document.options, profile=profile, source="handed_in")),
            content_type=JSON,
        )
    return HttpResponse(
        payloads.told(decide(at, query=document.query, options=document.options, profile=profile)), content_type=JSON
    )


@routes.write("/beliefs/saved", need=gate.WRITE, answer=SavedQueryOut, makes=True)
def save_query(request: Entered, body: SavedIn) -> Status[SavedQueryOut]:
    """Keep a question under a name."""
    by = actor(request, body.run)
    given = payloads.placed(request, body.query, profile="native")
    done = saving.save_query(by, name=body.name, query=given)
    return made(SavedQueryOut.of(done, url=page(request, f"/beliefs/saved/{done.id}")), is_new=not done.replayed)


@routes.read("/beliefs/saved", answer=SavedList)
def saved(request: Entered, point: Query[Point]) -> SavedList:
    """The saved questions."""
    at = point.at(request.auth.namespace)
    return SavedList.of(saved_queries(at), **rests_on(at))


@routes.write(
    "/monitors/{path:run_id}",
    need=gate.WRITE,
    answer=MonitorOut,
    method="PUT",
    makes=True,
    extra=sent(MONITOR),
)
def open_monitor(request: Entered, run_id: Annotated[Identifier, Path()]) -> Status[MonitorOut]:
    """Open a monitor run: from now on the forecast of every independent observation is kept for its label."""
    by = actor(request)
    done = monitors.open_run(by, config=parse_config(members(payloads.plain(request)), run_id=run_id))
    return made(MonitorOut.of(done, url=page(request, "/calibration")), is_new=not done.replayed)


def _told(document: Mapping[str, Any]) -> HttpResponse:
    return HttpResponse(payloads.told(document), content_type=JSON)
