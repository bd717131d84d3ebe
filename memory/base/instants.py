"""Instants as text: RFC 3339 in UTC, to the microsecond, spelled one way only.

Invariants
- What `text` wrote, `read` reads back to the same instant.
- A text without an offset is refused: nothing says what it means. Digits below the microsecond are dropped.

Source: RFC 3339, section 5.6.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

EXPECTED = "an RFC 3339 instant with an offset, such as 2026-11-02T14:03:07Z"

_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def text(value: datetime) -> str:
    """The one spelling of an aware instant.

    >>> text(datetime(2026, 11, 2, 14, 3, 7, tzinfo=UTC))
    '2026-11-02T14:03:07.000000Z'
    """
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def text_or_none(value: datetime | None) -> str | None:
    """The spelling of an instant that need not be there."""
    return None if value is None else text(value)


def read(value: str) -> datetime:
    """The aware UTC instant.   Raises ValueError for any other text, and for what UTC cannot hold."""
    if not _RFC_3339.fullmatch(value):
        raise ValueError(f"expected {EXPECTED}")
    try:
        return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"expected {EXPECTED}: {error}") from error
