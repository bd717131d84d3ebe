"""Opening a monitor run: its configuration is locked with its first entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from memory.base import gate
from memory.base.actor import Actor
from memory.beliefs.kernel.monitoring import MonitorConfig, config_document, config_sha256
from memory.beliefs.models import MonitorRun
from memory.beliefs.operations import watching
from memory.ledger import drafts as drafting
from memory.ledger.operations.appending import book_for, opened, retried


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run as it stands, the entry that opened it, and whether that was an earlier one."""

    id: UUID
    run_id: str
    config_sha256: str
    config: Mapping[str, int | float]
    seq: int
    replayed: bool


@retried
def open_run(by: Actor, *, config: MonitorConfig) -> OpenedRun:
    """Open a monitor run; one that stands under the same configuration is answered as it stands.

    Locks: the namespace head. Appends: `monitor`. Raises Conflict (another configuration), Forbidden, Stopped.
    """
    book = book_for(by)
    run = watching.opened_run(book, config)
    assert run.draft is not None
    drafting.seal([run.draft])
    request = [config.run_id, config_document(config)]
    with opened(by, verb="monitor", need=gate.WRITE, request=request, names=book) as entry:
        standing = watching.watches(by.namespace, name=run.name)
        if standing:
            watching.require_config(standing[0], config)
            entry.void()
        elif not entry.is_replay:
            entry.add(run.draft)
    row = MonitorRun.objects.get(namespace=by.namespace, name=run.name)
    return OpenedRun(row.id, config.run_id, config_sha256(config), config_document(config), row.seq, bool(standing))
