"""Parentage from edges and metadata: what is accepted, what is repaired, what is quarantined.

Invariants
- Accepted parents are records of the child's own namespace, and accepted edges form no cycle.
- Each ancestry edge row ends in exactly one place: with an accepted parent, or in a quarantine.
- `n_quarantined` counts each (relation, text) a record is tied to by an edge or an own claim and that is no parent.

The rules, in the order in which they are asked

| the mention resolves to | claimed | edge | outcome |
|---|---|---|---|
| another namespace | any | any | quarantine `cross-namespace`; `captured` if it abbreviates one of the own |
| nothing | no | yes | quarantine `edge-without-claim` |
| nothing, or several | yes | any | quarantine `target-missing`, `abbreviation-ambiguous` |
| a record, and lies on a cycle | no | yes | quarantine `cycle` |
| a record | no | yes | quarantine `edge-without-claim` |
| a record, on a cycle of claims, target not older | yes | any | quarantine `cycle` |
| a record | yes | no | repair `edge-write-lost` |
| a record, by abbreviation | yes | yes | repair `abbreviation-expanded` |
| a record | yes | yes | `agreed` |

On a cycle of claims every edge from a record to one that is not older goes: at least one such edge lies on each cycle,
so what remains is acyclic, and the result does not depend on where the walk begins.

Source: laws of the store 4.3, 5.8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memory.interchange.contextfs.kernel.cells import JsonObject
from memory.interchange.contextfs.kernel.claims import LineageClaim, own_claim
from memory.interchange.contextfs.kernel.clocks import ClaimedInstant
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.graph import edges_on_cycles
from memory.interchange.contextfs.kernel.resolution import Resolution
from memory.interchange.contextfs.kernel.rows import EdgeRow, MemoryRow
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.view import StoreView
from memory.interchange.contextfs.kernel.vocabulary import ANCESTRY_RELATIONS, stored_direction

# A merge writes the identifiers it resolved; evolve and split write what was typed.
_WRITTEN_AS_TYPED = ("evolved_from", "split_from")


@dataclass(frozen=True, slots=True)
class ParentEdge:
    """An accepted parent.

    ordinal : place among the sources as the caller named them, from 0.   reasons : `agreed`, or the codes of the
    repairs.   rows, inverse_rows : the source rows that say it forwards and backwards; both may be empty.
    """

    relation: str
    parent_id: str
    ordinal: int
    reasons: tuple[str, ...]
    recorded: ClaimedInstant | None
    rows: tuple[RowRef, ...]
    inverse_rows: tuple[RowRef, ...]


@dataclass(frozen=True, slots=True)
class Ancestry:
    """The parentage of one record after reconciliation."""

    own: LineageClaim | None
    parents: tuple[ParentEdge, ...]
    n_quarantined: int
    holds_foreign_text: bool


@dataclass(slots=True)
class _Mention:
    """One text that a record is tied to as to a parent: by its own claim (`ordinal`), by edge rows, or by both."""

    relation: str
    text: str
    ordinal: int | None = None
    rows: list[EdgeRow] = field(default_factory=list)
    inverse_rows: list[EdgeRow] = field(default_factory=list)

    def refs(self) -> tuple[RowRef, ...]:
        return tuple(row.ref for row in (*self.rows, *self.inverse_rows))


@dataclass(slots=True)
class _Candidate:
    """All mentions of one record that resolve to the same parent under the same relation."""

    child: str
    relation: str
    target: str
    mentions: list[_Mention] = field(default_factory=list)

    @property
    def ordinal(self) -> int | None:
        return min((mention.ordinal for mention in self.mentions if mention.ordinal is not None), default=None)

    def refs(self, *, inverse: bool) -> tuple[RowRef, ...]:
        return tuple(
            row.ref for mention in self.mentions for row in (mention.inverse_rows if inverse else mention.rows)
        )


@dataclass(slots=True)
class _Case:
    """The work on one record: its own claim, what is quarantined and what may become a parent."""

    row: MemoryRow
    own: LineageClaim | None
    quarantined: set[tuple[str, str]] = field(default_factory=set)
    candidates: dict[tuple[str, str], _Candidate] = field(default_factory=dict)
    parents: list[ParentEdge] = field(default_factory=list)
    holds_foreign_text: bool = False


def reconcile(view: StoreView, *, edges: Iterable[EdgeRow]) -> tuple[dict[str, Ancestry], list[Finding]]:
    """The parentage of every record, and what there is to say about it. edges : all ancestry rows, both directions."""
    mentions = _edge_mentions(edges)
    findings = [
        _orphan(view, child=child, mention=mention)
        for child in sorted(mentions.keys() - view.records.keys())
        for mention in mentions[child].values()
    ]
    cases = []
    for row in view.records.values():
        named = mentions.get(row.id, {})
        case = _case(row, mentions=named, findings=findings)
        cases.append(case)
        for mention in _ordered(named.values()):
            _resolve(case, mention, view=view, findings=findings)
    _settle(cases, view=view, findings=findings)
    ancestry = {
        case.row.id: Ancestry(case.own, tuple(case.parents), len(case.quarantined), case.holds_foreign_text)
        for case in cases
    }
    return ancestry, findings


def _edge_mentions(edges: Iterable[EdgeRow]) -> dict[str, dict[tuple[str, str], _Mention]]:
    mentions: dict[str, dict[tuple[str, str], _Mention]] = defaultdict(dict)
    for edge in edges:
        relation, is_inverse = stored_direction(edge.relation)
        assert relation in ANCESTRY_RELATIONS
        child, text = (edge.to_id, edge.from_id) if is_inverse else (edge.from_id, edge.to_id)
        mention = mentions[child].setdefault((relation, text), _Mention(relation, text))
        (mention.inverse_rows if is_inverse else mention.rows).append(edge)
    return dict(mentions)


def _orphan(view: StoreView, *, child: str, mention: _Mention) -> Finding:
    return Finding(
        "endpoint-missing",
        view.index.namespace_of(mention.text),
        (child, mention.text),
        mention.relation,
        rows=mention.refs(),
    )


def _case(row: MemoryRow, *, mentions: dict[tuple[str, str], _Mention], findings: list[Finding]) -> _Case:
    """Settle which claim is the record's own, and add its targets to the mentions."""
    claims = row.claims
    own = own_claim(claims, edges={key for key, mention in mentions.items() if mention.rows})
    case = _Case(row, own)
    if own is not None:
        for ordinal, text in enumerate(own.distinct_targets):
            mentions.setdefault((own.relation, text), _Mention(own.relation, text)).ordinal = ordinal
    inherited = [claim for claim in claims.every if claim != own] if own else list(claims.inherited)
    if own is None and claims.candidates:
        case.quarantined |= {(claim.relation, text) for claim in claims.candidates for text in claim.targets}
        findings.append(_about(row, "claim-ambiguous", before=_spelled(claims.candidates), rows=()))
    elif own is not None and own.is_malformed:
        case.quarantined.add((own.relation, ""))
        findings.append(_about(row, "claim-malformed", relation=own.relation, rows=()))
    if inherited:
        findings.append(_about(row, "inherited-claim-dropped", before=_spelled(inherited), after=_spelled([own])))
    if own is not None and len(own.distinct_targets) < len(own.targets):
        findings.append(_about(row, "duplicate-source", relation=own.relation, before=_spelled([own])))
    return case


def _resolve(case: _Case, mention: _Mention, *, view: StoreView, findings: list[Finding]) -> None:
    """Make a candidate of the mention, or quarantine it."""
    row = case.row
    resolution = view.index.resolve(
        mention.text,
        namespace=row.namespace,
        besides=row.id,
        may_abbreviate=mention.relation in _WRITTEN_AS_TYPED,
    )
    if resolution.outcome in {"found", "expanded"}:
        assert resolution.target is not None
        key = (mention.relation, resolution.target)
        candidate = case.candidates.setdefault(key, _Candidate(row.id, *key))
        candidate.mentions.append(mention)
        return
    case.quarantined.add((mention.relation, mention.text))
    if resolution.outcome == "cross-namespace" and mention.ordinal is not None:
        case.holds_foreign_text = True
    findings.append(_unresolved(row, mention, resolution=resolution, view=view))


def _unresolved(row: MemoryRow, mention: _Mention, *, resolution: Resolution, view: StoreView) -> Finding:
    before: JsonObject = {"claimed": mention.ordinal is not None, "edge": bool(mention.rows)}
    if resolution.target is not None:
        before["namespaces"] = [row.namespace, view.index.namespace_of(resolution.target)]
        code: str = resolution.outcome
    elif mention.ordinal is None:
        code = "edge-without-claim"
    else:
        code = "abbreviation-ambiguous" if resolution.outcome == "ambiguous" else "target-missing"
    after: JsonObject | None = {"candidates": list(resolution.candidates)} if resolution.candidates else None
    return Finding(code, row.namespace, (row.id, mention.text), mention.relation, before, after, mention.refs())


def _settle(cases: Sequence[_Case], *, view: StoreView, findings: list[Finding]) -> None:
    """Accept or quarantine each candidate; cycles are judged over the whole store at once."""
    candidates = [(case, candidate) for case in cases for candidate in case.candidates.values()]
    cycles = edges_on_cycles((candidate.child, candidate.target) for _, candidate in candidates)
    claimed_cycles = edges_on_cycles(
        (candidate.child, candidate.target) for _, candidate in candidates if candidate.ordinal is not None
    )
    for case, candidate in candidates:
        pair = (candidate.child, candidate.target)
        if candidate.ordinal is None:
            code = "cycle" if pair in cycles else "edge-without-claim"
        elif pair in claimed_cycles and view.age_key(candidate.target) >= view.age_key(candidate.child):
            code = "cycle"
        else:
            _accept(case, candidate, ordinal=candidate.ordinal, view=view, findings=findings)
            continue
        for mention in candidate.mentions:
            case.quarantined.add((mention.relation, mention.text))
            before: JsonObject = {"claimed": mention.ordinal is not None, "edge": bool(mention.rows)}
            findings.append(
                Finding(
                    code,
                    case.row.namespace,
                    (candidate.child, candidate.target),
                    candidate.relation,
                    before,
                    rows=mention.refs(),
                )
            )


def _accept(case: _Case, candidate: _Candidate, *, ordinal: int, view: StoreView, findings: list[Finding]) -> None:
    rows = candidate.refs(inverse=False)
    inverse_rows = candidate.refs(inverse=True)
    texts = sorted({mention.text for mention in candidate.mentions} - {candidate.target})
    reasons = ["abbreviation-expanded"] * bool(texts) + ["edge-write-lost"] * (not rows)
    edges = [edge for mention in candidate.mentions for edge in (*mention.rows, *mention.inverse_rows)]
    case.parents.append(
        ParentEdge(
            relation=candidate.relation,
            parent_id=candidate.target,
            ordinal=ordinal,
            reasons=tuple(reasons) or ("agreed",),
            recorded=view.edge_instant(edges[0].created_text, derived_id=candidate.child) if edges else None,
            rows=rows,
            inverse_rows=inverse_rows,
        )
    )
    case.parents.sort(key=lambda parent: (parent.ordinal, parent.parent_id))
    for code in reasons:
        before: JsonObject = {"claim": [mention.text for mention in candidate.mentions], "edge": bool(rows)}
        after: JsonObject = {"parent": candidate.target}
        ids = (candidate.child, candidate.target)
        findings.append(
            Finding(code, case.row.namespace, ids, candidate.relation, before, after, (*rows, *inverse_rows))
        )
    if _is_surely_younger(candidate, view=view):
        findings.append(_about(case.row, "target-younger", relation=candidate.relation, other=candidate.target))


def _is_surely_younger(candidate: _Candidate, *, view: StoreView) -> bool:
    child, target = view.recorded[candidate.child], view.recorded[candidate.target]
    if child.at is None or target.at is None or "assumed" in {child.how, target.how}:
        return False
    return target.at > child.at


def _ordered(mentions: Iterable[_Mention]) -> list[_Mention]:
    last = 1_000_000_000
    return sorted(mentions, key=lambda m: (last if m.ordinal is None else m.ordinal, m.relation, m.text))


def _spelled(claims: Iterable[LineageClaim | None]) -> JsonObject:
    return {claim.relation: list(claim.targets) for claim in claims if claim is not None}


def _about(
    row: MemoryRow,
    code: str,
    *,
    relation: str | None = None,
    other: str | None = None,
    before: JsonObject | None = None,
    after: JsonObject | None = None,
    rows: tuple[RowRef, ...] | None = None,
) -> Finding:
    ids = (row.id,) if other is None else (row.id, other)
    return Finding(code, row.namespace, ids, relation, before, after, (row.ref,) if rows is None else rows)
