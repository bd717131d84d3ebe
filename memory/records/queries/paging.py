"""One page of records in a stable order, by keyset: what is written meanwhile moves nothing between pages.

- The order is total: rows that are recorded or true from the same instant stand in the order of the ledger.
- A record of which nobody said since when it is true comes after all others, whichever way the valid time is sorted.
- A cursor is what the last row of a page is ordered by; with a leading "<" it asks for the page before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F, OrderBy, Q

from memory.base.errors import Invalid
from memory.records.models import RecordState, RecordStateQuerySet

RECORDED = ("-recorded_at", "recorded_at")
VALID = ("-valid_from", "valid_from")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_CURSOR = re.compile(r"(<?)(?:(-?[0-9]{1,18}|)\.)?([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Page:
    """The rows, and the cursors of the pages around them; "" where there is none."""

    rows: list[RecordState]
    next: str
    previous: str


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Where a page ends: the document, and for an order by valid time since when it is true."""

    is_backwards: bool
    since: datetime | None
    doc: int


def page_of(rows: RecordStateQuerySet, *, sort: str, after: str, limit: int) -> Page:
    """One page in the order of `sort`, one of RECORDED or VALID.   Raises Invalid (cursor)."""
    by_valid, is_descending = sort in VALID, sort.startswith("-")
    cursor = _read(after, by_valid=by_valid) if after else None
    is_backwards = cursor is not None and cursor.is_backwards
    if cursor is not None:
        beyond = _beyond_valid if by_valid else _beyond_doc
        rows = rows.filter(beyond(cursor, is_descending=is_descending))
    order = _order(by_valid=by_valid, is_descending=is_descending, is_backwards=is_backwards)
    found: list[RecordState] = list(rows.order_by(*order)[: limit + 1])
    has_more, found = len(found) > limit, found[:limit]
    if is_backwards:
        found.reverse()
    has_next, has_previous = (cursor is not None, has_more) if is_backwards else (has_more, cursor is not None)
    return Page(
        found, _written(found[-1], by_valid) if found and has_next else "",
        f"<{_written(found[0], by_valid)}" if found and has_previous else "",
    )  # fmt: skip


def ordered(rows: list[RecordState], *, sort: str) -> list[RecordState]:
    """The rows in the order of `sort`, which is that of `page_of`."""
    sign = -1 if sort.startswith("-") else 1
    if sort in RECORDED:
        return sorted(rows, key=lambda row: sign * row.doc)
    return sorted(
        rows, key=lambda row: (row.valid_from is None, sign * _micros(row.valid_from or EPOCH), sign * row.doc)
    )


def _order(*, by_valid: bool, is_descending: bool, is_backwards: bool) -> list[Any]:
    goes_down = is_descending != is_backwards
    doc = OrderBy(F("doc"), descending=goes_down)
    if not by_valid:
        return [doc]
    last: dict[str, Any] = {"nulls_first": True} if is_backwards else {"nulls_last": True}
    return [OrderBy(F("valid_from"), descending=goes_down, **last), doc]


def _beyond_doc(cursor: _Cursor, *, is_descending: bool) -> Q:
    return Q(doc__lt=cursor.doc) if is_descending != cursor.is_backwards else Q(doc__gt=cursor.doc)


def _beyond_valid(cursor: _Cursor, *, is_descending: bool) -> Q:
    way = "lt" if is_descending != cursor.is_backwards else "gt"
    unknown = Q(valid_from__isnull=True)
    same = unknown if cursor.since is None else Q(valid_from=cursor.since)
    beyond = same & Q((f"doc__{way}", cursor.doc))
    if cursor.since is not None:
        beyond |= Q((f"valid_from__{way}", cursor.since))
    if cursor.is_backwards:
        return beyond | ~unknown if cursor.since is None else beyond
    return beyond if cursor.since is None else beyond | unknown


def _read(after: str, *, by_valid: bool) -> _Cursor:
    match = _CURSOR.fullmatch(after)
    if match is None or (match[2] is not None) != by_valid:
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    since = EPOCH + int(match[2]) * MICROSECOND if match[2] else None
    return _Cursor(bool(match[1]), since, int(match[3]))


def _written(row: RecordState, by_valid: bool) -> str:
    if not by_valid:
        return str(row.doc)
    return f"{'' if row.valid_from is None else _micros(row.valid_from)}.{row.doc}"


def _micros(instant: datetime) -> int:
    return (instant - EPOCH) // MICROSECOND
