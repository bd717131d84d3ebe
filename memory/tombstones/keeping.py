"""What is kept about tombstones, up to a point.

Invariants
- One statement, whatever the number of tables; the rows of each table come in the order of the ledger.
- Nothing here reads content but the limit of false blocks, which is a setting and cannot be erased.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.tombstones.models import Tombstone

CHUNK = 400
DEFAULT_LIMIT = 3
SETTING = "false_block_limit"

# Every arm has one shape: what, tombstone, seq, item, position, number, about, instant, words, root.
# Evidence whose origin was not told has whoever filed it for its root.
_KEPT = """
SELECT 'condition', t.tombstone, t.seq, t.item, t.position, t.n_origins, CAST(NULL AS uuid),
    CAST(NULL AS timestamptz), '', ''
FROM memory_revivalcondition t WHERE {about}
UNION ALL
SELECT 'evidence', t.tombstone, t.seq, t.item, t.position, 0, t.id, t.valid_until,
    CASE WHEN t.origin IS NULL THEN '' ELSE n.text END,
    CASE WHEN t.origin IS NULL
        THEN w.principal || '/' || COALESCE(CAST(w.person AS text), '') || '/' || COALESCE(CAST(w.agent AS text), '')
        ELSE 'name/' || CAST(t.origin AS text) END
FROM memory_revivalevidence t
JOIN memory_entry w ON w.namespace_id = t.namespace_id AND w.seq = t.seq
LEFT JOIN memory_name n ON n.namespace_id = t.namespace_id AND n.id = t.origin
WHERE {about}
UNION ALL
SELECT 'turn', t.tombstone, t.seq, t.item, 0, 0, NULL, t.due_at, t.kind, '' FROM memory_tombstoneturn t WHERE {about}
UNION ALL
SELECT 'verdict', t.tombstone, t.seq, t.item, 0, CASE WHEN t.is_false THEN 1 ELSE 0 END, t.route_check, NULL, '', ''
FROM memory_blockverdict t WHERE {about}
UNION ALL
SELECT 'route', t.id, t.seq, t.item, 0, 0, NULL, NULL, n.text, ''
FROM memory_tombstone t JOIN memory_name n ON n.namespace_id = t.namespace_id AND n.id = t.route
WHERE t.namespace_id = %s AND t.seq <= %s AND t.id IN ({ids})
UNION ALL
SELECT 'limit', NULL, s.seq, s.item, 0, 0, NULL, NULL, c.payload, ''
FROM memory_setting s JOIN memory_content c
    ON c.namespace_id = s.namespace_id AND c.seq = s.seq AND c.item = s.item AND c.part = 'value'
WHERE s.namespace_id = %s AND s.name = %s AND s.seq = (
    SELECT MAX(o.seq) FROM memory_setting o WHERE o.namespace_id = %s AND o.name = %s AND o.seq <= %s)
ORDER BY 3, 4
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A revival condition: its place, its number from 1, how many distinct origins it asks for."""

    seq: int
    item: int
    position: int
    n_origins: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Evidence for the condition of this number. `root` is the same for what goes back to one origin.

    `origin` is how the origin is called: "" where none was told, None where its name is erased.
    """

    seq: int
    item: int
    id: UUID
    position: int
    origin: str | None
    root: str
    valid_until: datetime


@dataclass(frozen=True, slots=True)
class Act:
    """An owner's act and the next date that it set."""

    seq: int
    item: int
    kind: str
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was said of a block, or of none that is named."""

    seq: int
    item: int
    is_false: bool
    route_check: UUID | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept about some tombstones up to a point, by tombstone, and how many false blocks demote one then.

    `routes` are what they are called; one whose name is erased is missing.
    """

    conditions: Mapping[UUID, list[Condition]]
    filed: Mapping[UUID, list[Piece]]
    turns: Mapping[UUID, list[Act]]
    verdicts: Mapping[UUID, list[Judgement]]
    routes: Mapping[UUID, str]
    limit: int


class _Row(NamedTuple):
    """A row of the statement; an arm that has no use for a column leaves it empty."""

    what: str
    tombstone: Any
    seq: int
    item: int
    position: int
    number: int
    about: Any
    instant: Any
    words: str | None
    root: str


def kept(at: AsOf, rows: Sequence[Tombstone]) -> Kept:
    """All that is kept about the tombstones by the point."""
    told: dict[str, list[_Row]] = defaultdict(list)
    for row in _rows(at, [row.id for row in rows]):
        told[row.what].append(row)
    return Kept(
        _grouped(told["condition"], lambda row: Condition(row.seq, row.item, row.position, row.number)),
        _grouped(told["evidence"], _piece),
        _grouped(told["turn"], lambda row: Act(row.seq, row.item, row.words or "", _instant(row.instant))),
        _grouped(told["verdict"], lambda row: Judgement(row.seq, row.item, bool(row.number), _id(row.about))),
        {sql.as_id(row.tombstone): row.words or "" for row in told["route"]},
        next((int(str(strict_loads(row.words or ""))) for row in told["limit"]), DEFAULT_LIMIT),
    )


def false_block_limit(at: AsOf) -> int:
    """How many false blocks demote a tombstone, as the namespace had set it by the point."""
    return kept(at, []).limit


def _rows(at: AsOf, ids: Sequence[UUID]) -> Iterator[_Row]:
    """The rows about the tombstones, and the limit also where there are none."""
    for start in range(0, len(ids) or 1, CHUNK):
        chunk = ids[start : start + CHUNK]
        marks = ", ".join(["%s"] * len(chunk)) or "NULL"
        about = f"t.namespace_id = %s AND t.seq <= %s AND t.tombstone IN ({marks})"
        values = [at.namespace, at.seq, *chunk] * 5
        limit = [at.namespace, SETTING, at.namespace, SETTING, at.seq]
        yield from map(_Row._make, sql.fetch(_KEPT.format(about=about, ids=marks), [*values, *limit]))


def _grouped[Told](rows: Sequence[_Row], told: Callable[[_Row], Told]) -> Mapping[UUID, list[Told]]:
    found: dict[UUID, list[Told]] = defaultdict(list)
    for row in rows:
        found[sql.as_id(row.tombstone)].append(told(row))
    return found


def _piece(row: _Row) -> Piece:
    until = sql.as_instant(row.instant)
    return Piece(row.seq, row.item, sql.as_id(row.about), row.position, row.words, row.root, until)


def _id(value: Any) -> UUID | None:
    return None if value is None else sql.as_id(value)


def _instant(value: Any) -> datetime | None:
    return None if value is None else sql.as_instant(value)
