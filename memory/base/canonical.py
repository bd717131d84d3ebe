"""JSON in its two strict forms: reading what clients send, and the one canonical spelling that is hashed.

Invariants
- `canonical` writes the bytes of RFC 8785 or refuses; equal values give equal bytes on every machine.
- Refused by both: non-finite numbers, lone surrogates, NUL, more than 64 levels. Refused when writing too: integers
  beyond 2**53 - 1 and values JSON does not have. Refused when reading too: duplicate keys. A `Dialect` reads more.
- `strict_loads` separates unreadable JSON (`MalformedJson`, a position) from readable JSON that is refused
  (`UnacceptableJson`, a place in the document).
- What `canonical` wrote, `strict_loads` reads and `canonical` writes again, byte for byte.

The fast way: where every number is spelled alike by both encoders, msgspec in sorted order writes what RFC 8785 asks.
Its conditions are checked by `_fast`; whatever fails one is checked again with its place and written by `rfc8785`.

Source: RFC 8785; RFC 8259; RFC 7493 section 2 (I-JSON).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import rfc8785

Loc = tuple[str | int, ...]

INTEGER_LIMIT = 2**53 - 1
MAX_DEPTH = 64

_SHOWN_CHARS = 60
_SAFE_DIGITS = 15
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
# From U+E000 on, the order of UTF-16 units and of code points part.
_late_character = re.compile("[\ue000-\uffff\U00010000-\U0010ffff]").search
_REFUSED_CHARACTER = re.compile("[\x00\ud800-\udfff]")
_refused_character = _REFUSED_CHARACTER.search


class CanonicalError(ValueError):
    """A value without a canonical form: `loc` and `path` name the place, `code` the cause.

    Codes: non_finite, out_of_range, lone_surrogate, nul, too_deep, not_json, duplicate_key (when reading only).
    """

    def __init__(self, loc: Loc, code: str, *, expected: str, got: str) -> None:
        self.loc = loc
        self.code = code
        self.expected = expected
        self.got = got
        super().__init__(f"{self.path or 'the value'}: expected {expected}, got {got}")

    @property
    def path(self) -> str:
        """The place in words, `metadata.a[3]` for example; empty for the value as a whole."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.loc)
        return "".join(steps).removeprefix(".")


class UnacceptableJson(CanonicalError):
    """Readable JSON whose content is refused at `loc`."""


class MalformedJson(ValueError):
    """Text that is not JSON: `position` counts characters from 0 (bytes, where it is not UTF-8)."""

    def __init__(self, position: int, reason: str) -> None:
        self.position = position
        self.reason = reason
        super().__init__(f"not JSON at position {position}: {reason}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a reader takes beyond I-JSON: the last of repeated keys, integers up to the range of doubles."""

    keeps_last_key: bool = False
    has_wide_integers: bool = False


STRICT = Dialect()


def canonical(value: object) -> bytes:
    """The RFC 8785 spelling of a JSON value, UTF-8.

    value : None, bool, int, float, str, list, tuple, dict with str keys, and subclasses of these; at most 64 levels.
    Raises CanonicalError for the first refused place.

    >>> canonical({"b": 1.0, "a": [True, None, "é"]})
    b'{"a":[true,null,"\\xc3\\xa9"],"b":1}'
    """
    try:
        written = _encode_sorted(_fast(value, MAX_DEPTH))
    except (_NotFast, UnicodeEncodeError):
        return rfc8785.dumps(_plain(value, ()))
    if b"\\u0000" in written:
        # Either NUL or a text that spells the escape itself: only the walk can tell.
        _plain(value, ())
    return written


def strict_loads(data: bytes | str, *, max_depth: int = MAX_DEPTH, dialect: Dialect = STRICT) -> object:
    """The value of one JSON text.

    data : UTF-8 bytes or text.   max_depth : levels of lists and objects that are read.
    dialect : what is read beyond this; `canonical` may refuse to write it.
    An integer literal beyond 2**53 - 1 is read as the double it names if that double is spelled so, and refused if not.
    Raises MalformedJson for what is not JSON, UnacceptableJson for the first refused place otherwise.

    >>> strict_loads(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    text = _decoded(data)
    try:
        value: object = _decoder(dialect).decode(text)
    except json.JSONDecodeError as error:
        raise MalformedJson(error.pos, error.msg) from error
    except RecursionError as error:
        raise UnacceptableJson((), "too_deep", expected=f"at most {max_depth} levels", got="more") from error
    # A refused character comes by an escape, or raw in text that never was UTF-8.
    has_suspect_text = "\\u" in text or (isinstance(data, str) and _refused_character(data) is not None)
    if has_suspect_text or _has_mark_or_depth(value, max_depth):
        _refuse(value, (), max_depth)
    return value


class _NotFast(Exception):
    """The fast way cannot vouch for this value."""


def _fast(value: Any, levels: int) -> Any:
    """The value with integral floats as integers, if msgspec then spells it as RFC 8785 does."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        if -INTEGER_LIMIT <= value <= INTEGER_LIMIT:
            return value
        raise _NotFast
    if kind is float:
        return _fast_float(value)
    if levels == 0:
        raise _NotFast
    if kind is dict:
        members = {}
        for key, item in value.items():
            if type(key) is not str or (not key.isascii() and _late_character(key)):
                raise _NotFast
            members[key] = item if type(item) is str else _fast(item, levels - 1)
        return members
    if kind is list:
        return [_fast(item, levels - 1) for item in value]
    raise _NotFast


def _fast_float(value: float) -> float | int:
    size = abs(value)
    if size <= INTEGER_LIMIT:  # false for NaN and infinities
        if value.is_integer():
            return int(value)
        # Below, msgspec turns to exponents at another point than RFC 8785.
        if size >= 1e-5:
            return value
    raise _NotFast


def _plain(value: object, loc: Loc) -> Any:
    """The value checked at every place and copied into exact JSON types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        _refuse_characters(value, loc)
        return str.__str__(value)
    if isinstance(value, int):
        if not -INTEGER_LIMIT <= value <= INTEGER_LIMIT:
            raise CanonicalError(loc, "out_of_range", expected="an integer within 2**53 - 1", got=_shown_integer(value))
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CanonicalError(loc, "non_finite", expected="a finite number", got=str(float(value)))
        return float(value)
    if not isinstance(value, (list, tuple, dict)):
        raise CanonicalError(loc, "not_json", expected="a JSON value", got=type(value).__name__)
    if len(loc) >= MAX_DEPTH:
        raise CanonicalError(loc, "too_deep", expected=f"at most {MAX_DEPTH} levels", got="more")
    if isinstance(value, dict):
        return {_plain_key(key, loc): _plain(item, (*loc, _shown(key))) for key, item in value.items()}
    return [_plain(item, (*loc, index)) for index, item in enumerate(value)]


def _plain_key(key: object, loc: Loc) -> str:
    if not isinstance(key, str):
        raise CanonicalError(loc, "not_json", expected="keys that are text", got=f"a key of type {type(key).__name__}")
    _refuse_characters(key, (*loc, _shown(key)))
    return str.__str__(key)


def _refuse_characters(text: str, loc: Loc, *, error: type[CanonicalError] = CanonicalError) -> None:
    found = _refused_character(text)
    if found is not None:
        code = "nul" if found.group() == "\0" else "lone_surrogate"
        raise error(loc, code, expected="text without NUL and lone surrogates", got=f"U+{ord(found.group()):04X}")


def _shown(key: str) -> str:
    """A key that can stand in any message: short, every character encodable."""
    cut = key if len(key) <= _SHOWN_CHARS else key[: _SHOWN_CHARS - 1] + "…"
    return _REFUSED_CHARACTER.sub(lambda found: f"\\u{ord(found.group()):04x}", cut)


def _shown_integer(value: int) -> str:
    return str(value) if value.bit_length() < 100 else f"one of {value.bit_length()} bits"


def _decoded(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJson(error.start, "not UTF-8") from error


@dataclass(frozen=True, slots=True)
class _Mark:
    """Stands in a decoded value for what is refused there, so that a walk finds its place."""

    code: str
    expected: str
    got: str
    key: str | None = None


def _object(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return _Mark("duplicate_key", "each key once", "it twice", key)
        seen.add(key)
    raise AssertionError("keys are lost only by repetition")


def _integer(literal: str) -> Any:
    if len(literal) <= _SAFE_DIGITS:
        return int(literal)
    double = float(literal)
    if abs(double) <= INTEGER_LIMIT:
        return int(literal)
    # What `canonical` makes of such a double is read again; any other digits would be lost.
    if math.isfinite(double) and rfc8785.dumps(double).decode() == literal:
        return double
    return _Mark("out_of_range", "an integer within 2**53 - 1, or a double as RFC 8785 spells it", _shown(literal))


def _wide_integer(literal: str) -> Any:
    if math.isfinite(float(literal)):
        return int(literal)
    return _Mark("out_of_range", "an integer in the range of doubles", _shown(literal))


def _float(literal: str) -> Any:
    value = float(literal)
    return value if math.isfinite(value) else _Mark("out_of_range", "a number in the range of doubles", _shown(literal))


def _constant(literal: str) -> Any:
    return _Mark("non_finite", "a finite number", literal)


@cache
def _decoder(dialect: Dialect) -> json.JSONDecoder:
    """Decoding keeps no state between calls, so every thread shares one for each dialect."""
    return json.JSONDecoder(
        object_pairs_hook=dict if dialect.keeps_last_key else _object,
        parse_int=_wide_integer if dialect.has_wide_integers else _integer,
        parse_float=_float,
        parse_constant=_constant,
    )


_WALKED = frozenset({dict, list, _Mark})


def _has_mark_or_depth(value: object, max_depth: int) -> bool:
    """Whether a mark or more than `max_depth` levels stand in a decoded value; level by level, without recursion."""
    level: list[Any] = [value] if type(value) in _WALKED else []
    depth = 0
    while level:
        depth += 1
        if depth > max_depth or any(type(holder) is _Mark for holder in level):
            return True
        level = [
            item
            for holder in level
            for item in (holder.values() if type(holder) is dict else holder)
            if type(item) in _WALKED
        ]
    return False


def _refuse(value: object, loc: Loc, max_depth: int) -> None:
    """Raise UnacceptableJson for the first refused place of a decoded value, if there is one."""
    if isinstance(value, str):
        _refuse_characters(value, loc, error=UnacceptableJson)
    elif isinstance(value, _Mark):
        place = loc if value.key is None else (*loc, _shown(value.key))
        raise UnacceptableJson(place, value.code, expected=value.expected, got=value.got)
    elif isinstance(value, (dict, list)):
        if len(loc) >= max_depth:
            raise UnacceptableJson(loc, "too_deep", expected=f"at most {max_depth} levels", got="more")
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            place = (*loc, _shown(step) if isinstance(step, str) else step)
            if isinstance(step, str):
                _refuse_characters(step, place, error=UnacceptableJson)
            _refuse(item, place, max_depth)
