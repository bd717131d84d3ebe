"""What an import would store, namespace by namespace, and what it would say about the rest.

Invariants
- One target for each source namespace; nothing planned joins two.
- Records come in an order in which parents precede their children; ties are broken by claimed instant and identifier.
- The plan holds structure and findings. Texts are read by `texts` from the rows that the plan names.
- `novelty` is `new` for what an import stores; what is `known` or `altered` stays as it was imported before.

Source: laws of the store 4.3, 5.5-5.10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel import notes
from memory.interchange.contextfs.kernel.claims import known_reason, known_strategy
from memory.interchange.contextfs.kernel.clocks import ClaimedInstant, OffsetSupport, claimed_instant
from memory.interchange.contextfs.kernel.counts import SourceCounts, source_counts
from memory.interchange.contextfs.kernel.findings import Finding, in_order
from memory.interchange.contextfs.kernel.graph import parents_first
from memory.interchange.contextfs.kernel.links import Link, plan_links
from memory.interchange.contextfs.kernel.reconcile import Ancestry, ParentEdge, reconcile
from memory.interchange.contextfs.kernel.rows import MemoryRow, Survey, survey
from memory.interchange.contextfs.kernel.snapshots import (
    Comparison,
    Novelty,
    Remembered,
    RowKey,
    changes,
    compare,
    is_news,
    novelties,
    without_late_parents,
)
from memory.interchange.contextfs.kernel.source import RowRef, SourceIdentity, Store
from memory.interchange.contextfs.kernel.view import StoreView, view_of
from memory.interchange.contextfs.kernel.vocabulary import ANCESTRY_RELATIONS, KIND_BY_RELATION, stored_direction


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a record came about, by its own claim.

    kind : evolve, merge or split.   claimed_at : None where the claim has no readable clock.   group : equal for the
    parts of one split, unique otherwise.   change_reason : of an evolve; `is_default_reason` if nobody chose it.
    """

    kind: str
    claimed_at: ClaimedInstant | None
    group: str
    change_reason: str | None
    is_default_reason: bool
    merge_strategy: str | None
    split_part: int | None
    split_total: int | None


@dataclass(frozen=True, slots=True)
class PlannedRecord:
    """A record to store. `withdrawn` is set where the source marks the record as deleted."""

    ref: RowRef
    foreign_id: str
    type: str
    recorded: ClaimedInstant
    withdrawn: ClaimedInstant | None
    derivation: Derivation | None
    parents: tuple[ParentEdge, ...]
    n_quarantined: int
    holds_foreign_text: bool
    row_hash: str
    novelty: Novelty

    @property
    def is_ancestry_incomplete(self) -> bool:
        return self.n_quarantined > 0


@dataclass(frozen=True, slots=True)
class PlannedLink:
    edge: Link
    novelty: Novelty


@dataclass(frozen=True, slots=True)
class NamespacePlan:
    """One source namespace: records with parents first, links sorted by ends, findings sorted by code."""

    namespace: str
    records: tuple[PlannedRecord, ...]
    links: tuple[PlannedLink, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole import. `findings` are those that belong to no planned namespace."""

    source: SourceIdentity
    namespaces: list[NamespacePlan]
    findings: tuple[Finding, ...]
    counts: SourceCounts
    offsets: tuple[OffsetSupport, ...]
    comparison: Comparison
    n_rows: Mapping[str, int]

    def every_finding(self) -> tuple[Finding, ...]:
        return (*(finding for part in self.namespaces for finding in part.findings), *self.findings)


def make_plan(
    store: Store, *, surveyed: Survey | None = None, known_rows: Mapping[RowKey, Remembered] | None = None
) -> Plan:
    """Plan the import of an open store.

    surveyed : what `survey(store)` gave, where it was asked before.   known_rows : (table, *primary key) -> hash of the
    raw row as it was imported from this source before, None if its text was erased since; without it, all is new.
    """
    surveyed = surveyed or survey(store)
    view = view_of(surveyed)
    comparison = compare(surveyed, known_rows=known_rows or {})
    novelty = novelties(comparison)
    ancestral = [row for row in surveyed.edges if stored_direction(row.relation)[0] in ANCESTRY_RELATIONS]
    others = [row for row in surveyed.edges if stored_direction(row.relation)[0] not in ANCESTRY_RELATIONS]
    ancestry, findings = reconcile(view, edges=ancestral)
    links, link_findings = plan_links(view, edges=others)
    findings += link_findings
    places = _places(view, ancestry=ancestry, links=links, findings=findings)
    findings += notes.edge_notes(view, edges=surveyed.edges, ancestry=ancestry, places=places)
    findings += _store_findings(store, surveyed=surveyed, view=view)
    counts = source_counts(surveyed, view=view)
    ancestry, late = without_late_parents(ancestry, records=view.records, novelty=novelty)
    findings = [finding for finding in findings if is_news(finding, records=view.records, novelty=novelty)]
    findings += [*late, *changes(comparison, records=view.records)]
    namespaces = _namespaces(view, ancestry=ancestry, links=links, findings=findings, novelty=novelty)
    planned = {part.namespace for part in namespaces}
    return Plan(
        source=store.identity,
        namespaces=namespaces,
        findings=in_order(finding for finding in findings if finding.namespace not in planned),
        counts=counts,
        offsets=view.support,
        comparison=comparison,
        n_rows={table: store.n_rows(table) for table in store.shapes},
    )


def _places(
    view: StoreView, *, ancestry: Mapping[str, Ancestry], links: Iterable[Link], findings: Iterable[Finding]
) -> dict[RowRef, notes.Place]:
    """Where each edge row ended. A repair names the same rows as the edge it repaired, so quarantines come first."""
    places = {
        ref: notes.Place(finding.namespace, is_accepted=False)
        for finding in findings
        if finding.is_quarantine
        for ref in finding.rows
    }
    for identifier, one in ancestry.items():
        for parent in one.parents:
            for ref in (*parent.rows, *parent.inverse_rows):
                places[ref] = notes.Place(view.records[identifier].namespace, is_accepted=True)
    for link in links:
        for ref in (*link.rows, *link.inverse_rows):
            places[ref] = notes.Place(view.records[link.from_id].namespace, is_accepted=True)
    return places


def _store_findings(store: Store, *, surveyed: Survey, view: StoreView) -> list[Finding]:
    counted = {table: store.n_rows(table) for table in store.unread_tables()}
    findings = [
        *notes.record_notes(view),
        *notes.unusable_rows(view, rows=surveyed.unusable),
        *notes.other_tables(kept=surveyed.kept, counted={table: n for table, n in counted.items() if n}),
    ]
    if store.identity.revision is None:
        findings.append(Finding("revision-missing", None))
    if len(view.support) > 1:
        spread = {str(one.offset_seconds): one.n_records for one in view.support}
        findings.append(Finding("offsets-disagree", None, before={"records_by_offset_seconds": {**spread}}))
    return findings


def _namespaces(
    view: StoreView,
    *,
    ancestry: Mapping[str, Ancestry],
    links: Iterable[Link],
    findings: Iterable[Finding],
    novelty: Mapping[RowRef, Novelty],
) -> list[NamespacePlan]:
    rows_by_namespace: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in view.records.values():
        rows_by_namespace[row.namespace].append(row)
    links_by_namespace: dict[str, list[PlannedLink]] = defaultdict(list)
    for link in links:
        planned = PlannedLink(link, _link_novelty(link, novelty=novelty))
        links_by_namespace[view.records[link.from_id].namespace].append(planned)
    findings_by_namespace: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        findings_by_namespace[finding.namespace].append(finding)
    return [
        NamespacePlan(
            namespace=namespace,
            records=_records(rows_by_namespace[namespace], view=view, ancestry=ancestry, novelty=novelty),
            links=tuple(
                sorted(
                    links_by_namespace[namespace],
                    key=lambda planned: (planned.edge.from_id, planned.edge.to_id, planned.edge.relation),
                )
            ),
            findings=in_order(findings_by_namespace[namespace]),
        )
        for namespace in sorted(rows_by_namespace)
    ]


def _records(
    rows: Iterable[MemoryRow],
    *,
    view: StoreView,
    ancestry: Mapping[str, Ancestry],
    novelty: Mapping[RowRef, Novelty],
) -> tuple[PlannedRecord, ...]:
    by_id = {row.id: row for row in rows}
    parents = {identifier: [parent.parent_id for parent in ancestry[identifier].parents] for identifier in by_id}
    return tuple(
        _record(by_id[identifier], view=view, one=ancestry[identifier], novelty=novelty[by_id[identifier].ref])
        for identifier in parents_first(parents, sort_key=view.age_key)
    )


def _record(row: MemoryRow, *, view: StoreView, one: Ancestry, novelty: Novelty) -> PlannedRecord:
    withdrawn = None
    if row.deleted_text is not None:
        withdrawn = claimed_instant(row.deleted_text, agreed=view.agreed)
    return PlannedRecord(
        ref=row.ref,
        foreign_id=row.id,
        type=row.type,
        recorded=view.recorded[row.id],
        withdrawn=withdrawn,
        derivation=_derivation(row, one=one),
        parents=one.parents,
        n_quarantined=one.n_quarantined,
        holds_foreign_text=one.holds_foreign_text,
        row_hash=row.row_hash,
        novelty=novelty,
    )


def _derivation(row: MemoryRow, *, one: Ancestry) -> Derivation | None:
    own, claims = one.own, row.claims
    if own is None:
        return None
    kind = KIND_BY_RELATION[own.relation]
    reason, is_default = known_reason(claims.change_reason)
    claimed_at = None if own.at is None else claimed_instant(own.at.isoformat())
    is_part = kind == "split" and own.at is not None and bool(own.targets)
    return Derivation(
        kind=kind,
        claimed_at=claimed_at,
        group=f"split {own.targets[0]} {own.at}" if is_part else f"{kind} into {row.id}",
        change_reason=reason if kind == "evolve" else None,
        is_default_reason=kind == "evolve" and is_default,
        merge_strategy=known_strategy(claims.merge_strategy) if kind == "merge" else None,
        split_part=claims.split_part if kind == "split" else None,
        split_total=claims.split_total if kind == "split" else None,
    )


def _link_novelty(link: Link, *, novelty: Mapping[RowRef, Novelty]) -> Novelty:
    found = {novelty[ref] for ref in (*link.rows, *link.inverse_rows)}
    if found == {"new"}:
        return "new"
    return "altered" if "altered" in found else "known"
