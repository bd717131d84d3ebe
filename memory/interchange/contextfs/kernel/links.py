"""Edges that are no parentage: links, and the edges that a supersede writes.

Invariants
- One stored row for each pair of inverse edges, under the first label of its pair; a symmetric one from the smaller
  identifier to the larger.
- Both ends of a link are records of one namespace; anything else is quarantined.
- `supersedes` with the clock key of a supersede is a derivation; without it, it is a link like any other.

Source: laws of the store 5.3, 5.5, 5.8, 5.10 (I6, I8).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from memory.interchange.contextfs.kernel.cells import JsonObject
from memory.interchange.contextfs.kernel.clocks import ClaimedInstant, claimed_instant
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.rows import EdgeRow
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.view import StoreView
from memory.interchange.contextfs.kernel.vocabulary import (
    RELATIONS,
    SUPERSEDES,
    SYMMETRIC_RELATIONS,
    stored_direction,
)

type LinkKind = Literal["link", "supersede"]


@dataclass(frozen=True, slots=True)
class Link:
    """One edge to store.

    kind : `supersede` if the source wrote it as a derivation.   superseded_at : the instant that derivation claims.
    rows : the source rows it is made from.   inverse_rows : the rows that say the same backwards.
    """

    kind: LinkKind
    relation: str
    from_id: str
    to_id: str
    is_symmetric: bool
    is_withdrawn: bool
    recorded: ClaimedInstant
    superseded_at: ClaimedInstant | None
    rows: tuple[RowRef, ...]
    inverse_rows: tuple[RowRef, ...]


@dataclass(slots=True)
class _Group:
    """The rows, forwards and backwards, between two ends under one stored label."""

    rows: list[EdgeRow] = field(default_factory=list)
    inverse_rows: list[EdgeRow] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)

    def refs(self) -> tuple[RowRef, ...]:
        return tuple(row.ref for row in (*self.rows, *self.inverse_rows))


@dataclass(frozen=True, slots=True)
class _Ends:
    """Two resolved ends, or the code of why they are not; `namespace` is where that is filed."""

    from_id: str
    to_id: str
    namespace: str | None
    code: str | None = None
    candidates: tuple[str, ...] = ()


def plan_links(view: StoreView, *, edges: Iterable[EdgeRow]) -> tuple[list[Link], list[Finding]]:
    """The links of all namespaces, and what there is to say about them. edges : every row that is no ancestry."""
    groups: dict[tuple[str, str, str], _Group] = {}
    findings: list[Finding] = []
    for (relation, from_text, to_text), written in sorted(_written(edges).items()):
        ends = _ends(view, relation, from_text=from_text, to_text=to_text)
        if ends.code is not None:
            findings.append(_quarantine(view, relation, ends=ends, group=written))
            continue
        from_id, to_id = ends.from_id, ends.to_id
        if relation in SYMMETRIC_RELATIONS and from_id > to_id:
            from_id, to_id = to_id, from_id
            written.rows, written.inverse_rows = written.inverse_rows, written.rows
        group = groups.setdefault((relation, from_id, to_id), _Group())
        group.rows += written.rows
        group.inverse_rows += written.inverse_rows
        group.texts |= {from_text, to_text}
    links = []
    for (relation, from_id, to_id), group in groups.items():
        link = _link(view, relation, from_id=from_id, to_id=to_id, group=group)
        links.append(link)
        expanded = sorted(group.texts - {from_id, to_id})
        if expanded:
            before: JsonObject = {"texts": list(expanded)}
            after: JsonObject = {"from": from_id, "to": to_id}
            namespace = view.records[from_id].namespace
            findings.append(
                Finding("abbreviation-expanded", namespace, (from_id, to_id), relation, before, after, group.refs())
            )
    return links, findings


def _written(edges: Iterable[EdgeRow]) -> dict[tuple[str, str, str], _Group]:
    """Rows by stored label and ends as the source spells them."""
    groups: dict[tuple[str, str, str], _Group] = {}
    for edge in edges:
        relation, is_inverse = stored_direction(edge.relation)
        ends = (edge.to_id, edge.from_id) if is_inverse else (edge.from_id, edge.to_id)
        if relation in SYMMETRIC_RELATIONS and ends[0] > ends[1]:
            is_inverse, ends = True, (ends[1], ends[0])
        group = groups.setdefault((relation, *ends), _Group())
        (group.inverse_rows if is_inverse else group.rows).append(edge)
    return groups


def _ends(view: StoreView, relation: str, *, from_text: str, to_text: str) -> _Ends:
    """Resolve both ends. An abbreviation is looked up in the namespace of the other end, which must be a record."""
    from_namespace, to_namespace = view.index.namespace_of(from_text), view.index.namespace_of(to_text)
    either = from_namespace or to_namespace
    if relation not in RELATIONS:
        return _Ends(from_text, to_text, either, "relation-unknown")
    if either is None:
        return _Ends(from_text, to_text, None, "endpoint-missing")
    if from_namespace is None or to_namespace is None:
        return _half_known(view, from_text=from_text, to_text=to_text, namespace=either)
    if from_namespace != to_namespace:
        return _crossing(view, relation, from_text=from_text, to_text=to_text)
    return _Ends(from_text, to_text, either, "self-link" if from_text == to_text else None)


def _half_known(view: StoreView, *, from_text: str, to_text: str, namespace: str) -> _Ends:
    """One end is a record of the namespace, the other an abbreviation or nothing."""
    is_from_known = view.index.namespace_of(from_text) is not None
    known, missing = (from_text, to_text) if is_from_known else (to_text, from_text)
    resolution = view.index.resolve(missing, namespace=namespace)
    if resolution.outcome != "expanded" or resolution.target is None:
        code = "abbreviation-ambiguous" if resolution.outcome == "ambiguous" else "endpoint-missing"
        return _Ends(from_text, to_text, namespace, code, resolution.candidates)
    from_id, to_id = (known, resolution.target) if is_from_known else (resolution.target, known)
    return _Ends(from_id, to_id, namespace, "self-link" if from_id == to_id else None)


def _crossing(view: StoreView, relation: str, *, from_text: str, to_text: str) -> _Ends:
    """Two records of two namespaces: filed at the newer end, which a supersede names first."""
    is_from_newer = relation == SUPERSEDES or view.age_key(from_text) > view.age_key(to_text)
    namespace = view.records[from_text if is_from_newer else to_text].namespace
    candidates = (
        *view.index.extensions(to_text, namespace=view.records[from_text].namespace, besides=from_text),
        *view.index.extensions(from_text, namespace=view.records[to_text].namespace, besides=to_text),
    )
    return _Ends(from_text, to_text, namespace, "captured" if candidates else "cross-namespace", candidates)


def _quarantine(view: StoreView, relation: str, *, ends: _Ends, group: _Group) -> Finding:
    assert ends.code is not None
    namespaces = [view.index.namespace_of(ends.from_id), view.index.namespace_of(ends.to_id)]
    return Finding(
        code=ends.code,
        namespace=ends.namespace,
        ids=(ends.from_id, ends.to_id),
        relation=relation,
        before={"namespaces": [*namespaces]},
        after={"candidates": list(ends.candidates)} if ends.candidates else None,
        rows=group.refs(),
    )


def _link(view: StoreView, relation: str, *, from_id: str, to_id: str, group: _Group) -> Link:
    # A pair of which only the backward half was written is made from that half.
    rows, inverse_rows = (group.rows, group.inverse_rows) if group.rows else (group.inverse_rows, [])
    superseded = next((row.superseded_text for row in rows if row.superseded_text is not None), None)
    is_supersede = relation == SUPERSEDES and superseded is not None
    return Link(
        kind="supersede" if is_supersede else "link",
        relation=relation,
        from_id=from_id,
        to_id=to_id,
        is_symmetric=relation in SYMMETRIC_RELATIONS,
        is_withdrawn=all(row.deleted_text is not None for row in (*rows, *inverse_rows)),
        recorded=view.edge_instant(rows[0].created_text, derived_id=None),
        superseded_at=claimed_instant(superseded) if is_supersede and superseded is not None else None,
        rows=tuple(row.ref for row in rows),
        inverse_rows=tuple(row.ref for row in inverse_rows),
    )
