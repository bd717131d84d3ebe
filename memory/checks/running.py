"""Checks by name: what can be run on demand, told by the slices and by the site, which register it here.

Invariants
- A short log is checked within the request that asks; a long one by the next free worker, whom the asker waits for.
- The same request again finds the work that it asked for: it adds no second pass while the first is on, and is answered
  with what that found, for as long as the job is kept where a key names the request, else for a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from memory.base import clock, jobs
from memory.base.actor import Actor
from memory.base.errors import NotFound, Unavailable
from memory.base.jobs import Job
from memory.checks.operations import Recorded
from memory.checks.queries import check_run
from memory.checks.tasks import is_long
from memory.ledger.queries import asof

Check = Callable[[Actor], Recorded]
ANSWERS_FOR = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class OnDemand:
    """How one check is run: `now`, within the request, or by a job that `ask` makes.

    kind, given : of such jobs.   run_of : the id of the run that one wrote down; None where the log took no entry.
    page : the address of the page of one, below which its id stands.
    """

    now: Check
    ask: Callable[[Actor], Job]
    kind: str
    given: Mapping[str, Any]
    run_of: Callable[[Job], str | None]
    page: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A check that a worker is asked for. `path` is the page that tells how far it is."""

    job: UUID
    path: str


_checks: dict[str, OnDemand] = {}


def run_by_name(name: str, check: OnDemand) -> None:
    """Register a check: it looks at the actor's namespace and records what it found."""
    _checks[name] = check


def names() -> tuple[str, ...]:
    """The names of all checks, in order."""
    return tuple(sorted(_checks))


def named(text: str, *, also: Iterable[str] = ()) -> str:
    """The whole name of a check: as it stands, or without the family before its dot, as `L2` for `law.L2`.

    also : names beside those that can be run.   Raises NotFound (no such check).
    """
    known = sorted({*names(), *also})
    for name in known:
        if text in (name, name.rpartition(".")[2]):
            return name
    raise NotFound(f"There is no check {text!r}; there are {', '.join(known)}.")


def run(by: Actor, *, name: str) -> Recorded | Waiting:
    """Run the check, or have a worker run it where the log is long.

    Raises NotFound (no such check), Unavailable (the log takes no entry), and what the check raises.
    """
    check = _checks[named(name)]
    if not is_long(by.namespace):
        return check.now(by)
    job = _asked_before(by, check) or check.ask(by)
    if job.state == "failed":
        raise jobs.refusal(job)
    if job.state != "done":
        return Waiting(job.id, f"{check.page}/{job.id}")
    row = check_run(asof.now(by.namespace), id=UUID(taken_down(check.run_of(job)))).row
    return Recorded(row.id, row.seq, replayed=True)


def taken_down[Run](run: Run | None) -> Run:
    """The run.   Raises Unavailable (None was written down)."""
    if run is None:
        raise Unavailable("The log takes no entry, so what was found cannot be written down; verify the ledger first.")
    return run


def _asked_before(by: Actor, check: OnDemand) -> Job | None:
    """The job that this request has asked for already; None where it must ask."""
    now = clock.now()
    asked = dict(check.given) | {"key": by.idempotency_key}
    for job in jobs.jobs(namespace=by.namespace, kind=check.kind):
        if job.person != by.person or any(job.given.get(name) != value for name, value in asked.items()):
            continue
        is_kept = bool(by.idempotency_key) and job.state == "done" and check.run_of(job) is not None
        is_near = now - job.told_at <= ANSWERS_FOR
        if is_kept or (is_near if job.has_ended else not job.is_silent(now)):
            return job
    return None
