"""Rules of a merge, walks and ways over edges, and what makes a line of versions sound: pure functions of values.

- The stored payload of a merge does not depend on the order in which its sources were named.
- Differing metadata is never overwritten: it is left out and given back as a conflict. Under `latest` and `oldest` the
  caller has said whose tags and metadata count, so nothing is left open there.
- `latest` and `oldest` order by (valid start, seq, id): commutative too, but they read time, so two merges of equal
  sources that were recorded in another order may differ.

- A line is sound where its versions are distinct, each evolved from the one before it, and instants never decrease.
  A line that is not is told as it stands; nothing is sorted into order.

Source: laws of the store, sections 3 and 4.5.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from memory.base.canonical import canonical
from memory.base.intervals import Interval, hull_of, intersection_of

Strategy = Literal["union", "intersection", "latest", "oldest"]
ValidRule = Literal["intersection", "hull", "explicit"]

TYPE_RANK = (
    "fact", "decision", "procedural", "episodic", "user", "code", "error", "commit", "todo", "issue", "api", "schema",
    "test", "review", "release", "config", "dependency", "doc", "workflow", "task", "step", "agent_run",
)  # fmt: skip
SEPARATOR = "\n\n---\n\n"


@dataclass(frozen=True, slots=True)
class Source:
    """What a merge reads of one record."""

    id: UUID
    type: str
    content: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    origin: str
    pointer: str
    valid_from: datetime | None
    valid_to: datetime | None
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """What the sources say together. `conflicts` = {key: [{value, sources}]}, values in canonical order."""

    content: str
    type: str
    type_rule: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    origin: str
    pointer: str
    conflicts: Mapping[str, list[dict[str, Any]]]


class Step(NamedTuple):
    """One edge of a walk: `source` rests on `target` (or, downwards, the reverse)."""

    source: UUID
    relation: str
    target: UUID


class Reached(NamedTuple):
    """A node of a walk, once: by which relation and from which node it is nearest, and how far."""

    id: UUID
    relation: str
    from_id: UUID
    depth: int


class Version(NamedTuple):
    """One version of a line, in the order of the ledger. `claimed_at` is the instant that an imported row claims."""

    id: UUID
    recorded_at: datetime
    claimed_at: datetime | None
    evolved_from: UUID | None


class LineFault(NamedTuple):
    """What a line does not keep, at which version, and the one before it."""

    code: Literal["version_repeated", "not_the_next", "instant_decreases", "claimed_instant_decreases"]
    version: UUID
    before: UUID


def merged(sources: Sequence[Source], *, strategy: Strategy) -> Merged:
    """Merge the sources by the rules of the store; independent of their order.

    sources : at least two, distinct ids.
    """
    ordered = sorted(sources, key=lambda source: source.id)
    kind, type_rule = merged_type([source.type for source in ordered])
    heard = _heard(ordered, strategy)
    metadata, conflicts = _merged_metadata(heard, strategy)
    origin = _agreed(ordered, "origin", conflicts)
    pointer = _agreed(ordered, "pointer", conflicts)
    return Merged(
        content=joined([source.content for source in ordered]), type=kind, type_rule=type_rule,
        tags=_merged_tags(heard, strategy), metadata=metadata, origin=origin, pointer=pointer, conflicts=conflicts,
    )  # fmt: skip


def _heard(sources: Sequence[Source], strategy: Strategy) -> Sequence[Source]:
    """Whose tags and metadata count: all sources, or the one whose validity began last or first."""
    if strategy == "latest":
        return [max(sources, key=_in_time)]
    if strategy == "oldest":
        return [min(sources, key=_in_time)]
    return sources


def _in_time(source: Source) -> tuple[bool, datetime | None, int, UUID]:
    """An open start lies before every instant; where two starts are equal the later entry is later."""
    return source.valid_from is not None, source.valid_from, source.seq, source.id


def joined(texts: Iterable[str]) -> str:
    """The distinct texts in the order of their UTF-8 bytes, neither numbered nor cut."""
    return SEPARATOR.join(sorted(set(texts), key=lambda text: text.encode()))


def merged_type(types: Sequence[str]) -> tuple[str, str]:
    """The most frequent type and the rule that chose it; a tie goes to the lowest declared rank, then the name."""
    counts = Counter(types)
    most = max(counts.values())
    tied = sorted((name for name, count in counts.items() if count == most), key=type_rank)
    return tied[0], "tie-break" if len(tied) > 1 else "majority"


def type_rank(name: str) -> tuple[int, str]:
    """Declared types first, in their order; others by name."""
    return (TYPE_RANK.index(name) if name in TYPE_RANK else len(TYPE_RANK), name)


def merged_interval(intervals: Sequence[Interval], *, rule: Literal["intersection", "hull"]) -> Interval:
    """The common part or the hull. Raises DisjointIntervals (no common part)."""
    return intersection_of(intervals) if rule == "intersection" else hull_of(intervals)


def _merged_tags(sources: Sequence[Source], strategy: Strategy) -> tuple[str, ...]:
    sets = [set(source.tags) for source in sources]
    chosen = set.intersection(*sets) if strategy == "intersection" else set.union(*sets)
    return tuple(sorted(chosen))


def _merged_metadata(
    sources: Sequence[Source], strategy: Strategy
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    carried: dict[str, Any] = {}
    conflicts: dict[str, list[dict[str, Any]]] = {}
    for key in sorted({key for source in sources for key in source.metadata}):
        having = [source for source in sources if key in source.metadata]
        if strategy == "intersection" and len(having) < len(sources):
            continue
        groups = _grouped([(source.id, source.metadata[key]) for source in having])
        if len(groups) == 1:
            carried[key] = having[0].metadata[key]
        else:
            conflicts[key] = groups
    return carried, conflicts


def _agreed(sources: Sequence[Source], name: str, conflicts: dict[str, list[dict[str, Any]]]) -> str:
    groups = _grouped([(source.id, getattr(source, name)) for source in sources])
    if len(groups) == 1:
        return str(groups[0]["value"])
    conflicts[f"source.{name}"] = groups
    return ""


def _grouped(pairs: Sequence[tuple[UUID, Any]]) -> list[dict[str, Any]]:
    by_value: dict[bytes, tuple[Any, list[str]]] = {}
    for identity, value in pairs:
        by_value.setdefault(canonical(value), (value, []))[1].append(str(identity))
    return [{"value": value, "sources": sorted(ids)} for _, (value, ids) in sorted(by_value.items())]


def walked(start: UUID, steps: Iterable[Step]) -> list[Reached]:
    """Every node reached from `start` along the steps, once, at its least depth; nearest first.

    Terminates on cycles; a node that is reached again is not repeated. Ties are broken by (relation, from, id).
    """
    onwards: dict[UUID, list[Step]] = defaultdict(list)
    for step in steps:
        onwards[step.source].append(step)
    reached: dict[UUID, Reached] = {}
    level, depth = [start], 0
    while level:
        depth += 1
        found = [(step.relation, node, step.target) for node in level for step in onwards[node]]
        if len(found) > 1:
            found.sort(key=lambda at: (at[0], at[1].int, at[2].int))
        level = []
        for relation, node, target in found:
            if target != start and target not in reached:
                reached[target] = Reached(target, relation, node, depth)
                level.append(target)
    return list(reached.values())


def way_between(start: UUID, to: UUID, pairs: Iterable[tuple[UUID, UUID]]) -> list[UUID]:
    """The shortest way from `start` to `to`, both named; empty where there is none.

    pairs : (older, newer). A way straight up is preferred, then one straight down, then any; ties go by id.
    """
    ups, downs = defaultdict[UUID, set[UUID]](set), defaultdict[UUID, set[UUID]](set)
    for older, newer in pairs:
        ups[newer].add(older)
        downs[older].add(newer)
    both = {node: ups[node] | downs[node] for node in {*ups, *downs}}
    ways = (_way(start, to, onwards) for onwards in (dict(ups), dict(downs), both))
    return next((way for way in ways if way), [])


def _way(start: UUID, to: UUID, onwards: Mapping[UUID, Iterable[UUID]]) -> list[UUID]:
    came_from: dict[UUID, UUID] = {start: start}
    level = [start]
    while level and to not in came_from:
        found: list[UUID] = []
        for node in level:
            for target in sorted(onwards.get(node, ()), key=lambda one: one.int):
                if target not in came_from:
                    came_from[target] = node
                    found.append(target)
        level = found
    if to not in came_from:
        return []
    way = [to]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def line_faults(versions: Sequence[Version]) -> list[LineFault]:
    """Everything that a line of versions does not keep, in its order; an empty list is a consistent line.

    versions : in the order of the ledger.   Source: laws of the store, 4.5.
    """
    faults: list[LineFault] = []
    seen: set[UUID] = set()
    claimed: Version | None = None
    for index, here in enumerate(versions):
        before = versions[index - 1] if index else here
        if here.id in seen:
            faults.append(LineFault("version_repeated", here.id, before.id))
        seen.add(here.id)
        if index and here.evolved_from != before.id:
            faults.append(LineFault("not_the_next", here.id, before.id))
        if here.recorded_at < before.recorded_at:
            faults.append(LineFault("instant_decreases", here.id, before.id))
        if here.claimed_at is not None:
            if claimed is not None and claimed.claimed_at is not None and here.claimed_at < claimed.claimed_at:
                faults.append(LineFault("claimed_instant_decreases", here.id, claimed.id))
            claimed = here
    return faults
