"""L4(ii) and L7 over the windows of one of our namespaces: where edges end.

An end that is a record of another namespace crosses; an end that is a record of none dangles.

Source: laws of the store, 2.1, 2.3 (rule 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from audit.laws import ours_digests as digests
from audit.laws import ours_rows as rows
from audit.laws.ours_place import Place
from audit.laws.ours_rows import EdgeRow, Window
from audit.laws.relations import ANCESTRY
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, Finding, Scope, Witness


@dataclass(slots=True)
class Ends:
    """L4(ii) and L7: where edges end."""

    place: Place
    crossing: dict[Scope, Tally] = field(init=False)
    dangling: dict[Scope, Tally] = field(init=False)

    def __post_init__(self) -> None:
        self.crossing, self.dangling = self.place.tallies("L4ii"), self.place.tallies("L7")

    def feed(self, window: Window) -> None:
        here = {row.id for row in window.records.values()}
        elsewhere = {edge.source for edge in window.edges} - here
        sources = here | (rows.known(self.place.namespace, elsewhere) if elsewhere else set())
        open_ends = [(edge, missing) for edge in window.edges if (missing := _missing(edge, sources))]
        owners = rows.owners(end for _, ends in open_ends for end in ends) if open_ends else {}
        for edge, ends in open_ends:
            scope: Scope = "store" if edge.derivation is None else "fragment"
            nowhere = [digests.dashed(end) for end in ends if end not in owners]
            if nowhere:
                self.dangling[scope].add(self.place.edge("edge_end_missing", edge, missing=nowhere))
            else:
                self._cross(edge, scope, owners)

    def _cross(self, edge: EdgeRow, scope: Scope, owners: Mapping[str, str]) -> None:
        shown = (digests.dashed(edge.source), edge.relation, digests.dashed(edge.target))
        ends = (owners.get(edge.source, self.place.name), owners.get(edge.target, self.place.name))
        if edge.relation in ANCESTRY:
            self.crossing[scope].add(Witness("cross_namespace_ancestry", *shown, *ends))
        else:
            self.crossing["store"].add(Witness("cross_namespace_edge", *shown, *ends), "information")

    def findings(self) -> Iterator[Finding]:
        yield from (self.crossing[scope].finding(decided_by="both ends of ancestry") for scope in SCOPES)
        yield from (self.dangling[scope].finding(decided_by="both ends of every edge") for scope in SCOPES)


def _missing(edge: EdgeRow, sources: set[str]) -> list[str]:
    """The ends that are no record of the namespace."""
    missing = [] if edge.source in sources else [edge.source]
    return missing if edge.target_seq is not None else [*missing, edge.target]
