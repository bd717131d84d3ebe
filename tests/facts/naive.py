"""Facts as simply as they can be said: a list of what was told, read from the start for every question.

It shares no code with the store; ids, seqs and recorded instants are those that the store answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

Entity = tuple[str, str]
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Told:
    """One fact as it was told. `start` is its entry's recorded instant where none was given."""

    id: UUID
    seq: int
    entity: Entity
    value: Value
    stance: str
    start: datetime
    end: datetime | None
    recorded_at: datetime
    is_candidate: bool
    is_held: bool


@dataclass(frozen=True, slots=True)
class Declared:
    """What was declared of an attribute."""

    cardinality: str = "many"
    normaliser: str = "exact"
    freshness_seconds: int | None = None
    exclusive: tuple[tuple[Value, Value], ...] = ()


@dataclass(slots=True)
class Facts:
    """All that was told, in order. `acts` = (seq, what, fact, instant)."""

    told: list[Told] = field(default_factory=list)
    acts: list[tuple[int, str, UUID, datetime | None]] = field(default_factory=list)
    declared: list[tuple[int, str, Declared]] = field(default_factory=list)

    def act(self, fact: UUID, what: str, seq: int) -> bool:
        return any(one <= seq and (kind, about) == (what, fact) for one, kind, about, _ in self.acts)

    def is_erased(self, fact: UUID) -> bool:
        return self.act(fact, "erase", 10**9)

    def spec(self, attribute: str, seq: int) -> Declared:
        return ([Declared()] + [spec for one, about, spec in self.declared if about == attribute and one <= seq])[-1]

    def state(self, fact: Told, seq: int) -> str:
        for what, word in (("retract", "retracted"), ("reject", "rejected")):
            if self.act(fact.id, what, seq):
                return word
        if fact.is_held and not self.act(fact.id, "confirm", seq):
            return "held"
        if fact.is_candidate:
            return "candidate"
        return "superseded" if self.act(fact.id, "supersede", seq) else "standing"

    def known(self, entity: Entity, seq: int) -> list[Told]:
        return [fact for fact in self.told if fact.entity == entity and fact.seq <= seq]

    def end(self, fact: Told, seq: int) -> datetime | None:
        """Its own end or that of a supersession, whichever is first; else where it is no longer fresh."""
        ends = [at for one, what, about, at in self.acts if what == "supersede" and about == fact.id and one <= seq]
        given = [end for end in (fact.end, *ends) if end is not None]
        seconds = self.spec(fact.entity[1], seq).freshness_seconds
        if given or seconds is None:
            return min(given, default=None)
        return max(fact.start, fact.recorded_at) + timedelta(seconds=seconds)

    def counting(self, entity: Entity, seq: int) -> list[Told]:
        return [fact for fact in self.known(entity, seq) if self.state(fact, seq) in ("standing", "superseded")]

    def status(self, entity: Entity, valid_at: datetime, seq: int) -> dict[str, Any]:
        """The status, why, the facts of each side, those erased, and what ended last."""
        ends = {fact.id: self.end(fact, seq) for fact in self.counting(entity, seq)}
        counting = [fact for fact in self.counting(entity, seq) if (end := ends[fact.id]) is None or fact.start < end]
        covering = [
            fact for fact in counting if fact.start <= valid_at and ((e := ends[fact.id]) is None or valid_at < e)
        ]
        readable = [fact for fact in covering if not self.is_erased(fact.id)]
        spec = self.spec(entity[1], seq)
        sides: dict[Any, list[UUID]] = {}
        for fact in readable:
            sides.setdefault((fact.stance, form(fact.value, spec.normaliser)), []).append(fact.id)
        erased = [fact.id for fact in covering if self.is_erased(fact.id)]
        ended = [(end, self.told.index(fact), fact.id) for fact in counting
                 if (end := ends[fact.id]) is not None and end <= valid_at and not self.is_erased(fact.id)]  # fmt: skip
        answer: dict[str, Any] = {"status": "known", "why": None, "sides": sorted(sides.values()), "last": None}
        if any(exclude(one, other, spec) for one, other in combinations(readable, 2)):
            answer["status"] = "conflict"
        elif not readable:
            why = "source_erased" if erased else "expired" if ended else "no_evidence"
            answer |= {"status": "unknown", "why": why, "last": max(ended)[2] if why == "expired" else None}
        return {**answer, "erased": sorted(erased)}

    def hidden(self, entity: Entity, valid_at: datetime, seq: int) -> dict[str, set[UUID]]:
        """By how they are hidden, the facts that would cover the instant; a superseded one from where it was closed."""
        found: dict[str, set[UUID]] = {}
        for fact in self.known(entity, seq):
            word = self.state(fact, seq)
            closed = self.end(fact, seq) if word == "superseded" else None
            start = fact.start if closed is None else max(closed, fact.start)
            if word != "standing" and start <= valid_at and (fact.end is None or valid_at < fact.end):
                found.setdefault("erased" if self.is_erased(fact.id) else word, set()).add(fact.id)
        return found

    def counts(self, entity: Entity, seq: int) -> dict[str, int]:
        """How many facts are hidden and why, whatever the instant."""
        whys = {"superseded": "superseded", "retracted": "withdrawn", "rejected": "withdrawn", "held": "held",
                "candidate": "candidate"}  # fmt: skip
        words = [
            "erased" if self.is_erased(fact.id) else whys.get(self.state(fact, seq)) for fact in self.known(entity, seq)
        ]
        return {word: words.count(word) for word in words if word is not None}

    def clashing(self, entity: Entity, seq: int) -> bool:
        """Whether two facts that count exclude each other and share an instant."""
        facts = [fact for fact in self.counting(entity, seq) if not self.is_erased(fact.id)]
        for one, other in combinations(facts, 2):
            ends = [end for end in (self.end(one, seq), self.end(other, seq)) if end is not None]
            if exclude(one, other, self.spec(entity[1], seq)) and (not ends or max(one.start, other.start) < min(ends)):
                return True
        return False

    def cases(self, entity: Entity, head: int) -> list[tuple[int, int | None]]:
        """The spans of seqs in which something clashed."""
        spans: list[tuple[int, int | None]] = []
        for seq in range(1, head + 1):
            is_open = bool(spans) and spans[-1][1] is None
            if self.clashing(entity, seq) and not is_open:
                spans.append((seq, None))
            elif is_open and not self.clashing(entity, seq):
                spans[-1] = (spans[-1][0], seq)
        return spans


def form(value: Value, normaliser: str) -> Any:
    """What equal values share."""
    if isinstance(value, bool):
        return ("truth", value)
    if not isinstance(value, str):
        return ("number", float(value))
    if normaliser == "folded":
        return ("text", " ".join(value.lower().split()))
    try:
        if normaliser == "number":
            return ("number", float(value))
        if normaliser == "instant":
            return ("instant", datetime.fromisoformat(value).timestamp())
    except ValueError:
        pass
    return ("text", value)


def exclude(one: Told, other: Told, spec: Declared) -> bool:
    """Whether the two cannot both hold at one instant."""
    first, second = (form(fact.value, spec.normaliser) for fact in (one, other))
    if one.stance != other.stance:
        return bool(first == second)
    if one.stance == "denies" or first == second:
        return False
    pairs = [{form(value, spec.normaliser) for value in pair} for pair in spec.exclusive]
    return spec.cardinality == "one" or {first, second} in pairs
