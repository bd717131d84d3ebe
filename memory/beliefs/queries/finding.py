"""Observations, relation types and saved questions by what somebody types: a name as a whole, or digits of an id.

A name is asked for first: where nothing is called so, that is the one query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.ledger.queries.contents import name_ids

Kind = Literal["observation", "relation type", "question"]

_NEWEST = """NOT EXISTS (SELECT 1 FROM memory_savedquery o WHERE o.namespace_id = q.namespace_id
    AND o.name = q.name AND o.seq > q.seq AND o.seq <= %s)"""
_NAMED = f"""
SELECT 'observation', o.id FROM memory_observation o WHERE o.namespace_id = %s AND o.name = %s AND o.seq <= %s
UNION ALL
SELECT 'relation type', r.relation_type FROM memory_relationlaw r
WHERE r.namespace_id = %s AND r.relation_type = %s AND r.seq <= %s
UNION ALL
SELECT 'question', q.id FROM memory_savedquery q
WHERE q.namespace_id = %s AND q.name = %s AND q.seq <= %s AND {_NEWEST}
"""
_WITH_DIGITS = """
SELECT * FROM (SELECT 'observation', o.id FROM memory_observation o
    WHERE o.namespace_id = %s AND o.id BETWEEN %s AND %s AND o.seq <= %s ORDER BY o.id LIMIT %s) observations
UNION ALL
SELECT * FROM (SELECT 'question', q.id FROM memory_savedquery q
    WHERE q.namespace_id = %s AND q.id BETWEEN %s AND %s AND q.seq <= %s ORDER BY q.id LIMIT %s) questions
"""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing: of a relation type `id` is that of its name."""

    kind: Kind
    id: UUID


def named_so(at: AsOf, text: str) -> list[Found]:
    """What is called exactly so; of saved questions the newest of the name."""
    name = name_ids(at.namespace, [text]).get(text)
    if name is None:
        return []
    point = [at.namespace, name, at.seq]
    return [Found(kind, sql.as_id(id)) for kind, id in sql.fetch(_NAMED, [*point, *point, *point, at.seq])]


def with_digits(at: AsOf, digits: str, *, limit: int) -> list[Found]:
    """Observations and saved questions whose ids begin with the hex digits, `limit` of each."""
    low, high = (UUID(hex=digits.ljust(32, filling)) for filling in "0f")
    point = [at.namespace, low, high, at.seq, limit]
    return [Found(kind, sql.as_id(id)) for kind, id in sql.fetch(_WITH_DIGITS, [*point, *point])]
