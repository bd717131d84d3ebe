"""The laws as a job: asked by any member, run in the request where the log is short, else by the next free worker.

Invariants
- Where a namespace takes no writes from people, for it replays or is closed, the runs are written by "system".
- One job is one pass over the log, whatever the number of clauses that it writes down.
- `runs` of the outcome names the run of each clause; where the log takes no entry it is empty, and `report` says what
  was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.tasks import task

from audit.laws import recording
from audit.laws.ours_rows import namespace_name
from audit.laws.values import CLAUSE_NAMES, ClauseName
from memory.base import gate, jobs
from memory.base.actor import Actor
from memory.base.jobs import Job
from memory.checks.operations import RECORD
from memory.checks.tasks import actor_of, is_long

KIND = "law_check"


def ask_laws(by: Actor, *, clauses: Sequence[ClauseName] = CLAUSE_NAMES) -> Job:
    """Have the laws checked. A short log is read at once; a long one by the next free worker.   Raises Forbidden."""
    gate.permits(by, RECORD)
    given = {"clauses": list(clauses), "namespace": namespace_name(by.namespace), "key": by.idempotency_key}
    job = jobs.ask(by, kind=KIND, given=given)
    if is_long(by.namespace):
        check_laws.enqueue(str(job.id))
    else:
        run_laws(job.id)
    return jobs.job(job.id, namespace=by.namespace, kind=KIND)


@task()
def check_laws(job: str) -> None:
    run_laws(UUID(job))


def run_laws(id: UUID) -> None:
    """Do the work of a check that was asked for, and write down what it found."""
    with jobs.running(id) as work:
        by, clauses = actor_of(work.job), work.job.given["clauses"]
        report, written = recording.run(
            by, clauses=clauses, progress=lambda done, total: work.tell("reading", done, total)
        )
        runs = {clause: str(each.id) for clause, each in zip(clauses, written, strict=False)}
        work.end({"runs": runs, "report": None if written else report.as_json()})
