"""The ledger scan as a job: asked by any member, run in the request where the log is short, else by a worker.

Invariants
- What a scan found is told even where it cannot be written down: a broken log may take no further entry.
- Where a namespace takes no writes from people, for it replays or is closed, the run is written by "system".
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.tasks import task

from memory.agents.identity import by_person
from memory.agents.setup import system, takes_people
from memory.base import clock, gate, jobs
from memory.base.actor import Actor
from memory.base.jobs import Job
from memory.checks.ledger_scan import record, report_of
from memory.checks.operations import RECORD, as_far_as_it_takes
from memory.ledger.models import Item, Namespace
from memory.ledger.queries.verdicts import read_kept
from memory.ledger.queries.verification import scan

KIND = "ledger_scan"
# A scan hashes some thousands of items in a second.
IN_REQUEST_ITEMS = 4_000


def ask_scan(by: Actor, *, kept: str = "") -> Job:
    """Have the whole log verified. A short one is verified at once; a long one by the next free worker.

    kept : the text of a checkpoint that the reader saved.   Raises Forbidden, Invalid (kept is no checkpoint).
    """
    gate.permits(by, RECORD)
    if kept:
        read_kept(kept)
    name = Namespace.objects.get(pk=by.namespace).name
    job = jobs.ask(by, kind=KIND, given={"kept": kept, "namespace": name, "key": by.idempotency_key})
    if is_long(by.namespace):
        scan_ledger.enqueue(str(job.id))
    else:
        run_scan(job.id)
    return jobs.job(job.id, namespace=by.namespace, kind=KIND)


@task()
def scan_ledger(job: str) -> None:
    run_scan(UUID(job))


def run_scan(id: UUID) -> None:
    """Do the work of a scan that was asked for, and write down what it found."""
    with jobs.running(id) as work:
        by = actor_of(work.job)
        found = scan(
            by.namespace, kept=work.job.given["kept"], progress=lambda done, total: work.tell("hashing", done, total)
        )
        written = as_far_as_it_takes(by.namespace, lambda: record(by, found))
        work.end({"run": str(written.id) if written else None, "report": None if written else report_of(found)})


def is_long(namespace: int) -> bool:
    """Whether hashing all items of the log takes longer than a request should."""
    return Item.objects.filter(namespace=namespace)[: IN_REQUEST_ITEMS + 1].count() > IN_REQUEST_ITEMS


def actor_of(job: Job) -> Actor:
    """Who writes down what the job found, under the key of who asked for it. `given` names namespace and key.

    Raises NotFound (the asker is no member any more).
    """
    host = system(job.namespace)
    if job.person is None:
        return host
    by = by_person(job.person, namespace=job.given["namespace"], now=clock.now())
    return replace(by, idempotency_key=job.given.get("key", "")) if takes_people(job.namespace) else host
