"""Registers each law as a check, so that the board and `POST /checks/{name}/run` can run it by name."""

from __future__ import annotations

from functools import partial

from audit.laws import recording, tasks
from audit.laws.clauses import LAWS
from audit.laws.values import ClauseName
from memory.base.actor import Actor
from memory.base.jobs import Job
from memory.checks.operations import Recorded
from memory.checks.running import OnDemand, run_by_name, taken_down


def register() -> None:
    """Idempotent: called once when the site is ready."""
    for law in LAWS:
        run_by_name(
            law.name,
            OnDemand(
                now=partial(_run, clause=law.clause), ask=partial(tasks.ask_laws, clauses=[law.clause]),
                kind=tasks.KIND, given={"clauses": [law.clause]}, run_of=partial(_run_of, clause=law.clause),
                page="/laws/runs",
            ),
        )  # fmt: skip


def _run(by: Actor, *, clause: ClauseName) -> Recorded:
    _, recorded = recording.run(by, clauses=[clause])
    return taken_down(recorded[0] if recorded else None)


def _run_of(job: Job, *, clause: ClauseName) -> str | None:
    runs: dict[str, str] = job.outcome["runs"]
    return runs.get(clause)
