"""The lines of an archive: how each is spelled, and how one is read.

Invariants
- A line has one spelling; what is read is spelled again and compared, so that no second archive says the same.
- A line is bounded before it is parsed. What is wrong is told with the number of the line, from 1.
- A payload may nest as deep as the canonical form allows: its line is put together around it, not encoded with it.

Source: RFC 8785; the newline-delimited form has one JSON text on each line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, BinaryIO

from memory.base.canonical import MAX_DEPTH, CanonicalError, MalformedJson, canonical, strict_loads
from memory.base.errors import Invalid, Place

VERSION = 1
FORMAT = "palimpsest"
MOST_LINE_BYTES = 256 * 1024**2
SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, what it holds, and its bytes."""

    number: int
    type: str
    value: Mapping[str, Any]
    raw: bytes


def fault(line: int, code: str, *, expected: object, got: object) -> Invalid:
    """The refusal of an archive for what one of its lines holds."""
    wanted, found = str(expected)[:SHOWN_CHARS], str(got)[:SHOWN_CHARS]
    place = Place(("line", line), code, wanted, found)
    return Invalid(f"line {line}: {code}: expected {wanted}, got {found}. Nothing was restored.", errors=(place,))


def spelled(value: Mapping[str, Any]) -> bytes:
    """The bytes of a line.   Raises CanonicalError."""
    if value["type"] == "content":
        head = f'{{"item":{value["item"]},"part":{json.dumps(value["part"])},"payload":'
        tail = f',"salt":"{value["salt"]}","seq":{value["seq"]},"type":"content"}}\n'
        return head.encode() + canonical(value["payload"]) + tail.encode()
    return canonical(value) + b"\n"


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of an archive, each in its one spelling.   Raises Invalid (a line, by its number)."""
    number = 0
    while raw := stream.readline(MOST_LINE_BYTES + 1):
        number += 1
        yield _line(number, raw)


def _line(number: int, raw: bytes) -> Line:
    if len(raw) > MOST_LINE_BYTES:
        raise fault(number, "too_large", expected=f"at most {MOST_LINE_BYTES} bytes", got="a longer line")
    if not raw.endswith(b"\n"):
        raise fault(number, "malformed", expected="a line that ends in a newline", got="the end of the archive")
    try:
        value = strict_loads(raw, max_depth=MAX_DEPTH + 1)
    except MalformedJson as error:
        raise fault(number, "malformed", expected="JSON", got=str(error)) from error
    except CanonicalError as error:
        raise fault(number, error.code, expected=error.expected, got=f"{error.got} at {error.path}") from error
    kind = value.get("type") if isinstance(value, dict) else type(value).__name__
    if not isinstance(value, dict) or not isinstance(kind, str) or kind not in FIELDS:
        raise fault(number, "malformed", expected=f"an object of type {' or '.join(FIELDS)}", got=kind)
    _require_fields(number, value, FIELDS[kind])
    try:
        is_canonical = spelled(value) == raw
    except (CanonicalError, ValueError) as error:
        raise fault(number, "malformed", expected="values with a canonical form", got=error) from error
    if not is_canonical:
        raise fault(number, "malformed", expected="the canonical spelling (RFC 8785)", got="another spelling")
    return Line(number, kind, value, raw)


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and len(value) % 2 == 0 and not set(value) - set("0123456789abcdef")


KINDS: dict[str, Callable[[Any], bool]] = {
    "whole": _is_whole, "text": _is_text, "hex": _is_hex, "any": lambda _value: True,
    "hash": lambda value: _is_hex(value) and len(value) == 64,
    "hash?": lambda value: value is None or (_is_hex(value) and len(value) == 64),
    "list": lambda value: isinstance(value, list), "object": lambda value: isinstance(value, dict),
}  # fmt: skip
# The columns of an entry beside these are those of its table; they are read there.
ENTRY = {"type": "text", "seq": "whole", "n_items": "whole", "leaf": "hash", "items_root": "hash", "items": "list"}
ITEM = {
    "item": "whole", "kind": "text", "object": "text", "row": "object", "parts": "object", "commitment": "hash",
    "hash": "hash",
}  # fmt: skip
FIELDS: dict[str, dict[str, str]] = {
    "header": {
        "type": "text", "format": "text", "version": "whole", "namespace": "text", "origin": "text", "size": "whole",
        "checkpoint": "text",
    },
    "entry": ENTRY,
    "content": {
        "type": "text", "seq": "whole", "item": "whole", "part": "text", "payload": "any", "salt": "hex",
    },
    "name": {"type": "text", "seq": "whole", "item": "whole", "id": "text", "text": "text", "salt": "hex"},
    "checkpoint": {"type": "text", "seq": "whole", "root": "hash", "signed_at": "text", "note": "text"},
    "public_key": {"type": "text", "key": "text"},
    "trailer": {"type": "text", "lines": "whole", "sha256": "hash"},
}  # fmt: skip


def _require_fields(number: int, value: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    more = set() if kinds is ENTRY else value.keys() - kinds.keys()
    for name in [*sorted(kinds.keys() - value.keys()), *sorted(more)]:
        is_missing = name in kinds
        raise fault(
            number, "missing" if is_missing else "unknown", expected=f"the fields {', '.join(sorted(kinds))}",
            got=f"{'no' if is_missing else 'also'} {name}",
        )  # fmt: skip
    for name, kind in kinds.items():
        if not KINDS[kind](value[name]):
            raise fault(number, "wrong_type", expected=f"{name} as {kind.strip('?')}", got=repr(value[name]))


def require_item(number: int, value: Any) -> Mapping[str, Any]:
    """An item of an entry, each field of its kind.   Raises Invalid."""
    if not isinstance(value, dict):
        raise fault(number, "wrong_type", expected="items that are objects", got=type(value).__name__)
    _require_fields(number, value, ITEM)
    if not all(KINDS["hash"](digest) for digest in value["parts"].values()):
        raise fault(number, "wrong_type", expected="parts with a hash each", got="something else")
    return value


class Tally:
    """The running number and digest of lines, for the trailer."""

    def __init__(self) -> None:
        self.n_lines = 0
        self._digest = sha256()

    def add(self, line: bytes) -> bytes:
        """Count the line; answers it."""
        self.n_lines += 1
        self._digest.update(line)
        return line

    def trailer(self) -> dict[str, Any]:
        return {"type": "trailer", "lines": self.n_lines, "sha256": self._digest.hexdigest()}
