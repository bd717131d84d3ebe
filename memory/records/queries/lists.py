"""Lists of records: filter, facets, sort, keyset paging. Counts are exact up to 10,000, then "10,000+"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.ledger.queries.contents import name_ids, names_of
from memory.records import fulltext
from memory.records.models import HIDDEN, RecordState, RecordStateQuerySet
from memory.records.queries.detail import RecordRow, rows_of
from memory.records.queries.recall import hidden_reason

CAP = 10_000
RANKED = 1_000
SORTS = ("-recorded_at", "recorded_at", "rank")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is narrowed to. `include` names what is hidden by default and wanted here."""

    query: str = ""
    types: tuple[str, ...] = ()
    agents: tuple[UUID, ...] = ()
    runs: tuple[UUID, ...] = ()
    source_classes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    include: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a facet and how many of the listed records have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One page. `total` counts what is listed over all pages, `hidden` what the filter meets and the default hides."""

    items: tuple[RecordRow, ...]
    total: int
    is_capped: bool
    hidden: Mapping[str, int]
    facets: Mapping[str, tuple[Facet, ...]]
    next: str
    previous: str


def records(at: AsOf, *, where: Filter, sort: str = "-recorded_at", after: str = "", limit: int = 50) -> RecordPage:
    """One page of the records at the point. Newest first unless `sort` says otherwise; by rank for a text query.

    Raises Invalid (sort, cursor).
    """
    if sort not in SORTS or (sort == "rank" and not where.query):
        raise Invalid.at("sort", expected=" or ".join(SORTS[: 2 + bool(where.query)]), got=sort)
    rows, scores = _matching(at, where)
    facts = _counted(at, where, rows)
    shown = _shown(at, where, rows)
    if sort == "rank":
        return _ranked(at, shown, scores, after, limit, facts)
    return _keyset(at, shown, scores, after, limit, facts, newest_first=sort.startswith("-"))


def _matching(at: AsOf, where: Filter) -> tuple[RecordStateQuerySet, dict[int, float]]:
    rows = RecordState.objects.known(at)
    scores: dict[int, float] = {}
    if where.types:
        rows = rows.filter(type__in=list(name_ids(at.namespace, where.types).values()))
    if where.agents:
        rows = rows.filter(agent__in=where.agents)
    if where.runs:
        rows = rows.filter(run__in=where.runs)
    if where.source_classes:
        rows = rows.filter(source_class__in=where.source_classes)
    if where.query:
        hits = fulltext.search(at.namespace, fulltext.words(where.query), join="all", limit=RANKED)
        scores = {hit.doc: hit.score for hit in hits}
        rows = rows.filter(doc__in=list(scores))
    return rows, scores


def _shown(at: AsOf, where: Filter, rows: RecordStateQuerySet) -> RecordStateQuerySet:
    if where.states:
        return _in_states(at, rows, where.states)
    if "not_valid" not in where.include:
        rows = rows.valid(at)
    if "superseded" not in where.include:
        rows = rows.filter(Q(is_superseded=False))
    if "withdrawn" not in where.include:
        rows = rows.filter(Q(is_withdrawn=False))
    if "erased" not in where.include:
        rows = rows.filter(erased_seq__isnull=True)
    return rows


def _in_states(at: AsOf, rows: RecordStateQuerySet, states: Sequence[str]) -> RecordStateQuerySet:
    clauses = {
        "erased": Q(erased_seq__isnull=False),
        "withdrawn": Q(erased_seq__isnull=True, is_withdrawn=True),
        "superseded": Q(erased_seq__isnull=True, is_withdrawn=False, is_superseded=True),
        "current": Q(erased_seq__isnull=True, is_withdrawn=False, is_superseded=False),
    }
    unknown = [state for state in states if state not in clauses]
    if unknown:
        raise Invalid.at("state", expected=" or ".join(sorted(clauses)), got=unknown[0])
    wanted = Q()
    for state in states:
        wanted |= clauses[state]
    return rows.filter(wanted)


@dataclass(frozen=True, slots=True)
class _Facts:
    total: int
    is_capped: bool
    hidden: Mapping[str, int]
    facets: Mapping[str, tuple[Facet, ...]]


def _counted(at: AsOf, where: Filter, rows: RecordStateQuerySet) -> _Facts:
    """Total, hidden and facets from one pass over the newest 10,001 matches."""
    fields = (
        "type", "agent", "source_class", "valid_from", "valid_to", "erased_seq", "is_superseded", "is_withdrawn",
    )  # fmt: skip
    listed: dict[str, Counter[str]] = {"type": Counter(), "agent": Counter(), "source": Counter(), "state": Counter()}
    hidden: Counter[str] = Counter()
    n_seen = n_listed = 0
    types: Counter[UUID] = Counter()
    for row in rows.order_by("-doc").only(*fields[:6])[: CAP + 1]:
        n_seen += 1
        reason = hidden_reason(at, row)
        listed["state"][reason if reason in HIDDEN[:4] else "current"] += 1
        is_listed = (reason or "current") in where.states if where.states else reason is None or reason in where.include
        if not is_listed:
            hidden[reason or "current"] += 1
            continue
        n_listed += 1
        types[row.type] += 1
        listed["agent"][str(row.agent or "")] += 1
        listed["source"][row.source_class] += 1
    names = names_of(at.namespace, types)
    listed["type"] = Counter({names.get(type_id, "erased"): count for type_id, count in types.items()})
    facets = {
        name: tuple(
            Facet(value, count) for value, count in sorted(counts.items(), key=lambda c: (-c[1], c[0])) if value
        )
        for name, counts in listed.items()
    }
    hidden.pop("current", None)
    return _Facts(min(n_listed, CAP), n_seen > CAP, dict(sorted(hidden.items())), facets)


def _keyset(
    at: AsOf, rows: RecordStateQuerySet, scores: Mapping[int, float], after: str, limit: int, facts: _Facts, *,
    newest_first: bool,
) -> RecordPage:  # fmt: skip
    """`after` is a doc; with a leading "<" the page before it."""
    backwards = after.startswith("<")
    cursor = after.lstrip("<")
    if cursor and (not cursor.isdecimal() or len(cursor) > 18):
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    descending = newest_first != backwards
    if cursor:
        rows = rows.filter(doc__lt=int(cursor)) if descending else rows.filter(doc__gt=int(cursor))
    found = list(rows.order_by("-doc" if descending else "doc")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    has_next, has_previous = (bool(cursor), more) if backwards else (more, bool(cursor))
    return RecordPage(
        tuple(rows_of(at, found, scores)), facts.total, facts.is_capped, facts.hidden, facts.facets,
        next=str(found[-1].doc) if found and has_next else "",
        previous=f"<{found[0].doc}" if found and has_previous else "",
    )  # fmt: skip


def _ranked(
    at: AsOf, rows: RecordStateQuerySet, scores: Mapping[int, float], after: str, limit: int, facts: _Facts
) -> RecordPage:
    """`after` is the number of better matches."""
    if after and (not after.isdecimal() or int(after[:9]) > RANKED):
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    start = int(after or 0)
    ordered = sorted(rows, key=lambda state: (-scores[state.doc], -state.doc))
    found = ordered[start : start + limit]
    return RecordPage(
        tuple(rows_of(at, found, scores)), facts.total, facts.is_capped, facts.hidden, facts.facets,
        next=str(start + limit) if len(ordered) > start + limit else "",
        previous=str(max(0, start - limit)) if start else "",
    )  # fmt: skip
