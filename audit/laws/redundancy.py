"""L2 and L3 of a snapshot: what a store says twice, and whether it says the same both times.

- L2 compares, record by record, the ancestry edges that leave it with what it claims. A claim that was copied from a
  parent is not the record's own; it is counted apart, and the newest-own-claim rule leaves it out.
- L3 asks for the inverse of each edge under a label of derivations. Half a pair that belongs to the fragment is a
  derivation that was interrupted.

Source: laws of the store, 2.1, 2.3 (rules 1 to 3) and 4.3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from audit.laws.fragment import Fragment
from audit.laws.relations import ANCESTRY, DERIVED, INVERSE
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, Finding, Snapshot, Witness

Parent = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """L2 over both scopes, and how many records disagree before and after inherited claims are left out."""

    findings: list[Finding]
    measures: Mapping[str, int]


def edge_record_agreement(snapshot: Snapshot) -> Agreement:
    """L2, the fragment and the whole store apart."""
    above: dict[str, set[Parent]] = defaultdict(set)
    for edge in snapshot.edges:
        if edge.relation in ANCESTRY:
            above[edge.source].add((edge.relation, edge.target))
    tallies = {scope: Tally("L2", scope) for scope in SCOPES}
    n_disagreeing = n_after = n_derived = 0
    for id in [*snapshot.records, *sorted(above.keys() - snapshot.records.keys())]:
        record = snapshot.records.get(id)
        namespace = record.namespace if record is not None else ""
        edges = above.get(id, set())
        claimed = {(claim.relation, claim.target): claim.is_own for claim in record.claims} if record else {}
        own = {parent for parent, is_own in claimed.items() if is_own}
        n_derived += bool(own)
        n_disagreeing += claimed.keys() != edges
        n_after += own != edges
        for relation, target in sorted(claimed.keys() - edges):
            is_own = claimed[relation, target]
            kind = "claim_without_edge_own" if is_own else "claim_without_edge_inherited"
            witness = Witness(kind, id, relation, target, namespace, facts={"side": "record"})
            tallies["fragment" if is_own else "store"].add(witness)
        for relation, target in sorted(edges - claimed.keys()):
            witness = Witness("edge_without_claim", id, relation, target, namespace, facts={"side": "edge"})
            tallies["store"].add(witness)
    findings = [tallies[scope].finding(decided_by="edges against claims, record by record") for scope in SCOPES]
    measures = {
        "derived_records": n_derived, "records_disagreeing": n_disagreeing,
        "records_disagreeing_after_own_claim_rule": n_after,
    }  # fmt: skip
    return Agreement(findings, measures)


def inverse_closure(snapshot: Snapshot) -> list[Finding]:
    """L3, the fragment and the whole store apart."""
    fragment = Fragment.of(snapshot)
    stored = {edge.key for edge in snapshot.edges}
    tallies = {scope: Tally("L3", scope) for scope in SCOPES}
    for edge in snapshot.edges:
        source, relation, target = edge.key
        if relation not in INVERSE:
            tallies["store"].add(Witness("no_inverse", source, relation, target), "information")
            continue
        back = (target, INVERSE[relation], source)
        if relation not in DERIVED or back in stored:
            continue
        scope = fragment.scope(edge)
        kind = "interrupted_derivation" if scope == "fragment" else "unpaired"
        tallies[scope].add(Witness(kind, source, relation, target, facts={"absent": list(back)}))
    return [tallies[scope].finding(decided_by="looking up the inverse of every edge") for scope in SCOPES]
