"""Lists of records: filter, facets, sort, keyset paging. Counts are exact up to 10,000, then "10,000+".

Invariants
- A row is in one bucket: erased, withdrawn, superseded, held, not_valid or current, the gravest first. `total`,
  `hidden` and the facets come from the same buckets, so that what is listed and what is counted cannot differ.
- An agent is told how much others hold, but not how much of it bears a word or a tag.
- By a source's own instants, rows without one are left out and counted as `no_source_time`; nothing includes them.
- The number of queries does not grow with the rows. Without a text: one that counts, one for the page, one for labels.
  With a text: one search, one for all its matches, one for labels. A match holds every word, so every word is its why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Case, CharField, Q, Subquery, Value, When

from memory.agents.labels import Labels, labels
from memory.agents.models import Agent
from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.base.sql import as_id
from memory.ledger.models import Name
from memory.records import fulltext
from memory.records.models import HIDDEN, SOURCE_CLASSES, WAITING, RecordState, RecordStateQuerySet, doc_of
from memory.records.queries.detail import NO_SOURCE_TIME, RecordRow, row_of, rows_of
from memory.records.queries.paging import RECORDED, VALID, Page, ordered, page_of
from memory.records.queries.tags import tagged

CAP = 10_000
RANKED = 1_000
SORTS = (*RECORDED, *VALID, "rank")
STATES = ("current", *HIDDEN)
# What is held and was written by another agent than the one that reads: it is counted, and shown to it by no word.
HELD_BY_OTHERS = "held_by_others"
GROUPED_BY = ("type", "agent", "run", "source_class", "bucket")
FACET_VALUES = 200
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is narrowed to. `include` names what is hidden by default and wanted here.

    `agents` are ids, `agent_names` names; of several values of one kind any may hold. What has no value of a kind never
    meets a filter of that kind. `recorded_from`, `recorded_to`: a half-open interval of the instants of their entries.
    `reader` is the agent that reads, None where a person does.
    """

    query: str = ""
    types: tuple[str, ...] = ()
    agents: tuple[UUID, ...] = ()
    agent_names: tuple[str, ...] = ()
    runs: tuple[UUID, ...] = ()
    source_classes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    recorded_from: datetime | None = None
    recorded_to: datetime | None = None
    states: tuple[str, ...] = ()
    include: frozenset[str] = frozenset()
    reader: UUID | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a facet, how many of the listed records have it, and what people call it."""

    value: str
    count: int
    label: str = ""


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

    Raises Invalid (sort, cursor, state, source class, include).
    """
    _require_words(where, sort)
    if where.query:
        return _searched(at, where, sort, after, limit)
    rows = _matching(at, where)
    groups = _grouped(at, rows)
    found = page_of(_shown(at, where, rows), sort=sort, after=after, limit=limit)
    return _page(at, where, groups, found, {}, n_unclaimed=_unclaimed(at, where))


def _require_words(where: Filter, sort: str) -> None:
    if sort not in SORTS or (sort == "rank" and not where.query):
        raise Invalid.at("sort", expected=" or ".join(SORTS if where.query else SORTS[:-1]), got=sort)
    for loc, given, known in (
        ("state", where.states, STATES),
        ("source", where.source_classes, SOURCE_CLASSES),
        ("include", sorted(where.include), HIDDEN),
    ):
        unknown = [word for word in given if word not in known]
        if unknown:
            raise Invalid.at(loc, expected=" or ".join(known), got=unknown[0])


def _matching(at: AsOf, where: Filter) -> RecordStateQuerySet:
    """Everything that the filter meets, shown or hidden, with its bucket."""
    rows = _narrowed(at, where, RecordState.objects.known(at))
    is_valid = (Q(valid_from__isnull=True) | Q(valid_from__lte=at.valid_at)) & (
        Q(valid_to__isnull=True) | Q(valid_to__gt=at.valid_at)
    )
    bucket = Case(
        When(erased_seq__isnull=False, then=Value("erased")),
        When(is_withdrawn=True, then=Value("withdrawn")),
        When(is_superseded=True, then=Value("superseded")),
        When(Q(is_held=True) & _by_others(where), then=Value(HELD_BY_OTHERS)),
        When(is_held=True, then=Value("held")),
        When(is_valid, then=Value("current")),
        default=Value("not_valid"),
        output_field=CharField(),
    )
    return rows.annotate(bucket=bucket)


def _by_others(where: Filter) -> Q:
    """What an agent that reads did not write itself; nothing where a person reads."""
    return Q(agent__isnull=True) | ~Q(agent=where.reader) if where.reader is not None else Q(pk__in=[])


def _unclaimed(at: AsOf, where: Filter, docs: Sequence[int] | None = None) -> int:
    """By a source's instants: how many that the filter meets have none, up to the cap; of the documents, if given."""
    if at.source_at is None:
        return 0
    rows = _narrowed(at, where, RecordState.objects.filter(namespace=at.namespace, source_recorded_at__isnull=True))
    return (rows if docs is None else rows.filter(doc__in=docs))[: CAP + 1].count()


def _narrowed(at: AsOf, where: Filter, rows: RecordStateQuerySet) -> RecordStateQuerySet:
    if where.types:
        rows = rows.filter(type__in=_ids_named(at, where.types))
    if where.agents or where.agent_names:
        named = Agent.objects.filter(namespace=at.namespace, name__in=_ids_named(at, where.agent_names)).values("id")
        rows = rows.filter(Q(agent__in=where.agents) | Q(agent__in=Subquery(named)))
    if where.runs:
        rows = rows.filter(run__in=where.runs)
    if where.source_classes:
        rows = rows.filter(source_class__in=where.source_classes)
    if where.recorded_from is not None:
        rows = rows.filter(recorded_at__gte=where.recorded_from)
    if where.recorded_to is not None:
        rows = rows.filter(recorded_at__lt=where.recorded_to)
    if where.reader is not None and (where.query or where.tags):
        # Counted by a word of its text, it would tell the word.
        rows = rows.exclude(_by_others(where), WAITING)
    return rows.filter(tagged(where.tags)) if where.tags else rows


def _ids_named(at: AsOf, texts: Sequence[str]) -> Subquery:
    return Subquery(Name.objects.filter(namespace=at.namespace, text__in=texts).values("id"))


def _bucket(state: RecordState) -> str:
    """The bucket of a row of `_matching`."""
    return str(state.bucket)  # type: ignore[attr-defined]


def _word(bucket: str) -> str:
    """What a bucket is called: what others hold is held."""
    return "held" if bucket == HELD_BY_OTHERS else bucket


def _is_listed(where: Filter, bucket: str) -> bool:
    return bucket in where.states if where.states else bucket == "current" or bucket in where.include


def _shown(at: AsOf, where: Filter, rows: RecordStateQuerySet) -> RecordStateQuerySet:
    """The same rule as `_is_listed`, in words that the indexes of the default list can serve."""
    if where.states:
        return rows.filter(Q(("bucket__in", where.states)))
    if "erased" not in where.include:
        rows = rows.filter(erased_seq__isnull=True)
    left_out = [HELD_BY_OTHERS, *(bucket for bucket in HIDDEN if bucket not in where.include)]
    return rows.exclude(Q(("bucket__in", left_out)))


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that no facet tells apart."""

    type: UUID
    agent: UUID | None
    run: UUID | None
    source_class: str
    bucket: str
    count: int


def _grouped(at: AsOf, rows: RecordStateQuerySet) -> list[_Group]:
    """The newest 10,001 matches, counted by what the facets show; in no order."""
    newest = rows.order_by("-doc").values_list(*GROUPED_BY)[: CAP + 1]
    sql, parameters = newest.query.sql_with_params()
    columns = ", ".join(f"c{index}" for index in range(len(GROUPED_BY)))
    statement = f"WITH newest({columns}) AS ({sql}) SELECT {columns}, count(*) FROM newest GROUP BY {columns}"
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found = cursor.fetchall()
    return [
        _Group(as_id(kind), agent and as_id(agent), run and as_id(run), source_class, bucket, count)
        for kind, agent, run, source_class, bucket, count in found
    ]


def _searched(at: AsOf, where: Filter, sort: str, after: str, limit: int) -> RecordPage:
    """All matches of the text are read, at most 1,000, and arranged here."""
    terms = fulltext.words(where.query)
    hits = fulltext.search(
        at.namespace, terms, join="all", limit=RANKED, below=doc_of(at.seq + 1, 0), is_past=at.seq < at.head
    )  # fmt: skip
    scores = {hit.doc: hit.score for hit in hits}
    states = list(_matching(at, where).filter(doc__in=list(scores)))
    groups = [_Group(s.type, s.agent, s.run, s.source_class, _bucket(s), 1) for s in states]
    shown = [state for state in states if _is_listed(where, _bucket(state))]
    if sort == "rank":
        arranged = sorted(shown, key=lambda state: (-scores[state.doc], -state.doc))
    else:
        arranged = ordered(shown, sort=sort)
    start = _offset(after)
    following = str(start + limit) if len(arranged) > start + limit else ""
    found = Page(arranged[start : start + limit], following, str(max(0, start - limit)) if start else "")
    return _page(
        at, where, groups, found, scores, why=tuple(terms), n_unclaimed=_unclaimed(at, where, list(scores))
    )  # fmt: skip


def _offset(after: str) -> int:
    """The cursor of a text list: the number of rows before the page."""
    if after and (not after.isdecimal() or int(after[:9]) > RANKED):
        raise Invalid.at("after", expected="a cursor from `next` or `previous`", got=after)
    return int(after or 0)


def _page(
    at: AsOf, where: Filter, groups: Sequence[_Group], found: Page, scores: Mapping[int, float], *,
    why: tuple[str, ...] = (), n_unclaimed: int = 0,
) -> RecordPage:  # fmt: skip
    listed = [group for group in groups if _is_listed(where, group.bucket)]
    hidden = Counter[str]()
    for group in groups:
        if not _is_listed(where, group.bucket) and group.bucket != "current":
            hidden[_word(group.bucket)] += group.count
    if n_unclaimed:
        hidden[NO_SOURCE_TIME] = n_unclaimed
    told = [replace(group, bucket=_word(group.bucket)) for group in groups]
    counts = {
        "type": _counted(listed, "type"), "agent": _counted(listed, "agent"), "run": _counted(listed, "run"),
        "source": _counted(listed, "source_class"), "state": _counted(told, "bucket"),
    }  # fmt: skip
    called = labels(
        at.namespace,
        names={*(state.type for state in found.rows), *counts["type"]},
        agents={*(state.agent for state in found.rows), *counts["agent"]},
        runs={*(state.run for state in found.rows), *counts["run"]},
    )
    return RecordPage(
        items=tuple(replace(row_of(state, called, scores.get(state.doc)), why=why) for state in found.rows),
        total=min(sum(group.count for group in listed), CAP),
        is_capped=sum(group.count for group in groups) > CAP,
        hidden=dict(sorted(hidden.items())), facets=_facets(counts, called), next=found.next, previous=found.previous,
    )  # fmt: skip


def _counted(groups: Iterable[_Group], name: str) -> dict[Any, int]:
    """{value: count} of the most frequent values; no value is no row of a facet."""
    counts = Counter[Any]()
    for group in groups:
        if (value := getattr(group, name)) is not None:
            counts[value] += group.count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))[:FACET_VALUES])


def _facets(counts: Mapping[str, Mapping[Any, int]], called: Labels) -> dict[str, tuple[Facet, ...]]:
    """Types and agents are named by their text, which is also what the filter takes; runs by id."""
    return {
        "type": _named_facets(counts["type"], called.names),
        "agent": tuple(Facet(str(id), n, called.agents.get(id, "erased")) for id, n in counts["agent"].items()),
        "run": tuple(Facet(str(id), n, called.runs.get(id, "")) for id, n in counts["run"].items()),
        "source": tuple(Facet(value, n) for value, n in counts["source"].items()),
        "state": tuple(Facet(value, n) for value, n in counts["state"].items()),
    }


def _named_facets(counts: Mapping[UUID, int], names: Mapping[UUID, str]) -> tuple[Facet, ...]:
    return tuple(Facet(names.get(id, "erased"), n, names.get(id, "erased")) for id, n in counts.items())


def every_record(at: AsOf, *, where: Filter, sort: str = "-recorded_at", most: int = CAP) -> Iterator[RecordRow]:
    """The whole list in chunks, up to `most` rows: for exports, so nothing is counted. Raises Invalid as `records`."""
    _require_words(where, sort)
    if where.query:
        return iter(_searched(at, where, sort, "", min(most, RANKED)).items)
    rows = _shown(at, where, _matching(at, where))
    return _in_chunks(at, rows, sort=sort, most=most)


def _in_chunks(at: AsOf, rows: RecordStateQuerySet, *, sort: str, most: int) -> Iterator[RecordRow]:
    after = ""
    while most > 0:
        found = page_of(rows, sort=sort, after=after, limit=min(CHUNK, most))
        yield from rows_of(at, found.rows)
        most, after = most - len(found.rows), found.next
        if not after:
            return
