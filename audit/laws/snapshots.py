"""All clauses over one snapshot, or over one with an earlier one beside it."""

from __future__ import annotations

import hashlib

from audit.laws.axes import bitemporality
from audit.laws.cycles import ancestry_cycles
from audit.laws.locality import confinement, construction_locality, resolution_independence
from audit.laws.redundancy import edge_record_agreement, inverse_closure
from audit.laws.structure import record_monotonicity, referential_integrity
from audit.laws.values import Report, Snapshot


def check(snapshot: Snapshot, *, before: Snapshot | None = None) -> Report:
    """Check every clause.   before : an earlier snapshot of the same store, for L1 and L4(i)."""
    agreement = edge_record_agreement(snapshot)
    cycles = ancestry_cycles(snapshot)
    return Report(
        store=snapshot.store,
        findings=(
            record_monotonicity(snapshot, before=before),
            *agreement.findings,
            *inverse_closure(snapshot),
            confinement(snapshot, before=before),
            *construction_locality(snapshot),
            resolution_independence(snapshot),
            bitemporality(snapshot),
            *referential_integrity(snapshot),
        ),
        n_records=len(snapshot.records),
        n_edges=len(snapshot.edges),
        asides=(cycles,) if cycles.count else (),
        measures=agreement.measures,
        input_digest=digest_of(snapshot),
    )


def digest_of(snapshot: Snapshot) -> bytes:
    """SHA-256 over all records and edges in the order of their keys, marks of deletion included."""
    hashed = hashlib.sha256()
    for _, record in sorted(snapshot.records.items()):
        hashed.update(record.payload + bytes([record.is_marked_deleted]))
    for edge in sorted(snapshot.edges, key=lambda edge: edge.key):
        hashed.update(edge.payload + bytes([edge.is_marked_deleted]))
    return hashed.digest()
