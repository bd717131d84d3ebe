"""From what a client says about time to an as-of point, and namespaces by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.base import clock, instants, sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.ledger.models import Entry, Namespace

_SEQ = re.compile(r"seq:(\d{1,18})")


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The head of a log as somebody has read it, and the recorded instants of entries that came with it."""

    size: int
    last_at: datetime
    closed_seq: int | None = None
    instants: Mapping[int, datetime] = field(default_factory=dict)


def namespace_named(name: str) -> Namespace:
    """The namespace of that name. Raises NotFound."""
    found = Namespace.objects.filter(name=name).first()
    if found is None:
        raise NotFound(f"There is no namespace {name[:100]!r} for you.")
    return found


def instant(value: str, *, loc: str) -> datetime:
    """An aware instant from RFC 3339 text. A naive one is refused: nothing says what it means."""
    # In an address that was not quoted, the plus of the offset arrives as a space.
    plus_restored = f"{value[:11]}{value[11:].replace(' ', '+')}"
    try:
        return instants.read(plus_restored)
    except ValueError as error:
        raise Invalid.at(loc, expected=instants.EXPECTED, got=value) from error


def named_seq(known_at: str) -> int | None:
    """The sequence in "seq:N"; None for any other text."""
    match = _SEQ.fullmatch(known_at)
    return int(match[1]) if match else None


def resolve(namespace: int, *, valid_at: str = "", known_at: str = "", log: LogEnd | None = None) -> AsOf:
    """The point that the two texts name; both empty is now. `log` is the head, where it was read before.

    An instant is resolved once to the last entry recorded by then; later than the head it is provisional.
    Raises Invalid (not an instant, seq beyond the head), NotFound (no such namespace).
    """
    head = log or _log_end(namespace)
    valid = instant(valid_at, loc="valid_at") if valid_at else clock.now()
    seq, provisional, source = head.size, False, None
    if known_at.startswith("source:"):
        source = instant(known_at.removeprefix("source:"), loc="known_at")
    elif known_at.startswith("seq:"):
        named = named_seq(known_at)
        if named is None or named > head.size:
            raise Invalid.at("known_at", expected=f"a seq from 0 up to the head, {head.size}", got=known_at)
        seq = named
    elif known_at:
        asked = instant(known_at, loc="known_at")
        provisional = asked > head.last_at
        if not provisional:
            before = Entry.objects.filter(namespace=namespace, recorded_at__lte=asked).order_by("-recorded_at")
            seq = before.values_list("seq", flat=True).first() or 0
    known: datetime | None = head.last_at
    if seq < head.size:
        known = head.instants.get(seq) or _recorded_at(namespace, seq)
    return AsOf(
        namespace=namespace, seq=seq, head=head.size, valid_at=valid, known_at=known, provisional=provisional,
        source_at=source, pinned=bool(known_at), valid_pinned=bool(valid_at), closed_seq=head.closed_seq,
    )  # fmt: skip


def _log_end(namespace: int) -> LogEnd:
    # Every read asks this first, so the statement is spelled out.
    found = sql.fetch("SELECT size, last_at, closed_seq FROM memory_head WHERE namespace_id = %s", [namespace])
    if not found:
        raise NotFound("There is no such namespace.")
    size, last_at, closed_seq = found[0]
    return LogEnd(size, sql.as_instant(last_at), closed_seq)


def _recorded_at(namespace: int, seq: int) -> datetime | None:
    return Entry.objects.filter(namespace=namespace, seq=seq).values_list("recorded_at", flat=True).first()


def now(namespace: int) -> AsOf:
    """The head, true now."""
    return resolve(namespace)
