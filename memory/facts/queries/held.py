"""Held facts as their reviewers read them: the statement in one line, and what stands for the same entity.

The number of queries does not grow with the rows: one for the facts, one for what stands, one for the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from memory.base.asof import AsOf
from memory.facts.models import FactState
from memory.ledger.queries.contents import names_of
from memory.records.review import Near, Shown


def shown(at: AsOf, ids: Sequence[UUID]) -> dict[UUID, Shown]:
    """{id: what is shown of it}; what is erased is missing. The nearest is the newest fact that stands beside it."""
    held = FactState.objects.filter(namespace=at.namespace, id__in=list(ids), value__isnull=False)
    rows: Any = held.annotate(beside=Subquery(_standing(at).order_by("-doc").values("doc")[:1]))
    told = list(rows)
    docs = {row.beside for row in told if row.beside is not None}
    standing = {row.doc: row for row in FactState.objects.filter(namespace=at.namespace, doc__in=docs)}
    names = names_of(at.namespace, {name for row in told for name in (row.subject, row.attribute)})
    return {row.id: Shown(_line(row, names), "fact", _near(standing.get(row.beside), names)) for row in told}


def _standing(at: AsOf) -> QuerySet[FactState]:
    """The facts of the same entity that stand at the point."""

    def later(name: str) -> Q:
        return Q(**{f"{name}__isnull": True}) | Q(**{f"{name}__gt": at.seq})

    return FactState.objects.filter(
        later("superseded_seq"), later("retracted_seq"), Q(held_seq__isnull=True) | Q(confirmed_seq__lte=at.seq),
        namespace=at.namespace, subject=OuterRef("subject"), attribute=OuterRef("attribute"), seq__lte=at.seq,
        value__isnull=False, candidate=False,
    )  # fmt: skip


def _near(row: FactState | None, names: dict[UUID, str]) -> Near | None:
    return None if row is None else Near(row.id, _line(row, names))


def _line(row: FactState, names: dict[UUID, str]) -> str:
    says = "is" if row.stance == "asserts" else "is not"
    return f"{names.get(row.subject, 'erased')} · {names.get(row.attribute, 'erased')} {says} {row.value}"
