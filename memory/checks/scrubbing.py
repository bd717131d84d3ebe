"""Scrubs of the database's files, written down as runs of a check in every namespace that waited for one.

Invariants
- A run says that the files were written anew after its entry `at_seq`: what was erased by then is in none.
- Where an administrator must do the rest, the run says `failed` and names what was not done.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max

from memory.agents.setup import system
from memory.checks.models import CheckRun
from memory.checks.operations import record_run
from memory.ledger.models import Entry, Erasure, Head
from memory.ledger.operations.scrubbing import Scrubbed, scrub
from memory.ledger.queries.receipts import Scrub

NAME = "scrub"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Done:
    """What was scrubbed, and the entry that says so by namespace."""

    scrubbed: Scrubbed
    recorded: dict[int, int]


def scrub_and_record() -> Done:
    """Write the files of the database anew, and say so in every namespace that has erased since its last scrub.

    Locks (PostgreSQL): each table that holds text, in turn. Appends: `record_check` in those namespaces.
    Raises Conflict (inside a transaction), Unavailable (a reader holds the log).
    """
    heads = {namespace: Head.objects.get(namespace=namespace).size for namespace in unscrubbed()}
    done = scrub()
    report = {"engine": done.engine, "places": list(done.places), "undone": list(done.undone)}
    recorded = {
        namespace: record_run(
            system(namespace), name=NAME, version=VERSION, verdict="failed" if done.undone else "ok", at_seq=size,
            n_checked=len(done.places), found=[], report=report,
        ).seq
        for namespace, size in heads.items()
    }  # fmt: skip
    return Done(done, recorded)


def unscrubbed() -> list[int]:
    """The namespaces that have erased something since their files were last scrubbed, in order."""
    last = Erasure.objects.values("namespace").annotate(last=Max("seq")).order_by("namespace")
    newest = {row["namespace"]: row["last"] for row in last}
    return [namespace for namespace, seq in newest.items() if scrubbed_after(namespace, seq) is None]


def scrubbed_after(namespace: int, seq: int) -> Scrub | None:
    """The first whole scrub that covers what was erased by the entry."""
    rows = CheckRun.objects.filter(namespace=namespace, check_name=NAME, verdict="ok", at_seq__gte=seq)
    first = rows.order_by("seq").values_list("seq", flat=True).first()
    if first is None:
        return None
    recorded_at = Entry.objects.filter(namespace=namespace, seq=first).values_list("recorded_at", flat=True)[0]
    return Scrub(first, recorded_at)
