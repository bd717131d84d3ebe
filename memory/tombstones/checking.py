"""What a check of a route is told.

Invariants: a function of the route, the scope asked and the point; nothing is written. A tombstone whose text is erased
has no scope any more and blocks nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.ledger.queries.addressed import Address
from memory.ledger.queries.contents import contents_of, name_ids
from memory.tombstones.keeping import Condition, Kept, kept
from memory.tombstones.kernel.life import reason_of, verdict_of
from memory.tombstones.kernel.scope import Scope, covers, exempts, folded
from memory.tombstones.lives import standings
from memory.tombstones.models import Tombstone


@dataclass(frozen=True, slots=True)
class Sign:
    """What a tombstone says to whoever meets it; None and "" where its text is erased."""

    id: UUID
    seq: int
    route: str | None
    scope: Scope | None
    out_of_scope: dict[str, Any]
    evidence: str
    revival: tuple[str | None, ...]
    n_origins: tuple[int, ...]
    retest: str | None
    retest_at: datetime | None
    review_at: datetime


@dataclass(frozen=True, slots=True)
class Met:
    """A tombstone on the route that was asked for: "blocked", or why it does not block."""

    sign: Sign
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer over all that was met, those that block first."""

    verdict: str
    reason: str
    met: tuple[Met, ...]


def checked(at: AsOf, *, route: str, scope: Scope) -> Checked:
    """Whether the route is blocked in the scope at the point, and by which tombstones."""
    rows = on_route(at, route=route)
    if not rows:
        return answer_of(())
    known = kept(at, rows)
    stands = standings(at, rows, known)
    found = []
    for sign in signs(rows, known, contents_of(at.namespace, addresses_of(rows, known))):
        is_covered = sign.scope is not None and covers(sign.scope, scope) and not exempts(sign.out_of_scope, scope)
        found.append(Met(sign, reason_of(stands[sign.id].state, is_covered=is_covered)))
    return answer_of(found)


def answer_of(met: Sequence[Met]) -> Checked:
    """One verdict over everything that was met."""
    verdict, reason = verdict_of(one.reason for one in met)
    return Checked(verdict, reason, tuple(sorted(met, key=lambda one: (one.reason != "blocked", one.sign.seq))))


def on_route(at: AsOf, *, route: str) -> list[Tombstone]:
    """The tombstones on the route at the point, oldest first."""
    key = folded(route)
    known = name_ids(at.namespace, [key]).get(key)
    if known is None:
        return []
    return list(
        Tombstone.objects.filter(namespace=at.namespace, route_key=known, seq__lte=at.seq).order_by("seq", "item")
    )


def addresses_of(rows: Sequence[Tombstone], known: Kept) -> list[Address]:
    """Where the tombstones and their conditions stand."""
    conditions = [(one.seq, one.item) for row in rows for one in known.conditions[row.id]]
    return [*((row.seq, row.item) for row in rows), *conditions]


def signs(rows: Sequence[Tombstone], known: Kept, texts: Mapping[Address, Mapping[str, Any]]) -> list[Sign]:
    """What the tombstones say, in the order given. `texts` are those at their addresses."""
    return [_sign(row, known.conditions[row.id], texts, known.routes.get(row.id)) for row in rows]


def _sign(
    row: Tombstone, conditions: Sequence[Condition], texts: Mapping[Address, Mapping[str, Any]], route: str | None
) -> Sign:
    parts = texts[row.seq, row.item]
    where, plans = parts.get("content", {}), parts.get("details", {})
    return Sign(
        row.id, row.seq, route, where.get("scope"), where.get("out_of_scope", {}), plans.get("evidence", ""),
        tuple(texts[one.seq, one.item].get("content") for one in conditions),
        tuple(one.n_origins for one in conditions), plans.get("retest"), row.retest_at, row.review_at,
    )  # fmt: skip
