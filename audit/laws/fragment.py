"""Which part of a store its derivations wrote, told from the store alone.

- An ancestry edge belongs to the fragment where its newer end claims it as its own; its inverse belongs with it.
- A supersession belongs where its edge carries the mark of the operation; its inverse belongs with it.
- Everything else is of the whole store: links, what a link wrote under a label of derivations, inherited claims.

Source: laws of the store, 2.3 (rule 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.laws.relations import ANCESTRY, DESCENT, INVERSE
from audit.laws.values import Claim, Scope, Snapshot, SnapshotEdge, SnapshotRecord

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Fragment:
    """The keys (source, relation, target) of own claims, and of edges with the mark of a supersession."""

    own: frozenset[Key]
    marked: frozenset[Key]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Fragment:
        own = {
            (record.id, claim.relation, claim.target)
            for record in snapshot.records.values()
            for claim in record.claims
            if claim.is_own
        }
        return cls(frozenset(own), frozenset(edge.key for edge in snapshot.edges if edge.has_derivation_mark))

    def scope(self, edge: SnapshotEdge) -> Scope:
        """Where a finding about the edge belongs."""
        source, relation, target = edge.key
        if relation in ANCESTRY:
            is_inside = edge.key in self.own
        elif relation in DESCENT:
            is_inside = (target, INVERSE[relation], source) in self.own
        elif relation == "superseded_by":
            is_inside = (target, "supersedes", source) in self.marked
        else:
            is_inside = edge.key in self.marked
        return "fragment" if is_inside else "store"


def scope_of(claim: Claim) -> Scope:
    """Where a finding about a claim belongs."""
    return "fragment" if claim.is_own else "store"


def claims_of(snapshot: Snapshot) -> Iterator[tuple[SnapshotRecord, Claim]]:
    """Every claim once, in the order of the records; a repeated one is not repeated."""
    for record in snapshot.records.values():
        for claim in dict.fromkeys(record.claims):
            yield record, claim
