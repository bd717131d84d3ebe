"""Values of facts: what a value may be, when two of them are one, and which exclude each other.

- A value is text, a number or a truth value; a text of instants or numbers stays text unless its attribute says more.
- Two values are one side when their normal forms are equal: `true` is never 1, and 2 is never "2".
- Without a declaration an attribute may have many values, compared as they are written.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

from memory.base import instants
from memory.base.canonical import canonical

Value = str | int | float | bool
CARDINALITIES = ("one", "many")
STANCES = ("asserts", "denies")
VALUE_TYPES = ("text", "number", "truth", "instant")
NORMALISERS = ("exact", "folded", "number", "instant")
KEY_BYTES = 16
# Drops trailing zeros and nothing else: the usual context rounds to 28 digits and refuses great exponents.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@dataclass(frozen=True, slots=True)
class Spec:
    """What is declared of an attribute. `exclusive` are pairs of normal forms that cannot both hold."""

    cardinality: str = "many"
    value_type: str | None = None
    normaliser: str = "exact"
    freshness_seconds: int | None = None
    exclusive: frozenset[frozenset[Any]] = frozenset()
    seq: int | None = None


UNDECLARED = Spec()


@dataclass(frozen=True, slots=True)
class Side:
    """What several facts say alike: the stance and the normal form of the value."""

    stance: str
    form: Any


def normal(value: Value, normaliser: str) -> Any:
    """The normal form, typed so that no truth value equals a number. What cannot be read so stays as it is written."""
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, int | float):
        return ("number", Decimal(str(value)).normalize(_EXACT))
    read = _READERS.get(normaliser)
    form = read(value) if read is not None else None
    return form if form is not None else ("text", value)


def _folded(text: str) -> Any:
    return ("text", " ".join(unicodedata.normalize("NFKC", text).casefold().split()))


def _instant(text: str) -> Any:
    try:
        return ("instant", instants.read(text))
    except ValueError:
        return None


def _as_number(text: str) -> Any:
    number = _number(text)
    return None if number is None else ("number", number.normalize(_EXACT))


_READERS: dict[str, Callable[[str], Any]] = {"folded": _folded, "number": _as_number, "instant": _instant}


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def fits(value: Value, value_type: str | None) -> bool:
    """Whether the value is of the declared type."""
    if value_type is None:
        return True
    if value_type == "truth":
        return isinstance(value, bool)
    if value_type == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if value_type == "instant":
        return isinstance(value, str) and normal(value, "instant")[0] == "instant"
    return isinstance(value, str)


def side_of(stance: str, value: Value, spec: Spec) -> Side:
    """The side that a statement takes."""
    return Side(stance, normal(value, spec.normaliser))


def exclude(one: Side, other: Side, spec: Spec) -> bool:
    """Whether the two cannot both hold at one instant. Symmetric; never true of a side and itself."""
    if one.stance != other.stance:
        return bool(one.form == other.form)
    if one.stance == "denies" or one.form == other.form:
        return False
    return spec.cardinality == "one" or frozenset((one.form, other.form)) in spec.exclusive


def value_key(value: Value) -> bytes:
    """What finds equal values without reading them: 16 bytes of a hash of the exact form."""
    return hashlib.sha256(canonical(value)).digest()[:KEY_BYTES]
