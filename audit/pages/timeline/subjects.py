"""The timeline of a subject: each fact a rectangle, the status of each attribute the answer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from uuid import UUID

from audit.access import Visit
from audit.charts.bitemporal_values import BEGINNING, Known, Point, Version
from audit.frame import address, words
from audit.navigation import Link
from audit.pages.facts.values import CLASSES, STATES, WHY, case_url, fact_url, shown, support
from audit.pages.timeline.asking import Asked
from audit.pages.timeline.told import Answer, Side, Told
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.facts.kernel.status import Held
from memory.facts.queries.stretches import AttributeStatus, Stretch, Subject, subject_stretches
from memory.lineage.queries.spans import Recorded

LINKS = 5


def told(visit: Visit, given: Asked, *, until: int, point: Point, against: AsOf | None) -> Told:
    """The subject, or one attribute of it; without versions where nothing is recorded of it by then."""
    other = against.seq if against is not None and against.source_at is None else None
    found = subject_stretches(
        visit.at, until=until, subject=given.subject, attribute=given.attribute, include=given.include, against=other
    )
    is_one = len(found.attributes) == 1
    name = f" · {found.attributes[0][0]}" if is_one else ""
    return Told(
        title=f"{given.subject}{name}",
        kind="subject",
        url=address("/facts", [*visit.frame.carried, ("subject", given.subject), ("attribute", given.attribute)]),
        versions=tuple(_version(visit, one, "" if is_one else one.attribute) for one in found.stretches),
        answers=tuple(_answer(visit, one, "" if is_one else one.attribute, point) for one in found.statuses),
        n_total=len(found.stretches) + max(0, found.n_facts - found.n_read),
        hidden=found.hidden,
        point=point,
        against=_against(against, found),
        attributes=found.attributes if not given.attribute else (),
        is_claimed=visit.at.source_at is not None,
    )


def _against(against: AsOf | None, found: Subject) -> Known | None:
    if against is None:
        return None
    if against.source_at is not None:
        return Known(against.source_at)
    if against.seq == 0:
        return BEGINNING
    return Known(found.against.at, found.against.seq) if found.against is not None else None


def _version(visit: Visit, one: Stretch, group: str) -> Version:
    value = _value(one)
    key = f"{one.side.stance} {one.side.form!r}" if one.side is not None else str(one.fact)
    return Version(
        id=str(one.fact), value=value, valid_from=one.valid_from, valid_to=one.valid_to,
        known_from=_known(visit, one.began), known_to=_known(visit, one.ended) if one.ended else None, key=key,
        state=_state(one), ended_by=_ended_by(one), source=_source(one), actor=_actor(one),
        href=fact_url(visit, one.fact), group=group,
        claimed_at=one.source_recorded_at if visit.at.source_at is None else None,
    )  # fmt: skip


def _known(visit: Visit, recorded: Recorded) -> Known:
    return Known(recorded.at, recorded.seq if visit.at.source_at is None else 0)


def _value(one: Stretch) -> str:
    text = shown(one.value).text
    return f"not {text}" if one.stance == "denies" and one.value is not None else text


def _state(one: Stretch) -> str:
    """The badge of a stretch: how it does not count, else what ended it."""
    if one.lane == "standing" and one.ended_as in ("superseded", "retracted"):
        return one.ended_as
    return STATES[one.lane][0]


def _ended_by(one: Stretch) -> str:
    if one.ended is None:
        return ""
    how = f" as {one.retracted_as}" if one.ended_as == "retracted" and one.retracted_as else ""
    return f"{one.ended_as}{how} by seq {count(one.ended.seq)}"


def _source(one: Stretch) -> str:
    return " · ".join(filter(None, [CLASSES[one.source_class], covered(one.origin)]))


def _actor(one: Stretch) -> str:
    return f"agent {one.agent_name}" if one.agent_name else one.person_name or "the system"


def _answer(visit: Visit, one: AttributeStatus, group: str, point: Point) -> Answer:
    status = one.status
    sides = tuple(_side(visit, one, side, point) for side in status.sides)
    if status.status == "conflict":
        case = Link("the conflict", case_url(visit, one.case)) if one.case is not None else None
        return Answer(group, "conflict", sides, "what is said excludes each other", case)
    if status.status == "known":
        return Answer(group, "known", sides)
    last = Link("what was known last", fact_url(visit, status.last_known)) if status.last_known else None
    return Answer(group, "unknown", (), WHY.get(status.why or "", ""), last)


def _side(visit: Visit, one: AttributeStatus, side: Held, point: Point) -> Side:
    newest_first = sorted(side.facts, key=lambda fact: (-one.recorded[fact], str(fact)))
    seq = one.recorded[newest_first[0]]
    text = shown(side.value).text
    why = (
        f"newest recorded fact covering {words(point.valid_at)}, recorded at seq {count(seq)}; "
        f"{support(len(side.facts), len(side.origins))}"
    )
    if visit.at.source_at is not None:
        why = f"newest fact covering {words(point.valid_at)}, claimed by its source"
    return Side(f"not {text}" if side.side.stance == "denies" else text, _links(visit, newest_first), why)


def _links(visit: Visit, facts: Iterable[UUID]) -> tuple[Link, ...]:
    """The newest of them; the page of facts has all."""
    return tuple(Link(f"fact {str(fact)[:8]}", fact_url(visit, fact)) for fact in islice(facts, LINKS))
