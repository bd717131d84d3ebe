"""What a client states of a route: a burial to be, and what stands for it under an Idempotency-Key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import instants
from memory.base.errors import Invalid, Place
from memory.tombstones.kernel.scope import READABLE, Conditions, Scope, faults, folded

MOST_CONDITIONS = 20
MOST_ORIGINS = 20


@dataclass(frozen=True, slots=True)
class Revival:
    """A condition under which the route may be tried again; so many distinct origins must speak for it."""

    text: str
    n_origins: int = 1


@dataclass(frozen=True, slots=True)
class NewTombstone:
    """A burial to be. `evidence` is text, `references` are ids of what it rests on; one of them must be there."""

    route: str
    scope: Scope
    retest: str
    review_at: datetime
    revival: tuple[Revival, ...]
    out_of_scope: Conditions = field(default_factory=dict)
    evidence: str = ""
    references: tuple[UUID, ...] = ()
    retest_at: datetime | None = None


def require_whole(new: NewTombstone) -> None:
    """Raise Invalid with every part that is missing or cannot be read: without bounds and an exit it is a ban."""
    places = list(_missing(new))
    if places:
        parts = ", ".join(".".join(str(step) for step in place.loc) for place in places)
        raise Invalid(f"No burial without bounds and an exit: see {parts}.", errors=places)


def _missing(new: NewTombstone) -> Iterator[Place]:
    if not folded(new.route):
        yield Place(("route",), "missing", "the route that failed")
    if not (folded(new.scope) if isinstance(new.scope, str) else new.scope):
        yield Place(("scope",), "missing", "where it failed: a text, or conditions on named keys")
    if not (new.evidence.strip() or new.references):
        yield Place(("evidence",), "missing", "what shows that it failed: text, or ids of what stands here")
    if not new.revival:
        yield Place(("revival",), "missing", "at least one condition under which it may be tried again")
    if not new.retest.strip():
        yield Place(("retest",), "missing", "how it is to be tried again")
    yield from _unreadable(new)
    seen: set[str] = set()
    for index, one in enumerate(new.revival):
        if not folded(one.text) or folded(one.text) in seen:
            yield Place(("revival", index), "invalid", "a condition that is told once", one.text[:200])
        seen.add(folded(one.text))


def _unreadable(new: NewTombstone) -> Iterator[Place]:
    parts = {"scope": {} if isinstance(new.scope, str) else new.scope, "out_of_scope": new.out_of_scope}
    for name, conditions in parts.items():
        for fault in faults(conditions):
            place = (name, fault.key) if fault.index is None else (name, fault.key, fault.index)
            yield Place(place, "invalid", READABLE, fault.got[:200])
    if isinstance(new.scope, str) and new.out_of_scope:
        yield Place(("out_of_scope",), "invalid", "nothing beside a scope that is a text: a text states no keys")


def request_of(new: NewTombstone) -> dict[str, Any]:
    """All that the client gave, as JSON."""
    return {
        "route": new.route, "scope": new.scope, "out_of_scope": dict(new.out_of_scope), "evidence": new.evidence,
        "references": [str(one) for one in new.references],
        "revival": [[one.text, one.n_origins] for one in new.revival], "retest": new.retest,
        "retest_at": None if new.retest_at is None else instants.text(new.retest_at),
        "review_at": instants.text(new.review_at),
    }  # fmt: skip
