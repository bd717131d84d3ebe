"""What an import brought, as its source said it: one side of a comparison with what stands here.

The rows are those that the import keeps raw; an erased one is gone from it. Two stores of different kinds are compared
by what both have: type, text, summary and tags, and the edges of derivations.

Source: laws of the store, 3.3 and 5.10 (I4).
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.db import connection

from audit.laws.bisimilarity import contextfs
from audit.laws.bisimilarity.values import Side
from audit.laws.relations import DERIVED

IN_BOTH = frozenset({"type", "content", "summary", "tags"})
_RAW = (
    "SELECT c.payload FROM memory_importedrow r JOIN memory_content c ON c.namespace_id = r.namespace_id"
    " AND c.seq = r.seq AND c.item = r.item AND c.part = 'raw' WHERE r.namespace_id = %s AND r.run = %s"
)


def side(name: str, *, namespace: int, run: UUID) -> Side:
    """The rows that the import keeps. One statement."""
    tables: dict[str, list[dict[str, Any]]] = {"memories": [], "memory_edges": []}
    with connection.cursor() as cursor:
        cursor.execute(_RAW, [namespace, run if connection.vendor == "postgresql" else run.hex])
        for (payload,) in cursor:
            kept = json.loads(payload)
            if (rows := tables.get(kept["key"][0])) is not None:
                rows.append(kept["row"])
    return contextfs.side(name, memories=tables["memories"], edges=tables["memory_edges"], sees_marks=False)


def comparable(side: Side) -> Side:
    """The side by what stores of both kinds hold."""
    return side.narrowed(is_field=IN_BOTH.__contains__, is_relation=DERIVED.__contains__)
