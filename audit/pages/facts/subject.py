"""One subject at two points: what each attribute said then, what it says now, and what changed.

Invariants
- The reading goes from `against` to the point of the page: added is known here alone, removed was known there alone.
- Every attribute that has a fact by either point is in the table, the unchanged ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from audit.access import Visit
from audit.components import Tab
from audit.frame import words
from audit.pages.facts.asking import Asked
from audit.pages.facts.values import WHY, Shown, shown, within
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.facts.queries.entities import of_subject
from memory.facts.queries.status import EntityStatus, statuses
from memory.ledger.queries import asof
from memory.ledger.queries.contents import name_ids
from memory.lineage.queries.comparing import other_point

type Change = Literal["added", "removed", "changed", "kept"]

MARKS: dict[Change, str] = {"added": "+", "removed": "−", "changed": "≠", "kept": "="}
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Then:
    """One attribute at one point; `sides` are its values with whether they are denied."""

    status: str
    why: str
    sides: tuple[tuple[Shown, bool], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One attribute at both points."""

    attribute: str
    change: Change
    mark: str
    then: Then
    now: Then
    timeline_url: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The subject at two points. `band` counts the changes; `n_left_out` attributes are beyond the bound."""

    then_text: str
    now_text: str
    rows: tuple[Row, ...]
    band: tuple[Tab, ...]
    n_left_out: int


def compared(visit: Visit, given: Asked) -> tuple[Compared | None, str]:
    """The comparison that the address asks for, and the words for a point that is none."""
    if not given.against:
        return None, ""
    try:
        against = _point(visit.at, given.against)
    except Invalid as error:
        return None, f"Expected seq:N, now, a day or an instant; got “{given.against[:60]}”. {error.errors[0].expected}"
    names = name_ids(visit.at.namespace, [given.subject])
    if given.subject not in names:
        return None, ""
    both = [of_subject(point, names[given.subject]) for point in (against, visit.at)]
    entities = list(dict.fromkeys(entity for found in both for entity in found))
    asked = entities[:SHOWN]
    before, after = (statuses(point, asked, tells_hidden=False) for point in (against, visit.at))
    rows = tuple(_row(visit, one, other) for one, other in zip(before, after, strict=True))
    return Compared(_told(against), _told(visit.at), rows, _band(rows), len(entities) - len(asked)), ""


def _point(at: AsOf, typed: str) -> AsOf:
    """A seq is another recording of the same instant; a day or an instant sets both clocks. Raises Invalid."""
    if typed == "now":
        return asof.now(at.namespace)
    if asof.named_seq(typed) is not None or typed.startswith("source:"):
        return other_point(at, typed)
    instant = typed if ("T" in typed or " " in typed) else f"{typed}T00:00:00"
    if not instant.endswith(("Z", "z")) and "+" not in instant:
        instant += "Z"
    return asof.resolve(at.namespace, valid_at=instant, known_at=instant)


def _told(at: AsOf) -> str:
    if at.is_now:
        return "now"
    if at.source_at is not None:
        return f"{words(at.valid_at)}, as the source says it knew by {words(at.source_at)}"
    return f"{words(at.valid_at)}, as recorded by seq {count(at.seq)}"


def _row(visit: Visit, before: EntityStatus, after: EntityStatus) -> Row:
    then, now = _then(before), _then(after)
    change: Change = "kept"
    if (before.status, _said(before)) != (after.status, _said(after)):
        change = "changed" if before.values and after.values else "added" if after.values else "removed"
        if not before.values and not after.values:
            change = "changed"
    timeline = within(visit, "/timeline", subject=after.subject, attribute=after.attribute)
    return Row(after.attribute, change, MARKS[change], then, now, timeline)


def _said(one: EntityStatus) -> set[tuple[str, str, object]]:
    return {(value.stance, type(value.value).__name__, value.value) for value in one.values}


def _then(one: EntityStatus) -> Then:
    sides = tuple((shown(value.value), value.stance == "denies") for value in one.values)
    return Then(one.status, WHY.get(one.why or "", ""), sides)


def _band(rows: Sequence[Row]) -> tuple[Tab, ...]:
    """How many changed in which way; every word stands, a count of none too."""
    return tuple(
        Tab(change, mark, False, count(sum(row.change == change for row in rows))) for change, mark in MARKS.items()
    )
