"""The store as simply as it can be said: dictionaries and lists, replayed from the start for every question.

It shares no code with the store. Ids and seqs are those that the store answered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Kept:
    """What was saved. `parents` are those of the derivation that made it."""

    seq: int
    content: str
    type: str
    tags: tuple[str, ...]
    parents: tuple[UUID, ...] = ()


@dataclass(slots=True)
class Store:
    """One namespace. `events` = (seq, what, record) of supersessions, withdrawals, restorations and erasures.

    The word of a type goes with the last record of that type that is erased; said again later, it is another word.
    """

    records: dict[UUID, Kept] = field(default_factory=dict)
    events: list[tuple[int, str, UUID]] = field(default_factory=list)
    links: set[tuple[UUID, UUID]] = field(default_factory=set)
    size: int = 0
    words: dict[UUID, tuple[str, int]] = field(default_factory=dict)
    said: Counter[str] = field(default_factory=Counter)
    gone: set[tuple[str, int]] = field(default_factory=set)

    def add(self, id: UUID, kept: Kept) -> None:
        assert id not in self.records
        self.records[id] = kept
        self.words[id] = (kept.type, self.said[kept.type])

    def tell(self, seq: int, what: str, record: UUID) -> None:
        self.events.append((seq, what, record))
        word = self.words[record]
        if what == "erase" and all(self.is_erased(id) for id, other in self.words.items() if other == word):
            self.gone.add(word)
            self.said[word[0]] += 1

    def type_of(self, record: UUID) -> str | None:
        """The type of the record; None where its word is gone."""
        return None if self.words[record] in self.gone else self.records[record].type

    def _told(self, record: UUID, what: str, seq: int) -> bool:
        return any(one <= seq and kind == what and about == record for one, kind, about in self.events)

    def is_erased(self, record: UUID) -> bool:
        """Erasure holds at every recorded time."""
        return self._told(record, "erase", self.size)

    def is_superseded(self, record: UUID, seq: int) -> bool:
        return self._told(record, "supersede", seq)

    def is_withdrawn(self, record: UUID, seq: int) -> bool:
        words = [
            what
            for one, what, about in self.events
            if one <= seq and about == record and what in ("withdraw", "restore")
        ]
        return bool(words) and words[-1] == "withdraw"

    def state(self, record: UUID, seq: int) -> str:
        if self.is_erased(record):
            return "erased"
        if self.is_withdrawn(record, seq):
            return "withdrawn"
        return "superseded" if self.is_superseded(record, seq) else "current"

    def n_children(self, record: UUID, seq: int) -> int:
        return sum(kept.seq <= seq and record in kept.parents for kept in self.records.values())

    def known(self, seq: int) -> dict[UUID, Kept]:
        """The records that stood at the entry."""
        return {id: kept for id, kept in self.records.items() if kept.seq <= seq}

    def listed(self, seq: int) -> dict[UUID, tuple[str, str, str, int, int]]:
        """{id: (state, type, first line, parents, children)} of everything that stood at the entry, hidden or not."""
        return {
            id: (
                self.state(id, seq), self.type_of(id) or "erased", "" if self.is_erased(id) else kept.content,
                len(kept.parents), self.n_children(id, seq),
            )
            for id, kept in self.known(seq).items()
        }  # fmt: skip

    def ancestors(self, record: UUID) -> set[UUID]:
        found: set[UUID] = set()
        ahead = list(self.records[record].parents)
        while ahead:
            one = ahead.pop()
            if one not in found:
                found.add(one)
                ahead.extend(self.records[one].parents)
        return found

    def usable(self, *, with_text: bool) -> list[UUID]:
        """Records that a derivation may take: neither withdrawn nor, where their text is needed, erased."""
        return [
            id for id in self.records if not self.is_withdrawn(id, self.size) and not (with_text and self.is_erased(id))
        ]
