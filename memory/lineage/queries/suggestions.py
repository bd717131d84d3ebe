"""What a record may be linked to or merged with: offered, with the reason, and never done.

Invariants
- A read: nothing is written. What is offered is confirmed by a person or an agent with `POST /edges` or a merge.
- What stands in any relation to the record already, and the versions of its own line, are not offered.
- Only what stands at the point and is not erased is read; texts are those of the records, nothing is inferred.

Terms: `share` is the part of the distinct words of both texts that both have (the index of Jaccard), from 0 to 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Q

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.lineage.models import Edge
from memory.records import fulltext
from memory.records.models import Record, RecordState
from memory.records.queries.detail import RecordRow, rows_of, texts

Kind = Literal["mentions", "mentioned_by", "same_text", "near_text"]

KINDS: tuple[Kind, ...] = ("mentions", "mentioned_by", "same_text", "near_text")
NEAR = 0.5
CANDIDATES = 40
MOST = 20

_ID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One record that may belong to the other. A link would read `source relation target`.

    `share` is set for texts alone; `may_merge` says that one record could say both.
    """

    kind: Kind
    row: RecordRow
    source: UUID
    relation: str
    target: UUID
    share: float | None = None

    @property
    def may_merge(self) -> bool:
        return self.kind in ("same_text", "near_text") and self.row.state != "withdrawn"


def suggestions(at: AsOf, *, record: UUID) -> tuple[Suggestion, ...]:
    """At most 20, mentions first, then the nearest texts. The number of queries does not grow. Raises NotFound."""
    own = RecordState.objects.known(at).filter(id=record).first()
    if own is None:
        raise NotFound(f"There is no record {record} as of entry {at.seq}.", id=str(record))
    text = texts(at, [record]).get(record)
    if text is None:
        return ()
    mentioned = {UUID(found) for found in _ID.findall(text)}
    docs = _docs(at, text, record)
    wanted = Q(id__in=mentioned) | Q(doc__in=docs) | Q(text_digest=own.text_digest)
    near = RecordState.objects.known(at).filter(wanted, erased_seq__isnull=True).exclude(id=record)
    states = {state.id: state for state in near.exclude(id__in=_tied(at, record)).order_by("doc")[: 3 * CANDIDATES]}
    said = texts(at, list(states))
    found = [
        (kind, state, share)
        for id, state in states.items()
        if (told := _told(record, text, id, said.get(id, ""), mentioned)) is not None
        for kind, share in [told]
    ]
    found.sort(key=lambda one: (KINDS.index(one[0]), -(one[2] or 0), -one[1].doc))
    rows = rows_of(at, [state for _, state, _ in found[:MOST]])
    return tuple(_suggestion(kind, record, row, share) for (kind, _, share), row in zip(found, rows, strict=False))


def _docs(at: AsOf, text: str, record: UUID) -> list[int]:
    """The documents that come nearest to the text, and those that name the record."""
    near = fulltext.search(at.namespace, fulltext.words(text), join="any", limit=CANDIDATES)
    # The whole id as one term: a phrase on SQLite, and on PostgreSQL the same pieces that its parser made of the text.
    naming = fulltext.search(at.namespace, [str(record)], join="all", limit=CANDIDATES)
    return [hit.doc for hit in (*near, *naming)]


def _tied(at: AsOf, record: UUID) -> set[UUID]:
    """Everything that stands in a relation to the record by the point, and its own line."""
    touching = Edge.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    ends = touching.filter(source=record).values_list("target", flat=True).union(
        touching.filter(target=record).values_list("source", flat=True), all=True
    )  # fmt: skip
    line = Record.objects.filter(namespace=at.namespace, id=record).values("line")[:1]
    versions = Record.objects.filter(namespace=at.namespace, line=line).values_list("id", flat=True)
    return {*ends, *versions}


def _told(
    record: UUID, text: str, other: UUID, said: str, mentioned: Iterable[UUID]
) -> tuple[Kind, float | None] | None:
    """Why the other record may belong to this one, the strongest reason first; None where nothing says so."""
    if other in mentioned:
        return "mentions", None
    if str(record) in said.lower():
        return "mentioned_by", None
    if said == text:
        return "same_text", 1.0
    share = shared_words(text, said)
    return ("near_text", share) if share >= NEAR else None


def shared_words(one: str, other: str) -> float:
    """The part of the distinct words of both texts that both have, whatever their case; 0 where neither has any."""
    left, right = (set(_WORD.findall(text.casefold())) for text in (one, other))
    return len(left & right) / len(left | right) if left | right else 0.0


def _suggestion(kind: Kind, record: UUID, row: RecordRow, share: float | None) -> Suggestion:
    source, target = (row.id, record) if kind == "mentioned_by" else (record, row.id)
    relation: Mapping[Kind, str] = {"mentions": "references", "mentioned_by": "references"}
    return Suggestion(kind, row, source, relation.get(kind, "related_to"), target, share)
