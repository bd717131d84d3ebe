"""Whether compiled records still say what their sources say: a function of edges, evidence and the point, never stored.

- deleted: the record itself is withdrawn. erased: its own text is. Both come before everything else.
- stale: some ancestor, at any depth, is erased. As an erasure does, that holds at every recorded time.
- behind by n: n raw records have moved on since, over the whole compiled way above the record: raw records that bear a
  topic which it or a compiled ancestor covers, recorded after that one and current; sources that another record has
  taken the place of, by what stands in their place; sources that are withdrawn. Behind is not wrong.
- current: nothing of this.
- The number of queries does not grow with the records.

Source: operating contract, R03.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef

from memory.base import sql
from memory.base.asof import AsOf
from memory.lineage.models import ANCESTRY, Compilation, CoveredRecord
from memory.lineage.queries.standing import standing, standing_values
from memory.records.models import RecordState, doc_of

STATES = ("current", "behind", "stale", "deleted", "erased")
CHUNK = 400
MOST = 10_000
SHOWN = 20


class Newer(NamedTuple):
    """A raw record that has moved on: `newer` on the topic, a `newer_version` of a source, or a source `withdrawn`."""

    record: UUID
    why: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """The state of a compiled record. `n_behind` counts `newer`, of which the first 20 are told.

    `erased` are the ancestors that are gone, nearest last, at most 20. `is_capped`: more may have moved on than are
    counted, for of all topics asked about at once the first 10,000 records are read.
    """

    state: str
    n_behind: int = 0
    newer: tuple[Newer, ...] = ()
    erased: tuple[UUID, ...] = ()
    is_capped: bool = False

    @property
    def word(self) -> str:
        """The state as one word of the contract: `behind:2`, `stale:source_erased`."""
        return {"behind": f"behind:{self.n_behind}", "stale": "stale:source_erased"}.get(self.state, self.state)


@dataclass(slots=True)
class _Way:
    """What stands above one compiled record, itself included."""

    state: str = ""
    erased: list[UUID] = field(default_factory=list)
    replaced: set[UUID] = field(default_factory=set)
    withdrawn: set[UUID] = field(default_factory=set)
    topics: dict[UUID, int] = field(default_factory=dict)


def freshness_of(at: AsOf, records: Sequence[UUID]) -> dict[UUID, Freshness]:
    """{record: its state} of compiled records that stand at the point."""
    found: dict[UUID, Freshness] = {}
    for start in range(0, len(records), CHUNK):
        ways = _ways(at, records[start : start + CHUNK])
        borne = _borne(at, ways.values())
        heads = _heads(at, {one for way in ways.values() for one in way.replaced})
        found.update({record: _judged(record, way, borne, heads) for record, way in ways.items()})
    return found


def words_of_compiled(at: AsOf, records: Sequence[UUID]) -> dict[UUID, str]:
    """{record: its state as one word} of those that are compiled and not current. One query where none is compiled."""
    if not records:
        return {}
    rows = Compilation.objects.filter(namespace=at.namespace, record__in=records)
    found = freshness_of(at, list(rows.values_list("record", flat=True)))
    return {record: one.word for record, one in found.items() if one.state != "current"}


def _judged(
    record: UUID, way: _Way, borne: Mapping[UUID, Sequence[tuple[int, UUID]]], heads: Mapping[UUID, UUID]
) -> Freshness:
    erased = tuple(way.erased[:SHOWN])
    is_capped = bool(way.topics) and sum(map(len, borne.values())) >= MOST
    if way.state:
        return Freshness(way.state, erased=erased)
    newer: dict[UUID, str] = {}
    for topic, since in way.topics.items():
        newer.update({one: "newer" for doc, one in borne.get(topic, ()) if doc > since})
    for source in sorted(way.replaced):
        newer.setdefault(heads.get(source, source), "newer_version")
    for source in sorted(way.withdrawn):
        newer.setdefault(source, "withdrawn")
    newer.pop(record, None)
    told = tuple(Newer(one, why) for one, why in list(newer.items())[:SHOWN])
    if erased:
        return Freshness("stale", len(newer), told, erased, is_capped)
    return Freshness("behind" if newer else "current", len(newer), told, is_capped=is_capped)


def _ways(at: AsOf, records: Sequence[UUID]) -> dict[UUID, _Way]:
    """Everything above the records, by one recursive query. `by_compile`: reached through compiled records alone."""
    mark = "(%s::uuid)" if connection.vendor == "postgresql" else "(%s)"
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    statement = (
        f"WITH RECURSIVE named(id) AS (VALUES {', '.join([mark] * len(records))}),"
        " up(root, id, by_compile) AS (SELECT id, id, 1 FROM named UNION"
        " SELECT up.root, e.target, CASE WHEN k.record IS NULL THEN 0 ELSE up.by_compile END FROM memory_edge e"
        " JOIN up ON e.source = up.id"
        " LEFT JOIN memory_compilation k ON k.namespace_id = e.namespace_id AND k.record = e.source"
        f" WHERE e.relation IN ({labels}) AND {standing(at, edges='e')})"
        " SELECT up.root, up.id, up.by_compile, s.seq, s.item, s.erased_seq, s.superseded_seq, c.record, c.covers,"
        " (SELECT w.withdrawn FROM memory_withdrawal w WHERE w.namespace_id = s.namespace_id AND w.record = s.id"
        " AND w.seq <= %s ORDER BY w.seq DESC, w.item DESC LIMIT 1)"
        " FROM up JOIN memory_recordstate s ON s.id = up.id"
        " LEFT JOIN memory_compilation c ON c.namespace_id = s.namespace_id AND c.record = s.id"
        " WHERE s.namespace_id = %s AND s.seq <= %s ORDER BY s.seq, s.item"
    )
    values = [*records, *standing_values(at), at.seq, at.namespace, at.seq]
    ways: dict[UUID, _Way] = defaultdict(_Way)
    for root, node, by_compile, *rest in sql.fetch(statement, values):
        _take(at, ways[sql.as_id(root)], sql.as_id(node), bool(by_compile), rest, is_root=root == node)
    return dict(ways)


def _take(at: AsOf, way: _Way, node: UUID, by_compile: bool, row: Sequence[Any], *, is_root: bool) -> None:
    """One record of the way."""
    seq, item, erased_seq, superseded_seq, compiled, covers, withdrawn = row
    is_superseded = superseded_seq is not None and superseded_seq <= at.seq
    if is_root:
        way.state = "erased" if erased_seq is not None else "deleted" if withdrawn else ""
    elif erased_seq is not None:
        if node not in way.erased:
            way.erased.append(node)
    elif by_compile and withdrawn:
        way.withdrawn.add(node)
    elif by_compile and is_superseded:
        way.replaced.add(node)
    if by_compile and compiled is not None and covers is not None:
        topic = sql.as_id(covers)
        way.topics[topic] = min(way.topics.get(topic, doc_of(seq, item)), doc_of(seq, item))


def _borne(at: AsOf, ways: Iterable[_Way]) -> dict[UUID, list[tuple[int, UUID]]]:
    """{topic: (doc, record)} of the current raw records that bear it, recorded after the first that covers it."""
    since: dict[UUID, int] = {}
    for way in ways:
        for topic, doc in way.topics.items():
            since[topic] = min(since.get(topic, doc), doc)
    if not since:
        return {}
    rows = CoveredRecord.objects.filter(namespace=at.namespace, topic__in=since, doc__gt=min(since.values()))
    # Asked row by row: as a list of documents, PostgreSQL reads all rows of the topics for each.
    shown = rows.filter(Exists(RecordState.objects.current(at).filter(doc=OuterRef("doc"))))
    found: dict[UUID, list[tuple[int, UUID]]] = defaultdict(list)
    for topic, doc, record in shown.order_by("doc").values_list("topic", "doc", "record")[:MOST]:
        found[topic].append((doc, record))
    return found


def _heads(at: AsOf, records: Iterable[UUID]) -> dict[UUID, UUID]:
    """{record: what stands in its place now} of records that are superseded at the point; a circle ends anywhere."""
    wanted = sorted(records)
    if not wanted:
        return {}
    mark = "(%s::uuid)" if connection.vendor == "postgresql" else "(%s)"
    statement = (
        f"WITH RECURSIVE named(id) AS (VALUES {', '.join([mark] * len(wanted))}),"
        " onward(first, id) AS (SELECT id, id FROM named UNION"
        " SELECT onward.first, s.superseded_by FROM memory_recordstate s JOIN onward ON s.id = onward.id"
        " WHERE s.namespace_id = %s AND s.superseded_seq <= %s AND s.superseded_by IS NOT NULL)"
        " SELECT onward.first, s.id FROM onward JOIN memory_recordstate s ON s.id = onward.id"
        " WHERE s.namespace_id = %s AND (s.superseded_seq IS NULL OR s.superseded_seq > %s)"
    )
    rows = sql.fetch(statement, [*wanted, at.namespace, at.seq, at.namespace, at.seq])
    return {sql.as_id(first): sql.as_id(head) for first, head in rows}


def tainted_below(at: AsOf) -> tuple[str, list[Any]]:
    """The statement, with its values, of every record that an erasure taints: what came of an erased one by the point.

    Traps: the bound on `seq` of edges stays out of SQLite's choice of an index (`standing`).
    """
    labels = ", ".join(f"'{relation}'" for relation in ANCESTRY)
    statement = (
        "WITH RECURSIVE gone(id) AS (SELECT r.id FROM memory_erasure x JOIN memory_record r"
        " ON r.namespace_id = x.namespace_id AND r.seq = x.target_seq AND r.item = x.target_item"
        " WHERE x.namespace_id = %s AND x.target_part = 'content'),"
        " below(id) AS (SELECT e.source FROM memory_edge e JOIN gone ON e.target = gone.id"
        f" WHERE e.relation IN ({labels}) AND {standing(at, edges='e')} UNION"
        " SELECT e.source FROM memory_edge e JOIN below ON e.target = below.id"
        f" WHERE e.relation IN ({labels}) AND {standing(at, edges='e')}) SELECT id FROM below"
    )
    return statement, sql.adapted([at.namespace, *standing_values(at), *standing_values(at)])
