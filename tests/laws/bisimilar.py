"""Sides written by hand, and the definition of bisimilarity in its plainest form, to hold the refinement against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from audit.laws.bisimilarity.values import Observation, Side, Tagged, digest

Drawn = Mapping[str, tuple[str, Sequence[tuple[str, str]]]]


def drawn(graph: Drawn, *, name: str = "drawn") -> Side:
    """{id: (what it says, [(relation, target)])}; a target that has no row is a missing record."""
    records = {id: Observation({"content": digest(says)}) for id, (says, _) in graph.items()}
    edges = frozenset((id, relation, target) for id, (_, steps) in graph.items() for relation, target in steps)
    return Side(name, records, edges)


def seen(side: Side, identifier: str) -> object:
    """What is seen of the identifier itself."""
    record = side.records.get(identifier)
    return None if record is None else (dict(record.fields), set(record.mentions))


def steps(side: Side, identifier: str) -> set[tuple[str, str]]:
    """(label, target) of everything that it points at."""
    found = {(f"edge {relation}", target) for source, relation, target in side.edges if source == identifier}
    record = side.records.get(identifier)
    mentions = record.mentions.items() if record is not None else ()
    return found | {(f"field {name}", target) for name, targets in mentions for target in targets}


def everything(sides: Sequence[Side]) -> list[Tagged]:
    found = set()
    for index, side in enumerate(sides):
        found |= {(index, id) for id in side.records}
        found |= {(index, end) for source, _, target in side.edges for end in (source, target)}
        found |= {
            (index, id) for record in side.records.values() for targets in record.mentions.values() for id in targets
        }
    return sorted(found)


def naively_parted(sides: Sequence[Side]) -> dict[tuple[Tagged, Tagged], int]:
    """{pair: the round in which it parts}, by striking out pairs until no more fall: the greatest fixed point."""
    nodes = everything(sides)
    parted = {
        (one, other): 0
        for one, other in product(nodes, nodes)
        if seen(sides[one[0]], one[1]) != seen(sides[other[0]], other[1])
    }
    turn, is_changed = 0, True
    while is_changed:
        turn += 1
        fallen = [
            pair
            for pair in product(nodes, nodes)
            if pair not in parted and not (_simulates(sides, *pair, parted) and _simulates(sides, *pair[::-1], parted))
        ]
        parted.update(dict.fromkeys(fallen, turn))
        is_changed = bool(fallen)
    return parted


def _simulates(
    sides: Sequence[Side], one: Tagged, other: Tagged, parted: Mapping[tuple[Tagged, Tagged], int]
) -> bool:  # fmt: skip
    """True if each step of `one` has an equal step of `other` to something not parted yet."""
    onward = steps(sides[other[0]], other[1])
    return all(
        any(label == like and ((one[0], target), (other[0], there)) not in parted for like, there in onward)
        for label, target in steps(sides[one[0]], one[1])
    )
