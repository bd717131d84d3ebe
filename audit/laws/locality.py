"""L4 and L5 of a snapshot: what crosses namespaces, and what could have come out otherwise.

- L4(i) speaks of operations, and nothing in a snapshot says which namespaces one of them named. Two snapshots decide it
  only where nothing that was there changed.
- L4(ii) is broken by an ancestry edge, or an own claim without its edge, that joins two namespaces.
- L5 is decided by running an operation twice. One snapshot shows ties and names that could be resolved either way.

Source: laws of the store, 2.1, 2.3 (rules 4 and 5) and 4.4.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from audit.laws.fragment import Fragment, claims_of, scope_of
from audit.laws.relations import ANCESTRY, DESCENT
from audit.laws.structure import changes
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, Finding, Snapshot, SnapshotEdge, Witness

A_LOG = "a log that says which namespaces each operation named"
A_SECOND_RUN = "running the same operation twice from equal states, or reading the source"
PREFIX_CHARS = 8


def confinement(snapshot: Snapshot, *, before: Snapshot | None = None) -> Finding:
    """L4(i). `before`: an earlier snapshot of the same store."""
    tally = Tally("L4i")
    if before is None:
        return tally.finding(is_decidable=False, decided_by=f"a second snapshot, and {A_LOG}")
    for change in changes(before, snapshot):
        tally.add(change, "potential")
    tally.add_all(_changed_edges(before, snapshot), "potential")
    if tally.counts:
        return tally.finding(is_decidable=False, decided_by=A_LOG)
    return tally.finding(decided_by="the earlier snapshot: everything in it stands as it was, in every namespace")


def _changed_edges(before: Snapshot, after: Snapshot) -> Iterator[Witness]:
    now = {edge.key: edge for edge in after.edges}
    for old in before.edges:
        new = now.get(old.key)
        if new is None or new.payload != old.payload or new.is_marked_deleted != old.is_marked_deleted:
            kind = "edge_gone" if new is None else "edge_altered"
            yield Witness(kind, *old.key, *_namespaces(before, old))


def _namespaces(snapshot: Snapshot, edge: SnapshotEdge) -> tuple[str, str]:
    """The namespaces of both ends; "" for an end that is no record."""
    ends = (snapshot.records.get(edge.source), snapshot.records.get(edge.target))
    first, second = (end.namespace if end is not None else "" for end in ends)
    return first, second


def construction_locality(snapshot: Snapshot) -> list[Finding]:
    """L4(ii), the fragment and the whole store apart. Crossing edges of other relations are for information."""
    fragment = Fragment.of(snapshot)
    tallies = {scope: Tally("L4ii", scope) for scope in SCOPES}
    edges = {edge.key for edge in snapshot.edges}
    for edge in snapshot.edges:
        here, there = _namespaces(snapshot, edge)
        if not here or not there or here == there or edge.relation in DESCENT:
            continue
        if edge.relation in ANCESTRY:
            witness = Witness("cross_namespace_ancestry", *edge.key, here, there)
            tallies[fragment.scope(edge)].add(witness)
        else:
            tallies["store"].add(Witness("cross_namespace_edge", *edge.key, here, there), "information")
    for record, claim in claims_of(snapshot):
        source = snapshot.records.get(claim.target)
        is_told_by_edge = (record.id, claim.relation, claim.target) in edges
        if claim.is_own and not is_told_by_edge and source is not None and source.namespace != record.namespace:
            ends = (record.id, claim.relation, claim.target, record.namespace, source.namespace)
            tallies[scope_of(claim)].add(Witness("cross_namespace_claim", *ends))
    return [tallies[scope].finding(decided_by="the namespaces of both ends of ancestry") for scope in SCOPES]


def resolution_independence(snapshot: Snapshot) -> Finding:
    """L5. Everything that one snapshot shows of it is potential."""
    tally = Tally("L5")
    tally.add_all(_type_ties(snapshot), "potential")
    tally.add_all(_shared_prefixes(snapshot), "potential")
    tally.add_all(_ids_within_ids(snapshot), "potential")
    return tally.finding(is_decidable=False, decided_by=A_SECOND_RUN)


def _type_ties(snapshot: Snapshot) -> Iterator[Witness]:
    """Merges whose type is one of several that are equally frequent among its sources."""
    sources: dict[str, list[str]] = defaultdict(list)
    for edge in snapshot.edges:
        if edge.relation == "merged_from" and edge.target in snapshot.records:
            sources[edge.source].append(snapshot.records[edge.target].type)
    for record in snapshot.records.values():
        counts = Counter(sources.get(record.id, ()))
        most = max(counts.values(), default=0)
        tied = sorted(type for type, count in counts.items() if count == most)
        if len(tied) > 1 and record.type in tied:
            facts = {"stored_type": record.type, "tied": tied}
            yield Witness("merge_type_tie", record.id, namespace=record.namespace, facts=facts)


def _shared_prefixes(snapshot: Snapshot) -> Iterator[Witness]:
    """Identifiers whose first eight characters are the same: what people type to name a record."""
    groups: dict[str, list[str]] = defaultdict(list)
    for id in sorted(snapshot.records):
        groups[id[:PREFIX_CHARS]].append(id)
    for prefix, ids in groups.items():
        if len(ids) > 1:
            namespaces = sorted({snapshot.records[id].namespace for id in ids})
            yield Witness("shared_prefix", ids[0], facts={"prefix": prefix, "ids": ids, "namespaces": namespaces})


def _ids_within_ids(snapshot: Snapshot) -> Iterator[Witness]:
    """A full identifier that is the beginning of another one; of several that begin it, the longest."""
    beginnings: list[str] = []
    for id in sorted(snapshot.records):
        # In order, everything that begins an identifier stands before it, each inside the next.
        while beginnings and not id.startswith(beginnings[-1]):
            beginnings.pop()
        if beginnings:
            yield Witness("id_is_prefix", beginnings[-1], target=id)
        beginnings.append(id)
