"""Partition refinement: the coarsest classes in which equal records point at equal records.

Invariants
- Round 0 tells records apart by what is seen of them; round n by that and the classes of round n - 1 of what they
  point at, as sets of (label, class). A record that is missing is seen as absent.
- The classes of each round are exactly those of the definition: only what may have changed is looked at again.
- No recursion; on cycles it ends, after at most as many rounds as there are identifiers.
- Classes are numbered by interned values, not by hashes: no two of them can collide.

Source: Kanellakis and Smolka 1990; laws of the store, 3.3.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from audit.laws.bisimilarity.values import Partition, Side, Tagged

type Signature = frozenset[tuple[str, int]]


def refined(sides: Sequence[Side], *, watched: tuple[Tagged, Tagged] | None = None) -> Partition:
    """The classes of all identifiers of the sides, put beside each other.

    watched : two identifiers of whom the round is asked in which they part.   Raises KeyError (watched is not there).
    """
    work = _Work.of(sides)
    pair = None if watched is None else (work.numbers[watched[0]], work.numbers[watched[1]])
    parted_at = 0 if pair and work.differ(*pair) else None
    n_rounds = 0
    ahead: Iterable[int] = range(len(work.names))
    while moved := work.turn(ahead):
        n_rounds += 1
        if pair and parted_at is None and work.differ(*pair):
            parted_at = n_rounds
        ahead = {source for target in moved for source in work.into[target]}
    return work.partition(n_rounds, parted_at)


@dataclass(slots=True)
class _Work:
    """Identifiers as numbers, what each points at, who points at it, and the class of each as it stands."""

    names: list[Tagged]
    numbers: dict[Tagged, int]
    onward: list[tuple[tuple[str, int], ...]]
    into: list[set[int]]
    classes: list[int] = field(default_factory=list)
    blocks: dict[int, set[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, sides: Sequence[Side]) -> "_Work":
        names = sorted({(index, name) for index, side in enumerate(sides) for name in _identifiers(side)})
        numbers = {name: number for number, name in enumerate(names)}
        pointed: list[set[tuple[str, int]]] = [set() for _ in names]
        starts: list[Hashable] = [None] * len(names)
        for index, side in enumerate(sides):
            for source, relation, target in side.edges:
                pointed[numbers[index, source]].add((f"edge {relation}", numbers[index, target]))
            for identifier, seen in side.records.items():
                here = numbers[index, identifier]
                starts[here] = (tuple(sorted(seen.fields.items())), tuple(sorted(seen.mentions)))
                for name, targets in seen.mentions.items():
                    pointed[here].update((f"field {name}", numbers[index, target]) for target in targets)
        into: list[set[int]] = [set() for _ in names]
        for number, steps in enumerate(pointed):
            for _, onward in steps:
                into[onward].add(number)
        work = cls(names, numbers, [tuple(steps) for steps in pointed], into)
        work.begin(starts)
        return work

    def begin(self, starts: Sequence[Hashable]) -> None:
        known: dict[Hashable, int] = {}
        self.classes = [known.setdefault(start, len(known)) for start in starts]
        self.blocks = defaultdict(set)
        for number, block in enumerate(self.classes):
            self.blocks[block].add(number)

    def differ(self, first: int, second: int) -> bool:
        return self.classes[first] != self.classes[second]

    def turn(self, ahead: Iterable[int]) -> list[int]:
        """One round over those that may have changed; answers those that were moved into a class of their own.

        Of each class those not looked at keep the number, or else the largest part, so that little is looked at next.
        """
        looked_at = set(ahead)
        parts: dict[int, dict[Signature, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number in sorted(looked_at):
            parts[self.classes[number]][self._signature(number)].append(number)
        leaving = [part for block, split in parts.items() for part in self._leaving(block, split, looked_at)]
        for part in leaving:
            fresh = len(self.blocks)
            self.blocks[self.classes[part[0]]].difference_update(part)
            self.blocks[fresh] = set(part)
            for number in part:
                self.classes[number] = fresh
        return [number for part in leaving for number in part]

    def _leaving(self, block: int, split: dict[Signature, list[int]], looked_at: set[int]) -> list[list[int]]:
        """The parts of a class that leave it: all but the one that keeps its number."""
        if sum(len(part) for part in split.values()) < len(self.blocks[block]):
            # Those not looked at point where they pointed before: all of them at the same classes. They stay.
            unseen = next(number for number in self.blocks[block] if number not in looked_at)
            staying = self._signature(unseen)
        else:
            staying = max(split, key=lambda signature: (len(split[signature]), -split[signature][0]))
        return [part for signature, part in split.items() if signature != staying]

    def _signature(self, number: int) -> Signature:
        return frozenset((label, self.classes[target]) for label, target in self.onward[number])

    def partition(self, n_rounds: int, parted_at: int | None) -> Partition:
        numbered: dict[int, int] = {}
        classes = {
            name: numbered.setdefault(block, len(numbered))
            for name, block in zip(self.names, self.classes, strict=True)
        }
        return Partition(classes, len(numbered), n_rounds, parted_at)


def _identifiers(side: Side) -> Iterable[str]:
    """Everything that has a record or is only mentioned."""
    yield from side.records
    for source, _, target in side.edges:
        yield from (source, target)
    for seen in side.records.values():
        for targets in seen.mentions.values():
            yield from targets
