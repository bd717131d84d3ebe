"""Registers each law as a check, so that the board and `POST /checks/{name}/run` can run it by name."""

from __future__ import annotations

from functools import partial

from audit.laws import recording
from audit.laws.clauses import LAWS
from audit.laws.values import ClauseName
from memory.base.actor import Actor
from memory.base.errors import Unavailable
from memory.checks.operations import Recorded
from memory.checks.running import run_by_name


def register() -> None:
    """Idempotent: called once when the site is ready."""
    for law in LAWS:
        run_by_name(law.name, partial(_run, clause=law.clause))


def _run(by: Actor, *, clause: ClauseName) -> Recorded:
    _, recorded = recording.run(by, clauses=[clause])
    if not recorded:
        raise Unavailable("The log takes no entry, so what was found cannot be written down; verify the ledger first.")
    return recorded[0]
