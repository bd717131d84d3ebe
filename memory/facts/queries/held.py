"""Held facts as their reviewers read them: the statement in one line, and what stands for the same entity.

The number of queries does not grow with the rows: one for the facts, one for what stands, one for the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memory.base.asof import AsOf
from memory.facts.models import FactState
from memory.ledger.queries.contents import names_of
from memory.records.review import Near, Shown


def shown(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, Shown]:
    """{id: what is shown of it}; what is erased is missing. The nearest is the newest fact that stands beside it."""
    rows = [row for row in FactState.objects.filter(namespace=at.namespace, id__in=list(ids)) if row.value is not None]
    entities = {(row.subject, row.attribute) for row in rows}
    standing: dict[tuple[UUID, UUID], FactState] = {}
    others = FactState.objects.filter(
        namespace=at.namespace, subject__in={one for one, _ in entities}, attribute__in={one for _, one in entities},
        value__isnull=False, candidate=False, held_seq=None, superseded_seq=None, retracted_seq=None,
    )  # fmt: skip
    for row in others.order_by("doc"):
        standing[row.subject, row.attribute] = row
    names = names_of(at.namespace, {name for entity in entities for name in entity})
    found: dict[UUID, Shown] = {}
    for row in rows:
        beside = standing.get((row.subject, row.attribute))
        near = Near(beside.id, _line(beside, names)) if beside is not None else None
        found[row.id] = Shown(_line(row, names), "fact", near)
    return found


def _line(row: FactState, names: dict[UUID, str]) -> str:
    says = "is" if row.stance == "asserts" else "is not"
    return f"{names.get(row.subject, 'erased')} · {names.get(row.attribute, 'erased')} {says} {row.value}"
