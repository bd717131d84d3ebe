"""Burying a route, and asking about one before acting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.base import clock, gate, ids
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import OpenEntry, book_for, opened, retried
from memory.ledger.operations.referring import reference_drafts
from memory.ledger.queries.contents import contents_of
from memory.tombstones.checking import Checked, Met, addresses_of, answer_of, checked, signs
from memory.tombstones.content import NewTombstone, request_of, require_whole
from memory.tombstones.keeping import kept
from memory.tombstones.kernel.scope import Scope, folded
from memory.tombstones.models import EVIDENCE, RevivalCondition, RouteCheck, RouteHit, Tombstone


@dataclass(frozen=True, slots=True)
class Buried:
    """The answer to a burial."""

    id: UUID
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a check. `id` is None where it met nothing: then nothing was written, and `seq` is the head."""

    checked: Checked
    id: UUID | None
    seq: int
    replayed: bool = False


@retried
def bury(by: Actor, *, new: NewTombstone) -> Buried:
    """Bury a route within its bounds.

    Locks: the namespace head. Appends: `bury`. Raises Invalid (every part that is missing), NotFound (a reference),
    Conflict (a reference is held), Forbidden, Stopped.
    """
    require_whole(new)
    book = book_for(by)
    route = " ".join(new.route.split())
    book.learn([route, folded(route)])
    identity = ids.new_id()
    values = {
        "id": identity, "route": book.id(route), "route_key": book.id(folded(route)), "retest_at": new.retest_at,
        "review_at": new.review_at,
    }  # fmt: skip
    drafts = [Draft("tombstone", identity, Tombstone, values, _parts(new))]
    for position, condition in enumerate(new.revival, start=1):
        row = {"tombstone": identity, "position": position, "n_origins": condition.n_origins}
        drafts.append(Draft("revival_condition", identity, RevivalCondition, row, {"content": condition.text}))
    drafting.seal(drafts)
    with opened(by, verb="bury", need=gate.WRITE, request=request_of(new), names=book) as entry:
        if entry.replayed_seq is not None:
            first = Tombstone.objects.get(namespace=by.namespace, seq=entry.replayed_seq)
            return Buried(first.id, first.seq, replayed=True)
        index = entry.add(*drafts)
        entry.add(*reference_drafts(by, from_item=index, to=new.references, kind=EVIDENCE))
    return Buried(identity, entry.seq)


def _parts(new: NewTombstone) -> dict[str, Any]:
    where: dict[str, Any] = {"scope": new.scope}
    if new.out_of_scope:
        where["out_of_scope"] = dict(new.out_of_scope)
    plans = {"retest": new.retest, **({"evidence": new.evidence} if new.evidence else {})}
    return {"content": where, "details": plans}


@retried
def check_route(by: Actor, *, route: str, scope: Scope) -> Answered:
    """Whether the route may be taken in the scope, asked before acting. A block is an answer, not a refusal.

    Locks: the namespace head. Appends: `check_route` where it met a tombstone, else nothing.
    Raises Invalid (no route, no scope), Forbidden, Stopped.
    """
    if not folded(route):
        raise Invalid.at("route", expected="the route that is to be taken")
    if not (folded(scope) if isinstance(scope, str) else scope):
        raise Invalid.at("scope", expected="where it is to be taken: a text, or values of named keys")
    book = book_for(by)
    name = " ".join(route.split())
    book.learn([name])
    request = {"check": [name, scope]}
    with opened(by, verb="check_route", need=gate.WRITE, request=request, names=book) as entry:
        if entry.replayed_seq is not None:
            return _answered_before(by.namespace, entry.replayed_seq)
        at = AsOf(by.namespace, seq=entry.seq - 1, head=entry.seq - 1, valid_at=entry.recorded_at)
        found = checked(at, route=route, scope=scope)
        if not found.met:
            entry.void()
            return Answered(found, None, entry.seq - 1)
        identity = _enter_check(entry, found, route=book.id(name), scope=scope)
    return Answered(found, identity, entry.seq)


def _enter_check(entry: OpenEntry, found: Checked, *, route: UUID | None, scope: Scope) -> UUID:
    identity = ids.new_id()
    for met in found.met:
        row = {"tombstone": met.sign.id, "route_check": identity, "reason": met.reason}
        entry.add(Draft("route_hit", met.sign.id, RouteHit, row))
    values = {"id": identity, "route": route, "verdict": found.verdict, "reason": found.reason}
    entry.add(Draft("route_check", identity, RouteCheck, values, {"content": scope}))
    return identity


def _answered_before(namespace: int, seq: int) -> Answered:
    """The first answer, rebuilt from the rows of its entry."""
    first = RouteCheck.objects.get(namespace=namespace, seq=seq)
    hits = dict(RouteHit.objects.filter(namespace=namespace, seq=seq).values_list("tombstone", "reason"))
    rows = list(Tombstone.objects.filter(namespace=namespace, id__in=list(hits)))
    known = kept(AsOf(namespace, seq=seq, head=seq, valid_at=clock.now()), rows)
    texts = contents_of(namespace, addresses_of(rows, known))
    found = answer_of([Met(sign, hits[sign.id]) for sign in signs(rows, known, texts)])
    return Answered(replace(found, verdict=first.verdict, reason=first.reason), first.id, seq, replayed=True)
