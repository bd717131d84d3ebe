"""Held records as their reviewers read them: the whole text, and the current record that comes nearest to it.

Invariants
- The number of queries does not grow with the rows: one for the texts, one search for all, one for what it found.
- The nearest is a record that stands now and was not held itself; what shares too few words is not near.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.word_diff import shared_words
from memory.ledger.models import Content, Name
from memory.records import fulltext
from memory.records.models import RecordState, RecordStateQuerySet
from memory.records.review import Near, Shown

NEAR = 0.2
CANDIDATES = 5
# The longest words of a text tell most of it; so many are looked for.
WORDS = 12


def shown(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, Shown]:
    """{id: what is shown of it}; what is erased is missing."""
    rows = _told(at, RecordState.objects.filter(namespace=at.namespace, id__in=list(ids)))
    texts = {row["id"]: str(strict_loads(row["payload"])) for row in rows if row["payload"] is not None}
    types = {row["id"]: row["type_text"] or "" for row in rows}
    order = list(texts)
    found = fulltext.nearest(at.namespace, [_asked(texts[id]) for id in order], limit=CANDIDATES + 1)
    docs = sorted(set().union(*found)) if found else []
    standing = _told(at, RecordState.objects.current(at).filter(doc__in=docs)) if docs else []
    others = {row["doc"]: (row["id"], str(strict_loads(row["payload"]))) for row in standing if row["payload"]}
    return {
        id: Shown(texts[id], types[id], _nearest(texts[id], [others[doc] for doc in docs if doc in others]))
        for id, docs in zip(order, found, strict=True)
    }


def _told(at: AsOf, rows: RecordStateQuerySet) -> list[dict[str, Any]]:
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "content"}
    named = Name.objects.filter(namespace=at.namespace, id=OuterRef("type"))
    told: Any = rows.annotate(
        payload=Subquery(Content.objects.filter(**own).values("payload")[:1]),
        type_text=Subquery(named.values("text")[:1]),
    )
    return list(told.values("id", "doc", "payload", "type_text"))


def _asked(text: str) -> list[str]:
    terms = fulltext.words(text)
    return sorted(terms, key=lambda term: (-len(term), term))[:WORDS]


def _nearest(text: str, others: Sequence[tuple[UUID, str]]) -> Near | None:
    shares = [(shared_words(text, said), other, said) for other, said in others]
    best = max(shares, key=lambda one: (one[0], one[1]), default=None)
    return Near(best[1], best[2]) if best is not None and best[0] >= NEAR else None
