"""Rectangles: where each fact stands in the plane of valid time and known seq, and how it does not elsewhere.

Invariants
- The pieces of one fact never overlap; together they cover its valid interval from its seq on.
- Lane `standing` holds where the fact counts, `superseded` where a supersession closed it, and so on: one lane is asked
  alone, so that a read of what holds never walks what does not. An erased fact stands in lane `erased`, at every seq.
- Rows are a pure function of the fact's state row; the incremental way and a rebuild write the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from memory.base import sql
from memory.facts.models import FactRect, FactState
from memory.facts.states import acts, word

LANES = {"standing": 0, "superseded": 1, "retracted": 2, "rejected": 3, "candidate": 4, "held": 5, "erased": 6}
CHUNK = 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Piece:
    """One rectangle, half-open on both axes; None is an open end."""

    lane: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: int
    known_to: int | None


def micros(instant: datetime) -> int:
    """Whole microseconds since 1970."""
    return (instant - _EPOCH) // _MICROSECOND


def entity_key(namespace: int, subject: UUID, attribute: UUID, lane: str) -> int:
    """63 bits that stand for one lane of one entity in an index."""
    told = b"%d/%b%b%d" % (namespace, subject.bytes, attribute.bytes, LANES[lane])
    return int.from_bytes(hashlib.sha256(told).digest()[:8]) >> 1


def pieces(row: FactState) -> Iterator[Piece]:
    """The rectangles of one fact, by the seqs at which its standing changed."""
    turns: list[tuple[int, list[tuple[str, datetime, datetime | None]]]] = []
    for seq in acts(row):
        now = list(_spans(row, seq))
        if not turns or turns[-1][1] != now:
            turns.append((seq, now))
    open_since: dict[tuple[str, datetime, datetime | None], int] = {}
    for seq, spans in turns:
        for span in [span for span in open_since if span not in spans]:
            yield Piece(*span, open_since.pop(span), seq)
        for span in spans:
            open_since.setdefault(span, seq)
    for span, since in open_since.items():
        yield Piece(*span, since, None)


def _spans(row: FactState, seq: int) -> Iterator[tuple[str, datetime, datetime | None]]:
    """The valid spans once entry `seq` is written: one, or two where a supersession cuts it."""
    state, cut = word(row, seq), row.superseded_at
    counts = "standing" if row.erased_seq is None else "erased"
    if state != "superseded" or cut is None:
        yield counts if state == "standing" else state, row.valid_from, row.valid_to
        return
    if row.valid_to is not None and cut >= row.valid_to:
        yield counts, row.valid_from, row.valid_to
        return
    if cut > row.valid_from:
        yield counts, row.valid_from, cut
    yield "superseded", max(cut, row.valid_from), row.valid_to


def add(rows: Iterable[FactState]) -> None:
    """The rectangles of facts that have none yet."""
    sql.insert(FactRect, [_values(row, piece) for row in rows for piece in pieces(row)])


def renew(namespace: int, rows: Sequence[FactState]) -> None:
    """The rectangles of facts whose standing changed."""
    docs = [row.doc for row in rows]
    for start in range(0, len(docs), CHUNK):
        FactRect.objects.filter(namespace=namespace, doc__in=docs[start : start + CHUNK]).delete()
    add(rows)


def _values(row: FactState, piece: Piece) -> tuple[int | None, ...]:
    return (
        row.namespace_id, entity_key(row.namespace_id, row.subject, row.attribute, piece.lane), LANES[piece.lane],
        row.doc, micros(piece.valid_from), None if piece.valid_to is None else micros(piece.valid_to),
        piece.known_from, piece.known_to,
    )  # fmt: skip
