"""How a record came to be: the derivation that made it, the rules that chose, what the sources did not agree on.

Invariants
- A conflict is open until a version that evolved from the merged record, on whichever branch, says in its metadata what
  holds under that key; the first one that does settles it, and is named.
- One query, whatever the number of sources, conflicts and versions.

Source: laws of the store, 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.lineage.models import ANCESTRY
from memory.lineage.queries.standing import standing, standing_values

LAWS = {
    "intersection": "where the merged record is valid, every source is (V-all); it is the largest such interval",
    "hull": "where some source is valid, the merged record is (V-some); it may cover a gap between sources",
    "explicit": "given by the caller; neither law is claimed for it",
    "single": "the interval of its one source, or the one that was given",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One value of a conflict and the sources that say it."""

    value: Any
    sources: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A key on which the sources of the merge `merged` differ; settled by a version, with its value, or open."""

    merged: UUID
    key: str
    said: tuple[Said, ...]
    settled_by: UUID | None = None
    settled_as: Any = None


@dataclass(frozen=True, slots=True)
class MadeBy:
    """The derivation that made a record, or that put another in its place. `sources` in the order of their naming."""

    id: UUID
    kind: str
    reason: str
    reason_given: bool
    content_rule: str
    type_rule: str
    valid_rule: str
    note: str
    seq: int
    sources: tuple[tuple[str, UUID], ...]

    @property
    def law(self) -> str:
        """What the rule of the valid time keeps, in words."""
        return LAWS.get(self.valid_rule, "")


@dataclass(frozen=True, slots=True)
class Making:
    """`made_by` is None where the record was saved; `ended_by` superseded it without making one.

    `n_erased_conflicts` counts the merges above whose differing values are erased.
    """

    made_by: MadeBy | None
    ended_by: tuple[MadeBy, ...]
    conflicts: tuple[MergeConflict, ...]
    n_erased_conflicts: int

    @property
    def n_open(self) -> int:
        return sum(conflict.settled_by is None for conflict in self.conflicts)


_COLUMNS = "d.id, d.kind, d.reason, d.reason_given, d.content_rule, d.type_rule, d.valid_rule, d.seq"
_NOTE = (
    " JOIN memory_derivation d ON d.namespace_id = e.namespace_id AND d.id = e.derivation"
    " LEFT JOIN memory_content c ON c.namespace_id = d.namespace_id AND c.seq = d.seq AND c.item = d.item"
    " AND c.part = 'note'"
)
_NOTHING = ", ".join(["NULL"] * 7)


def making(at: AsOf, *, record: UUID) -> Making:
    """How the record came to be, as of the point. What does not stand there has no making."""
    rows = sql.fetch(*_statement(at, record))
    by_part: dict[str, list[tuple[Any, ...]]] = {"made": [], "ended": [], "conflicts": [], "version": []}
    for row in rows:
        by_part[row[0]].append(row[1:])
    conflicts = [conflict for row in by_part["conflicts"] for conflict in _conflicts(row)]
    made = _derived(by_part["made"])
    return Making(
        made_by=made[0] if made else None,
        ended_by=tuple(_derived(by_part["ended"])),
        conflicts=tuple(_settled(conflicts, by_part["version"])),
        n_erased_conflicts=sum(row[-1] is None for row in by_part["conflicts"]),
    )


def _statement(at: AsOf, record: UUID) -> tuple[str, list[Any]]:
    first = "SELECT %s::uuid" if connection.vendor == "postgresql" else "SELECT %s"
    point, values = standing(at, edges="e"), standing_values(at)
    ancestry = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    statement = (
        f"WITH RECURSIVE up(id) AS ({first} UNION SELECT e.target FROM memory_edge e JOIN up ON e.source = up.id"
        f" WHERE e.relation = 'evolved_from' AND {point}),"
        " merged(id, seq, item) AS (SELECT DISTINCT e.source, d.seq, d.item FROM up"
        " JOIN memory_edge e ON e.source = up.id"
        " JOIN memory_derivation d ON d.namespace_id = e.namespace_id AND d.id = e.derivation"
        f" WHERE e.relation = 'merged_from' AND d.n_conflicts > 0 AND {point}),"
        " down(id, top) AS (SELECT id, id FROM merged UNION SELECT e.source, down.top FROM memory_edge e"
        f" JOIN down ON e.target = down.id WHERE e.relation = 'evolved_from' AND {point})"
        f" SELECT 'made', e.target, e.relation, e.ordinal, {_COLUMNS}, c.payload FROM memory_edge e{_NOTE}"
        f" WHERE e.source = %s AND e.relation IN ({ancestry}) AND {point}"
        f" UNION ALL SELECT 'ended', e.source, e.relation, e.ordinal, {_COLUMNS}, c.payload FROM memory_edge e{_NOTE}"
        f" WHERE e.target = %s AND e.relation = 'supersedes' AND {point}"
        f" UNION ALL SELECT 'conflicts', m.id, NULL, NULL, m.id, {_NOTHING}, c.payload FROM merged m"
        " LEFT JOIN memory_content c ON c.namespace_id = %s AND c.seq = m.seq AND c.item = m.item"
        " AND c.part = 'conflicts'"
        " UNION ALL SELECT 'version', s.id, NULL, NULL, down.top, NULL, NULL, NULL, NULL, NULL, NULL, s.doc, c.payload"
        " FROM down JOIN memory_recordstate s ON s.namespace_id = %s AND s.id = down.id"
        " LEFT JOIN memory_content c ON c.namespace_id = s.namespace_id AND c.seq = s.seq AND c.item = s.item"
        " AND c.part = 'details' WHERE down.id <> down.top"
    )
    asked = [record, *values, *values, *values, record, *values, record, *values, at.namespace, at.namespace]
    return statement, asked


def _derived(rows: Iterable[tuple[Any, ...]]) -> list[MadeBy]:
    """One for each derivation, in the order of the ledger."""
    sources: dict[UUID, list[tuple[int, str, UUID]]] = {}
    told: dict[UUID, tuple[Any, ...]] = {}
    for target, relation, ordinal, identity, *rest in rows:
        sources.setdefault(sql.as_id(identity), []).append((ordinal, relation, sql.as_id(target)))
        told[sql.as_id(identity)] = tuple(rest)
    found = []
    for identity, (kind, reason, given, content, type_rule, valid, seq, note) in told.items():
        words = str(strict_loads(note)) if note is not None else ""
        named = tuple((relation, source) for _, relation, source in sorted(sources[identity]))
        found.append(MadeBy(identity, kind, reason, bool(given), content, type_rule, valid, words, seq, named))
    return sorted(found, key=lambda one: (one.seq, one.id.bytes))


def _conflicts(row: tuple[Any, ...]) -> list[MergeConflict]:
    merged, payload = sql.as_id(row[0]), row[-1]
    values: Any = strict_loads(payload) if payload is not None else {}
    return [
        MergeConflict(
            merged, key,
            tuple(Said(one["value"], tuple(UUID(source) for source in one["sources"])) for one in values[key]),
        )
        for key in sorted(values)
    ]  # fmt: skip


def _settled(conflicts: Iterable[MergeConflict], versions: Iterable[tuple[Any, ...]]) -> list[MergeConflict]:
    """The conflicts, each with the first version that says what holds."""
    later: dict[UUID, list[tuple[int, UUID, Mapping[str, Any]]]] = {}
    for identity, _, _, top, *_, doc, payload in versions:
        details: Any = strict_loads(payload) if payload is not None else {}
        later.setdefault(sql.as_id(top), []).append((doc, sql.as_id(identity), details.get("metadata", {})))
    found = []
    for one in conflicts:
        order = sorted(later.get(one.merged, []), key=lambda version: version[0])
        by = next(((version, said[one.key]) for _, version, said in order if one.key in said), (None, None))
        found.append(MergeConflict(one.merged, one.key, one.said, *by))
    return found
