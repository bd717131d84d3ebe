"""The language of scopes: where a tombstone blocks.

A scope is a text, which covers the same text, or an object of conditions on named keys, all of which must hold of what
is asked. A condition is a value (text, number, true or false), a comparison, or a list of these, any of which will do.

A comparison is a text that begins with <, <=, >, >=, = or !=, as "<5.6" or ">1GB"; several in one text must all hold,
as ">=5.6 <5.8". It compares
- numbers, where what is asked is a JSON number;
- quantities, where both sides have units of one kind: bytes (kB and KiB), time (ms to weeks), percent;
- versions otherwise: 5.10 is above 5.6, 5.6 equals 5.6.0, 5.6.1rc1 is below 5.6.1, and what follows a + is not read.

Invariants
- What is not stated satisfies no condition, and what cannot be compared satisfies no comparison: neither blocks, and
  neither exempts.
- Texts are compared folded: case, the composition of accents, and the number and kind of spaces do not count.

Source: Semantic Versioning 2.0.0, sections 10 and 11 (build, precedence); Unicode Standard, annex 15 (NFC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

Value = str | int | float | bool
Condition = Value | Sequence[Value]
Conditions = Mapping[str, Condition]
Scope = str | Conditions

OPERATORS: dict[str, Callable[[int], bool]] = {
    "<=": lambda order: order <= 0,
    ">=": lambda order: order >= 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    ">": lambda order: order > 0,
    "=": lambda order: order == 0,
}
READABLE = "a value, or a comparison such as <5.6 or >1GB"

_COMPARISON = re.compile(r"\s*(<=|>=|!=|<|>|=)\s*([^\s,<>=!]+)\s*,?")
_QUANTITY = re.compile(r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([a-z%]*)")
_VERSION = re.compile(r"v?([0-9]{1,30}(?:\.[0-9]{1,30})*)(.*)", re.DOTALL)
_BYTES = {
    "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "pib": 2**50,
}  # fmt: skip
_MILLISECONDS = {
    "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
    "w": 604_800_000, "week": 604_800_000, "weeks": 604_800_000,
}  # fmt: skip
_UNITS: dict[str, tuple[str, int]] = {
    "": ("number", 1),
    "%": ("percent", 1),
    **{unit: ("bytes", factor) for unit, factor in _BYTES.items()},
    **{unit: ("time", factor) for unit, factor in _MILLISECONDS.items()},
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a condition; `index` is its place in a list of them."""

    key: str
    index: int | None
    got: str


def folded(text: str) -> str:
    """The text for comparison.

    >>> folded("  Deploy   XZ ")
    'deploy xz'
    """
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def covers(scope: Scope, asked: Scope) -> bool:
    """Whether what is asked lies in the scope: the same text, or every condition holds of it.

    >>> covers({"package": "xz", "series": "5.6"}, {"package": "XZ", "series": "5.6", "host": "build-7"})
    True
    """
    if isinstance(scope, str) or isinstance(asked, str):
        return isinstance(scope, str) and isinstance(asked, str) and folded(scope) == folded(asked)
    return bool(scope) and all(_holds_of(key, condition, asked) for key, condition in scope.items())


def exempts(conditions: Conditions, asked: Scope) -> bool:
    """Whether any of the conditions is stated and holds: then the scope does not matter.

    >>> exempts({"upstream_code": "<5.6"}, {"package": "xz", "upstream_code": "5.4.5"})
    True
    """
    if isinstance(asked, str):
        return False
    return any(_holds_of(key, condition, asked) for key, condition in conditions.items())


def faults(conditions: Conditions) -> Iterator[Fault]:
    """The conditions that begin as a comparison and are none."""
    for key, condition in conditions.items():
        is_list = not isinstance(condition, str | int | float)
        for index, one in enumerate(_alternatives(condition)):
            if isinstance(one, str) and not is_readable(one):
                yield Fault(key, index if is_list else None, one)


def is_readable(condition: str) -> bool:
    """True for a plain text, and for a comparison whose bounds can be compared."""
    if not condition.strip().startswith(tuple(OPERATORS)):
        return bool(condition.strip())
    bounds = _comparisons(condition)
    return bool(bounds) and all(operator in ("=", "!=") or _is_bound(bound) for operator, bound in bounds)


def satisfies(condition: Value, value: Value) -> bool:
    """Whether the value that is asked is the one of the condition, or compares as it says."""
    if _plain(condition) == _plain(value):
        return True
    if not isinstance(condition, str) or isinstance(value, bool):
        return False
    bounds = _comparisons(condition)
    return bool(bounds) and all(_compares(operator, bound, value) for operator, bound in bounds)


def _holds_of(key: str, condition: Condition, asked: Conditions) -> bool:
    stated = _alternatives(asked[key]) if key in asked else ()
    return any(satisfies(one, value) for one in _alternatives(condition) for value in stated)


def _alternatives(condition: Condition) -> Sequence[Value]:
    return (condition,) if isinstance(condition, str | int | float) else condition


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return folded(str(value))


def _comparisons(condition: str) -> list[tuple[str, str]]:
    """The (operator, bound) pairs of a comparison; none where the text is not one from end to end."""
    found: list[tuple[str, str]] = []
    at = 0
    while match := _COMPARISON.match(condition, at):
        found.append((match[1], match[2]))
        at = match.end()
    return found if at == len(condition) else []


def _compares(operator: str, bound: str, value: str | float) -> bool:
    order = _order(value, bound)
    if order is not None:
        return OPERATORS[operator](order)
    is_same = _plain(bound) == _plain(value)
    return is_same if operator == "=" else operator == "!=" and not is_same


def _order(value: str | float, bound: str) -> int | None:
    """-1, 0 or 1 as the value is below, at or above the bound; None where the two cannot be compared."""
    one, other = _quantity(_plain(value)), _quantity(folded(bound))
    if one is not None and other is not None and one[0] == other[0]:
        if one[0] != "number" or not isinstance(value, str):
            return _sign(one[1], other[1])
    elif not isinstance(value, str) or any(each is not None and each[0] != "number" for each in (one, other)):
        return None
    left, right = _version(folded(str(value))), _version(folded(bound))
    return None if left is None or right is None else (left > right) - (left < right)


def _sign(one: Decimal, other: Decimal) -> int:
    return (one > other) - (one < other)


def _is_bound(text: str) -> bool:
    return _quantity(folded(text)) is not None or _version(folded(text)) is not None


def _quantity(text: str) -> tuple[str, Decimal] | None:
    """The kind and the amount in its smallest unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in _UNITS:
        return None
    kind, factor = _UNITS[match[2]]
    return kind, Decimal(match[1]) * factor


_Key = tuple[tuple[int, ...], tuple[tuple[int, int, str], ...]]


def _version(text: str) -> _Key | None:
    """A key in the order of versions: the release without trailing zeros, then what follows it.

    A word after the release is below the release itself, a number above it.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    release = [int(part) for part in match[1].split(".")]
    while release and release[-1] == 0:
        release.pop()
    rest = re.findall(r"[a-z]+|[0-9]{1,30}", match[2].partition("+")[0])
    marks = [(2, int(one), "") if one.isdigit() else (0, 0, one) for one in rest]
    return tuple(release), (*marks, (1, 0, ""))
