"""What people do in the story: the operations behind the console's forms, with that person as the actor.

No token opens a person's door, the loader's neither, so these steps do not go over the API.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from audit.demo.cast import BY_NAME
from memory.agents.operations import change_setting
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import NotFound
from memory.beliefs.kernel.acts import RevocationDocument
from memory.beliefs.operations.revoking import revoke
from memory.facts.kernel.conflict import case_id
from memory.facts.operations.adjudicating import Asked, adjudicate
from memory.facts.operations.ending import retract
from memory.facts.queries.entities import entity_named
from memory.ledger.operations import previews
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.ledger.queries.verification import scan
from memory.records.reviewing import Target, lapse, review
from memory.tombstones.operations import living

Act = Callable[[Actor, Mapping[str, Any]], Mapping[str, Any]]


def person_acting(namespace: int, name: str, *, loader: UUID, **origin: Any) -> Actor:
    """The actor of a person's step. origin : event_at, idempotency_key, request_id."""
    person = BY_NAME[name]
    return Actor(
        namespace,
        "person",
        person=person.id,
        role=person.role,
        powers=ROLE_POWERS[person.role],
        loader=loader,
        **origin,
    )


def _erased(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = previews.asked(by.namespace, records=[UUID(record) for record in body["records"]])
    if body.get("dry_run"):
        would = previews.preview(by, found=found, quoting=body["quoting"])
        return {"seq": would.at.seq, "n_affected": would.radius.n_affected}
    done = erase(by, items=found.items, reason=body["reason"], note=body["note"], quoting=body["quoting"])
    return {"seq": done.seq, "replayed": done.replayed}


def _verified(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = scan(by.namespace)
    return {"seq": found.size, "verdict": found.content}


def _set(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(change_setting(by, name=body["name"], value=body["value"]))


def _judged(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    entity = entity_named(asof.now(by.namespace), subject=body["subject"], attribute=body["attribute"])
    if entity is None:
        raise NotFound(f"Nothing is said of {body['subject']} {body['attribute']}.")
    asked = Asked(body["verdict"], body["reason"], UUID(body["a"]), UUID(body["b"]))
    return asdict(adjudicate(by, case=case_id(*entity), asked=asked))


def _retracted(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(retract(by, fact=UUID(body["id"]), retracted_as=body["as"], reason=body["reason"]))


def _confirmed(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(review(by, confirm=[Target("record", UUID(body["id"]))], reason=body["reason"]))


def _lapsed(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    done = lapse(by)
    return {"seq": 0, "replayed": True} if done is None else asdict(done)


def _revoked(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = RevocationDocument(at=body["at"], reason=body["reason"])
    return asdict(revoke(by, observation_id=body["observation_id"], asked=asked))


def _revived(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(living.revive(by, tombstone=UUID(body["id"]), note=body["reason"]))


def _retested(by: Actor, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(living.retest(by, tombstone=UUID(body["id"]), passed=body["passed"], note=body["reason"]))


ACTS: Mapping[str, Act] = {
    "erasures": _erased, "ledger/verify": _verified, "settings": _set, "facts/verdict": _judged,
    "facts/retract": _retracted, "records/confirm": _confirmed, "records/lapse": _lapsed,
    "observations/revoke": _revoked, "tombstones/revive": _revived, "tombstones/retest": _retested,
}  # fmt: skip
