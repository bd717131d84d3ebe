"""The life of one tombstone, told in order: what it blocked, and what was said and done about it.

Invariants: nothing recorded after the point shows; a text that is erased is None, never empty. Of several verdicts on
one block the newest counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.ledger.queries.addressed import erased_parts
from memory.ledger.queries.contents import contents_of, names_of
from memory.ledger.queries.mentions import Mention, mentions
from memory.tombstones.kernel.scope import Scope
from memory.tombstones.lives import kept
from memory.tombstones.models import EVIDENCE, BlockVerdict, RevivalEvidence, RouteCheck, RouteHit
from memory.tombstones.queries import TombstoneRow, found, told_one
from memory.tombstones.saying import Said, said

BLOCKS = 100


@dataclass(frozen=True, slots=True)
class Block:
    """A check that met the tombstone: what was to be done, where, and what it was told.

    `verdict` is what was said of a block later: "right", "false" or "".
    """

    check: UUID
    route: str | None
    scope: Scope | None
    reason: str
    verdict: str
    said: Said


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of revival evidence. `is_valid` at the point; `is_cleared` by a re-test that failed since."""

    id: UUID
    position: int
    origin: str
    note: str | None
    mentions: tuple[Mention, ...]
    valid_until: datetime
    is_valid: bool
    is_cleared: bool
    said: Said


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened. `kind`: revive, retest_passed, retest_failed, retire, keep, false_block, right_block."""

    kind: str
    note: str | None
    mentions: tuple[Mention, ...]
    said: Said
    due_at: datetime | None = None
    check: UUID | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """A tombstone with its blocks and other checks, newest first (BLOCKS at most); evidence and steps in order."""

    row: TombstoneRow
    blocks: tuple[Block, ...]
    evidence: tuple[Evidence, ...]
    steps: tuple[Step, ...]


def story(at: AsOf, *, id: UUID) -> Story:
    """The tombstone and what happened to it by the point.   Raises NotFound."""
    row = found(at, id=id)
    known = kept(at, [row])
    turns, verdicts, filed = known.turns[id], known.verdicts[id], known.filed[id]
    hits = RouteHit.objects.filter(namespace=at.namespace, tombstone=id, seq__lte=at.seq)
    shown = list(hits.order_by("-seq")[:BLOCKS])
    wrote = said(at.namespace, [row.seq for row in (*turns, *verdicts, *filed, *shown)])
    notes = _Notes(at.namespace, [*turns, *verdicts, *filed])
    cleared = max((turn.seq for turn in turns if turn.kind == "retest_failed"), default=0)
    steps = [Step(row.kind, *notes.of(row), wrote[row.seq], row.due_at) for row in turns]
    steps += [
        Step("false_block" if row.is_false else "right_block", *notes.of(row), wrote[row.seq], check=row.route_check)
        for row in verdicts
    ]
    return Story(
        told_one(at, row, known), _blocks(at, shown, verdicts, wrote),
        _evidence(at, filed, notes, wrote, cleared=cleared), tuple(sorted(steps, key=lambda step: step.said.seq)),
    )  # fmt: skip


class _Notes:
    """The notes of rows, and what they mention."""

    def __init__(self, namespace: int, rows: Sequence[Any]) -> None:
        addresses = [(row.seq, row.item) for row in rows]
        self.texts = contents_of(namespace, addresses)
        self.rests = mentions(namespace, addresses, kind=EVIDENCE)
        self.gone = {(seq, item) for seq, item, _ in erased_parts(namespace, addresses)}

    def of(self, row: Any) -> tuple[str | None, tuple[Mention, ...]]:
        """The note ("" where none was given, None where it is erased) and the mentions."""
        address = (row.seq, row.item)
        return None if address in self.gone else self.texts[address].get("note", ""), self.rests[address]


def _evidence(
    at: AsOf, rows: Sequence[RevivalEvidence], notes: _Notes, wrote: Mapping[int, Said], *, cleared: int
) -> tuple[Evidence, ...]:
    names = names_of(at.namespace, [row.origin for row in rows])
    pieces = []
    for row in rows:
        origin = "" if row.origin is None else names.get(row.origin, "erased")
        note, rests = notes.of(row)
        pieces.append(Evidence(
            row.id, row.position, origin, note, rests, row.valid_until, at.valid_at < row.valid_until,
            row.seq < cleared, wrote[row.seq],
        ))  # fmt: skip
    return tuple(pieces)


def _blocks(
    at: AsOf, hits: Sequence[RouteHit], verdicts: Sequence[BlockVerdict], wrote: Mapping[int, Said]
) -> tuple[Block, ...]:
    wanted = [hit.route_check for hit in hits]
    rows = {row.id: row for row in RouteCheck.objects.filter(namespace=at.namespace, id__in=wanted)}
    texts = contents_of(at.namespace, [(row.seq, row.item) for row in rows.values()])
    names = names_of(at.namespace, [row.route for row in rows.values()])
    latest = {row.route_check: "false" if row.is_false else "right" for row in verdicts}
    blocks = []
    for hit in hits:
        row = rows[hit.route_check]
        scope = texts[row.seq, row.item].get("content")
        verdict = latest.get(row.id, "") if hit.reason == "blocked" else ""
        blocks.append(Block(row.id, names.get(row.route), scope, hit.reason, verdict, wrote[hit.seq]))
    return tuple(blocks)
