"""The laws over a long log and over one a tenth as long: time against size, and the peak of memory.

The store is made by operations: saves in batches, splits, and merges of as many records as one may take.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from uuid import UUID

from audit.bench.measuring import Figure, Scale, side_by_side
from audit.bench.peak import MEGABYTE, peak_of
from audit.bench.texts import records, text
from audit.laws import ours
from memory.agents.setup import ensure_namespace, system
from memory.base.asof import AsOf
from memory.ledger.queries import asof
from memory.lineage.operations.derivations import split
from memory.lineage.operations.deriving import Cause
from memory.lineage.operations.merging import SOURCES, merge
from memory.records.operations import save

N_RECORDS = 500_000
TIMES_SMALLER = 10
# Of 500,000 records and 800,000 edges: parts have one edge each, the rest are of merges.
PARTS_PER_RECORD = 0.4
EDGES_PER_RECORD = 1.6
N_PARTS = 100
BATCH = 5_000
ROUNDS = 3


def run(scale: Scale) -> Iterator[Figure]:
    """One check of each store in each round."""
    long, short = (_store(scale.size(N_RECORDS // smaller, least=500)) for smaller in (1, TIMES_SMALLER))
    sizes = [ours.check(at) for at in (long, short)]
    timing = side_by_side(partial(ours.check, long), partial(ours.check, short), rounds=scale.rounds(ROUNDS), warm_up=0)
    before, after = peak_of(sizes[0].store)
    yield Figure(
        "laws",
        f"check of {sizes[0].n_records} records and {sizes[0].n_edges} edges / of {sizes[1].n_records}",
        timing,
        "≤ 25",
        f"peak {after / MEGABYTE:.0f} MB, {(after - before) / MEGABYTE:.0f} MB of it by the check; ≤ 128 MB asked for",
    )


def _store(n_records: int) -> AsOf:
    """The point at the end of a log with about so many records; each check of it finds nothing."""
    by = system(ensure_namespace(f"laws-{n_records}"))
    n_merges = round(n_records * (EDGES_PER_RECORD - PARTS_PER_RECORD) / SOURCES)
    n_splits = round(n_records * PARTS_PER_RECORD / N_PARTS)
    n_plain = n_records - n_merges - n_splits * N_PARTS
    fresh, known = records(f"laws/{n_records}"), list[UUID]()
    for start in range(0, n_plain, BATCH):
        saved = save(by, records=list(islice(fresh, min(BATCH, n_plain - start))))
        known.extend(one.id for one in saved)
    for number in range(n_splits):
        parts = [{"content": new.content} for new in islice(fresh, N_PARTS)]
        split(by, record=known[number], parts=parts, cause=Cause())
    # What was split is no longer current, and is merged no more.
    usable = known[n_splits:]
    for number in range(n_merges):
        start = number * SOURCES % (len(usable) - SOURCES)
        merge(by, records=usable[start : start + SOURCES], cause=Cause(), content=text(f"sum/{number}"))
    return asof.now(by.namespace)
