"""All clauses over one of our own namespaces at a point, by one pass over its log.

Invariants
- One pass, in the order of the log, holding one window of entries: time grows with the store, memory with its largest
  entry. An ancestor stands before its descendant in the log, so nothing needs the whole graph.
- The verdicts are about everything up to the entry `at.seq`, and stay as they are; text that was erased since then is
  told as erased, and breaks nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from audit.laws.ours_ends import Ends
from audit.laws.ours_lineage import Lineage
from audit.laws.ours_place import Place
from audit.laws.ours_records import Records
from audit.laws.ours_rows import namespace_name, windows
from audit.laws.ours_rules import Times, Types
from audit.laws.values import CLAUSE_NAMES, Report
from memory.base.asof import AsOf

WITNESSES_KEPT = 100

Progress = Callable[[int, int], None]


def check(at: AsOf, *, most: int = WITNESSES_KEPT, progress: Progress | None = None) -> Report:
    """Check every clause over the namespace as of an entry.

    most : counterexamples kept of each kind; all are counted.   progress : told (entries read, entries in all).
    """
    place = Place(at.namespace, namespace_name(at.namespace), most)
    records, lineage, ends, types, times = Records(place), Lineage(place), Ends(place), Types(place), Times(place)
    hashed = hashlib.sha256()
    for window in windows(at.namespace, upto=at.seq):
        for law in (records, lineage, ends, types, times):
            law.feed(window)
        for entry in window.entries:
            hashed.update(entry.leaf)
        if progress is not None:
            progress(times.n_entries, at.seq)
    found = [finding for law in (records, lineage, ends, types, times) for finding in law.findings()]
    found.sort(key=lambda finding: CLAUSE_NAMES.index(finding.clause))
    return Report(
        store=place.name,
        findings=tuple(found),
        n_records=records.n_records,
        n_edges=lineage.n_edges,
        asides=tuple(lineage.asides()),
        measures={
            "seq": at.seq, "derived_records": lineage.n_derived, "records_disagreeing": lineage.n_disagreeing,
        },
        input_digest=hashed.digest(),
    )  # fmt: skip
