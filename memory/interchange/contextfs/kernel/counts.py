"""What the source holds, counted before any rule but the one that tells own claims from inherited ones.

Invariants
- Counts speak of the usable rows as they stand: nothing is resolved, expanded or repaired for them.

Source: laws of the store 4.3 ("accept") and 6, whose figures these are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel import clocks
from memory.interchange.contextfs.kernel.agreement import agreements
from memory.interchange.contextfs.kernel.graph import components
from memory.interchange.contextfs.kernel.rows import EdgeRow, MemoryRow, Survey
from memory.interchange.contextfs.kernel.view import StoreView
from memory.interchange.contextfs.kernel.vocabulary import (
    ANCESTRY_RELATIONS,
    DERIVATION_RELATIONS,
    inverse_of,
    stored_direction,
)


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """One number for each thing an import report or a law asks of the source. Ties are (relation, target) pairs.

    n_disagreeing : records whose ancestry edges differ from all their claims.   n_disagreeing_own : from their own.
    """

    n_records: int
    n_live: int
    n_edges: int
    n_edges_live: int
    n_derived: int
    n_created_naive: int
    n_created_aware: int
    by_namespace: Mapping[str, int]
    by_type: Mapping[str, int]
    n_edges_without_claim: int
    n_own_claims_without_edge: int
    n_inherited_claims_without_edge: int
    n_disagreeing: int
    n_disagreeing_own: int
    n_claims_about_missing: int
    n_derivation_edges_unpaired: int
    n_labels_without_inverse: int
    n_ancestry_across_namespaces: int
    n_other_edges_across_namespaces: int
    n_dangling_edges: int
    n_edges_with_withdrawn_end: int
    n_stale_hashes: int
    n_withdrawn: int
    n_ancestry_cycles: int


def source_counts(surveyed: Survey, *, view: StoreView) -> SourceCounts:
    memories = surveyed.memories
    instants = [clocks.parsed(row.created_text) for row in memories]
    n_aware = sum(1 for instant in instants if instant is not None and instant.utcoffset() is not None)
    return SourceCounts(
        n_records=len(memories),
        n_live=sum(1 for row in memories if row.deleted_text is None),
        n_edges=len(surveyed.edges),
        n_edges_live=sum(1 for row in surveyed.edges if row.deleted_text is None),
        n_derived=sum(1 for row in memories if row.claims.every),
        n_created_naive=sum(1 for instant in instants if instant is not None) - n_aware,
        n_created_aware=n_aware,
        by_namespace=_sorted_counts(row.namespace for row in memories),
        by_type=_sorted_counts(row.type for row in memories),
        n_stale_hashes=sum(1 for row in memories if row.has_stale_hash),
        n_withdrawn=sum(1 for row in memories if row.deleted_text is not None),
        **_agreement(surveyed, view=view),
        **_edge_counts(surveyed.edges, records=view.records),
    )


def _agreement(surveyed: Survey, *, view: StoreView) -> dict[str, int]:
    """Edges beside claims, record by record."""
    counts: Counter[str] = Counter()
    for one in agreements(surveyed):
        counts["n_edges_without_claim"] += len(one.edges - one.every)
        counts["n_own_claims_without_edge"] += len(one.own - one.edges)
        counts["n_inherited_claims_without_edge"] += len(one.inherited - one.edges)
        counts["n_disagreeing"] += one.disagrees
        counts["n_disagreeing_own"] += one.disagrees_own
        counts["n_claims_about_missing"] += sum(1 for _, text in one.every if text not in view.records)
    names = (
        *("n_edges_without_claim", "n_own_claims_without_edge", "n_inherited_claims_without_edge"),
        *("n_disagreeing", "n_disagreeing_own", "n_claims_about_missing"),
    )
    return {name: counts[name] for name in names}


def _edge_counts(edges: tuple[EdgeRow, ...], *, records: Mapping[str, MemoryRow]) -> dict[str, int]:
    """Edges by themselves and beside the records at their ends."""
    keys = {row.ref.key for row in edges}
    counts = dict.fromkeys(
        (
            *("n_derivation_edges_unpaired", "n_labels_without_inverse", "n_ancestry_across_namespaces"),
            *("n_other_edges_across_namespaces", "n_dangling_edges", "n_edges_with_withdrawn_end"),
        ),
        0,
    )
    successors: dict[str, list[str]] = defaultdict(list)
    for row in edges:
        relation, _ = stored_direction(row.relation)
        inverse = inverse_of(row.relation)
        is_unpaired = inverse is not None and (row.to_id, row.from_id, inverse) not in keys
        counts["n_derivation_edges_unpaired"] += is_unpaired and relation in DERIVATION_RELATIONS
        counts["n_labels_without_inverse"] += relation == row.relation and inverse is None
        if row.relation in ANCESTRY_RELATIONS:
            successors[row.from_id].append(row.to_id)
        ends = [records[end] for end in (row.from_id, row.to_id) if end in records]
        counts["n_dangling_edges"] += len(ends) < 2
        counts["n_edges_with_withdrawn_end"] += any(end.deleted_text is not None for end in ends)
        if len({end.namespace for end in ends}) > 1:
            counts["n_ancestry_across_namespaces"] += row.relation in ANCESTRY_RELATIONS
            counts["n_other_edges_across_namespaces"] += relation not in ANCESTRY_RELATIONS
    counts["n_ancestry_cycles"] = _n_cycles(successors)
    return counts


def _n_cycles(successors: Mapping[str, list[str]]) -> int:
    """Groups of records that are all ancestors of one another; a record that is its own parent is one."""
    component = components(successors)
    on_cycle = {
        component[start] for start, ends in successors.items() for end in ends if component[end] == component[start]
    }
    return len(on_cycle)


def _sorted_counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
