"""Lives of tombstones out of their rows, and what stands at a point.

Invariants: one query for each table, whatever the number of tombstones; nothing here reads content but the limit of
false blocks, which is a setting and cannot be erased.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from memory.agents.models import Setting
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.ledger.models import Content, Entry
from memory.tombstones.kernel.life import Asked, Filed, Life, Standing, Turn, Verdict, standing
from memory.tombstones.models import BlockVerdict, RevivalCondition, RevivalEvidence, Tombstone, TombstoneTurn

CHUNK = 400
DEFAULT_LIMIT = 3
SETTING = "false_block_limit"


def false_block_limit(at: AsOf) -> int:
    """How many false blocks demote a tombstone, as the namespace had set it by the point."""
    told = Content.objects.filter(
        namespace=OuterRef("namespace"), seq=OuterRef("seq"), item=OuterRef("item"), part="value"
    )
    rows = Setting.objects.filter(namespace=at.namespace, name=SETTING, seq__lte=at.seq).order_by("-seq")
    payload = rows.annotate(told=Subquery(told.values("payload")[:1])).values_list("told", flat=True).first()
    return DEFAULT_LIMIT if payload is None else int(str(strict_loads(payload)))


def first_due_at(row: Tombstone) -> datetime:
    """The earlier of re-test and review."""
    return row.review_at if row.retest_at is None else min(row.retest_at, row.review_at)


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows about some tombstones up to a point, by tombstone, each in the order of the ledger."""

    conditions: Mapping[UUID, list[RevivalCondition]]
    filed: Mapping[UUID, list[RevivalEvidence]]
    turns: Mapping[UUID, list[TombstoneTurn]]
    verdicts: Mapping[UUID, list[BlockVerdict]]


def kept(at: AsOf, rows: Sequence[Tombstone]) -> Kept:
    """All that is kept about the tombstones by the point."""
    ids = [row.id for row in rows]
    found = [_of(model, at, ids) for model in (RevivalCondition, RevivalEvidence, TombstoneTurn, BlockVerdict)]
    return Kept(*found)


def lives(at: AsOf, rows: Sequence[Tombstone], known: Kept) -> dict[UUID, Life]:
    """{tombstone: all that happened to it by the point}."""
    filed = _filed(at, known)
    return {
        row.id: Life(
            first_due_at(row),
            tuple(Asked(one.position, one.n_origins) for one in known.conditions[row.id]),
            tuple(filed[row.id]),
            tuple(Turn(one.seq, one.kind, one.due_at) for one in known.turns[row.id]),
            tuple(Verdict(one.seq, one.is_false, one.route_check) for one in known.verdicts[row.id]),
        )
        for row in rows
    }


def standings(at: AsOf, rows: Sequence[Tombstone], known: Kept, *, limit: int) -> dict[UUID, Standing]:
    """{tombstone: what it is at the point}; `limit` is that of false blocks."""
    return {
        identity: standing(life, seq=at.seq, valid_at=at.valid_at, limit=limit)
        for identity, life in lives(at, rows, known).items()
    }


def _filed(at: AsOf, known: Kept) -> Mapping[UUID, list[Filed]]:
    rows = [row for rows in known.filed.values() for row in rows]
    found: dict[UUID, list[Filed]] = defaultdict(list)
    authors = _authors(at, [row.seq for row in rows if row.origin is None])
    for row in rows:
        origin = f"name/{row.origin}" if row.origin is not None else authors[row.seq]
        found[row.tombstone].append(Filed(row.seq, row.position, origin, row.valid_until))
    return found


def _authors(at: AsOf, seqs: Sequence[int]) -> dict[int, str]:
    """Who wrote each entry, as an origin of its own."""
    found: dict[int, str] = {}
    for start in range(0, len(seqs), CHUNK):
        rows = Entry.objects.filter(namespace=at.namespace, seq__in=seqs[start : start + CHUNK])
        for seq, principal, person, agent in rows.values_list("seq", "principal", "person", "agent"):
            found[seq] = f"{principal}/{person}/{agent}"
    return found


def _of(model: Any, at: AsOf, ids: Sequence[UUID]) -> Mapping[UUID, list[Any]]:
    """The rows about each of the tombstones up to the point, in the order of the ledger."""
    found: dict[UUID, list[Any]] = defaultdict(list)
    for start in range(0, len(ids), CHUNK):
        rows: QuerySet[Any] = model._default_manager.filter(namespace=at.namespace, seq__lte=at.seq)
        for row in rows.filter(tombstone__in=ids[start : start + CHUNK]).order_by("seq", "item"):
            found[row.tombstone].append(row)
    return found
