"""How a test reads a plan: by identifier, by code, and without the places of rows in the file."""

from pathlib import Path
from typing import Any

from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.plan import Plan, PlannedRecord, make_plan
from memory.interchange.contextfs.kernel.vocabulary import Limits
from memory.interchange.contextfs.reader import read_store

KnownRows = dict[tuple[str, ...], str | None]


def plan_of(path: Path, known_rows: KnownRows | None = None, /, **limits: int) -> Plan:
    with read_store(path, limits=Limits(**limits)) as store:
        return make_plan(store, known_rows=known_rows)


def records_of(plan: Plan) -> dict[str, PlannedRecord]:
    return {record.foreign_id: record for part in plan.namespaces for record in part.records}


def parents_of(plan: Plan) -> dict[str, list[tuple[str, str, tuple[str, ...]]]]:
    return {
        identifier: [(parent.relation, parent.parent_id, parent.reasons) for parent in record.parents]
        for identifier, record in records_of(plan).items()
    }


def by_code(plan: Plan) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in plan.every_finding():
        found.setdefault(finding.code, []).append(finding)
    return found


def hashes_of(path: Path) -> KnownRows:
    """The rows of a file as an import of it would remember them."""
    with read_store(path) as store:
        rows = [row for table in store.shapes for row in store.rows(table)]
        return {(row.ref.table, *row.ref.key): row.digest() for row in rows}


def shape(plan: Plan) -> list[Any]:
    """All that a plan says, without the hash of the file and the places of rows in it."""
    parents = parents_of(plan)
    parts = [
        (
            part.namespace,
            [(r.foreign_id, parents[r.foreign_id], r.n_quarantined, r.derivation) for r in part.records],
            [(link.edge.kind, link.edge.from_id, link.edge.relation, link.edge.to_id) for link in part.links],
            [_finding_shape(finding) for finding in part.findings],
        )
        for part in plan.namespaces
    ]
    return [parts, [_finding_shape(finding) for finding in plan.findings], plan.counts, plan.offsets]


def _finding_shape(finding: Finding) -> tuple[Any, ...]:
    keys = [row.key for row in finding.rows]
    return (finding.code, finding.namespace, finding.ids, finding.relation, finding.before, finding.after, keys)
