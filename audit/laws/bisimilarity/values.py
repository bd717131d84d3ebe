"""What the comparison reads and answers.

Invariants
- An observation holds nothing that an allocator or a clock supplied: no id, no recorded instant, no salt, no digest of
  the store's own. Valid time comes from the caller and is kept.
- Text is held as a digest; equal values have equal digests, whatever store they come from.

Source: laws of the store, 3.3.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

type Tagged = tuple[int, str]
"""An identifier with the number of its store: two stores may use one identifier for two records."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What is seen of one record. `fields` maps name to digest, `mentions` name to identifiers, in their order."""

    fields: Mapping[str, bytes]
    mentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Side:
    """One store: its records by identifier and every edge that leaves one, inverses among them."""

    name: str
    records: Mapping[str, Observation]
    edges: frozenset[tuple[str, str, str]]

    def narrowed(self, *, is_field: Callable[[str], bool], is_relation: Callable[[str], bool]) -> "Side":
        """The side with only some of what is seen of it; mentions stay where they are named like a relation."""
        records = {
            identifier: Observation(
                {name: value for name, value in seen.fields.items() if is_field(name)},
                {name: ids for name, ids in seen.mentions.items() if is_field(name)},
            )
            for identifier, seen in self.records.items()
        }
        return replace(self, records=records, edges=frozenset(edge for edge in self.edges if is_relation(edge[1])))


@dataclass(frozen=True, slots=True)
class Partition:
    """Classes by identifier, numbered in the order of the identifiers; `n_rounds` is how many of them told some apart.

    `parted_at` is the round after which two watched identifiers stand in different classes: 0 by what is seen of
    themselves, n by what is seen n steps away; None where they never part, or none were watched.
    """

    classes: Mapping[Tagged, int]
    n_classes: int
    n_rounds: int
    parted_at: int | None = None


type Difference = Literal["value", "targets", "order"]


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field or relation in which two records differ.

    value : what is said differs.   targets : it points at records of other classes.
    order : the same classes, named in another order; this alone does not tell two records apart.
    """

    name: str
    kind: Difference
    is_relation: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """Two records: the same class or not, since which round, and in what they differ."""

    is_same_class: bool
    parted_at: int | None
    differences: tuple[FieldDifference, ...]
    n_rounds: int


@dataclass(frozen=True, slots=True)
class SharedClass:
    """One class with its members on either side, in order."""

    first: tuple[str, ...]
    second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoresCompared:
    """Two stores by class. A class with members on one side only stands under that side.

    `n_first` and `n_second` count the records of each store; identifiers without a record are in no count.
    """

    n_first: int
    n_second: int
    n_rounds: int
    only_first: tuple[SharedClass, ...]
    only_second: tuple[SharedClass, ...]
    both: tuple[SharedClass, ...]

    @property
    def n_unequal(self) -> int:
        """Classes in both with more members on one side than on the other: bisimilar, not equal in number."""
        return sum(len(shared.first) != len(shared.second) for shared in self.both)


def digest(value: Any) -> bytes:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()
