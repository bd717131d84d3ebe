"""What stands at a point of both clocks, and what does not: probes of the rectangles, one query for many entities.

By a source's own instants there are no rectangles: these reads scan the facts of the entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from memory.base.asof import AsOf
from memory.facts.models import FactRect, FactState
from memory.facts.rectangles import LANES, entity_key, micros
from memory.facts.states import Entity, as_claimed, counting, word

CHUNK = 200
SHOWN = 20


def standing(at: AsOf, entities: Sequence[Entity]) -> dict[Entity, list[FactState]]:
    """The facts of each entity that count at the point, oldest first, erased ones among them."""
    return _at_point(at, entities, ("standing",), limit=None)


def hidden_at(at: AsOf, entities: Sequence[Entity], *, limit: int = SHOWN) -> dict[Entity, list[FactState]]:
    """Facts of each entity that would cover the point's instant and do not count, at most `limit` of each entity."""
    lanes = tuple(lane for lane in LANES if lane != "standing")
    return _at_point(at, entities, lanes, limit=limit)


def last_before(at: AsOf, entity: Entity) -> FactState | None:
    """The readable fact that counted until the latest instant at or before the point's; None for none."""
    if at.source_at is not None:
        rows = [row for row in _claimed(at, [entity]).get(entity, []) if counting(row, at.head) is not None]
        ended = [row for row in rows if (row.superseded_at or row.valid_to or at.valid_at) < at.valid_at]
        return max(ended, key=lambda row: (row.valid_to or row.superseded_at, row.doc), default=None)
    key = entity_key(at.namespace, *entity, "standing")
    closed = FactRect.objects.filter(namespace=at.namespace, entity=key, valid_to__lte=micros(at.valid_at))
    docs = _known(closed, at).order_by("-valid_to", "-doc").values_list("doc", flat=True)[:SHOWN]
    states = {row.doc: row for row in FactState.objects.filter(namespace=at.namespace, doc__in=list(docs))}
    return next((states[doc] for doc in docs if states[doc].erased_seq is None), None)


def _known(rows: Any, at: AsOf) -> Any:
    return rows.filter(Q(known_to__isnull=True) | Q(known_to__gt=at.seq), known_from__lte=at.seq)


def _at_point(
    at: AsOf, entities: Sequence[Entity], lanes: Sequence[str], *, limit: int | None
) -> dict[Entity, list[FactState]]:
    if at.source_at is not None:
        return _scanned(at, entities, lanes, limit)
    found: dict[Entity, list[FactState]] = {entity: [] for entity in entities}
    for start in range(0, len(entities), CHUNK):
        keys = [entity_key(at.namespace, *entity, lane) for entity in entities[start : start + CHUNK] for lane in lanes]
        docs = _covering(at, keys, limit=None if limit is None else limit * len(keys))
        for row in FactState.objects.filter(namespace=at.namespace, doc__in=docs).order_by("doc"):
            members = found.get((row.subject, row.attribute))
            if members is not None and (limit is None or len(members) < limit):
                members.append(row)
    return found


def _covering(at: AsOf, keys: Sequence[int], *, limit: int | None) -> list[int]:
    instant = micros(at.valid_at)
    rows = FactRect.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=instant), namespace=at.namespace, entity__in=keys,
        valid_from__lte=instant,
    )  # fmt: skip
    docs = _known(rows, at).order_by("-doc").values_list("doc", flat=True)
    return sorted(set(docs if limit is None else docs[:limit]))


def _claimed(at: AsOf, entities: Iterable[Entity]) -> dict[Entity, list[FactState]]:
    assert at.source_at is not None
    found: dict[Entity, list[FactState]] = {}
    for subject, attribute in entities:
        rows = FactState.objects.filter(
            namespace=at.namespace, subject=subject, attribute=attribute, source_recorded_at__lte=at.source_at
        )
        found[subject, attribute] = [as_claimed(row, at.source_at) for row in rows.order_by("doc")]
    return found


def _scanned(
    at: AsOf, entities: Sequence[Entity], lanes: Sequence[str], limit: int | None
) -> dict[Entity, list[FactState]]:
    found: dict[Entity, list[FactState]] = {}
    for entity, rows in _claimed(at, entities).items():
        members = [row for row in rows if _lane_at(row, at) in lanes]
        found[entity] = members if limit is None else members[:limit]
    return found


def _lane_at(row: FactState, at: AsOf) -> str:
    """The lane that covers the point's instant; "" where the fact says nothing of it."""
    if row.valid_from > at.valid_at or (row.valid_to is not None and row.valid_to <= at.valid_at):
        return ""
    told = word(row, at.head)
    if told == "superseded" and row.superseded_at is not None and at.valid_at < row.superseded_at:
        return "standing"
    return told
