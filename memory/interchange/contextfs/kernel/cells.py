"""Cells of a foreign row: as SQLite gives them, and as JSON that gives them back.

Invariants
- `decode_cell(encode_cell(cell)) == cell`, through the canonical bytes too, except where a cell was too large to keep.
- An encoded cell is None, a number, text, or an object with one key that starts with `$`; SQLite has no objects, so
  the two cannot be confused.
- JSON found in a cell is parsed strictly and with bounded depth, or kept as the text it is.

A float without a fraction comes back as an integer, which is equal: JSON has one kind of number, and the declared type
of the column makes it a float again.

Source: laws of the store 5.10, I4 and I13; RFC 8785 for what JSON can carry.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass

from memory.base.canonical import INTEGER_LIMIT, CanonicalError, MalformedJson, strict_loads
from memory.base.text import fault

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None
type JsonObject = dict[str, JsonValue]

# The canonical form ends at 64 levels; four are left for what a value is wrapped in.
JSON_LEVELS = 60


@dataclass(frozen=True, slots=True)
class UndecodedText:
    """A text cell whose bytes are not UTF-8."""

    stored_bytes: bytes


@dataclass(frozen=True, slots=True)
class OversizeCell:
    """What is kept of a cell above the limit: its size and the SHA-256 of its bytes, in hex."""

    size_bytes: int
    sha256: str


type Cell = int | float | str | bytes | UndecodedText | OversizeCell | None


def decoded_text(stored_bytes: bytes) -> str | UndecodedText:
    """The text factory of the connection: a bad byte spoils its own cell, not the whole query."""
    try:
        return stored_bytes.decode("utf-8")
    except UnicodeDecodeError:
        return UndecodedText(stored_bytes)


def encode_cell(cell: Cell) -> JsonValue:
    """The cell as a value with a canonical form."""
    if isinstance(cell, str):
        return cell if fault(cell) is None else {"$text": _base64(cell.encode("utf-8"))}
    if isinstance(cell, int):
        return cell if abs(cell) <= INTEGER_LIMIT else {"$integer": str(cell)}
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else {"$real": repr(cell)}
    return None if cell is None else _encoded_bytes(cell)


def _encoded_bytes(cell: bytes | UndecodedText | OversizeCell) -> JsonObject:
    if isinstance(cell, OversizeCell):
        return {"$oversize": {"size_bytes": cell.size_bytes, "sha256": cell.sha256}}
    if isinstance(cell, UndecodedText):
        return {"$text": _base64(cell.stored_bytes)}
    return {"$blob": _base64(cell)}


def decode_cell(value: JsonValue) -> Cell:
    """The cell that `encode_cell` was given. Raises ValueError for anything it does not write."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        return _decoded_object(value)
    raise ValueError(f"expected an encoded cell, got {type(value).__name__}")


def _decoded_object(value: JsonObject) -> Cell:
    cell: Cell
    match value:
        case {"$text": str(text)}:
            cell = decoded_text(base64.b64decode(text, validate=True))
        case {"$integer": str(text)}:
            cell = int(text)
        case {"$real": str(text)}:
            cell = float(text)
        case {"$blob": str(text)}:
            cell = base64.b64decode(text, validate=True)
        case {"$oversize": {"size_bytes": int(size_bytes), "sha256": str(sha256)}}:
            cell = OversizeCell(size_bytes, sha256)
        case _:
            raise ValueError(f"expected an encoded cell, got an object with the key {next(iter(value))}")
    return cell


def text_fault(cell: Cell) -> str | None:
    """Why a cell cannot be stored as text, or None. A missing cell is no fault."""
    match cell:
        case None:
            return None
        case str():
            return fault(cell)
        case UndecodedText():
            return "not UTF-8"
        case OversizeCell(size_bytes=size_bytes):
            return f"{size_bytes} bytes, above the limit"
        case _:
            return f"{type(cell).__name__} instead of text"


def parsed_object(text: str | None) -> JsonObject | None:
    """The JSON object in a cell, {} if the cell is empty, None if it holds anything else."""
    if not text:
        return {}
    value = _parsed(text)
    return value if isinstance(value, dict) else None


def parsed_tags(text: str | None) -> tuple[str, ...] | None:
    """The tags in a cell, sorted and without repetition; None if it holds anything but a list of text."""
    if not text:
        return ()
    value = _parsed(text)
    if not isinstance(value, list):
        return None
    tags = [tag for tag in value if isinstance(tag, str)]
    return tuple(sorted(set(tags))) if len(tags) == len(value) else None


def _parsed(text: str) -> JsonValue:
    try:
        value = strict_loads(text, max_depth=JSON_LEVELS)
    except (MalformedJson, CanonicalError):
        return None
    return value  # type: ignore[return-value]  # the strict reader yields JSON values only


def _base64(stored_bytes: bytes) -> str:
    return base64.b64encode(stored_bytes).decode("ascii")
