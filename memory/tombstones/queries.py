"""Reads of tombstones: the list by due date, one whole, and what is due.

Invariants
- Every state and mark is that of the point; nothing recorded after it shows, but an erasure, which holds at all times.
- What a list leaves out it counts. What is overdue comes first, what is retired last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.ledger.queries.contents import name_ids
from memory.ledger.queries.mentions import Mention
from memory.tombstones.checking import Sign, addresses_of, signs
from memory.tombstones.keeping import Kept, kept
from memory.tombstones.kernel.life import STATES, Standing
from memory.tombstones.kernel.scope import folded
from memory.tombstones.lives import standings
from memory.tombstones.models import RouteHit, Tombstone
from memory.tombstones.saying import Said, Written, said, written

CHUNK = 400
PAGE = 50


@dataclass(frozen=True, slots=True)
class TombstoneRow:
    """A tombstone at the point. `n_hits` checks were blocked by it, out of `n_checks` that met it.

    `n_false` of these blocks are said to be false; at `limit` it only watches. `is_erased`: its text is gone.
    """

    sign: Sign
    standing: Standing
    said: Said
    mentions: tuple[Mention, ...]
    n_hits: int
    n_checks: int
    limit: int

    @property
    def id(self) -> UUID:
        return self.sign.id

    @property
    def state(self) -> str:
        return self.standing.state

    @property
    def is_erased(self) -> bool:
        return self.sign.scope is None


@dataclass(frozen=True, slots=True)
class TombstonePage:
    """A page of the list. `states` counts all tombstones by state; `next` is the id to go on after."""

    items: tuple[TombstoneRow, ...]
    next: UUID | None
    total: int
    hidden: Mapping[str, int]
    states: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Due:
    """A tombstone that waits for an owner: since when, what it is called, and for what."""

    id: UUID
    seq: int
    since: datetime
    label: str
    kind: str


def tombstones(
    at: AsOf, *, states: Sequence[str] = (), route: str = "", retired: bool = False, after: UUID | None = None,
    limit: int = PAGE,
) -> TombstonePage:  # fmt: skip
    """The tombstones at the point by due date. Retired ones are left out unless they are asked for.

    Raises Invalid (an `after` that is none of them).
    """
    rows = _rows(at, route=route)
    known = kept(at, rows)
    stands = standings(at, rows, known)
    counts = Counter(stands[row.id].state for row in rows)
    wanted = set(states) or {state for state in STATES if retired or state != "retired"}
    shown = sorted((row for row in rows if stands[row.id].state in wanted), key=lambda row: _rank(row, stands[row.id]))
    start = 0
    if after is not None:
        start = next((index for index, row in enumerate(shown, start=1) if row.id == after), 0)
        if not start:
            raise Invalid.at("after", expected="the id that ended a page of this list", got=after)
    page = shown[start : start + limit]
    is_cut = start + limit < len(shown)
    n_hidden = counts["retired"] if "retired" not in wanted and not states else 0
    return TombstonePage(
        _told_rows(at, page, known, stands, written(at.namespace, addresses_of(page, known))),
        page[-1].id if is_cut else None, len(shown),
        {"retired": n_hidden} if n_hidden else {}, {state: counts[state] for state in STATES},
    )  # fmt: skip


def tombstone(at: AsOf, *, id: UUID) -> TombstoneRow:
    """One tombstone at the point.   Raises NotFound."""
    row = found(at, id=id)
    known = kept(at, [row])
    return told_one(at, row, known, written(at.namespace, addresses_of([row], known)))


def found(at: AsOf, *, id: UUID) -> Tombstone:
    """The row of a tombstone that stands at the point.   Raises NotFound."""
    row = Tombstone.objects.filter(namespace=at.namespace, id=id, seq__lte=at.seq).first()
    if row is None:
        raise NotFound(f"There is no dead end {id} {at.words}.")
    return row


def told_one(at: AsOf, row: Tombstone, known: Kept, texts: Written) -> TombstoneRow:
    """One tombstone with all that a card says of it. `texts` hold what is written at its addresses."""
    return _told_rows(at, [row], known, standings(at, [row], known), texts)[0]


def due(at: AsOf) -> list[Due]:
    """What waits for an owner at the point: re-tests to be reported, re-tests and reviews whose date has come.

    The longest waiting first.
    """
    rows = _rows(at)
    known = kept(at, rows)
    stands = standings(at, rows, known)
    waiting = [row for row in rows if stands[row.id].state == "revival_testing" or stands[row.id].is_overdue]
    told = [_due(at, row, stands[row.id], known.routes.get(row.id, "a route whose name is erased")) for row in waiting]
    return sorted(told, key=lambda one: (one.since, one.seq))


def _due(at: AsOf, row: Tombstone, now: Standing, label: str) -> Due:
    dates = {row.review_at: "review due", row.retest_at: "re-test due"}
    if now.state == "revival_testing" and now.revived_seq is not None:
        return Due(row.id, row.seq, said(at.namespace, [now.revived_seq])[now.revived_seq].recorded_at, label,
                   "re-test to report")  # fmt: skip
    assert now.due_at is not None
    return Due(row.id, row.seq, now.due_at, label, dates.get(now.due_at, "review due"))


def _told_rows(
    at: AsOf, rows: Sequence[Tombstone], known: Kept, stands: Mapping[UUID, Standing], texts: Written
) -> tuple[TombstoneRow, ...]:
    """The rows with all that a card says of them, in the order given."""
    hits = _hits(at, [row.id for row in rows])
    return tuple(
        TombstoneRow(
            sign, stands[row.id], texts.said[row.seq], texts.rests[row.seq, row.item], hits[row.id, "blocked"],
            sum(n for (about, _), n in hits.items() if about == row.id), known.limit,
        )
        for row, sign in zip(rows, signs(rows, known, texts.texts), strict=True)
    )  # fmt: skip


def _hits(at: AsOf, ids: Sequence[UUID]) -> Counter[tuple[UUID, str]]:
    found: Counter[tuple[UUID, str]] = Counter()
    for start in range(0, len(ids), CHUNK):
        rows = RouteHit.objects.filter(namespace=at.namespace, seq__lte=at.seq)
        counted = rows.filter(tombstone__in=ids[start : start + CHUNK]).order_by().values("tombstone", "reason")
        for each in counted.annotate(n=Count("route_check")):
            found[each["tombstone"], each["reason"]] += each["n"]
    return found


def _rows(at: AsOf, *, route: str = "") -> list[Tombstone]:
    rows = Tombstone.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    if route:
        known = name_ids(at.namespace, [folded(route)]).get(folded(route))
        rows = rows.filter(route_key=known) if known is not None else rows.none()
    return list(rows.order_by("seq", "item"))


def _rank(row: Tombstone, now: Standing) -> tuple[bool, datetime, int]:
    """By due date; what is retired has none and stands last, by its first review date."""
    return now.due_at is None, now.due_at or row.review_at, row.seq
