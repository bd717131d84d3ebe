"""One field of a payload at a time: what it must be, and where it is when it is not.

Invariants
- Types are strict: a boolean is no number, 2.0 is no integer, null is absent only where a field may be null.
- A refusal names its place in the document as the client wrote it, and shows what came in text that can be printed.

Source: posterior-memory-harness 0.9.0, its input contract.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

from memory.base.errors import Invalid, Place
from memory.base.text import fault

IDENTIFIER_CHARS = 512

_SHOWN_CHARS = 60
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

Step = str | int


def shown(value: object) -> str:
    """What came, short and printable."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 100:
        return f"an integer of {value.bit_length()} bits"
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", cut) or "empty text"


def members(value: object, *loc: Step) -> Mapping[str, object]:
    """A JSON object."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise Invalid.at(*loc, expected="an object", got=shown(value), code="wrong_type")
    return value


def only(
    document: Mapping[str, object], *, known: Collection[str], required: Sequence[str], second: Collection[str] = ()
) -> None:  # fmt: skip
    """No unknown key and no missing one; every such key is a place of the refusal. `second` are those of version 2."""
    unknown = [
        Place((shown(key),), "unknown", "schema_version 2 with this field", "version 1") if key in second
        else Place((shown(key),), "unknown", "no field of this name", "one")
        for key in sorted(set(document) - set(known))
    ]  # fmt: skip
    missing = [Place((key,), "missing", "a value", "nothing") for key in required if key not in document]
    if unknown or missing:
        words = [f"{place.loc[0]}: expected {place.expected}, got {place.got}" for place in (*missing, *unknown)]
        raise Invalid("; ".join(words[:5]), errors=(*missing, *unknown))


def identifier(value: object, *loc: Step, chars: int = IDENTIFIER_CHARS) -> str:
    """Text of 1..`chars` characters, none below 32, none 127."""
    if not isinstance(value, str):
        raise Invalid.at(*loc, expected="text", got=shown(value), code="wrong_type")
    if not value:
        raise Invalid.at(*loc, expected="text that is not empty", got="empty text", code="too_short")
    if len(value) > chars:
        raise Invalid.at(*loc, expected=f"at most {chars} characters", got=len(value), code="too_long")
    if _CONTROL.search(value) or fault(value):
        raise Invalid.at(*loc, expected="text without control characters", got=shown(value), code="character")
    return value


def boolean(value: object, *loc: Step) -> bool:
    if not isinstance(value, bool):
        raise Invalid.at(*loc, expected="true or false", got=shown(value), code="wrong_type")
    return value


def integer(value: object, *loc: Step, least: int, most: int) -> int:
    """A true integer in a closed range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid.at(*loc, expected="an integer", got=shown(value), code="wrong_type")
    if not least <= value <= most:
        raise Invalid.at(*loc, expected=f"an integer in {least}..{most}", got=shown(value), code="out_of_range")
    return value


def number(value: object, *loc: Step, least: float | None = None, most: float | None = None) -> float:
    """A finite double, perhaps in a closed range; -0.0 is 0.0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Invalid.at(*loc, expected="a number", got=shown(value), code="wrong_type")
    try:
        double = float(value)
    except OverflowError as error:
        raise Invalid.at(
            *loc, expected="a number in the range of doubles", got=shown(value), code="out_of_range"
        ) from error
    if not math.isfinite(double):
        raise Invalid.at(*loc, expected="a finite number", got=shown(value), code="non_finite")
    if (least is not None and double < least) or (most is not None and double > most):
        expected = f"a number of at least {least}" if most is None else f"a number in {least}..{most}"
        raise Invalid.at(*loc, expected=expected, got=shown(value), code="out_of_range")
    return double + 0.0


def one_of(value: object, *loc: Step, words: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in words:
        raise Invalid.at(*loc, expected=" or ".join(words), got=shown(value), code="not_listed")
    return value


def identifiers(value: object, *loc: Step, least: int, most: int, chars: int = IDENTIFIER_CHARS) -> tuple[str, ...]:
    """A list of unique identifiers, in the order given."""
    if not isinstance(value, (list, tuple)):
        raise Invalid.at(*loc, expected="a list", got=shown(value), code="wrong_type")
    if not least <= len(value) <= most:
        raise Invalid.at(*loc, expected=f"{least}..{most} items", got=len(value), code="out_of_range")
    found: dict[str, int] = {}
    for index, item in enumerate(value):
        text = identifier(item, *loc, index, chars=chars)
        if text in found:
            raise Invalid.at(*loc, index, expected="each item once", got=f"{shown(text)} again", code="duplicate")
        found[text] = index
    return tuple(found)
