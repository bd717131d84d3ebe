"""What the events of a tombstone amount to at a point.

Invariants
- A pure function of events and a point (seq, valid_at): nothing after `seq` counts, and the order in which events are
  given does not matter.
- Retired is final. Between a revival and its re-test the route is open for the re-test only. At the limit of false
  blocks the tombstone only watches. Otherwise it blocks.
- A condition is met while evidence from as many distinct origins as it asks for is valid; valid means valid_at <
  valid_until. A failed re-test clears what was filed before it.

Source: operating contract, machine of tombstones (revive, re-test, false block).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

State = Literal["active", "revival_testing", "retired", "audit_only"]
Mark = Literal["met", "unmet", "lapsed"]

STATES: tuple[State, ...] = ("active", "revival_testing", "audit_only", "retired")
TURNS = ("revive", "retest_passed", "retest_failed", "retire", "keep")
FINAL = frozenset({"retest_passed", "retire"})
REASON: dict[State, str] = {
    "active": "blocked", "revival_testing": "retest_only", "audit_only": "audit_only", "retired": "retired",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A revival condition; `n_origins` distinct origins must speak for it."""

    position: int
    n_origins: int = 1


@dataclass(frozen=True, slots=True)
class Filed:
    """Evidence for one condition. `origin` is any text that is the same for what goes back to one root."""

    seq: int
    position: int
    origin: str
    valid_until: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """An owner's act; `due_at` is the next date that it sets."""

    seq: int
    kind: str
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of a block: false or right. Without a check it is a report that names no block."""

    seq: int
    is_false: bool
    check: UUID | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """All events of one tombstone; `due_at` is the first date, set when it was buried."""

    due_at: datetime
    conditions: tuple[Asked, ...]
    filed: tuple[Filed, ...] = ()
    turns: tuple[Turn, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """A condition at the point: its mark and how many distinct origins speak for it now."""

    position: int
    mark: Mark
    n_live: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A tombstone at the point. `due_at` is None once it is retired; it is overdue from that instant on.

    `revived_seq` is the entry that opened the re-test that it waits for.
    """

    state: State
    conditions: tuple[Marked, ...]
    n_failures: int
    n_false: int
    due_at: datetime | None
    is_overdue: bool
    revived_seq: int | None = None

    @property
    def unmet(self) -> tuple[int, ...]:
        """Positions of the conditions that are not met."""
        return tuple(one.position for one in self.conditions if one.mark != "met")


def standing(life: Life, *, seq: int, valid_at: datetime, limit: int) -> Standing:
    """The tombstone as of entry `seq`, at `valid_at`; `limit` false blocks demote it."""
    turns = sorted((turn for turn in life.turns if turn.seq <= seq), key=lambda turn: turn.seq)
    n_false = false_blocks(verdict for verdict in life.verdicts if verdict.seq <= seq)
    state = state_after(turns, n_false=n_false, limit=limit)
    cleared = max((turn.seq for turn in turns if turn.kind == "retest_failed"), default=0)
    filed = [one for one in life.filed if cleared < one.seq <= seq]
    due_at = None if state == "retired" else next((t.due_at for t in reversed(turns) if t.due_at), life.due_at)
    return Standing(
        state=state,
        conditions=tuple(marked(asked, filed, valid_at=valid_at) for asked in life.conditions),
        n_failures=1 + sum(turn.kind == "retest_failed" for turn in turns),
        n_false=n_false,
        due_at=due_at,
        is_overdue=due_at is not None and due_at <= valid_at,
        revived_seq=max(t.seq for t in turns if t.kind == "revive") if state == "revival_testing" else None,
    )


def state_after(turns: Sequence[Turn], *, n_false: int, limit: int) -> State:
    """The state after the turns, in order."""
    if any(turn.kind in FINAL for turn in turns):
        return "retired"
    moves = [turn.kind for turn in turns if turn.kind in ("revive", "retest_failed")]
    if moves[-1:] == ["revive"]:
        return "revival_testing"
    return "audit_only" if is_demoted(n_false, limit) else "active"


def is_demoted(n_false: int, limit: int) -> bool:
    return n_false >= limit


def false_blocks(verdicts: Iterable[Verdict]) -> int:
    """How many blocks were false: of several verdicts on one check the newest counts."""
    latest: dict[UUID | int, Verdict] = {}
    for verdict in sorted(verdicts, key=lambda one: one.seq):
        latest[verdict.check or verdict.seq] = verdict
    return sum(verdict.is_false for verdict in latest.values())


def marked(asked: Asked, filed: Sequence[Filed], *, valid_at: datetime) -> Marked:
    """The condition with the evidence that was filed for it and not cleared since."""
    own = [one for one in filed if one.position == asked.position]
    origins = {one.origin for one in own if is_valid(one, valid_at)}
    if is_enough(asked, len(origins)):
        return Marked(asked.position, "met", len(origins))
    lapsed = any(not is_valid(one, valid_at) for one in own)
    return Marked(asked.position, "lapsed" if lapsed else "unmet", len(origins))


def is_valid(filed: Filed, valid_at: datetime) -> bool:
    return valid_at < filed.valid_until


def is_enough(asked: Asked, n_origins: int) -> bool:
    return n_origins >= asked.n_origins


def reason_of(state: State, *, is_covered: bool) -> str:
    """What a check is told: "blocked", or why it is clear."""
    return REASON[state] if is_covered else "out_of_scope"


def verdict_of(reasons: Iterable[str]) -> tuple[str, str]:
    """(verdict, reason) over all tombstones that were met. One block is enough; a clear names the nearest reason."""
    met = set(reasons)
    if "blocked" in met:
        return "blocked", "none"
    order = ("retest_only", "audit_only", "retired", "out_of_scope")
    return "clear", next((reason for reason in order if reason in met), "none")
