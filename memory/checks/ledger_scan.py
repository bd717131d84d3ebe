"""The ledger scan as a check: verify, write the run down, answer its id. Runs in the request or as a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from memory.base.actor import Actor
from memory.checks.operations import Found, Recorded, record_run
from memory.ledger.queries.scanning import Scan
from memory.ledger.queries.verification import scan

NAME = "ledger_scan"
VERSION = 1
FAULTS_REPORTED = 100


def report_of(found: Scan) -> dict[str, Any]:
    """The scan as JSON: the three verdicts apart, counts, and the first faults with both sides."""
    faults = [
        {
            "code": fault.code, "seq": fault.seq, "item": fault.item, "part": fault.part, "place": fault.place,
            "expected": fault.expected, "got": fault.got,
        }
        for fault in found.faults[:FAULTS_REPORTED]
    ]  # fmt: skip
    return {
        "namespace": found.namespace, "size": found.size, "root": found.root.hex(),
        "verdicts": {"content": found.content, "inclusion": found.inclusion, "consistency": found.consistency},
        "entries": found.n_entries, "items": found.n_items, "contents": found.n_contents, "erased": found.n_erased,
        "checkpoints": found.n_checkpoints, "n_faults": len(found.faults),
        "codes": dict(sorted(Counter(fault.code for fault in found.faults).items())), "faults": faults,
    }  # fmt: skip


def verify(
    by: Actor, *, kept: str = "", progress: Callable[[int, int], None] | None = None
) -> tuple[Recorded, dict[str, Any]]:
    """Scan the namespace and record the run. Answers the run and its report.

    Appends: `record_check`. Raises Forbidden, note.NoteError (kept is no checkpoint).
    """
    found = scan(by.namespace, kept=kept, progress=progress)
    return record(by, found), report_of(found)


def record(by: Actor, found: Scan) -> Recorded:
    """Write down what a scan found. Appends: `record_check`. Raises Forbidden."""
    faults = [Found(fault.code, seq=fault.seq, item=fault.item) for fault in found.faults]
    verdict = "ok" if found.is_clean else "failed"
    return record_run(
        by, name=NAME, version=VERSION, verdict=verdict, at_seq=found.size, n_checked=found.n_items, found=faults,
        report=report_of(found),
    )  # fmt: skip
