"""A finite group as arrays, ready for gathers.

Invariants
- `relative[a, b]` is inverse[a] * b, the relation of an edge whose ends have the labels a and b.
- The arrays are never written to; two groups of one table and identity have one `digest`.
- Nothing here checks the axioms: a law does that once, when it is bound.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`table` : (k, k) intp, table[a, b] = a * b.   `identity` : index of the neutral label."""

    table: Indices
    identity: int
    k: int = field(init=False)
    inv: Indices = field(init=False)
    relative: Indices = field(init=False)
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        table = np.ascontiguousarray(self.table, dtype=np.intp)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not 0 <= self.identity < len(table):
            raise ValueError(f"a group of {table.shape} with identity {self.identity} is none")
        rows, columns = np.nonzero(table == self.identity)
        if not np.array_equal(rows, np.arange(len(table))):
            raise ValueError("every label needs exactly one inverse")
        inverse = columns.astype(np.intp)
        for name, value in (
            ("table", _frozen(table)),
            ("k", len(table)),
            ("inv", _frozen(inverse)),
            ("relative", _frozen(table[inverse])),
            ("digest", hashlib.sha256(table.tobytes() + self.identity.to_bytes(8, "big")).digest()),
        ):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def D(self) -> Indices:  # noqa: N802 the letter of the literature
        """`relative` by its short name."""
        return self.relative


def cyclic(k: int) -> Group:
    """The cyclic group of order k, identity 0."""
    steps = np.arange(k)
    return Group((steps[:, None] + steps) % k, 0)


def group_of(fingerprint: str, *, table: ArrayLike, identity: int) -> Group:
    """The group of a law, made once for each fingerprint: the same fingerprint must bring the same table."""
    return _group(fingerprint, np.ascontiguousarray(table, dtype=np.intp).tobytes(), identity)


@lru_cache(maxsize=64)
def _group(_fingerprint: str, table: bytes, identity: int) -> Group:
    values = np.frombuffer(table, dtype=np.intp)
    k = math.isqrt(len(values))
    return Group(values.reshape(k, k), identity)


def _frozen(values: Indices) -> Indices:
    kept = np.ascontiguousarray(values)
    if kept.flags.writeable:
        kept = kept.copy()
        kept.flags.writeable = False
    return kept
