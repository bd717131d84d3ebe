"""Links: relations between records that are no derivations."""

from __future__ import annotations

from uuid import UUID

from memory.base import gate
from memory.base.actor import Actor
from memory.base.answers import Appended
from memory.base.errors import Conflict, Invalid, NotFound
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import opened, retried
from memory.lineage.models import ANCESTRY, INVERSE, LINKS, SYMMETRIC, Edge
from memory.records.models import RecordState

# What a link may be called, from either of its ends.
LABELS = (*LINKS, *(INVERSE[relation] for relation in LINKS if INVERSE.get(relation, relation) not in LINKS))


@retried
def link(by: Actor, *, source: UUID, relation: str, target: UUID) -> Appended:
    """A relation between two records that is no derivation; its inverse is a query.

    Appends: `link`. Raises Invalid (ancestry label, unknown relation, one record with itself), NotFound, Conflict.
    """
    source, relation, target = stored_direction(source, relation, target)
    if source == target:
        raise Invalid.at("target", expected="another record than the source", got=target)
    request = {"link": [str(source), relation, str(target)]}
    with opened(by, verb="link", need=gate.WRITE, request=request) as entry:
        if entry.is_replay:
            return entry.answer
        known = RecordState.objects.filter(namespace=by.namespace, id__in=[source, target])
        states = {state.id: state for state in known}
        missing = {source, target} - states.keys()
        if missing:
            raise NotFound(f"There is no record {min(missing)}.")
        if held := [state.id for state in states.values() if state.is_unconfirmed]:
            raise Conflict(f"The record {min(held)} is held and waits for a person to confirm it.")
        rows = Edge.objects.filter(namespace=by.namespace, source=source, relation=relation, target=target)
        if rows.exists():
            raise Conflict(f"{source} {relation} {target} stands already.")
        entry.add(edge_draft(source, relation, target))
    return entry.answer


def stored_direction(source: UUID, relation: str, target: UUID) -> tuple[UUID, str, UUID]:
    """The one stored form of a link: an inverse label is turned round, a symmetric pair sorted."""
    inverse = {back: forth for forth, back in INVERSE.items()}
    forth = inverse.get(relation, relation)
    if forth in (*ANCESTRY, "supersedes"):
        raise Invalid.at(
            "relation", expected="a link: evolve, merge, split and supersede are derivations", got=relation
        )
    if forth not in LINKS:
        raise Invalid.at("relation", expected=" or ".join(LINKS), got=relation)
    if relation in SYMMETRIC:
        low, high = sorted((source, target))
        return low, relation, high
    return (source, relation, target) if forth == relation else (target, forth, source)


def edge_draft(source: UUID, relation: str, target: UUID, *, ordinal: int = 0, derivation: UUID | None = None) -> Draft:
    """The item of an edge."""
    row = {"source": source, "relation": relation, "target": target, "ordinal": ordinal, "derivation": derivation}
    return Draft("edge", source, Edge, row)
