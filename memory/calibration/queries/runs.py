"""Monitor runs by the names that clients know them by."""

from __future__ import annotations

from dataclasses import dataclass, fields
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import NotFound
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.models import MonitorRun
from memory.ledger.queries.contents import name_ids

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
    return as_run(row, run_id)


def as_run(row: MonitorRun, run_id: str) -> Run:
    """The run of a row; `run_id` is its name, "" once erased."""
    return Run(row.id, MonitorConfig(run_id=run_id, **{size: getattr(row, size) for size in _LOCKED}), row.seq)
