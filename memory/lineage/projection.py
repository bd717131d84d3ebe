"""What lineage contributes to the state rows of records: parents, children, successors."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from memory.lineage.models import ANCESTRY, Derivation, Edge
from memory.lineage.operations.deriving import ENDS_CURRENCY, RELATION
from memory.records.models import RecordState


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
