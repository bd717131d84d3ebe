"""What people do in the story: the operations behind the console's forms, with that person as the actor.

No token opens a person's door, the loader's neither, so these steps do not go over the API.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from audit.demo.cast import BY_NAME
from memory.base.actor import ROLE_POWERS, Actor
from memory.ledger.operations import previews
from memory.ledger.operations.erasing import erase
from memory.ledger.queries.verification import scan

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


ACTS: Mapping[str, Act] = {"erasures": _erased, "ledger/verify": _verified}
