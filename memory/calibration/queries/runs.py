"""Monitor runs by the names that clients know them by."""

from __future__ import annotations

from dataclasses import dataclass, fields
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import MonitorRun
from memory.ledger.queries.contents import name_ids, names_of

_LOCKED = tuple(field.name for field in fields(MonitorConfig) if field.name != "run_id")


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was opened."""

    id: UUID
    config: MonitorConfig
    seq: int


def run_named(at: AsOf, run_id: str) -> Run:
    """The run of that name.   Raises NotFound."""
    name = name_ids(at.namespace, [run_id]).get(run_id)
    rows = MonitorRun.objects.filter(namespace=at.namespace, seq__lte=at.seq)
    row = None if name is None else rows.filter(name=name).first()
    if row is None:
        raise NotFound(f"There is no monitor run {run_id[:60]} {at.words}.", run_id=run_id[:200])
    return _run(row, run_id)


def runs(at: AsOf) -> list[Run]:
    """Every run, in the order in which they were opened. One whose name is erased goes by ""."""
    rows = list(MonitorRun.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("seq", "item"))
    texts = names_of(at.namespace, [row.name for row in rows])
    return [_run(row, texts.get(row.name, "")) for row in rows]


def _run(row: MonitorRun, run_id: str) -> Run:
    return Run(row.id, MonitorConfig(run_id=run_id, **{size: getattr(row, size) for size in _LOCKED}), row.seq)
