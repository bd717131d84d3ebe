"""Revoking an observation: it counts no more from an instant on, nor does what was derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.base import clock, gate, sql
from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid, NotFound
from memory.beliefs import reaches
from memory.beliefs.kernel.acts import RevocationDocument
from memory.beliefs.models import Observation, Revocation
from memory.beliefs.profiles import Profile
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import opened, retried
from memory.ledger.queries.closed import require_open
from memory.ledger.queries.contents import name_ids

REVOKE = gate.WITHDRAW

_REACHED = """
SELECT n.text FROM memory_observationreach r
JOIN memory_observation o ON o.namespace_id = r.namespace_id AND o.id = r.observation
JOIN memory_name n ON n.namespace_id = o.namespace_id AND n.id = o.name
WHERE r.namespace_id = %s AND r.revoked = %s AND r.seq = %s AND NOT r.is_own
"""


@dataclass(frozen=True, slots=True)
class Revoked:
    """The answer to a revocation. `affected` are the ids of what it reaches, the observation first."""

    observation_id: str
    observation: UUID
    at: float
    affected: tuple[str, ...]
    seq: int
    replayed: bool


@retried
def revoke(
    by: Actor, *, observation_id: str, asked: RevocationDocument, profile: Profile = "native"
) -> Revoked:  # fmt: skip
    """Revoke an observation once; without an instant at present, or when it was observed if that is later.

    Locks: the namespace head. Appends: `revoke`. Raises NotFound (no such observation, or one that is revoked),
    Invalid (an instant before it was observed; one that has not come, but under compat), Conflict (nothing is left to
    say), IdempotencyMismatch, Forbidden, Stopped.
    """
    require_open(by.namespace)
    row = named(by.namespace, observation_id)
    at = _instant(by, asked, row, profile)
    values = {
        "observation": row.id, "at": at, "cascade": asked.cascade,
        "is_reexposing": asked.reexpose,
    }  # fmt: skip
    draft = Draft("revocation", row.id, Revocation, values, {"note": asked.reason} if asked.reason else {})
    request = [observation_id, asked.at, asked.reason, asked.cascade, asked.reexpose]
    with opened(by, verb="revoke", need=REVOKE, request=request) as entry:
        if not entry.is_replay:
            _require_come(at, row, recorded_at=entry.recorded_at, profile=profile)
            if Revocation.objects.filter(namespace=by.namespace, observation=row.id).exists():
                raise NotFound(f"There is no standing observation {observation_id}: it is revoked already.")
            entry.add(draft)
            revocation = Revocation(namespace_id=by.namespace, seq=entry.seq, item=0, **values)
            found = reaches.reaches_of(by.namespace, revocation, (row.seq, row.item))
            entry.then(lambda: reaches.enter(by.namespace, found))
    return _answer(by.namespace, observation_id, row.id, entry.answer.seq, replayed=entry.is_replay)


def _instant(by: Actor, asked: RevocationDocument, row: Observation, profile: Profile) -> float:
    if asked.at is not None:
        return asked.at
    now = (by.event_at or clock.now()).timestamp()
    return now if profile == "compat" else max(now, row.observed_at)


def _require_come(at: float, row: Observation, *, recorded_at: datetime, profile: Profile) -> None:
    """Raises Invalid for an instant before the observation. A later one than now would leave it in use, and it is
    revoked only once."""
    if at < row.observed_at:
        raise Invalid.at("at", expected=f"an instant not before it was observed, {row.observed_at!r}", got=at)
    if profile == "native" and at > max(recorded_at.timestamp(), row.observed_at):
        raise Invalid.at("at", expected="an instant that has come, in seconds", got=at, code="out_of_range")


def named(namespace: int, observation_id: str) -> Observation:
    """The observation of that id.   Raises NotFound."""
    name = name_ids(namespace, [observation_id]).get(observation_id)
    row = None if name is None else Observation.objects.filter(namespace=namespace, name=name).first()
    if row is None:
        raise NotFound(f"There is no observation {observation_id[:60]}.", observation_id=observation_id[:200])
    return row


def _answer(namespace: int, observation_id: str, observation: UUID, seq: int, *, replayed: bool) -> Revoked:
    row = Revocation.objects.get(namespace=namespace, observation=observation)
    if row.seq != seq:
        raise Conflict("The observation was revoked by another entry.", seq=row.seq)
    told = sorted(text for (text,) in sql.fetch(_REACHED, [namespace, observation, row.seq]))
    return Revoked(observation_id, observation, row.at, (observation_id, *told), seq, replayed)
