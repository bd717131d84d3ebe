"""What lineage contributes to the state rows of records: parents, children, successors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from memory.base.asof import AsOf
from memory.ledger.models import Item
from memory.lineage.models import ANCESTRY, Derivation, Edge
from memory.lineage.operations.deriving import ENDS_CURRENCY, RELATION
from memory.records.models import RecordState

CHUNK = 400


def contribute(namespace: int) -> None:
    """Complete rebuilt state rows from derivations and their edges, in the order of the ledger."""
    kinds = dict(Derivation.objects.filter(namespace=namespace).values_list("id", "kind"))
    edges = Edge.objects.filter(namespace=namespace, relation__in=(*ANCESTRY, "supersedes")).order_by("seq", "item")
    parents: Counter[UUID] = Counter()
    children: Counter[UUID] = Counter()
    successors: dict[UUID, tuple[int, UUID]] = {}
    for edge in edges.iterator():
        if edge.relation != RELATION["supersede"]:
            parents[edge.source] += 1
            children[edge.target] += 1
        if edge.derivation is not None and kinds.get(edge.derivation) in ENDS_CURRENCY:
            successors.setdefault(edge.target, (edge.seq, edge.source))
    for record in sorted({*parents, *children, *successors}):
        superseded_seq, superseded_by = successors.get(record, (None, None))
        RecordState.objects.filter(namespace=namespace, id=record).update(
            n_parents=parents[record], n_children=children[record],
            superseded_seq=superseded_seq, superseded_by=superseded_by,
        )  # fmt: skip


def texts_of_derivations(namespace: int, items: Sequence[Item]) -> list[tuple[int, int]]:
    """The items of derivations whose text says what these record items said: an erasure must reach them too.

    The note of the derivation that made a record speaks of its text; conflicts of a merge quote what its sources held.
    """
    records = [item.object for item in items if item.kind == "record"]
    found: list[tuple[int, int]] = []
    for start in range(0, len(records), CHUNK):
        chunk = records[start : start + CHUNK]
        edges = Edge.objects.filter(namespace=namespace, derivation__isnull=False)
        making = edges.filter(source__in=chunk).values("derivation")
        quoting = edges.filter(target__in=chunk).values("derivation")
        rows = Derivation.objects.filter(namespace=namespace)
        rows = rows.filter(Q(id__in=making) | Q(id__in=quoting, n_conflicts__gt=0)).order_by("seq", "item")
        found.extend(rows.values_list("seq", "item"))
    return found


def children_at(at: AsOf) -> Coalesce:
    """How many records had come from a record by the point, as an expression for its state row."""
    # The sum keeps the bound on `seq` out of SQLite's choice of an index: it would read all edges of the namespace.
    edges = Edge.objects.alias(since=F("seq") + 0).filter(
        namespace=at.namespace, target=OuterRef("id"), relation__in=ANCESTRY, since__lte=at.seq
    )
    counted = edges.order_by().values("target").annotate(n=Count("source")).values("n")[:1]
    return Coalesce(Subquery(counted), 0)
