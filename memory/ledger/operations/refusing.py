"""Control refusals leave a trace of their own, after the rollback of what was refused.

At most one a minute for each (agent, code, object); the next one carries the count of those in between. Input errors,
401 and 404 go to the log only.
"""

from __future__ import annotations

import contextlib
from uuid import UUID

from django.core.cache import cache

from memory.base import gate, ids
from memory.base.actor import Actor
from memory.ledger.drafts import Draft
from memory.ledger.models import Refusal
from memory.ledger.operations.appending import opened

WINDOW_SECONDS = 60


def refuse(by: Actor, *, code: str, about: UUID | None = None) -> int | None:
    """Append a Refusal entry; None when one of the same kind stands within the last minute.

    Locks: the namespace head. Appends: `refuse`, by actor "system", so that a refused agent's refusal can be written,
    to the run that the refused act named.
    """
    mark = f"refusal/{by.namespace}/{by.agent or by.person}/{code}/{about}"
    if not cache.add(f"{mark}/recent", 1, WINDOW_SECONDS):
        cache.add(f"{mark}/count", 0, None)
        # Another process may have written the count down in between.
        with contextlib.suppress(ValueError):
            cache.incr(f"{mark}/count")
        return None
    count = 1 + int(cache.get(f"{mark}/count", 0))
    cache.delete(f"{mark}/count")
    row = {"code": code, "agent": by.agent, "object": about, "count": count}
    # In a replay namespace the event's own instant keeps the clock of the events.
    system = Actor(by.namespace, "system", request_id=by.request_id, event_at=by.event_at, run=by.run)
    with opened(system, verb="refuse", need=gate.WRITE) as entry:
        entry.add(Draft("refusal", ids.new_id(), Refusal, row))
    return entry.seq
