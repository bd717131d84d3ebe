"""Runs of the laws over our own namespaces, written down in one entry: a check run for each clause, findings, a report.

Invariants
- A run that is written down holds ids, kinds and counts as evidence; its counterexamples are content.
- One pass over the log serves all clauses that are asked for.
- A potential finding or one for information is in the report and is no finding of the run.
- What was found is told even where it cannot be written down: a broken log may take no further entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from audit.laws import ours
from audit.laws.clauses import BY_CLAUSE
from audit.laws.ours import Progress
from audit.laws.values import CLAUSE_NAMES, ClauseName, Report, Witness
from memory.base import gate
from memory.base.actor import Actor
from memory.checks.operations import RECORD, Found, Outcome, Recorded, as_far_as_it_takes, record_runs
from memory.ledger.queries import asof

VERSION = 2


def run(
    by: Actor, *, clauses: Sequence[ClauseName] = CLAUSE_NAMES, progress: Progress | None = None
) -> tuple[Report, tuple[Recorded, ...]]:
    """Check the actor's namespace as it stands and write one run down for each clause asked for, in their order.

    The runs are none where the log takes no entry.   Appends: `record_check`, one entry for all.
    Raises Forbidden, Stopped, IdempotencyMismatch, Erased.
    """
    gate.permits(by, RECORD)
    at = asof.now(by.namespace)
    report = ours.check(at, progress=progress)
    outcomes = [_outcome(report, clause, at_seq=at.seq) for clause in clauses]
    return report, tuple(as_far_as_it_takes(by.namespace, lambda: record_runs(by, outcomes=outcomes)) or ())


def _outcome(report: Report, clause: ClauseName, *, at_seq: int) -> Outcome:
    return Outcome(
        name=BY_CLAUSE[clause].name, version=VERSION, verdict=report.verdict(clause), at_seq=at_seq,
        n_checked=report.n_records + report.n_edges, found=list(_found(report, clause)),
        report=report_of(report, clause), input_digest=report.input_digest,
    )  # fmt: skip


def report_of(report: Report, clause: ClauseName) -> dict[str, Any]:
    """One clause of a report, as JSON: its scopes apart, and what the store as a whole was found to be."""
    whole = report.as_json()
    scopes = [each for each in whole.pop("clauses") if each["clause"] == clause]
    return {"clause": clause, "scopes": scopes, **whole}


def _found(report: Report, clause: ClauseName) -> Iterator[Found]:
    """What breaks the clause: by place as far as counterexamples are kept, beyond them by kind alone."""
    for finding in report.of(clause):
        for kind in finding.kinds:
            if kind.severity != "violation":
                continue
            kept = [witness for witness in finding.witnesses if witness.kind == kind.kind]
            yield from map(_place, kept)
            yield from [Found(kind.kind)] * (kind.count - len(kept))


def _place(witness: Witness) -> Found:
    about = witness.record or witness.facts.get("derivation")
    return Found(witness.kind, UUID(about) if about else None, witness.facts.get("entry"))
