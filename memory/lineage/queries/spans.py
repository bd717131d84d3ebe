"""The versions of one record line over both clocks: which of them stood from which entry to which, and for what time.

Invariants
- One row is a version and one stretch of recording in which nothing hid it. A version that was withdrawn and restored
  has several; one that was superseded by the entry that brought it has one without length.
- What a policy holds has a stretch of its own until somebody confirms it, and answers at no point of it. The stretch is
  left out unless it is asked for; a version without any other is counted.
- At every point the versions whose stretches cover it are those that are current there; the newest of them is the
  answer of the line. What is erased has its stretches, and answers at no point: text that is gone is gone in the past.
- Under a source's own instants the clock of recording is the source's: a version stands from the instant it claims
  until a successor, or a withdrawal, claims one.
- Two statements, however long the line is.

Source: laws of the store, 4.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.records.queries.detail import NO_SOURCE_TIME

MOST = 500


@dataclass(frozen=True, slots=True)
class Recorded:
    """An instant of recording and its entry; under a source's instants `seq` is that of our own entry."""

    seq: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Span:
    """One version over one stretch of recording. `ended_as` is "", superseded, withdrawn or confirmed (it was held).

    `first_line` is "" where the version is erased.
    """

    record: UUID
    version: int
    first_line: str
    is_erased: bool
    is_held: bool
    valid_from: datetime | None
    valid_to: datetime | None
    began: Recorded
    ended: Recorded | None
    ended_as: str
    source_class: str
    source_recorded_at: datetime | None
    principal: str
    person: int | None
    agent_name: str

    def covers(self, *, valid_at: datetime, known_at: datetime) -> bool:
        """Whether the version is current at the point; both intervals are half-open."""
        is_valid = (self.valid_from is None or self.valid_from <= valid_at) and (
            self.valid_to is None or valid_at < self.valid_to
        )
        is_known = self.began.at <= known_at and (self.ended is None or known_at < self.ended.at)
        return is_valid and is_known and not self.is_erased and not self.is_held


@dataclass(frozen=True, slots=True)
class Line:
    """A line as far as it is recorded: its newest versions, oldest first, and how many there are in all.

    `hidden` counts versions of which nothing is told, by why; `n_left_out` the oldest ones, for want of room.
    """

    id: UUID
    spans: tuple[Span, ...]
    n_versions: int
    n_left_out: int
    hidden: Mapping[str, int]

    def answer(self, *, valid_at: datetime, known_at: datetime) -> Span | None:
        """The newest version that is current at the point, None where none is."""
        standing = (span for span in self.spans if span.covers(valid_at=valid_at, known_at=known_at))
        return max(standing, key=lambda span: span.version, default=None)


def line_spans(at: AsOf, *, record: UUID, include: Collection[str] = ()) -> Line:
    """The line of a record, all that is recorded of it up to `at.seq`, at most its newest 500 versions.

    include : "held" shows what a policy holds too.   Raises NotFound (no such record by then).
    """
    rows = sql.fetch(_VERSIONS, [at.seq, at.seq, at.namespace, record, at.seq, at.seq, MOST])
    if not rows:
        raise NotFound(f"There is no record {record} {at.words}.", id=str(record))
    turns = _turns(at, record)
    spans: list[Span] = []
    hidden: Counter[str] = Counter()
    n_versions = rows[0][0]
    for number, row in enumerate(reversed(rows), start=n_versions - len(rows) + 1):
        version = _version(number, row)
        if at.source_at is not None and version.span.source_recorded_at is None:
            hidden[NO_SOURCE_TIME] += 1
            continue
        found = _claimed(version, turns) if at.source_at is not None else _recorded(version, turns)
        if version.is_unconfirmed and "held" not in include:
            hidden["held"] += 1
            continue
        spans += [span for span in found if "held" in include or not span.is_held]
    return Line(sql.as_id(rows[0][1]), tuple(spans), n_versions, n_versions - len(rows), dict(hidden))


@dataclass(frozen=True, slots=True)
class _Version:
    """What the stretches of one version are cut from. `span` is the whole of it, from its entry on."""

    span: Span
    confirmed: Recorded | None
    was_held: bool
    superseded: Recorded | None
    successor_claims: datetime | None

    @property
    def is_unconfirmed(self) -> bool:
        return self.was_held and self.confirmed is None


@dataclass(frozen=True, slots=True)
class _Turn:
    """A withdrawal, or what takes it back."""

    recorded: Recorded
    withdrawn: bool
    claimed_at: datetime | None


def _recorded(version: _Version, turns: Mapping[UUID, Sequence[_Turn]]) -> list[Span]:
    """The stretches between the entries that hid the version and those that showed it again, up to its successor."""
    span, last = version.span, version.superseded
    found: list[Span] = []
    begun = span.began
    if version.was_held:
        end = _earlier(version.confirmed, last)
        found.append(replace(span, is_held=True, ended=end, ended_as="confirmed" if end else ""))
        if version.confirmed is None or (last is not None and last.seq <= version.confirmed.seq):
            return found
        begun = version.confirmed
    open_since: Recorded | None = begun
    for turn in turns.get(span.record, ()):
        if last is not None and turn.recorded.seq >= last.seq:
            break
        if turn.withdrawn and open_since is not None:
            ended = max(open_since, turn.recorded, key=lambda one: one.seq)
            found.append(replace(span, began=open_since, ended=ended, ended_as="withdrawn"))
            open_since = None
        elif not turn.withdrawn and open_since is None:
            open_since = max(begun, turn.recorded, key=lambda one: one.seq)
    if open_since is not None:
        found.append(replace(span, began=open_since, ended=last, ended_as="superseded" if last else ""))
    return found


def _claimed(version: _Version, turns: Mapping[UUID, Sequence[_Turn]]) -> list[Span]:
    """The one stretch that the source claims; an end that it claims for an earlier instant leaves no length."""
    span = version.span
    assert span.source_recorded_at is not None
    ends = [
        (turn.claimed_at, "withdrawn", turn.recorded.seq)
        for turn in turns.get(span.record, ())
        if turn.withdrawn and turn.claimed_at is not None
    ]
    if version.successor_claims is not None:
        ends.append((version.successor_claims, "superseded", version.superseded.seq if version.superseded else 0))
    began = Recorded(span.began.seq, span.source_recorded_at)
    is_held = version.is_unconfirmed
    if not ends:
        return [replace(span, began=began, is_held=is_held)]
    end, word, seq = min(ends)
    return [replace(span, began=began, ended=Recorded(seq, max(began.at, end)), ended_as=word, is_held=is_held)]


def _earlier(*moments: Recorded | None) -> Recorded | None:
    return min((one for one in moments if one is not None), key=lambda one: one.seq, default=None)


_VERSIONS = """
SELECT count(*) OVER () AS total, r.line, r.id, r.seq, n.recorded_at, r.valid_from, r.valid_to, r.source_class,
    r.source_recorded_at, s.first_line, s.erased_seq, s.held_seq, c.seq, c.recorded_at, p.seq, p.recorded_at,
    q.source_recorded_at, n.principal, n.person, t.text
FROM memory_record f
JOIN memory_record r ON r.namespace_id = f.namespace_id AND r.line = f.line
JOIN memory_recordstate s ON s.namespace_id = r.namespace_id AND s.id = r.id
JOIN memory_entry n ON n.namespace_id = r.namespace_id AND n.seq = r.seq
LEFT JOIN memory_agent a ON a.namespace_id = n.namespace_id AND a.id = n.agent
LEFT JOIN memory_name t ON t.namespace_id = a.namespace_id AND t.id = a.name
LEFT JOIN memory_entry c ON c.namespace_id = s.namespace_id AND c.seq = s.confirmed_seq AND c.seq <= %s
LEFT JOIN memory_entry p ON p.namespace_id = s.namespace_id AND p.seq = s.superseded_seq AND p.seq <= %s
LEFT JOIN memory_record q ON q.namespace_id = s.namespace_id AND q.id = s.superseded_by
WHERE f.namespace_id = %s AND f.id = %s AND f.seq <= %s AND r.seq <= %s
ORDER BY r.seq DESC, r.item DESC LIMIT %s
"""


def _version(number: int, row: Sequence[Any]) -> _Version:
    (_, _, id, seq, recorded_at, valid_from, valid_to, source_class, claimed, first_line, erased_seq, held_seq, c_seq,
     c_at, p_seq, p_at, successor, principal, person, agent) = row  # fmt: skip
    span = Span(
        record=sql.as_id(id), version=number, first_line="" if erased_seq is not None else first_line,
        is_erased=erased_seq is not None, is_held=False, valid_from=_instant(valid_from), valid_to=_instant(valid_to),
        began=Recorded(seq, sql.as_instant(recorded_at)), ended=None, ended_as="", source_class=source_class,
        source_recorded_at=_instant(claimed), principal=principal, person=person, agent_name=agent or "",
    )  # fmt: skip
    confirmed, superseded = (Recorded(s, sql.as_instant(t)) if s is not None else None for s, t in (
        (c_seq, c_at), (p_seq, p_at),
    ))  # fmt: skip
    return _Version(span, confirmed, held_seq is not None, superseded, _instant(successor))


_TURNS = """
SELECT w.record, w.seq, n.recorded_at, w.withdrawn, w.claimed_at
FROM memory_record f
JOIN memory_record r ON r.namespace_id = f.namespace_id AND r.line = f.line
JOIN memory_withdrawal w ON w.namespace_id = r.namespace_id AND w.record = r.id
JOIN memory_entry n ON n.namespace_id = w.namespace_id AND n.seq = w.seq
WHERE f.namespace_id = %s AND f.id = %s AND w.seq <= %s
ORDER BY w.seq, w.item
"""


def _turns(at: AsOf, record: UUID) -> dict[UUID, list[_Turn]]:
    """{version: its withdrawals and restorations, in the order of the ledger}."""
    found: dict[UUID, list[_Turn]] = {}
    for id, seq, recorded_at, withdrawn, claimed_at in sql.fetch(_TURNS, [at.namespace, record, at.seq]):
        turn = _Turn(Recorded(seq, sql.as_instant(recorded_at)), bool(withdrawn), _instant(claimed_at))
        found.setdefault(sql.as_id(id), []).append(turn)
    return found


def _instant(value: Any) -> datetime | None:
    return None if value is None else sql.as_instant(value)


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line with several versions: its newest one that may be told, and how many there are."""

    newest: UUID
    first_line: str
    recorded_at: datetime
    n_versions: int


def longest_lines(at: AsOf, *, limit: int = 20, among: int = 10_000) -> list[LongLine]:
    """The lines with the most versions among the newest records of the point, at most `limit`; one query.

    Erased and held records are not named, and do not count.
    """
    by_source = at.source_at is not None
    statement = _LONGEST.format(known="s.source_recorded_at" if by_source else "s.seq")
    known = at.source_at if by_source else at.seq
    rows = sql.fetch(statement, [at.namespace, known, at.seq, among, limit, at.namespace])
    return [LongLine(sql.as_id(id), line, sql.as_instant(recorded_at), n) for id, line, recorded_at, n in rows]


_LONGEST = """
WITH newest AS (
    SELECT r.line, s.doc FROM memory_recordstate s
    JOIN memory_record r ON r.namespace_id = s.namespace_id AND r.id = s.id
    WHERE s.namespace_id = %s AND {known} <= %s AND s.erased_seq IS NULL
    AND (s.held_seq IS NULL OR s.confirmed_seq <= %s)
    ORDER BY s.doc DESC LIMIT %s
), longest AS (
    SELECT line, count(*) AS n_versions, max(doc) AS doc FROM newest GROUP BY line
    ORDER BY count(*) DESC, max(doc) DESC LIMIT %s
)
SELECT s.id, s.first_line, s.recorded_at, l.n_versions FROM longest l
JOIN memory_recordstate s ON s.namespace_id = %s AND s.doc = l.doc
ORDER BY l.n_versions DESC, l.doc DESC
"""
