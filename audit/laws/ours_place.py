"""Where a check of our own store is, and how it names what it finds there."""

from __future__ import annotations

from dataclasses import dataclass

from audit.laws import ours_digests as digests
from audit.laws.ours_rows import EdgeRow
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, ClauseName, Scope, Witness


@dataclass(frozen=True, slots=True)
class Place:
    """Which namespace is read, and how many counterexamples of a kind are kept."""

    namespace: int
    name: str
    most: int

    def tally(self, clause: ClauseName, scope: Scope = "store") -> Tally:
        return Tally(clause, scope, most=self.most)

    def tallies(self, clause: ClauseName) -> dict[Scope, Tally]:
        return {scope: self.tally(clause, scope) for scope in SCOPES}

    def witness(self, kind: str, record: str, relation: str = "", target: str = "", /, **facts: object) -> Witness:
        """A counterexample in the namespace; identifiers as 32 digits or empty."""
        newer, older = (digests.dashed(id) if id else "" for id in (record, target))
        return Witness(kind, newer, relation, older, self.name, facts=facts)

    def edge(self, kind: str, edge: EdgeRow, /, **facts: object) -> Witness:
        return self.witness(kind, edge.source, edge.relation, edge.target, entry=edge.seq, **facts)
