"""What a text that stands for an identifier points at, seen from one namespace.

Invariants
- Equality wins over abbreviation; nothing but equality and abbreviation is tried: no patterns, no case folding.
- An abbreviation is expanded only if exactly one identifier of the same namespace extends it.
- Records of other namespaces never change what is found in one's own, except that an equal identifier elsewhere turns
  an expansion into a refusal (`captured`).

Source: laws of the store 4.3, 4.4, 5.8.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

type Outcome = Literal["found", "expanded", "cross-namespace", "captured", "ambiguous", "missing"]

# Shorter texts match by chance.
_SHORTEST_ABBREVIATION_CHARS = 4
_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Resolution:
    """`target` is the full identifier when found or expanded, and the foreign one when it is in another namespace.

    `candidates` are identifiers of the own namespace that the text abbreviates, at most 20.
    """

    outcome: Outcome
    target: str | None
    candidates: tuple[str, ...] = ()


class NameIndex:
    """The identifiers of all usable records, by namespace."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        """namespaces : identifier -> its namespace."""
        self._namespaces = namespaces
        by_namespace: dict[str, list[str]] = defaultdict(list)
        for identifier, namespace in namespaces.items():
            by_namespace[namespace].append(identifier)
        self._sorted = {namespace: sorted(identifiers) for namespace, identifiers in by_namespace.items()}

    def namespace_of(self, identifier: str) -> str | None:
        return self._namespaces.get(identifier)

    def extensions(self, text: str, *, namespace: str, besides: str | None = None) -> tuple[str, ...]:
        """Identifiers of the namespace that are longer than the text and start with it, sorted, at most 20."""
        if len(text) < _SHORTEST_ABBREVIATION_CHARS:
            return ()
        identifiers = self._sorted.get(namespace, [])
        found: list[str] = []
        for place in range(bisect_left(identifiers, text), len(identifiers)):
            identifier = identifiers[place]
            if not identifier.startswith(text) or len(found) == _MOST_CANDIDATES:
                break
            if identifier not in {text, besides}:
                found.append(identifier)
        return tuple(found)

    def resolve(
        self, text: str, *, namespace: str, besides: str | None = None, may_abbreviate: bool = True
    ) -> Resolution:
        """Look a text up from within a namespace.

        besides : the record that mentions the text; it got its identifier later than the text was written, so it is
        no expansion.   may_abbreviate : whether the source writes this kind of mention as it was typed.
        """
        candidates = self.extensions(text, namespace=namespace, besides=besides) if may_abbreviate else ()
        found_in = self._namespaces.get(text)
        if found_in == namespace:
            return Resolution("found", text)
        if found_in is not None:
            return Resolution("captured" if candidates else "cross-namespace", text, candidates)
        if len(candidates) == 1:
            return Resolution("expanded", candidates[0], candidates)
        return Resolution("ambiguous" if candidates else "missing", None, candidates)
