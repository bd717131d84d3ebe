"""The derived table of agents: references of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.agents.models import RunReference
from memory.base import projections, sql
from memory.base.models import ContentRef
from memory.ledger.queries.contents import contents_of_kind


class RunReferences:
    """(run, key, value) of every external reference."""

    name = "run_references"

    def rebuild(self, namespace: int) -> None:
        RunReference.objects.filter(namespace=namespace).delete()
        rows: list[projections.Row] = []
        for seq, item, run, value in contents_of_kind(namespace, kind="run", part="run"):
            rows.extend((namespace, run, seq, item, key, text) for key, text in value["refs"].items())
        sql.insert(RunReference, rows)

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        opened = [(at, item) for at, item, part in refs if part == "run"]
        return sum(RunReference.objects.filter(namespace=namespace, seq=at, item=n).delete()[0] for at, n in opened)

    def dump(self, namespace: int) -> Iterable[projections.Row]:
        return projections.rows_of(RunReference, namespace)
