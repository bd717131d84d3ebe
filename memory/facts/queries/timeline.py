"""The history of a subject as rectangles of both clocks: what each fact claimed, and from when to when it was believed.

Bounded: the newest MOST pieces known by the point, and how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.agents.labels import labels
from memory.base.actor import Actor
from memory.base.asof import AsOf
from memory.facts.models import FactState
from memory.facts.queries.status import INCLUDED, FactLine, line_of, may_see
from memory.facts.rectangles import Piece, pieces
from memory.facts.states import as_claimed
from memory.ledger.models import Entry

MOST = 500


@dataclass(frozen=True, slots=True)
class FactPiece:
    """One rectangle of one fact, half-open on both axes. `lane` says how the fact stood in it.

    `known_to` is None where it stands at the point or later; instants of both known ends are given beside them.
    """

    fact: FactLine
    attribute: str
    lane: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: int
    known_to: int | None
    known_from_at: datetime
    known_to_at: datetime | None
    source_recorded_at: datetime | None


@dataclass(frozen=True, slots=True)
class FactTimeline:
    """Pieces in the order of their facts. `total` counts those there are; `hidden` what is left out, by why."""

    subject: str
    pieces: tuple[FactPiece, ...]
    total: int
    hidden: dict[str, int]


def timeline(
    at: AsOf, *, subject: UUID, attribute: UUID | None = None, include: frozenset[str] = frozenset(),
    reader: Actor | None = None,
) -> FactTimeline:  # fmt: skip
    """What was ever claimed of the subject by the point. Held facts are left out unless `include` asks for them."""
    known = at.head if at.source_at is not None else at.seq
    rows = FactState.objects.filter(namespace=at.namespace, subject=subject)
    if attribute is not None:
        rows = rows.filter(attribute=attribute)
    rows = rows.filter(seq__lte=at.seq) if at.source_at is None else rows.filter(source_recorded_at__lte=at.source_at)
    found = [row if at.source_at is None else as_claimed(row, at.source_at) for row in rows.order_by("-doc")[:MOST]]
    shown = {"standing", "superseded", "retracted", "candidate", "erased"} | {
        state for word in include for state in INCLUDED.get(word, ())
    }
    texts = labels(
        at.namespace, names={name for row in found for name in (row.subject, row.attribute, row.origin, row.scale)},
        agents={row.agent for row in found},
    )  # fmt: skip
    told = [(row, piece) for row in reversed(found) for piece in pieces(row) if piece.known_from <= known]
    hidden = _hidden(told, shown)
    kept = [(row, piece) for row, piece in told if _is_told(row, piece, shown) and may_see(row, piece.lane, reader)]
    instants = _instants(at, {piece.known_from for _, piece in kept} | {piece.known_to or 0 for _, piece in kept})
    lines = {row.id: line_of(row, at, texts) for row, _ in kept}
    return FactTimeline(
        texts.names.get(subject, "erased"),
        tuple(
            FactPiece(
                lines[row.id], texts.names.get(row.attribute, "erased"), piece.lane, piece.valid_from, piece.valid_to,
                piece.known_from, piece.known_to if piece.known_to is None or piece.known_to <= known else None,
                instants[piece.known_from],
                instants.get(piece.known_to) if piece.known_to is not None and piece.known_to <= known else None,
                row.source_recorded_at,
            )
            for row, piece in kept[-MOST:]
        ),
        rows.count() if len(found) == MOST else len(kept), hidden,
    )  # fmt: skip


def _is_told(row: FactState, piece: Piece, shown: Collection[str]) -> bool:
    """What was held and never confirmed is left out with what was turned down, also where its author took it back."""
    if piece.lane == "retracted" and row.rejected_seq is not None:
        return "rejected" in shown
    return piece.lane in shown


def _hidden(told: Iterable[tuple[FactState, Piece]], shown: Collection[str]) -> dict[str, int]:
    """How many facts are left out as they stand now, by the word that asks for them."""
    found = Counter(
        "held" if piece.lane == "held" else "withdrawn"
        for row, piece in told
        if piece.known_to is None and not _is_told(row, piece, shown)
    )
    return dict(found)


def _instants(at: AsOf, seqs: set[int]) -> dict[int, datetime]:
    wanted = sorted(seqs)
    found: dict[int, datetime] = {}
    for start in range(0, len(wanted), 400):
        rows = Entry.objects.filter(namespace=at.namespace, seq__in=wanted[start : start + 400])
        found.update(rows.values_list("seq", "recorded_at"))
    return found
