"""The observations that may speak at a point, as retrieval asks for them.

Invariants
- Active: observed, valid and independent at `valid_at` in claimed seconds, known by `seq`, neither revoked nor erased.
- One observation speaks for a lineage: the newest. One that is revoked, or erased, holds its lineage's place, unless
  its revocation re-exposes the older ones.
- A hop of a search is one statement, by the indexes of nodes; what it costs follows what it touches.
- A node is the 16 bytes of its id, or its text where nothing was ever said about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.base import sql
from memory.beliefs.kernel.discovery import Order
from memory.beliefs.kernel.retrieval import LightEdge, deduplicated

# Those whose own names are erased come first, by their stored ids; the two databases place nulls apart.
_TIES = "tie_key NULLS FIRST, id"
_ORDERS = {"newest": f"observed_at DESC, {_TIES}", "information": f"score DESC, observed_at DESC, {_TIES}"}
_LIGHT = "s.id, s.tie_key, s.source, s.target, s.observed_at, s.score, s.lineage"

_EACH = "LIMIT 1 OFFSET 0"
"""SQL: ask for each row. PostgreSQL would join the whole table instead, and read a hub to its end for one page."""

MOST_ARMS = 16
"""Up to so many nodes each gets statements of its own, which walk its edges from the newest on."""

FIRST_PAGE, PAGE_GROWTH = 640, 8
"""Edges that are read at once: what the default of a query can use, and then ever more."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is asked about: a relation type at a point, and the tags that all evidence must have. `at` is in seconds."""

    namespace: int
    relation_type: UUID
    seq: int
    at: float
    tags: tuple[str, ...] = ()


class Evidence:
    """The store's side of a search: what touches nodes, and what lies between them."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.ids: dict[Hashable, Any] = {}

    def touching(self, frontier: Sequence[Hashable], *, order: Order) -> Iterator[LightEdge]:
        here = _here(frontier)
        if order == "information" or len(here) > MOST_ARMS:
            yield from self._edges(*self._ordered([here], here, order))
            return
        # Each node's edges lie in the order of their instants, so that a page costs what is on it.
        arms, values = self._arms([[node] for node in here], here, _LIGHT)
        n_seen, size = 0, FIRST_PAGE
        while here:
            n_before = n_seen
            # PostgreSQL walks an index in its order where each arm ends by itself.
            page = [
                f"SELECT * FROM ({arm} ORDER BY {_ORDERS[order]} LIMIT {n_seen + size}) a{number}"
                for number, arm in enumerate(arms)
            ]
            statement = f"{' UNION ALL '.join(page)} ORDER BY {_ORDERS[order]} LIMIT {size} OFFSET {n_seen}"
            for edge in self._edges(statement, values):
                n_seen += 1
                yield edge
            if n_seen < n_before + size:
                return
            size *= PAGE_GROWTH

    def between(self, nodes: Sequence[Hashable]) -> Iterator[LightEdge]:
        here = _here(nodes)
        marks = _marks(here)
        statement = (
            f"SELECT {_LIGHT} FROM {_by_ends()} WHERE s.namespace_id = %s AND s.relation_type = %s"
            f" AND s.source IN ({marks}) AND s.target IN ({marks}) AND {self._survives()}"
        )
        values = [self.moment.namespace, self.moment.relation_type, *here, *here, *self._survival_values()]
        return self._edges(statement, values)

    def n_touching(self, nodes: Sequence[Hashable]) -> int:
        here = _here(nodes)
        arms, values = self._arms([here], here, "COUNT(*)")
        return int(sql.fetch(f"SELECT {' + '.join(f'({arm})' for arm in arms)}", values)[0][0])

    def _ordered(self, groups: Sequence[Sequence[Any]], here: Sequence[Any], order: Order) -> tuple[str, list[Any]]:
        arms, values = self._arms(groups, here, _LIGHT)
        return f"{' UNION ALL '.join(arms)} ORDER BY {_ORDERS[order]}", values

    def _arms(self, groups: Sequence[Sequence[Any]], here: Sequence[Any], what: str) -> tuple[list[str], list[Any]]:
        """Statements and their values: the edges that go out from a group of nodes, and those that come to it from
        outside of all; each edge is in one of them."""
        arms, values = list[str](), list[Any]()
        about = [self.moment.namespace, self.moment.relation_type]
        for nodes in groups:
            beyond = f"s.target IN ({_marks(nodes)}) AND s.source NOT IN ({_marks(here)})"
            for where, ends in ((f"s.source IN ({_marks(nodes)})", nodes), (beyond, [*nodes, *here])):
                arms.append(
                    f"SELECT {what} FROM memory_observationstate s WHERE s.namespace_id = %s AND s.relation_type = %s"
                    f" AND {where} AND {self._survives()}"
                )
                values += [*about, *ends, *self._survival_values()]
        return arms, values

    def _edges(self, statement: str, values: Sequence[Any]) -> Iterator[LightEdge]:
        with connection.cursor() as cursor:
            cursor.execute(statement, sql.adapted(values))
            for row in cursor:
                edge = light(row)
                self.ids[edge.observation_id] = row[0]
                yield edge

    def _survives(self) -> str:
        """SQL: the observation `s` is active, and no newer one of its lineage holds the place."""
        newer = (
            "(o.observed_at > s.observed_at OR (o.observed_at = s.observed_at AND (o.tie_key > s.tie_key"
            " OR (s.tie_key IS NULL AND (o.tie_key IS NOT NULL OR o.id > s.id)))))"
            " AND o.observed_at >= s.observed_at"
        )
        return (
            f"{_stated('s', len(self.moment.tags))} AND s.erased_seq IS NULL AND NOT EXISTS ({_reached('s')} {_EACH})"
            " AND NOT EXISTS (SELECT 1 FROM memory_observationstate o WHERE o.namespace_id = s.namespace_id"
            f" AND o.relation_type = s.relation_type AND o.lineage = s.lineage AND {newer}"
            f" AND {_stated('o', len(self.moment.tags))} AND NOT ({_reexposed('o')}) {_EACH})"
        )

    def _survival_values(self) -> list[Any]:
        told = stated_values(self.moment)
        reach = [self.moment.seq, self.moment.at]
        return [*told, *reach, *told, *reach, *reach]


def light(row: Sequence[Any]) -> LightEdge:
    """A row of id, tie key, ends, instant, score and lineage. One whose own name is erased is told apart by its id."""
    id, tie_key, source, target, observed_at, score, lineage = row[:7]
    key = b"\0" + sql.as_key(id) if tie_key is None else bytes(tie_key)
    return LightEdge(key, sql.as_key(source), sql.as_key(target), observed_at, score or 0.0, sql.as_key(lineage))


def stated_values(moment: Moment) -> list[Any]:
    """The values of `_stated`, in its order."""
    return [moment.seq, moment.at, moment.at, moment.at, *moment.tags]


def _stated(alias: str, n_tags: int) -> str:
    """SQL: the observation is known, independent, observed and valid, and has the tags."""
    tagged = (
        f" AND EXISTS (SELECT 1 FROM memory_observationtag t WHERE t.namespace_id = {alias}.namespace_id"
        f" AND t.observation = {alias}.id AND t.tag = %s)"
    )
    return (
        f"{alias}.seq <= %s AND {alias}.is_independent AND {alias}.observed_at <= %s"
        f" AND ({alias}.valid_from IS NULL OR {alias}.valid_from <= %s)"
        f" AND ({alias}.valid_until IS NULL OR {alias}.valid_until >= %s)" + tagged * n_tags
    )


def _reached(alias: str, more: str = "") -> str:
    """SQL: the revocations in force."""
    return (
        f"SELECT 1 FROM memory_observationreach r WHERE r.namespace_id = {alias}.namespace_id"
        f" AND r.observation = {alias}.id AND r.seq <= %s AND r.at <= %s{more}"
    )


def _reexposed(alias: str) -> str:
    """SQL: it is revoked, and every revocation lets the older ones of its lineage speak again."""
    return f"EXISTS ({_reached(alias)}) AND NOT EXISTS ({_reached(alias, ' AND NOT r.is_reexposing')})"


def _by_ends() -> str:
    """SQL: the table as it is read between nodes. SQLite knows how many edges a node has on the average and would walk
    all those of a hub; PostgreSQL knows which nodes are hubs."""
    table = "memory_observationstate s"
    return f"{table} INDEXED BY observation_state_source" if connection.vendor == "sqlite" else table


def node_keys(names: Mapping[str, UUID], texts: Sequence[str]) -> list[Hashable]:
    """The nodes of these texts; `names` are those that have an id."""
    return [names[text].bytes if text in names else text for text in texts]


def _here(nodes: Iterable[Hashable]) -> list[Any]:
    """The nodes that anything was ever said about, as the database takes them; others have no id."""
    return sql.keys(node for node in nodes if isinstance(node, bytes))


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values)) or "NULL"


# --- listed nodes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listed:
    """What lies between listed nodes: the edges that may speak, those that may not by reason, ids and ends of all.

    ids : as the database gave them.
    """

    edges: tuple[LightEdge, ...]
    hidden: Mapping[Hashable, str]
    ids: Mapping[Hashable, Any]
    ends: Mapping[Hashable, tuple[Hashable, Hashable]]

    @property
    def counts(self) -> dict[str, int]:
        """{reason: how many}."""
        return dict(sorted(Counter(self.hidden.values()).items()))


def listed(moment: Moment, nodes: Sequence[Hashable]) -> Listed:
    """The observations between the nodes, each with the reason for which it may not speak, one statement."""
    here = _here(nodes)
    marks = _marks(here)
    reach = [moment.seq, moment.at]
    tagged = " AND ".join(
        "EXISTS (SELECT 1 FROM memory_observationtag t WHERE t.namespace_id = s.namespace_id"
        " AND t.observation = s.id AND t.tag = %s)"
        for _ in moment.tags
    )
    rows = sql.fetch(
        f"SELECT {_LIGHT}, s.is_independent, s.valid_from, s.valid_until, s.erased_seq IS NOT NULL,"
        f" EXISTS ({_reached('s')}), EXISTS ({_reached('s', ' AND NOT r.is_reexposing')}),"
        f" {tagged or '1 = 1'} FROM {_by_ends()} WHERE s.namespace_id = %s AND s.relation_type = %s"
        f" AND s.source IN ({marks}) AND s.target IN ({marks}) AND s.seq <= %s",
        [*reach, *reach, *moment.tags, moment.namespace, moment.relation_type, *here, *here, moment.seq],
    )
    standing, holding = list[LightEdge](), list[LightEdge]()
    hidden: dict[Hashable, str] = {}
    ids: dict[Hashable, Any] = {}
    ends: dict[Hashable, tuple[Hashable, Hashable]] = {}
    for row in rows:
        edge = light(row)
        ids[edge.observation_id] = row[0]
        ends[edge.observation_id] = (edge.source, edge.target)
        reason, holds = reason_of(edge, row[7:], moment.at)
        if holds:
            holding.append(edge)
        if reason:
            hidden[edge.observation_id] = reason
        else:
            standing.append(edge)
    newest = {edge.observation_id for edge in deduplicated(holding)}
    hidden |= {edge.observation_id: "lineage" for edge in standing if edge.observation_id not in newest}
    return Listed(tuple(edge for edge in standing if edge.observation_id in newest), hidden, ids, ends)


def reason_of(edge: LightEdge, row: Sequence[Any], at: float) -> tuple[str, bool]:
    """Why the observation may not speak, "" if it may, and whether it holds its lineage's place."""
    independent, valid_from, valid_until, erased, reached, firmly, tagged = row
    outside = (valid_from is not None and valid_from > at) or (valid_until is not None and valid_until < at)
    for reason, is_so in (
        ("not_observed", edge.observed_at > at), ("dependent", not independent), ("not_valid", outside),
        ("tags", not tagged),
    ):  # fmt: skip
        if is_so:
            return reason, False
    if erased or reached:
        return "erased" if erased else "revoked", bool(firmly or not reached)
    return "", True
