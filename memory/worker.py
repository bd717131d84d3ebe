"""Clock work: background tasks, and what falls due by the passing of time.

Invariants
- Nothing waits for this loop to become true: states are computed when they are read. It signs, delivers and notifies.
- `due` is a pure question about the store and an instant; each act it names is an ordinary operation by "system".
- A log is signed when 256 entries or a minute have come since its last checkpoint, so at most once in each round.
- A signed checkpoint goes out of the house once an hour where something was written, and at once after an owner's act.
- What fails is logged and tried again later; the other acts of the round go on.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, close_old_connections
from django.db.models import F, OuterRef, Q, Subquery
from django_tasks_db.management.commands.db_worker import Worker as TaskQueue

from memory.base import clock
from memory.base.actor import Actor
from memory.base.errors import DomainError
from memory.ledger.models import Checkpoint, Entry, Head
from memory.ledger.operations.checkpoints import checkpoint, deliver, signing_key
from memory.ledger.queries.deliveries import newest_in
from memory.records.reviewing import lapse, overdue

SIGN_ENTRIES = 256
SIGN_AFTER = timedelta(minutes=1)
DELIVER_AFTER = timedelta(hours=1)
RETRY_AFTER = timedelta(minutes=1)
ROUND_SECONDS = 1.0
NAP_SECONDS = 0.1
NEVER = 0, datetime.min.replace(tzinfo=UTC)
# After these the reader's copy must not be an hour behind: they change who may do what, or what can still be read.
OWNER_VERBS = (
    "erase", "close_namespace", "hold", "lift_hold", "freeze", "unfreeze", "admit_member", "change_setting",
    "create_agent", "issue_token", "rotate_token", "revoke_token", "waive", "revive", "retest", "retire",
)  # fmt: skip

logger = logging.getLogger("memory.worker")


@dataclass(frozen=True, slots=True)
class Due:
    """One act that is due in one namespace."""

    act: str
    namespace: int
    run: Callable[[], object]


def due(now: datetime, *, deliver_to: Path | None = None) -> list[Due]:
    """What is due at the instant; what lapses is signed by the next round, signing comes before delivering."""
    lapsed = [Due("lapse", one, partial(lapse, Actor(one, "system"))) for one in overdue(now)]
    if signing_key() is None:
        return lapsed
    return [*lapsed, *_unsigned(now), *(() if deliver_to is None else _undelivered(now, deliver_to))]


def _unsigned(now: datetime) -> Iterator[Due]:
    last = Checkpoint.objects.filter(namespace=OuterRef("namespace")).order_by("-seq")
    heads = Head.objects.annotate(
        signed_seq=Subquery(last.values("seq")[:1]), signed_at=Subquery(last.values("signed_at")[:1])
    )
    unsigned = heads.filter(Q(signed_seq=None) | Q(size__gt=F("signed_seq")))
    for head in unsigned.order_by("namespace"):
        n_new = head.size - (head.signed_seq or 0)
        if n_new >= SIGN_ENTRIES or head.signed_at is None or now - head.signed_at >= SIGN_AFTER:
            yield Due("checkpoint", head.namespace_id, partial(checkpoint, head.namespace_id))


def _undelivered(now: datetime, folder: Path) -> Iterator[Due]:
    for head in Head.objects.select_related("namespace").order_by("namespace"):
        newest = newest_in(folder, namespace=head.namespace.name)
        seq, delivered_at = (newest.seq, newest.delivered_at) if newest is not None else NEVER
        if head.size == seq:
            continue
        fresh = Entry.objects.filter(namespace=head.namespace_id, seq__gt=seq, verb__in=OWNER_VERBS)
        if now - delivered_at >= DELIVER_AFTER or fresh.exists():
            yield Due("delivery", head.namespace_id, partial(deliver, head.namespace_id, folder))


def target() -> Path | None:
    """The folder that receives checkpoints; None where none is named.   Raises ImproperlyConfigured (no folder)."""
    named = settings.PALIMPSEST_CHECKPOINT_TO
    if "://" in named or re.match(r"[\w.-]+@[\w.-]+:", named):
        raise ImproperlyConfigured(f"PALIMPSEST_CHECKPOINT_TO must name a folder; got {named!r}.")
    return Path(named).expanduser().absolute() if named else None


class Worker:
    """The loop of one process. `stop` may be called from a signal: the piece of work in hand is finished first."""

    def __init__(self) -> None:
        self.is_stopping = False
        # The queue tells each empty round at level INFO.
        logging.getLogger("django_tasks_db").setLevel(logging.WARNING)
        self._deliver_to = target()
        self._not_before: dict[tuple[str, int], datetime] = {}
        self._queue = TaskQueue(
            queue_names=["*"], excluded_queue_names=[], backend_name="default", worker_id=secrets.token_hex(16),
            interval=0, batch=True, startup_delay=False, max_tasks=None,
        )  # fmt: skip

    def stop(self, signum: int = 0, frame: FrameType | None = None) -> None:
        self.is_stopping = True
        self._queue.running = False

    def run(self) -> None:
        """Rounds, a second apart, until `stop`."""
        while not self.is_stopping:
            try:
                self.round()
            except DatabaseError:
                logger.exception("clock work was cut short")
            close_old_connections()
            self._rest()

    def round(self) -> None:
        """All queued tasks, then all that is due."""
        self._queue.run()
        now = clock.now()
        for each in due(now, deliver_to=self._deliver_to):
            key = (each.act, each.namespace)
            if not self.is_stopping and self._not_before.get(key, now) <= now and not self._done(each):
                self._not_before[key] = now + RETRY_AFTER

    def _done(self, each: Due) -> bool:
        fields = {"act": each.act, "namespace_id": each.namespace}
        try:
            each.run()
        except (DomainError, OSError) as error:
            logger.exception("due act failed", extra={"fields": {**fields, "code": getattr(error, "code", "internal")}})
            return False
        logger.info("due act done", extra={"fields": fields})
        return True

    def _rest(self) -> None:
        until = time.monotonic() + ROUND_SECONDS
        while not self.is_stopping and time.monotonic() < until:
            time.sleep(NAP_SECONDS)
