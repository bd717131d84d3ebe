"""Counts of the facts of an entity by how they stand, one row for each entry that changed them.

A read at any seq takes the newest row by then: what is hidden is counted without walking history. Erased facts are in
no count here, at any seq; they are counted from their own index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.base import sql
from memory.facts.models import FactState, FactTally
from memory.facts.states import Entity, acts, word

CHUNK = 200
_COUNTED = {
    "superseded": "n_superseded", "retracted": "n_retracted", "candidate": "n_candidates", "held": "n_held",
    "rejected": "n_rejected",
}  # fmt: skip
_COLUMNS = ("n_facts", "n_denials", *_COUNTED.values())
Counts = dict[str, int]


def extend(
    namespace: int, seq: int, rows: Iterable[FactState], before: Mapping[Any, str], *, unknown: Iterable[Entity] = ()
) -> dict[Entity, Counts]:
    """Write the counts after entry `seq`; `before` has the word of each fact that stood already.

    unknown : entities that had no fact before, so that nothing is looked up for them. Answers the new counts.
    """
    changed = [row for row in rows if row.erased_seq is None]
    entities = dict.fromkeys((row.subject, row.attribute) for row in changed)
    counts = newest(namespace, [one for one in entities if one not in set(unknown)])
    for row in changed:
        told = counts.setdefault((row.subject, row.attribute), dict.fromkeys(_COLUMNS, 0))
        _count(told, row, before.get(row.id), word(row, seq))
    sql.insert(
        FactTally, [(namespace, *entity, seq, *(counts[entity][name] for name in _COLUMNS)) for entity in entities]
    )
    return counts


def _count(told: Counts, row: FactState, before: str | None, now: str) -> None:
    if before is None:
        told["n_facts"] += 1
        told["n_denials"] += row.stance == "denies"
    elif before in _COUNTED:
        told[_COUNTED[before]] -= 1
    if now in _COUNTED:
        told[_COUNTED[now]] += 1


def newest(namespace: int, entities: Sequence[Entity], *, seq: int | None = None) -> dict[Entity, Counts]:
    """The counts of each entity, as of the seq or now; entities without facts are missing."""
    found: dict[Entity, Counts] = {}
    until = "" if seq is None else " AND {0}.seq <= %s"
    given = [] if seq is None else [seq]
    for start in range(0, len(entities), CHUNK):
        chunk = entities[start : start + CHUNK]
        marks = ", ".join(["(%s, %s)"] * len(chunk))
        rows = sql.fetch(
            f"SELECT t.subject, t.attribute, {', '.join(f't.{name}' for name in _COLUMNS)} FROM memory_facttally t"
            f" WHERE t.namespace_id = %s AND (t.subject, t.attribute) IN (VALUES {marks})"
            " AND t.seq = (SELECT max(u.seq) FROM memory_facttally u WHERE u.namespace_id = t.namespace_id"
            f" AND u.subject = t.subject AND u.attribute = t.attribute{until.format('u')})",
            [namespace, *(name for entity in chunk for name in entity), *given],
        )
        for subject, attribute, *values in rows:
            found[sql.as_id(subject), sql.as_id(attribute)] = dict(zip(_COLUMNS, values, strict=True))
    return found


def replay(namespace: int, entity: Entity, rows: Sequence[FactState]) -> None:
    """Write all counts of the entity anew from its facts."""
    FactTally.objects.filter(namespace=namespace, subject=entity[0], attribute=entity[1]).delete()
    standing = [row for row in rows if row.erased_seq is None]
    turns: dict[int, list[FactState]] = {}
    for row in standing:
        for seq in acts(row):
            turns.setdefault(seq, []).append(row)
    told, words, made = dict.fromkeys(_COLUMNS, 0), dict[Any, str](), []
    for seq in sorted(turns):
        for row in turns[seq]:
            now = word(row, seq)
            _count(told, row, words.get(row.id), now)
            words[row.id] = now
        made.append((namespace, *entity, seq, *(told[name] for name in _COLUMNS)))
    sql.insert(FactTally, made)


def erased(namespace: int, entities: Sequence[Entity], *, seq: int) -> dict[Entity, int]:
    """How many facts of each entity, written by the seq, are erased; entities without any are missing."""
    found: dict[Entity, int] = {}
    for start in range(0, len(entities), CHUNK):
        chunk = entities[start : start + CHUNK]
        rows = FactState.objects.filter(
            namespace=namespace, subject__in={subject for subject, _ in chunk}, erased_seq__isnull=False, seq__lte=seq
        )
        for entity in rows.values_list("subject", "attribute"):
            if entity in chunk:
                found[entity] = found.get(entity, 0) + 1
    return found
