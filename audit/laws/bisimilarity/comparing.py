"""Two records, or two stores, beside each other by class.

Source: laws of the store, 3.3.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from audit.laws.bisimilarity.refinement import refined
from audit.laws.bisimilarity.values import (
    Compared,
    FieldDifference,
    Observation,
    Partition,
    SharedClass,
    Side,
    StoresCompared,
    Tagged,
)

NOTHING = Observation({})


def compare_records(sides: Sequence[Side], first: Tagged, second: Tagged) -> Compared:
    """Whether the two are bisimilar, and in what they differ: fields first, then relations, each by name.

    Raises KeyError (one of them is in neither a record nor an edge).
    """
    partition = refined(sides, watched=(first, second))
    fields = _field_differences(sides, partition, first, second)
    relations = _relation_differences(sides, partition, first, second)
    return Compared(
        partition.classes[first] == partition.classes[second], partition.parted_at, (*fields, *relations),
        partition.n_rounds,
    )  # fmt: skip


def compare_stores(first: Side, second: Side) -> StoresCompared:
    """The classes of both stores. Largest classes first, then by identifier."""
    partition = refined((first, second))
    members: dict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for (index, identifier), number in partition.classes.items():
        if identifier in (first, second)[index].records:
            members[number][index].append(identifier)
    shared = [SharedClass(tuple(one), tuple(other)) for one, other in members.values()]
    shared.sort(key=lambda one: (-len(one.first) - len(one.second), one.first, one.second))
    return StoresCompared(
        n_first=len(first.records), n_second=len(second.records), n_rounds=partition.n_rounds,
        only_first=tuple(one for one in shared if not one.second),
        only_second=tuple(one for one in shared if not one.first),
        both=tuple(one for one in shared if one.first and one.second),
    )  # fmt: skip


def _field_differences(
    sides: Sequence[Side], partition: Partition, first: Tagged, second: Tagged
) -> Iterator[FieldDifference]:
    one, other = (sides[index].records.get(identifier, NOTHING) for index, identifier in (first, second))
    for name in sorted(one.fields.keys() | other.fields.keys()):
        if one.fields.get(name) != other.fields.get(name):
            yield FieldDifference(name, "value")
    for name in sorted(one.mentions.keys() | other.mentions.keys()):
        named = [
            [partition.classes[tagged[0], target] for target in seen.mentions.get(name, ())]
            for tagged, seen in ((first, one), (second, other))
        ]
        if set(named[0]) != set(named[1]):
            yield FieldDifference(name, "targets")
        elif named[0] != named[1]:
            yield FieldDifference(name, "order")


def _relation_differences(
    sides: Sequence[Side], partition: Partition, first: Tagged, second: Tagged
) -> Iterator[FieldDifference]:
    one, other = (_pointed_at(sides[tagged[0]], partition, tagged) for tagged in (first, second))
    for relation in sorted(one.keys() | other.keys()):
        if one.get(relation) != other.get(relation):
            yield FieldDifference(relation, "targets", is_relation=True)


def _pointed_at(side: Side, partition: Partition, tagged: Tagged) -> Mapping[str, set[int]]:
    index, identifier = tagged
    found: dict[str, set[int]] = defaultdict(set)
    for source, relation, target in side.edges:
        if source == identifier:
            found[relation].add(partition.classes[index, target])
    return found
