"""What a revocation reaches: its observation and, where it passes on, everything that was derived from it.

Invariants
- What is derived from a revoked observation later is reached from its own entry on.
- The rows follow from evidence alone; erasing content changes none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import NamedTuple
from uuid import UUID

from memory.base import sql
from memory.beliefs.ancestry import descendants
from memory.beliefs.models import ObservationReach, Revocation
from memory.ledger.queries.addressed import Address

CHUNK = 400


class Reach(NamedTuple):
    """A row of the table without its namespace."""

    observation: UUID
    revoked: UUID
    seq: int
    at: float
    is_own: bool
    is_reexposing: bool
    passes_on: bool


def enter(namespace: int, rows: Sequence[Reach]) -> None:
    """Store the rows."""
    names = [name for name in sql.columns(ObservationReach) if name != "namespace_id"]
    assert sql.columns(ObservationReach)[0] == "namespace_id"
    sql.insert(ObservationReach, [(namespace, *(getattr(row, name) for name in names)) for row in rows])


def reaches_of(namespace: int, revocation: Revocation, start: Address) -> list[Reach]:
    """All that a revocation reaches of what stands. `start` is where its observation was entered."""
    passes_on = revocation.cascade == "derived"

    def reach(observation: UUID, seq: int) -> Reach:
        return Reach(
            observation, revocation.observation, max(seq, revocation.seq), revocation.at,
            is_own=observation == revocation.observation, is_reexposing=revocation.is_reexposing, passes_on=passes_on,
        )  # fmt: skip

    found = [reach(revocation.observation, revocation.seq)]
    if passes_on:
        found += [reach(child, seq) for child, (seq, _) in descendants(namespace, start).items()]
    return found


def inherited(
    namespace: int, seq: int, parents: Mapping[UUID, Sequence[UUID]], fresh: Mapping[UUID, Sequence[Reach]]
) -> Iterator[Reach]:
    """What reaches an observation because it reaches those that it is derived from.

    parents : {observation: what it is derived from}.   fresh : reaches of observations of the same entry.
    """
    wanted = sorted({one for ids in parents.values() for one in ids} - fresh.keys())
    stored: dict[UUID, list[Reach]] = {}
    for chunk in batched(wanted, CHUNK):
        rows = ObservationReach.objects.filter(namespace=namespace, observation__in=chunk, passes_on=True)
        for row in rows.values_list("observation", "revoked", "seq", "at", "is_own", "is_reexposing", "passes_on"):
            stored.setdefault(row[0], []).append(Reach(*row))
    for child, ids in parents.items():
        told = {reach.revoked: reach for one in ids for reach in (*stored.get(one, ()), *fresh.get(one, ()))}
        for reach in told.values():
            yield reach._replace(observation=child, seq=seq, is_own=False)
