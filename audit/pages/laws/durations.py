"""How long runs took, from being asked for to being written down, for as long as their jobs are kept.

Invariants
- The ledger holds no duration: the same store checked twice gives the same report. So only the page tells one, and only
  of runs that were asked for on a page or that a worker did, within the last day.
"""

from collections.abc import Iterator
from datetime import timedelta

from audit.laws import tasks as laws
from memory.base import jobs
from memory.base.jobs import Job
from memory.checks import tasks as scans


def taken(namespace: int) -> dict[str, timedelta]:
    """How long each run took, by its id."""
    ended = [
        job
        for kind in (laws.KIND, scans.KIND)
        for job in jobs.jobs(namespace=namespace, kind=kind)
        if job.state == "done"
    ]  # fmt: skip
    return {run: job.told_at - job.asked_at for job in ended for run in _runs(job)}


def _runs(job: Job) -> Iterator[str]:
    yield from job.outcome.get("runs", {}).values()
    if run := job.outcome.get("run"):
        yield run
