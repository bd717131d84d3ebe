"""The derived tables of the ledger: the head of each log and its complete subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.ledger.kernel import merkle
from memory.ledger.models import Closing, Entry, Head, Node


class Heads:
    """The length and last instant of a log, and whether it is closed."""

    name = "heads"

    def rebuild(self, namespace: int) -> None:
        last = Entry.objects.filter(namespace=namespace).order_by("-seq").first()
        if last is not None:
            closing = Closing.objects.filter(namespace=namespace).values_list("seq", flat=True).first()
            values = {"size": last.seq, "last_at": last.recorded_at, "closed_seq": closing}
            Head.objects.update_or_create(namespace_id=namespace, defaults=values)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        """It holds no text."""
        return 0

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(Head, namespace)


class Nodes:
    """The complete subtrees of a log."""

    name = "nodes"

    def rebuild(self, namespace: int) -> None:
        Node.objects.filter(namespace=namespace).delete()
        leaves = Entry.objects.filter(namespace=namespace).order_by("seq").values_list("leaf", flat=True)
        nodes: dict[tuple[int, int], bytes] = {}
        for position, leaf in enumerate(leaves.iterator()):
            for level, index, digest in merkle.completed_nodes(position, bytes(leaf), lambda *at: nodes[at]):
                nodes[level, index] = digest
        sql.insert(Node, [(namespace, level, index, digest) for (level, index), digest in nodes.items()])

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        """It holds no text."""
        return 0

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(Node, namespace)
