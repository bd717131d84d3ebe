"""The life of one tombstone, told in order: what it blocked, and what was said and done about it.

Invariants: nothing recorded after the point shows; a text that is erased is None, never empty. Of several verdicts on
one block the newest counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.ledger.queries.addressed import Address, erased_parts
from memory.ledger.queries.mentions import Mention
from memory.tombstones.checking import addresses_of
from memory.tombstones.keeping import Act, Judgement, Piece, kept
from memory.tombstones.kernel.scope import Scope
from memory.tombstones.queries import TombstoneRow, found, told_one
from memory.tombstones.saying import Said, Written, written

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
    hits = _hits(at, id)
    said_of_it: tuple[Act | Judgement | Piece, ...] = (*turns, *verdicts, *filed)
    noted = [(one.seq, one.item) for one in said_of_it]
    addresses = [*addresses_of([row], known), *noted, *((hit.seq, hit.item) for hit in hits)]
    notes = _Notes(written(at.namespace, addresses), {ref[:2] for ref in erased_parts(at.namespace, noted)})
    wrote = notes.texts.said
    steps = [Step(one.kind, *notes.of(one), wrote[one.seq], one.due_at) for one in turns]
    steps += [
        Step("false_block" if one.is_false else "right_block", *notes.of(one), wrote[one.seq], check=one.route_check)
        for one in verdicts
    ]
    return Story(
        told_one(at, row, known, notes.texts), _blocks(hits, verdicts, notes.texts),
        _evidence(at, filed, turns, notes), tuple(sorted(steps, key=lambda step: step.said.seq)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Notes:
    """The notes of rows, and what they mention; `gone` are the addresses where something is erased."""

    texts: Written
    gone: set[Address]

    def of(self, row: Act | Judgement | Piece) -> tuple[str | None, tuple[Mention, ...]]:
        """The note ("" where none was given, None where it is erased) and the mentions."""
        address = (row.seq, row.item)
        note = None if address in self.gone else self.texts.texts[address].get("note", "")
        return note, self.texts.rests[address]


def _evidence(at: AsOf, filed: Sequence[Piece], turns: Sequence[Act], notes: _Notes) -> tuple[Evidence, ...]:
    cleared = max((turn.seq for turn in turns if turn.kind == "retest_failed"), default=0)
    return tuple(
        Evidence(
            one.id, one.position, "erased" if one.origin is None else one.origin, *notes.of(one), one.valid_until,
            at.valid_at < one.valid_until, one.seq < cleared, notes.texts.said[one.seq],
        )
        for one in filed
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Hit:
    """A check that met the tombstone: where it stands, and what its route is called, None where that is erased."""

    check: UUID
    seq: int
    item: int
    reason: str
    route: str | None


def _hits(at: AsOf, tombstone: UUID) -> list[_Hit]:
    """The newest checks that met it, BLOCKS at most."""
    statement = (
        "SELECT c.id, c.seq, c.item, h.reason, n.text FROM memory_routehit h"
        " JOIN memory_routecheck c ON c.namespace_id = h.namespace_id AND c.id = h.route_check"
        " LEFT JOIN memory_name n ON n.namespace_id = c.namespace_id AND n.id = c.route"
        " WHERE h.namespace_id = %s AND h.tombstone = %s AND h.seq <= %s ORDER BY h.seq DESC LIMIT %s"
    )
    rows = sql.fetch(statement, [at.namespace, tombstone, at.seq, BLOCKS])
    return [_Hit(sql.as_id(check), *row) for check, *row in rows]


def _blocks(hits: Sequence[_Hit], verdicts: Sequence[Judgement], texts: Written) -> tuple[Block, ...]:
    latest = {one.route_check: "false" if one.is_false else "right" for one in verdicts}
    return tuple(
        Block(
            hit.check, hit.route, texts.texts[hit.seq, hit.item].get("content"), hit.reason,
            latest.get(hit.check, "") if hit.reason == "blocked" else "", texts.said[hit.seq],
        )
        for hit in hits
    )  # fmt: skip
