"""Counts of the facts of an entity by how they stand, one row for each entry that changed them.

A read at any seq takes the newest row by then: what is hidden is counted without walking history. Erased facts are in
no count here, at any seq; they are counted from their own index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Count

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
    without = set(unknown)
    known = _newest(namespace, [one for one in entities if one not in without])
    counts = {entity: told for entity, (_, told) in known.items()}
    for subject, attribute in [entity for entity, (at_seq, _) in known.items() if at_seq == seq]:
        # The entry has changed this entity before; its last counts stand.
        FactTally.objects.filter(namespace=namespace, subject=subject, attribute=attribute, seq=seq).delete()
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
    return {entity: counts for entity, (_, counts) in _newest(namespace, entities, seq=seq).items()}


def _newest(namespace: int, entities: Sequence[Entity], *, seq: int | None = None) -> dict[Entity, tuple[int, Counts]]:
    found: dict[Entity, tuple[int, Counts]] = {}
    until = "" if seq is None else f" AND u.seq <= {int(seq)}"
    mark = "(%s::uuid, %s::uuid)" if connection.vendor == "postgresql" else "(%s, %s)"
    for start in range(0, len(entities), CHUNK):
        chunk = entities[start : start + CHUNK]
        # The newest seq first, by the key: asked for row by row it would walk the history of each entity.
        rows = sql.fetch(
            f"WITH asked(subject, attribute) AS (VALUES {', '.join([mark] * len(chunk))}), newest AS MATERIALIZED"
            " (SELECT v.subject, v.attribute, (SELECT max(u.seq) FROM memory_facttally u WHERE u.namespace_id = %s"
            f" AND u.subject = v.subject AND u.attribute = v.attribute{until}) AS seq FROM asked v)"
            f" SELECT t.subject, t.attribute, t.seq, {', '.join(f't.{name}' for name in _COLUMNS)} FROM newest n"
            " CROSS JOIN memory_facttally t WHERE t.namespace_id = %s AND t.subject = n.subject"
            " AND t.attribute = n.attribute AND t.seq = n.seq",
            [*(name for entity in chunk for name in entity), namespace, namespace],
        )
        for subject, attribute, at_seq, *values in rows:
            found[sql.as_id(subject), sql.as_id(attribute)] = at_seq, dict(zip(_COLUMNS, values, strict=True))
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
        for subject, attribute, n_erased in rows.values_list("subject", "attribute").annotate(n=Count("doc")):
            if (subject, attribute) in chunk:
                found[subject, attribute] = n_erased
    return found
