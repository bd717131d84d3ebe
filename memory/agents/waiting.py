"""Everything that waits for a person, as one queue: what the slices above registered with `attention.waiting_on`.

Invariants
- One query, however many kinds there are: each statement is one arm of a union, in the order of the ledger.
- What waits longest comes first. It waits since the entry that its statement names.
- A statement selects `seq`, and for the queue `about` (the id of the thing), `about_kind`, and `told` (what people
  call it, or null); ages and dates are worked out by the reader.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memory.agents.attention import statements
from memory.base import sql
from memory.base.sql import as_instant


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that waits on the page `key`, since entry `seq`. `told` is "" where a name or a text is erased."""

    key: str
    about: UUID
    about_kind: str
    told: str
    seq: int
    since: datetime
    agent: UUID | None
    agent_name: str


_ARM = (
    "SELECT {n} AS place, w.seq AS seq, w.about AS about, w.about_kind AS about_kind, w.told AS told"
    " FROM ({statement}) AS w"
)

_QUEUE = """
SELECT q.place, q.about, q.about_kind, q.told, q.seq, e.recorded_at, e.agent, n.text
FROM ({arms}) AS q
JOIN memory_entry e ON e.namespace_id = %(namespace)s AND e.seq = q.seq
LEFT JOIN memory_agent a ON a.namespace_id = e.namespace_id AND a.id = e.agent
LEFT JOIN memory_name n ON n.namespace_id = a.namespace_id AND n.id = a.name
ORDER BY q.seq, q.place, q.about LIMIT %(limit)s OFFSET %(offset)s
"""


def waits(
    namespace: int, *, now: datetime, keys: Collection[str] | None = None, limit: int = 50, offset: int = 0
) -> list[Wait]:
    """What waits at the instant, the longest first; of the pages in `keys` alone, where they are named."""
    wanted = [(key, text) for key, text in statements().items() if keys is None or key in keys]
    if not wanted:
        return []
    arms = " UNION ALL ".join(
        _ARM.replace("{n}", str(place)).replace("{statement}", text) for place, (_, text) in enumerate(wanted)
    )
    values = {
        "namespace": namespace, "now": connection.ops.adapt_datetimefield_value(now), "limit": limit, "offset": offset,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE.replace("{arms}", arms), values)
        rows = cursor.fetchall()
    return list(_read(rows, [key for key, _ in wanted]))


def _read(rows: Iterable[tuple[Any, ...]], keys: list[str]) -> Iterable[Wait]:
    for place, about, about_kind, told, seq, since, agent, name in rows:
        yield Wait(
            keys[place], sql.as_id(about), about_kind, told or "", seq, as_instant(since), agent and sql.as_id(agent),
            name or "",
        )  # fmt: skip
