"""L1 and L7 of a snapshot: records that change or go, and edges that end nowhere.

- L1 speaks of operations. One snapshot shows signs that a record was changed or went, and decides nothing; a later
  snapshot of the same store shows what was changed, and not by which operation: such findings are of the whole store.
- A clock that names no offset is read as any time that it can mean: an edge counts as older than its target only where
  it is so by every reading, and two such clocks of one store are taken for the same.
- L7 keeps four kinds apart. A record that is marked deleted is still a record: that kind is for information.

Source: laws of the store, 2.1 and 5.8.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

from audit.laws.fragment import Fragment, claims_of, scope_of
from audit.laws.relations import ANCESTRY
from audit.laws.tally import Tally
from audit.laws.values import SCOPES, Finding, Snapshot, SnapshotEdge, SnapshotRecord, Witness

A_SECOND_SNAPSHOT = "a second snapshot of the same store, or a log of its operations"
SHORTEST_ABBREVIATION = 4
# Local time is at most so far ahead of UTC, and behind it.
AHEAD, BEHIND = timedelta(hours=14), timedelta(hours=12)


def record_monotonicity(snapshot: Snapshot, *, before: Snapshot | None = None) -> Finding:
    """L1. `before`: an earlier snapshot of the same store."""
    tally = Tally("L1")
    for record in snapshot.records.values():
        if record.is_stale:
            tally.add(_about("content_changed_in_place", record), "potential")
        if record.is_marked_deleted:
            tally.add(_about("deletion_mark", record), "potential")
    tally.add_all(_older_than_targets(snapshot), "potential")
    for record, claim in claims_of(snapshot):
        if claim.target not in snapshot.records:
            witness = Witness("claimed_record_missing", record.id, claim.relation, claim.target, record.namespace)
            tally.add(witness, "potential")
    if before is None:
        return tally.finding(is_decidable=False, decided_by=A_SECOND_SNAPSHOT)
    tally.add_all(changes(before, snapshot))
    return tally.finding(decided_by="the earlier snapshot, record by record")


def _about(kind: str, record: SnapshotRecord) -> Witness:
    return Witness(kind, record.id, namespace=record.namespace)


def _older_than_targets(snapshot: Snapshot) -> Iterator[Witness]:
    """Ancestry edges that stood before the record at their end: what stands there now is not what was derived from."""
    for edge in snapshot.edges:
        target = snapshot.records.get(edge.target)
        if edge.relation not in ANCESTRY or target is None or edge.created_at is None or target.created_at is None:
            continue
        if _is_before(edge.created_at, target.created_at):
            facts = {"edge_at": edge.created_at.isoformat(), "target_at": target.created_at.isoformat()}
            yield Witness("edge_older_than_target", *edge.key, target.namespace, facts=facts)


def _is_before(first: datetime, second: datetime) -> bool:
    """Whether one instant is before the other, whatever offset a clock without one had."""
    apart = _as_utc(second) - _as_utc(first)
    if (first.tzinfo is None) == (second.tzinfo is None):
        return apart > timedelta()
    return apart > (BEHIND if first.tzinfo is None else AHEAD)


def _as_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def changes(before: Snapshot, after: Snapshot) -> Iterator[Witness]:
    """Records that were there before and have gone, were altered, or were marked deleted or lost that mark."""
    for old in before.records.values():
        new = after.records.get(old.id)
        facts = {"before": old.payload.hex(), "after": None if new is None else new.payload.hex()}
        if new is None:
            yield Witness("record_gone", old.id, namespace=old.namespace, facts=facts)
        elif new.payload != old.payload:
            yield Witness("record_altered", old.id, namespace=old.namespace, facts=facts)
        elif new.is_marked_deleted != old.is_marked_deleted:
            kind = "record_marked_deleted" if new.is_marked_deleted else "record_mark_removed"
            yield Witness(kind, old.id, namespace=old.namespace)


def referential_integrity(snapshot: Snapshot) -> list[Finding]:
    """L7, the fragment and the whole store apart."""
    fragment, expand = Fragment.of(snapshot), Abbreviations(sorted(snapshot.records))
    tallies = {scope: Tally("L7", scope) for scope in SCOPES}
    for edge in snapshot.edges:
        missing = [end for end in dict.fromkeys((edge.source, edge.target)) if end not in snapshot.records]
        if missing:
            tallies[fragment.scope(edge)].add(_dangling(edge, missing, expand))
        elif any(snapshot.records[end].is_marked_deleted for end in (edge.source, edge.target)):
            witness = Witness("end_marked_deleted", edge.source, edge.relation, edge.target)
            tallies[fragment.scope(edge)].add(witness, "information")
    for record, claim in claims_of(snapshot):
        if claim.target not in snapshot.records:
            witness = Witness("claim_about_missing", record.id, claim.relation, claim.target, record.namespace)
            tallies[scope_of(claim)].add(witness)
    return [tallies[scope].finding(decided_by="looking up both ends of every edge") for scope in SCOPES]


def _dangling(edge: SnapshotEdge, missing: Sequence[str], expand: Abbreviations) -> Witness:
    full = {end: expand(end) for end in missing}
    kind = "edge_end_abbreviated" if all(full.values()) else "edge_end_missing"
    facts = {"missing": list(missing)} | ({"stands_for": full} if kind == "edge_end_abbreviated" else {})
    return Witness(kind, edge.source, edge.relation, edge.target, facts=facts)


class Abbreviations:
    """Identifiers in order, to look up the records whose identifier begins with a text."""

    def __init__(self, ordered: Sequence[str]) -> None:
        self.ordered = ordered

    def __call__(self, text: str) -> list[str]:
        """The one record that a leading part stands for; nothing where there is none, or more than one."""
        if len(text) < SHORTEST_ABBREVIATION:
            return []
        from_here = range(bisect_left(self.ordered, text), len(self.ordered))
        # Two are enough to know that it stands for none; a hostile store may hold any number.
        found = list(islice(takewhile(lambda id: id.startswith(text), (self.ordered[at] for at in from_here)), 2))
        return found if len(found) == 1 else []
