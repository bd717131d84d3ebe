"""What undoing an import would do: a set of withdrawals, previewed. Nothing that an import brought is ever deleted.

Invariants
- The preview counts the very records that the act withdraws, and what would still rest on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.base.asof import AsOf
from memory.interchange.models import ImportedRow
from memory.interchange.queries import RunDetail, import_run
from memory.lineage.models import ANCESTRY, Edge
from memory.records.models import RecordState

CHUNK = 400
SHOWN = 50


@dataclass(frozen=True, slots=True)
class Undo:
    """`records` would be withdrawn. Those counted apart stay as they are.

    n_withdrawn : hidden already.   n_erased : without a text.   n_superseded : of `records`, those that a later version
    has replaced.   resting : records from elsewhere that were derived from them, the first SHOWN of `n_resting`.
    """

    run: RunDetail
    records: tuple[UUID, ...]
    n_withdrawn: int
    n_erased: int
    n_superseded: int
    resting: tuple[UUID, ...]
    n_resting: int


def undo_of(at: AsOf, *, run: UUID) -> Undo:
    """What undoing the import would withdraw at the point.   Raises NotFound."""
    found = import_run(at, id=run)
    own = records_of_run(at.namespace, run)
    states: list[RecordState] = []
    for start in range(0, len(own), CHUNK):
        states.extend(RecordState.objects.known(at).filter(id__in=own[start : start + CHUNK]))
    states.sort(key=lambda row: row.doc)
    standing = [row for row in states if not row.is_withdrawn and row.erased_seq is None]
    resting = _resting(at, own)
    return Undo(
        found, tuple(row.id for row in standing), sum(row.is_withdrawn for row in states),
        sum(row.erased_seq is not None and not row.is_withdrawn for row in states),
        sum(row.is_superseded for row in standing), tuple(resting[:SHOWN]), len(resting),
    )  # fmt: skip


def records_of_run(namespace: int, run: UUID) -> list[UUID]:
    """The records that the import made, in the order of the ledger."""
    rows = ImportedRow.objects.filter(namespace=namespace, run=run, became="record").order_by("seq", "item")
    return list(dict.fromkeys(rows.values_list("object", flat=True)))


def _resting(at: AsOf, own: Sequence[UUID]) -> list[UUID]:
    """Records that came of those of the import and are none of it, in the order of the ledger."""
    inside, found = set(own), dict[UUID, None]()
    for start in range(0, len(own), CHUNK):
        rows = Edge.objects.filter(
            namespace=at.namespace, target__in=own[start : start + CHUNK], relation__in=ANCESTRY, seq__lte=at.seq
        )
        found.update(dict.fromkeys(rows.order_by("seq", "item").values_list("source", flat=True)))
    return [record for record in found if record not in inside]
