"""The entries of the ledger that touch one record: its own, its derivations, links, withdrawals, reviews, erasures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.agents.labels import labels
from memory.base import sql
from memory.base.asof import AsOf
from memory.ledger.models import Entry

MOST = 200
EDGE = "edge"

# An erasure holds at every recorded time, so it is told at every point.
_TOUCHES = (
    "SELECT seq, kind FROM memory_item WHERE namespace_id = %s AND object = %s AND seq <= %s"
    " UNION SELECT seq, relation FROM memory_edge WHERE namespace_id = %s AND source = %s AND seq <= %s"
    " UNION SELECT seq, relation FROM memory_edge WHERE namespace_id = %s AND target = %s AND seq <= %s"
    " UNION SELECT e.seq, 'erasure' FROM memory_record r JOIN memory_erasure e ON e.namespace_id = r.namespace_id"
    " AND e.target_seq = r.seq AND e.target_item = r.item WHERE r.namespace_id = %s AND r.id = %s AND e.seq <= %s"
    " ORDER BY 1 DESC, 2 LIMIT %s"
)


@dataclass(frozen=True, slots=True)
class Touch:
    """One entry that touches the record; `kinds` are the kinds of its items and the relations of its links that do."""

    seq: int
    recorded_at: datetime
    verb: str
    principal: str
    person: int | None
    agent_name: str
    n_items: int
    kinds: tuple[str, ...]


def touching(at: AsOf, *, record: UUID) -> list[Touch]:
    """The newest 200 entries up to the point that touch the record, newest first."""
    namespace = at.namespace
    values = [namespace, record, at.seq] * 3 + [namespace, record, at.head, 4 * MOST]
    kinds: dict[int, list[str]] = {}
    for seq, kind in sql.fetch(_TOUCHES, values):
        touched = kinds.setdefault(seq, [])
        if kind != EDGE:
            # A link is told by its relation.
            touched.append(kind)
    seqs = list(kinds)[:MOST]
    found = list(Entry.objects.filter(namespace=namespace, seq__in=seqs).order_by("-seq"))
    names = labels(namespace, agents=[row.agent for row in found]).agents
    return [
        Touch(row.seq, row.recorded_at, row.verb, row.principal, row.person,
              names.get(row.agent, "") if row.agent else "", row.n_items, tuple(kinds[row.seq]))
        for row in found
    ]  # fmt: skip
