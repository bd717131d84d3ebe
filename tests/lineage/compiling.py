"""A second computation of what compiled records are, from a list of what was done: forty lines, and no query.

Erasures count at every point, as they do in the store; everything else counts from its entry on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Known:
    """One record. `output` is "" for a raw one."""

    seq: int
    parents: tuple[UUID, ...] = ()
    output: str = ""
    topics: tuple[str, ...] = ()
    covers: str = ""
    hidden: list[tuple[int, bool]] = field(default_factory=list)
    successor: tuple[int, UUID] | None = None
    is_erased: bool = False


class Model(dict[UUID, Known]):
    """{record: what was done to it}."""

    def withdrawn(self, record: UUID, seq: int) -> bool:
        return next((is_so for at, is_so in reversed(self[record].hidden) if at <= seq), False)

    def superseded(self, record: UUID, seq: int) -> bool:
        successor = self[record].successor
        return successor is not None and successor[0] <= seq

    def head(self, record: UUID, seq: int) -> UUID:
        while self.superseded(record, seq):
            record = self[record].successor[1]  # type: ignore[index]
        return record

    def above(self, record: UUID) -> Iterator[UUID]:
        for parent in self[record].parents:
            yield parent
            yield from self.above(parent)

    def shown(self, record: UUID, seq: int) -> bool:
        one = self[record]
        hidden = one.is_erased or self.withdrawn(record, seq) or self.superseded(record, seq)
        return one.seq <= seq and not hidden

    def newer(self, record: UUID, seq: int) -> Iterator[UUID]:
        """What moved on above one compiled record."""
        here = self[record]
        for one, known in self.items():
            is_later = known.seq > here.seq and not known.output and self.shown(one, seq)
            if here.covers and is_later and here.covers in known.topics:
                yield one
        for source in here.parents:
            if self.withdrawn(source, seq):
                yield source
            elif self.superseded(source, seq):
                yield self.head(source, seq)
            if self[source].output:
                yield from self.newer(source, seq)

    def word(self, record: UUID, seq: int) -> str:
        if self[record].is_erased:
            return "erased"
        if self.withdrawn(record, seq):
            return "deleted"
        if any(self[one].is_erased for one in self.above(record)):
            return "stale:source_erased"
        n_newer = len(set(self.newer(record, seq)) - {record})
        return f"behind:{n_newer}" if n_newer else "current"

    def public(self, seq: int) -> set[UUID]:
        """What the public export holds."""
        return {
            one for one, known in self.items()
            if known.output == "public" and self.shown(one, seq) and self.word(one, seq) == "current"
        }  # fmt: skip
