"""The status of one entity at one point of both clocks: known, unknown or conflict, and what each rests on.

Input is everything of the entity that is known at the point; order of arrival does not matter. Time of day is no input:
the point's valid instant is.

Rules
- A statement counts while it stands, its half-open interval covers the instant and its value can be read.
- Without an end of its own a statement of an attribute with a freshness ends that long after it began or was recorded,
  whichever came later.
- *conflict*: two sides that count exclude each other. *known*: something counts and no two exclude. Else *unknown*: a
  value that covered the instant is erased (`source_erased`), something ended before it (`expired`), or `no_evidence`.
- Independent support counts origins; the writer stands for its own word where no origin is named.

Source: operating contract, facts (unknown, false and conflict are three answers).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memory.facts.kernel.values import Side, Spec, Value, side_of

KNOWN, UNKNOWN, CONFLICT = "known", "unknown", "conflict"
NO_EVIDENCE, EXPIRED, SOURCE_ERASED = "no_evidence", "expired", "source_erased"


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact as it stands at a known point. `until` is where it is closed, by its own end or by a supersession.

    `value` is None once erased. `ends_itself` is false where no end was given, so that freshness ends it.
    """

    id: UUID
    order: int
    stance: str
    value: Value | None
    valid_from: datetime
    until: datetime | None
    recorded_at: datetime
    origin: UUID | int | None
    ends_itself: bool = True


@dataclass(frozen=True, slots=True)
class Held:
    """One side at the point: its value as first written, the statements for it and their distinct origins."""

    side: Side
    value: Value
    facts: tuple[UUID, ...]
    origins: tuple[UUID | int | None, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The answer. `last_known` is the statement that ended last before the instant, `erased` those without value."""

    status: str
    why: str | None
    sides: tuple[Held, ...]
    erased: tuple[UUID, ...] = ()
    last_known: UUID | None = None


def end_of(statement: Statement, spec: Spec) -> datetime | None:
    """Where the statement ends under the declaration; None is open."""
    if statement.until is not None or statement.ends_itself or spec.freshness_seconds is None:
        return statement.until
    begun = max(statement.valid_from, statement.recorded_at)
    try:
        return begun + timedelta(seconds=spec.freshness_seconds)
    except OverflowError:
        return None


def covers(statement: Statement, spec: Spec, instant: datetime) -> bool:
    """Whether the half-open interval holds the instant."""
    end = end_of(statement, spec)
    return statement.valid_from <= instant and (end is None or instant < end)


def status_of(
    statements: Iterable[Statement], spec: Spec, instant: datetime, *, ended: Iterable[Statement] = ()
) -> Status:
    """The status at the instant. `ended` are statements to name as last known where nothing else counts."""
    known = sorted(statements, key=lambda one: one.order)
    covering = [one for one in known if covers(one, spec, instant)]
    sides = sides_of([one for one in covering if one.value is not None], spec)
    erased = tuple(one.id for one in covering if one.value is None)
    if sides:
        status = CONFLICT if any_exclude([one.side for one in sides], spec) else KNOWN
        return Status(status, None, sides, erased)
    if erased:
        return Status(UNKNOWN, SOURCE_ERASED, (), erased)
    last = last_ended([*known, *ended], spec, instant)
    return Status(UNKNOWN, NO_EVIDENCE if last is None else EXPIRED, (), last_known=last)


def sides_of(statements: Sequence[Statement], spec: Spec) -> tuple[Held, ...]:
    """The sides, oldest first."""
    grouped: dict[Side, list[Statement]] = {}
    for one in statements:
        if one.value is not None:
            grouped.setdefault(side_of(one.stance, one.value, spec), []).append(one)
    return tuple(_held(side, members) for side, members in grouped.items())


def _held(side: Side, members: Sequence[Statement]) -> Held:
    origins = tuple(dict.fromkeys(one.origin for one in members))
    value = members[0].value
    assert value is not None
    return Held(side, value, tuple(one.id for one in members), origins)


def any_exclude(sides: Iterable[Side], spec: Spec) -> bool:
    """Whether two of the sides cannot both hold; linear in the sides."""
    forms: dict[str, set[Any]] = {"asserts": set(), "denies": set()}
    for side in sides:
        forms[side.stance].add(side.form)
    asserted = forms["asserts"]
    if asserted & forms["denies"] or (spec.cardinality == "one" and len(asserted) > 1):
        return True
    return any(pair <= asserted for pair in spec.exclusive)


def last_ended(statements: Iterable[Statement], spec: Spec, instant: datetime) -> UUID | None:
    """The readable statement whose end is the latest at or before the instant; None for none."""
    ends = [
        (end, one.order, one.id)
        for one in statements
        if one.value is not None and (end := end_of(one, spec)) is not None and end <= instant and one.valid_from < end
    ]
    return max(ends)[2] if ends else None
