"""Lives of tombstones out of what is kept about them, and what stands at a point."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memory.base.asof import AsOf
from memory.tombstones.keeping import Kept
from memory.tombstones.kernel.life import Asked, Filed, Life, Standing, Turn, Verdict, standing
from memory.tombstones.models import Tombstone


def first_due_at(row: Tombstone) -> datetime:
    """The earlier of re-test and review."""
    return row.review_at if row.retest_at is None else min(row.retest_at, row.review_at)


def life_of(row: Tombstone, known: Kept) -> Life:
    """All that happened to the tombstone by the point of what is kept."""
    return Life(
        first_due_at(row),
        tuple(Asked(one.position, one.n_origins) for one in known.conditions[row.id]),
        tuple(Filed(one.seq, one.position, one.root, one.valid_until) for one in known.filed[row.id]),
        tuple(Turn(one.seq, one.kind, one.due_at) for one in known.turns[row.id]),
        tuple(Verdict(one.seq, one.is_false, one.route_check) for one in known.verdicts[row.id]),
    )


def standings(at: AsOf, rows: Sequence[Tombstone], known: Kept) -> dict[UUID, Standing]:
    """{tombstone: what it is at the point}."""
    return {row.id: standing(life_of(row, known), seq=at.seq, valid_at=at.valid_at, limit=known.limit) for row in rows}
