"""The timeline of a line of records: each version a rectangle, the newest current one the answer."""

from __future__ import annotations

from uuid import UUID

from audit.access import Visit, person_names
from audit.charts.bitemporal_values import Known, Point, Version
from audit.frame import words
from audit.navigation import Link
from audit.pages.timeline.asking import Asked
from audit.pages.timeline.told import Answer, Side, Told
from audit.secrets import covered
from audit.templatetags.console import count
from memory.base.asof import AsOf
from memory.lineage.queries.spans import Line, Recorded, Span, line_spans

CLASSES = {"first_hand": "first-hand", "relayed": "relayed", "derived": "derived"}


def told(visit: Visit, given: Asked, *, record: UUID, horizon: AsOf, point: Point, against: Known | None) -> Told:
    """The line of the record. Raises NotFound."""
    line = line_spans(horizon, record=record, include=given.include)
    names = person_names({span.person for span in line.spans if span.person is not None})
    title = next((_value(span) for span in reversed(line.spans) if span.record == record), str(record)[:8])
    return Told(
        title=title,
        kind="record",
        url=f"/records/{record}/versions{visit.carry}",
        versions=tuple(_version(visit, span, names) for span in line.spans),
        answers=(_answer(visit, line, point),),
        n_total=len(line.spans) + line.n_left_out,
        hidden=line.hidden,
        point=point,
        against=against,
        is_claimed=visit.at.source_at is not None,
    )


def _version(visit: Visit, span: Span, names: dict[int, str]) -> Version:
    state = "erased" if span.is_erased else "held" if span.is_held else span.ended_as or "current"
    return Version(
        id=str(span.record), value=_value(span), valid_from=span.valid_from, valid_to=span.valid_to,
        known_from=_known(visit, span.began), known_to=_known(visit, span.ended) if span.ended else None,
        key=str(span.record), state=state, ended_by=_ended_by(span), source=CLASSES[span.source_class],
        actor=_actor(span, names), href=f"/records/{span.record}{visit.carry}",
        claimed_at=span.source_recorded_at if visit.at.source_at is None else None,
    )  # fmt: skip


def _known(visit: Visit, recorded: Recorded) -> Known:
    return Known(recorded.at, recorded.seq if visit.at.source_at is None else 0)


def _value(span: Span) -> str:
    return "erased" if span.is_erased else covered(span.first_line) or "no text"


def _ended_by(span: Span) -> str:
    return f"{span.ended_as} by seq {count(span.ended.seq)}" if span.ended is not None else ""


def _actor(span: Span, names: dict[int, str]) -> str:
    if span.principal == "person":
        return names.get(span.person or 0, f"person {span.person}")
    if span.principal == "agent":
        return f"agent {span.agent_name}" if span.agent_name else "an agent whose name is erased"
    return "the system"


def _answer(visit: Visit, line: Line, point: Point) -> Answer:
    at = {"valid_at": point.valid_at, "known_at": point.known.at}
    found = line.answer(**at)
    if found is None:
        return Answer("", "unknown", (), _why_not(line, point))
    seq = count(found.began.seq)
    why = f"newest recorded version covering {words(point.valid_at)}, recorded at seq {seq}"
    if visit.at.source_at is not None:
        why = f"newest version covering {words(point.valid_at)}, claimed by its source for {words(found.began.at)}"
    rests_on = Link(f"version {found.version} of {line.n_versions}", f"/records/{found.record}{visit.carry}")
    return Answer("", "known", (Side(_value(found), (rests_on,), why),))


def _why_not(line: Line, point: Point) -> str:
    """Why no version answers at the point: the nearest reason first."""
    known = [span for span in line.spans if span.began.at <= point.known.at]
    if not known:
        first = min((span.began for span in line.spans), key=lambda one: one.at, default=None)
        return "no version was recorded by then" + (f"; the first one is, at seq {count(first.seq)}" if first else "")
    valid = [span for span in known if _is_valid(span, point)]
    if not valid:
        return f"no version recorded by then is true on {words(point.valid_at)}"
    last = max(valid, key=lambda span: (span.began.at, span.version))
    if last.is_erased:
        return "the version that covers it is erased"
    if last.is_held and (last.ended is None or point.known.at < last.ended.at):
        return "the version that covers it is held for a review"
    return f"the last version that covered it was {_ended_by(last)}"


def _is_valid(span: Span, point: Point) -> bool:
    begins = span.valid_from is None or span.valid_from <= point.valid_at
    return begins and (span.valid_to is None or point.valid_at < span.valid_to)
