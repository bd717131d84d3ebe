"""Relation laws: finite groups over labels, and what makes a document one.

Invariants
- A law is a group: square table with entries in 0..S-1, a two-sided identity, two-sided inverses, associative.
- Labels are unique, not empty, without control characters; there are at most 256, as no vector holds more numbers.
- The fingerprint covers the name too: laws that differ in names only are two laws.
- Arrays are read-only, so that a law may be shared and cached by its fingerprint.

Meaning of an observation u -> v under a law: the relation is `inverse[z_u] * z_v`.

Source: posterior-memory-harness 0.9.0, its finite relation laws. Associativity: Light's test, in Clifford and Preston
1961, section 1.2: where (x a) y = x (a y) holds for a set of elements a, it holds for all their products.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from memory.base.errors import Invalid
from memory.beliefs.kernel.groups import Booleans, Indices
from memory.beliefs.kernel.hashing import peer_sha256
from memory.beliefs.kernel.reading import identifier, shown

MAX_LABELS = 256
KEPT_FINGERPRINTS = 64

_CYCLIC = re.compile(r"cyclic:([0-9]{1,9})")


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """labels : S texts.   table : (S, S) intp, `table[a, b]` = a * b.   inverse : (S,) intp.   identity : index."""

    name: str
    labels: tuple[str, ...]
    table: Indices
    inverse: Indices
    identity: int

    @property
    def size(self) -> int:
        return len(self.labels)


def read_law(spec: object) -> Law:
    """The law a client names (`cyclic:4`, `s3`) or spells out.   Raises Invalid."""
    if isinstance(spec, str):
        return built_in(spec)
    return parse_law(spec)


def parse_law(document: object) -> Law:
    """The law of a document; labels and name become text, numbers are truncated, further keys are ignored.

    Raises Invalid, naming the first entry that breaks a rule.

    >>> parse_law({"name": "T", "labels": ["e"], "table": [[0]], "inverse": [0]}).size
    1
    """
    if not isinstance(document, Mapping):
        raise Invalid.at("law", expected="an object, or the name of a built-in law", got=shown(document))
    for key in ("name", "labels", "table", "inverse"):
        if key not in document:
            raise Invalid.at(key, expected="a value", got="nothing", code="missing")
    labels = _labels(document["labels"])
    size = len(labels)
    table = _whole_numbers(document["table"], (size, size), "table")
    inverse = _whole_numbers(document["inverse"], (size,), "inverse")
    identity = _whole_number(document.get("identity", 0), "identity")
    if not 0 <= identity < size:
        raise Invalid.at("identity", expected=f"an index in 0..{size - 1}", got=identity, code="out_of_range")
    law = _law(_name(document["name"]), labels, table, inverse, identity)
    _require_group(law)
    return law


def built_in(spec: str) -> Law:
    """`cyclic:N` (N in 1..256) or `s3`.   Raises Invalid for another name.

    >>> built_in("cyclic:4").name
    'C4'
    """
    if spec == "s3":
        return _symmetric()
    found = _CYCLIC.fullmatch(spec)
    if found is None:
        raise Invalid.at("law", expected="cyclic:N, s3 or a law written out", got=shown(spec), code="not_listed")
    order = int(found.group(1))
    if not 1 <= order <= MAX_LABELS:
        raise Invalid.at("law", expected=f"an order in 1..{MAX_LABELS}", got=order, code="out_of_range")
    states = np.arange(order)
    labels = tuple(str(state) for state in range(order))
    return _law(f"C{order}", labels, (states[:, None] + states) % order, -states % order, 0)


def opposite(law: Law) -> Law:
    """The law with its products turned round: the same group where it commutes, another one where not."""
    return _law(f"{law.name}_opposite", law.labels, law.table.T, law.inverse, law.identity)


def law_document(law: Law) -> dict[str, object]:
    """The canonical document of a law: what is stored, shown and fingerprinted."""
    return {
        "name": law.name,
        "labels": list(law.labels),
        "table": law.table.tolist(),
        "inverse": law.inverse.tolist(),
        "identity": law.identity,
    }


@lru_cache(maxsize=KEPT_FINGERPRINTS)
def fingerprint(law: Law) -> str:
    """SHA-256 of the document, 64 hex digits; made once for each law, which never changes."""
    return peer_sha256(law_document(law))


def _law(name: str, labels: tuple[str, ...], table: Indices, inverse: Indices, identity: int) -> Law:
    arrays = [np.ascontiguousarray(array, dtype=np.intp).copy() for array in (table, inverse)]
    for array in arrays:
        array.setflags(write=False)
    return Law(name, labels, arrays[0], arrays[1], identity)


def _symmetric() -> Law:
    orders = list(permutations(range(3)))
    index = {order: position for position, order in enumerate(orders)}
    table = np.array([[index[left[r[0]], left[r[1]], left[r[2]]] for r in orders] for left in orders])
    labels = tuple("".join(str(place + 1) for place in order) for order in orders)
    return _law("S3", labels, table, np.argmin(table, axis=1), 0)


def _name(value: object) -> str:
    return identifier(value if isinstance(value, str) else str(value), "name")


def _labels(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise Invalid.at("labels", expected="a list", got=shown(value), code="wrong_type")
    if not 1 <= len(value) <= MAX_LABELS:
        raise Invalid.at("labels", expected=f"1..{MAX_LABELS} labels", got=len(value), code="out_of_range")
    seen: dict[str, int] = {}
    for index, item in enumerate(value):
        label = identifier(item if isinstance(item, str) else str(item), "labels", index)
        if label in seen:
            place = f"{shown(label)} again"
            raise Invalid.at("labels", index, expected="each label once", got=place, code="duplicate")
        seen[label] = index
    return tuple(seen)


def _whole_numbers(value: object, shape: tuple[int, ...], *loc: str | int) -> Indices:
    """The array of a nested list, entries truncated; its shape and range are checked."""
    size = shape[-1]
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        array = np.asarray(None)
    if array.shape == shape and array.dtype.kind in "biuf":
        whole = np.trunc(array)
        is_wrong = ~((whole >= 0) & (whole < size))
        if not is_wrong.any():
            return whole.astype(np.intp)
    # Slow, for the rare kinds of entries and for the place of what is wrong.
    return np.array(_entries(value, shape, size, loc), dtype=np.intp)


def _entries(value: object, shape: tuple[int, ...], size: int, loc: tuple[str | int, ...]) -> object:
    if not shape:
        index = _whole_number(value, *loc)
        if not 0 <= index < size:
            raise Invalid.at(*loc, expected=f"an index in 0..{size - 1}", got=index, code="out_of_range")
        return index
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        got = f"{len(value)}" if isinstance(value, (list, tuple)) else shown(value)
        raise Invalid.at(*loc, expected=f"a list of {shape[0]}", got=got, code="wrong_shape")
    return [_entries(item, shape[1:], size, (*loc, index)) for index, item in enumerate(value)]


def _whole_number(value: object, *loc: str | int) -> int:
    try:
        if isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value)):
            return int(value)
    except ValueError:
        pass
    raise Invalid.at(*loc, expected="a whole number", got=shown(value), code="wrong_type")


def _require_group(law: Law) -> None:
    states = np.arange(law.size)
    _require(law, law.table[law.identity] == states, "the identity times it to be itself")
    _require(law, law.table[:, law.identity] == states, "it times the identity to be itself")
    _require(law, law.table[states, law.inverse] == law.identity, "it times its inverse to be the identity")
    _require(law, law.table[law.inverse, states] == law.identity, "its inverse times it to be the identity")
    for middle in _generators(law):
        left = law.table[law.table[:, middle]]
        right = law.table[:, law.table[middle]]
        wrong = np.argwhere(left != right)
        if len(wrong):
            first, last = (law.labels[int(index)] for index in wrong[0])
            triple = f"{shown(first)}, {shown(law.labels[middle])}, {shown(last)}"
            raise Invalid.at("table", expected="an associative product", got=f"a failure at {triple}", code="no_group")


def _require(law: Law, holds: Booleans, rule: str) -> None:
    wrong = np.flatnonzero(~holds)
    if len(wrong):
        index = int(wrong[0])
        raise Invalid.at(
            "table", index, expected=rule, got=f"another label at {shown(law.labels[index])}", code="no_group"
        )


def _generators(law: Law) -> Sequence[int]:
    """Elements whose products, however bracketed, are all of the law; at most log2 S of them in a group."""
    is_reached = np.zeros(law.size, dtype=bool)
    is_reached[law.identity] = True
    chosen: list[int] = []
    while not is_reached.all():
        chosen.append(int(np.argmin(is_reached)))
        is_reached[chosen[-1]] = True
        n_before = 0
        while (reached := np.flatnonzero(is_reached)).size > n_before:
            n_before = reached.size
            is_reached[law.table[np.ix_(reached, reached)].ravel()] = True
    return chosen
