"""What a record may be linked to or merged with: offered, with the reason, and never done.

Invariants
- A read: nothing is written. What is offered is confirmed by a person or an agent with `POST /edges` or a merge.
- What stands in any relation to the record already, and the versions of its own line, are not offered.
- Only what stands at the point and is not erased is read; texts are those of the records, nothing is inferred.

Terms: `share` is the part of the distinct words of both texts that both have (the index of Jaccard), from 0 to 1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q

from memory.base.asof import AsOf
from memory.base.word_diff import shared_words
from memory.ledger.queries.contents import contents_of
from memory.lineage.models import Edge
from memory.records import fulltext
from memory.records.models import Record, RecordState, doc_of, held_by
from memory.records.queries.detail import RecordDetail, state_of

Kind = Literal["mentions", "mentioned_by", "same_text", "near_text"]

KINDS: tuple[Kind, ...] = ("mentions", "mentioned_by", "same_text", "near_text")
NEAR = 0.5
CANDIDATES = 40
MOST = 20

_ID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One record that may belong to the other. A link would read `source relation target`.

    `share` is set for texts alone; `may_merge` says that one record could say both.
    """

    kind: Kind
    record: UUID
    first_line: str
    state: str
    source: UUID
    relation: str
    target: UUID
    share: float | None = None

    @property
    def may_merge(self) -> bool:
        return self.kind in ("same_text", "near_text") and self.state != "withdrawn"


def suggestions(at: AsOf, *, of: RecordDetail) -> tuple[Suggestion, ...]:
    """At most 20, mentions first, then the nearest texts. Five queries, whatever is found. `of` is read at `at`."""
    record, text = of.row.id, of.content
    if text is None:
        return ()
    mentioned = {UUID(found) for found in _ID.findall(text)}
    wanted = Q(id__in={*mentioned, *of.same_text_as}) | Q(doc__in=_docs(at, text, record))
    near = RecordState.objects.known(at).filter(wanted, erased_seq__isnull=True).exclude(id=record)
    near = near.exclude(held_by(at))
    tied = _tied(at, record, line=of.line)
    states = [state for state in near.order_by("doc") if state.id not in tied]
    said = contents_of(at.namespace, [(state.seq, state.item) for state in states])
    found = [
        (kind, state, share)
        for state in states
        for kind, share in _told(record, text, state.id, said[state.seq, state.item].get("content", ""), mentioned)
    ]
    found.sort(key=lambda one: (KINDS.index(one[0]), -(one[2] or 0), -one[1].doc))
    return tuple(_suggestion(kind, record, state, share) for kind, state, share in found[:MOST])


def _docs(at: AsOf, text: str, record: UUID) -> list[int]:
    """The documents that come nearest to the text, and those that name the record."""
    held: dict[str, Any] = {"below": doc_of(at.seq + 1, 0), "is_past": at.seq < at.head}
    near = fulltext.search(at.namespace, fulltext.words(text), join="any", limit=CANDIDATES, **held)
    # The whole id as one term: a phrase on SQLite, and on PostgreSQL the same pieces that its parser made of the text.
    naming = fulltext.search(at.namespace, [str(record)], join="all", limit=CANDIDATES, **held)
    return [hit.doc for hit in (*near, *naming)]


def _tied(at: AsOf, record: UUID, *, line: UUID) -> set[UUID]:
    """Everything that stands in a relation to the record by the point, and its own line."""
    touching = Edge.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by()
    versions = Record.objects.filter(namespace=at.namespace, line=line).order_by()
    ends = touching.filter(source=record).values_list("target", flat=True)
    others = (touching.filter(target=record).values_list("source", flat=True), versions.values_list("id", flat=True))
    return set(ends.union(*others, all=True))


def _told(
    record: UUID, text: str, other: UUID, said: str, mentioned: Collection[UUID]
) -> Iterator[tuple[Kind, float | None]]:
    """Why the other record may belong to this one: the strongest reason, or none where nothing says so."""
    share = shared_words(text, said)
    if other in mentioned:
        yield "mentions", None
    elif str(record) in said.lower():
        yield "mentioned_by", None
    elif said == text:
        yield "same_text", 1.0
    elif share >= NEAR:
        yield "near_text", share


def _suggestion(kind: Kind, record: UUID, state: RecordState, share: float | None) -> Suggestion:
    source, target = (state.id, record) if kind == "mentioned_by" else (record, state.id)
    relation = "references" if kind in ("mentions", "mentioned_by") else "related_to"
    return Suggestion(kind, state.id, state.first_line, state_of(state), source, relation, target, share)
