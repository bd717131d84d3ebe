"""L2 and L3 over the windows of one of our namespaces: edges, the derivations that wrote them, the digests of records.

- L2: what a record claims are the edges that its own entry lists, and its ancestry digest. Ancestry must be written by
  a derivation of the entry that created the record. A supersession that an import took over as a link names none.
- L3: an inverse is read off the stored edge, so an edge must be stored under the label that is turned round; and a
  derivation must have an edge.

Source: laws of the store, 1.5 (S3, S4), 1.7, 2.1 and 2.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audit.laws import ours_digests as digests
from audit.laws.ours_place import Place
from audit.laws.ours_rows import DerivationRow, EdgeRow, RecordRow, Window
from audit.laws.relations import ANCESTRY, FORWARD, INVERSE, ONE_WAY, RELATION_OF
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, Aside, Finding, Scope

SUSPECTS_KEPT = 10_000


@dataclass(slots=True)
class Lineage:
    """L2 and L3: edges agree with the log, with the derivations that wrote them and with the records' digests."""

    place: Place
    n_edges: int = 0
    n_derived: int = 0
    n_disagreeing: int = 0
    agreement: dict[Scope, Tally] = field(init=False)
    inverses: dict[Scope, Tally] = field(init=False)
    later: Tally = field(init=False)
    suspects: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.agreement, self.inverses = self.place.tallies("L2"), self.place.tallies("L3")
        # What it counts is told as an aside, under no clause.
        self.later = self.place.tally("L2")

    def feed(self, window: Window) -> None:
        disagreeing: set[str] = set()
        self._feed_items(window, disagreeing)
        derivations = {row.id: row for row in window.derivations}
        created = {row.id: row for row in window.records.values()}
        above: dict[str, list[EdgeRow]] = defaultdict(list)
        for edge in window.edges:
            self.n_edges += 1
            self._feed_direction(edge)
            if edge.relation in ANCESTRY:
                above[edge.source].append(edge)
                self._feed_order(edge, created.get(edge.source))
            is_told_derived = edge.relation in ANCESTRY or edge.derivation is not None
            if is_told_derived and not _is_derived(edge, derivations, created):
                self.agreement["store"].add(self.place.edge("edge_without_claim", edge, side="edge"))
                disagreeing.add(edge.source)
        self._feed_derivations(window)
        self._feed_digests(window, above, disagreeing)
        self.n_disagreeing += len(disagreeing)

    def _feed_items(self, window: Window, disagreeing: set[str]) -> None:
        """Edges that the log lists are there, as they were written."""
        stored = {(edge.seq, edge.item): edge for edge in window.edges}
        for at, item in window.items.items():
            if item.kind != "edge":
                continue
            edge = stored.get(at)
            if edge is None or edge.source != item.object:
                witness = self.place.witness("claim_without_edge_own", item.object, entry=at[0], item=at[1], side="log")
                self.agreement["fragment"].add(witness)
            elif digests.item(committed_edge(edge), {}) != item.commitment:
                self.agreement["fragment"].add(self.place.edge("edge_altered", edge, side="log"))
            else:
                continue
            disagreeing.add(item.object)

    def _feed_derivations(self, window: Window) -> None:
        """A derivation that no edge names was broken off before it could be followed either way."""
        named = {edge.derivation for edge in window.edges}
        for row in window.derivations:
            if row.id not in named:
                facts = {"derivation": digests.dashed(row.id), "entry": row.seq}
                self.inverses["fragment"].add(self.place.witness("interrupted_derivation", "", **facts))

    def _feed_direction(self, edge: EdgeRow) -> None:
        scope: Scope = "store" if edge.derivation is None else "fragment"
        if edge.relation in ONE_WAY:
            self.inverses["store"].add(self.place.edge("no_inverse", edge), "information")
        elif edge.relation not in FORWARD:
            kind = "unpaired" if scope == "store" else "interrupted_derivation"
            absent = [digests.dashed(edge.target), INVERSE.get(edge.relation), digests.dashed(edge.source)]
            self.inverses[scope].add(self.place.edge(kind, edge, absent=absent))

    def _feed_order(self, edge: EdgeRow, child: RecordRow | None) -> None:
        """An ancestor stands before its descendant in the log, so no walk upwards can come back."""
        if edge.target_seq is None or edge.target_item is None:
            return
        below = (edge.seq, edge.item) if child is None else (child.seq, child.item)
        if (edge.target_seq, edge.target_item) >= below:
            self.later.add(self.place.edge("ancestor_not_earlier", edge))

    def _feed_digests(self, window: Window, above: Mapping[str, Sequence[EdgeRow]], disagreeing: set[str]) -> None:
        for at, row in window.records.items():
            edges, item = above.get(row.id, ()), window.items.get(at)
            self.n_derived += bool(edges)
            if item is None or row.id in disagreeing or any(edge.target in self.suspects for edge in edges):
                continue
            parents = [(edge.relation, edge.target_digest or b"") for edge in edges]
            expected = digests.ancestry(row.id, item.commitment, parents, row.n_quarantined)
            if expected != row.ancestry_digest:
                facts = {"stored": row.ancestry_digest.hex(), "follows": expected.hex(), "side": "record"}
                self.agreement["fragment"].add(self.place.witness("digest_disagrees", row.id, entry=row.seq, **facts))
                disagreeing.add(row.id)
                # What follows from a digest that is already told is not told again below it.
                if len(self.suspects) < SUSPECTS_KEPT:
                    self.suspects.add(row.id)

    def asides(self) -> Iterator[Aside]:
        """Ancestry that does not go back in the log: where there is none, there is no cycle."""
        if n_later := self.later.counts["ancestor_not_earlier"]:
            yield Aside("ancestor_not_earlier", n_later, tuple(self.later.witnesses))

    def findings(self) -> Iterator[Finding]:
        for tallies, how in (
            (self.agreement, "edges against the log and against the ancestry digests of the records"),
            (self.inverses, "the label of every edge: the other direction is a query over it"),
        ):
            yield from (tallies[scope].finding(decided_by=how) for scope in SCOPES)


def _is_derived(
    edge: EdgeRow, derivations: Mapping[str, DerivationRow], created: Mapping[str, RecordRow]
) -> bool:  # fmt: skip
    """Whether a derivation of the edge's own entry wrote it, and ancestry together with the record that it leaves."""
    derivation = derivations.get(edge.derivation or "")
    if derivation is None or (derivation.seq, RELATION_OF.get(derivation.kind)) != (edge.seq, edge.relation):
        return False
    child = created.get(edge.source)
    return edge.relation not in ANCESTRY or (child is not None and child.seq == edge.seq)


def committed_edge(row: EdgeRow) -> dict[str, object]:
    """The columns of an edge that its item commits to."""
    return {
        "source": digests.dashed(row.source), "relation": row.relation, "target": digests.dashed(row.target),
        "ordinal": row.ordinal, "derivation": None if row.derivation is None else digests.dashed(row.derivation),
    }  # fmt: skip
