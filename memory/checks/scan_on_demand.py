"""The ledger scan among the checks that run by name."""

from __future__ import annotations

from memory.base.actor import Actor
from memory.checks import tasks
from memory.checks.ledger_scan import verify
from memory.checks.operations import Recorded, as_far_as_it_takes
from memory.checks.running import OnDemand, taken_down


def _run(by: Actor) -> Recorded:
    return taken_down(as_far_as_it_takes(by.namespace, lambda: verify(by)[0]))


SCAN_ON_DEMAND = OnDemand(
    now=_run, ask=tasks.ask_scan, kind=tasks.KIND, given={"kept": ""}, run_of=lambda job: job.outcome["run"],
    page="/ledger/scans",
)  # fmt: skip
