"""The one text type at the door: no NUL, no lone surrogate, bounded length.

SQLite stores NUL and PostgreSQL refuses it; UTF-8 cannot encode a lone surrogate. Both are refused at the door.
"""

from __future__ import annotations

import re

CONTENT_CHARS = 200_000
SUMMARY_CHARS = 4_000
NOTE_CHARS = 4_000
NAME_CHARS = 400
BODY_BYTES = 16 * 1024 * 1024
BATCH_ITEMS = 10_000

TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
NAMESPACE_PATTERN = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")

_REFUSED = re.compile("[\x00\ud800-\udfff]")


def fault(value: str) -> str | None:
    """What is wrong with the text, or None."""
    found = _REFUSED.search(value)
    if found is None:
        return None
    return "NUL character" if found.group() == "\x00" else "lone surrogate"


def first_line(value: str, *, chars: int = 160) -> str:
    """The first non-empty line, cut, for lists."""
    for line in value.splitlines():
        stripped = line.strip()
        if stripped:
            return stripped if len(stripped) <= chars else stripped[: chars - 1] + "…"
    return ""
