"""Relation types with what was observed of them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Max

from memory.base.asof import AsOf
from memory.beliefs.models import ObservationState
from memory.beliefs.relations import Relation, relations


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation type, how many observations of it are known, and the newest entry that brought one."""

    relation: Relation
    n_observations: int
    last_seq: int | None


def relation_rows(at: AsOf) -> list[RelationRow]:
    """One row for each relation type that is bound by the point, in the order in which they were bound."""
    bound = relations(at.namespace, seq=at.seq)
    rows = ObservationState.objects.filter(namespace=at.namespace, seq__lte=at.seq).values("relation_type")
    counted: dict[UUID, tuple[int, int]] = {
        row["relation_type"]: (row["n"], row["last"]) for row in rows.annotate(n=Count("id"), last=Max("seq"))
    }
    return [RelationRow(one, *counted.get(one.name, (0, None))) for one in bound.values()]
