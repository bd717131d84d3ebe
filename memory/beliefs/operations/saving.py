"""Keeping a question under a name, so that it can be asked again by anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base import gate, ids
from memory.base.actor import Actor
from memory.base.errors import Invalid
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.models import SavedQuery
from memory.beliefs.relations import relation_named
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import book_for, opened, retried
from memory.ledger.queries import asof
from memory.ledger.queries.closed import require_open


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved query, the one of its name that it replaces, and whether this request had saved it before."""

    id: UUID
    name: str
    relation_type: str
    replaces: UUID | None
    seq: int
    replayed: bool


@retried
def save_query(by: Actor, *, name: str, query: Mapping[str, Any]) -> Saved:
    """Save a query under a name; the newest of a name is the one that is asked.

    Locks: the namespace head. Appends: `save_query`. Raises Invalid (no query, a blank name), NotFound (no law),
    Forbidden, Stopped.
    """
    if not name.strip():
        raise Invalid.at("name", expected="a name that is not blank", got="blanks", code="too_short")
    require_open(by.namespace)
    asked = query_document(query)
    relation = relation_named(by.namespace, asked.relation_type, seq=asof.now(by.namespace).seq)
    book = book_for(by)
    id = ids.new_id()
    values = {"id": id, "name": book.id(name), "relation_type": relation.name}
    draft = Draft("saved_query", id, SavedQuery, values, {"value": dict(query)})
    drafting.seal([draft])
    with opened(by, verb="save_query", need=gate.WRITE, request=[name, dict(query)], names=book) as entry:
        if not entry.is_replay:
            entry.add(draft)
    row = SavedQuery.objects.get(namespace=by.namespace, seq=entry.answer.seq)
    before = SavedQuery.objects.filter(namespace=by.namespace, name=row.name, seq__lt=row.seq).order_by("-seq")
    replaces = before.values_list("id", flat=True).first()
    return Saved(row.id, name, asked.relation_type, replaces, row.seq, entry.is_replay)
