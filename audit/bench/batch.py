"""Batches: through HTTP against the bare rows, and with the ledger against without."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from audit.bench.door import door, rate
from audit.bench.measuring import Figure, Scale, Work, side_by_side
from audit.bench.texts import records
from audit.bench.twin import Twin
from memory.agents.setup import ensure_namespace, system
from memory.records.operations import save

N_ROWS = 1_000
ROUNDS = 30
RECORD_TABLES = ("memory_record", "memory_content")
LEDGER_TABLES = ("memory_entry", "memory_item", "memory_node", "memory_head")


def run(scale: Scale) -> Iterator[Figure]:
    """What the door and the ledger add to a batch of N_ROWS."""
    yield from _ledger(scale)
    n_rows = scale.size(N_ROWS, least=20)
    rows = ({"type": new.type, "content": new.content, "tags": list(new.tags)} for new in records("door"))
    yield from door(
        "batch", path="records/batch", rows=rows, shaped=_shaped(n_rows), n_rows=n_rows, rounds=scale.rounds(ROUNDS),
        sides=(
            ("the same rows, record and content", "≤ 5", RECORD_TABLES),
            ("the same rows, all tables", "", ()),
        ),
    )  # fmt: skip


def _ledger(scale: Scale) -> Iterator[Figure]:
    by, n_rows = system(ensure_namespace("batch")), scale.size(N_ROWS, least=20)
    fresh = records("batch")

    def save_batch() -> None:
        save(by, records=list(islice(fresh, n_rows)))

    save_batch()
    twin = Twin("batch", is_loose=True)
    try:
        pairs = (
            ("all its rows, bare", "", lambda _: True),
            ("its rows without ledger, bare", "≤ 4", lambda each: not each.concerns(LEDGER_TABLES)),
        )
        for what, bar, only in pairs:
            timing = side_by_side(*twin.against(save_batch, only=only), rounds=scale.rounds(ROUNDS))
            yield Figure("batch", f"operation of {n_rows} / {what}", timing, bar, rate(n_rows, timing.first_seconds))
    finally:
        twin.close()


def _shaped(n_rows: int) -> Work:
    """The operation that the door calls, once for the names and the index; later calls write rows alone."""
    by, fresh = system(ensure_namespace("shape")), records("shape")

    def save_batch() -> None:
        save(by, records=list(islice(fresh, n_rows)))

    save_batch()
    return save_batch
