"""What an address asks of a timeline: of what, by which scale, compared with which recording, drawn up to which entry.

Invariants
- The address is the state: the point stands in it as on every page, and `until` names the last entry that is drawn, so
  that a copied address shows the same picture however much is recorded later.
- What is typed into the two fields of the point becomes the point's own spelling by a redirect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest

from audit.access import Visit
from audit.frame import address, in_url, pairs_of
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.base.text import NAME_CHARS
from memory.ledger.queries import asof
from memory.lineage.queries.comparing import other_point

SHOWN_TOO = ("held", "candidate")
TYPED = ("true_on", "recorded_by")
EITHER = "a day such as 2026-11-01, or an instant such as 2026-11-01 10:00"
EITHER_RECORDING = "seq:N, a day or an instant"

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WALL_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,6})?)?")
_SEQ = re.compile(r"(?:seq[:\s]\s*)(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Asked:
    """One timeline. Either `record` is set, or `subject`; neither asks which one.

    `against` is another recording in the words of an address, "" where none is compared. `until` is the last entry that
    is drawn. `faults` = {field: why what was typed there is none}.
    """

    path: str
    pairs: tuple[tuple[str, str], ...]
    record: UUID | None
    subject: str
    attribute: str
    q: str
    against: str
    until: int | None
    is_ordinal: bool
    include: frozenset[str]
    after: int
    faults: tuple[tuple[str, str], ...] = ()

    def setting(self, **names: str) -> str:
        """The address with these names set; an empty value takes one away."""
        kept = [pair for pair in self.pairs if pair[0] not in (*names, "after")]
        return address(self.path, [*kept, *names.items()])

    def without(self, *names: str) -> tuple[tuple[str, str], ...]:
        """The pairs that a form keeps which sets these names itself."""
        return tuple(pair for pair in self.pairs if pair[0] not in (*names, "after"))

    def export(self, suffix: str) -> str:
        return address(f"/timeline.{suffix}", self.pairs)


def asked(request: HttpRequest) -> Asked:
    """Read the address. Raises Invalid (no id, no seq, words that no timeline knows)."""
    given = request.GET
    scale, include = given.get("scale", ""), frozenset(filter(None, given.get("include", "").split(",")))
    if scale not in ("", "ordinal"):
        raise Invalid.at("scale", expected="ordinal, or nothing for the true scale", got=scale)
    if unknown := sorted(include - set(SHOWN_TOO)):
        raise Invalid.at("include", expected=" or ".join(SHOWN_TOO), got=unknown[0])
    for name in ("subject", "attribute", "q"):
        if len(given.get(name, "")) > NAME_CHARS:
            raise Invalid.at(name, expected=f"at most {NAME_CHARS} characters", got=len(given[name]))
    return Asked(
        path="/timeline",
        pairs=tuple(pairs_of(request, without=("after", *TYPED))),
        record=_record(given.get("record", "")),
        subject=given.get("subject", "").strip(),
        attribute=given.get("attribute", "").strip(),
        q=given.get("q", "").strip(),
        against=given.get("against", "").strip(),
        until=_until(given.get("until", "")),
        is_ordinal=scale == "ordinal",
        include=include,
        after=_offset(given.get("after", "")),
    )


def _record(value: str) -> UUID | None:
    if not value:
        return None
    try:
        return UUID(value)
    except ValueError as error:
        raise Invalid.at("record", expected="the whole id of a record", got=value) from error


def _until(value: str) -> int | None:
    seq = asof.named_seq(value)
    if value and seq is None:
        raise Invalid.at("until", expected="seq:N", got=value)
    return seq


def _offset(value: str) -> int:
    if value and not (value.isascii() and value.isdecimal() and len(value) <= 6):
        raise Invalid.at("after", expected="a whole number", got=value)
    return int(value) if value else 0


def horizon(visit: Visit, given: Asked, against: AsOf | None) -> AsOf:
    """Up to which entry is drawn: what the address names, the head else, and never less than what it asks about.

    Raises Invalid (an entry that is not written yet).
    """
    if given.until is not None and given.until > visit.at.head:
        raise Invalid.at("until", expected=f"a seq up to the head, {visit.at.head}", got=f"seq:{given.until}")
    least = max(visit.at.seq if visit.at.source_at is None else 0, against.seq if against is not None else 0)
    return replace(visit.at, seq=visit.at.head if given.until is None else max(given.until, least))


def compared_with(visit: Visit, given: Asked) -> tuple[AsOf | None, Asked]:
    """The point to compare with, if there is one; where what was typed is none, the same with the words for it."""
    if not given.against:
        return None, given
    try:
        return other_point(visit.at, _recording(given.against)), given
    except Invalid as error:
        words = f"Expected {error.errors[0].expected}; nothing is compared."
        return None, replace(given, against="", faults=(*given.faults, ("against", words)))


def pinned(visit: Visit, given: Asked, against: AsOf | None) -> str:
    """The address that never drifts: its recordings named by seq, its picture ended; "" where it stands as it is."""
    names = {}
    if against is not None and against.source_at is None and not against.provisional:
        names["against"] = f"seq:{against.seq}"
    at = visit.at
    if given.until is None and not (at.is_now or at.provisional) and at.source_at is None and _is_one(given):
        names["until"] = f"seq:{at.head}"
    changed = any(dict(given.pairs).get(name) != value for name, value in names.items())
    return given.setting(**names) if changed else ""


def _is_one(given: Asked) -> bool:
    return given.record is not None or bool(given.subject)


def typed(request: HttpRequest, given: Asked) -> str | Asked:
    """The address that the two typed fields mean, or the same question with the words for what they do not.

    Nothing typed into either is no question.
    """
    found: dict[str, str] = {}
    faults: list[tuple[str, str]] = []
    for name, into, reader in (("true_on", "valid_at", _instant), ("recorded_by", "known_at", _recording)):
        if name not in request.GET:
            continue
        value = request.GET[name].strip()
        try:
            found[into] = reader(value) if value not in ("", "now") else ""
            if found[into] and asof.named_seq(found[into]) is None:
                asof.instant(found[into].removeprefix("source:"), loc=name)
        except Invalid:
            faults.append((name, f"Expected {EITHER if name == 'true_on' else EITHER_RECORDING}, got “{value[:60]}”."))
    if faults:
        return replace(given, faults=tuple(faults))
    return given.setting(**found) if found else given


def _instant(value: str) -> str:
    """What somebody typed as an address writes it: without an offset it is UTC, a day is its first instant."""
    if _DAY.fullmatch(value):
        return f"{value}T00:00:00Z"
    if match := _WALL_CLOCK.fullmatch(value.removesuffix("Z").removesuffix(" UTC")):
        return f"{match[1]}T{match[2]}{match[3] or ':00'}Z"
    return value


def _recording(value: str) -> str:
    if match := _SEQ.fullmatch(value):
        return f"seq:{match[1]}"
    return value if value.startswith("source:") else _instant(value)


def point_pairs(at: datetime, known_at: str) -> dict[str, str]:
    """The names of the point in an address."""
    return {"valid_at": in_url(at), "known_at": known_at}


def shown_instant(at: datetime) -> str:
    """An instant as the fields take it."""
    moment = at.astimezone(UTC)
    text = moment.isoformat(sep=" ").removesuffix("+00:00")
    return text.removesuffix(" 00:00:00")
