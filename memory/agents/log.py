"""The log as a list: entries told in words, narrowed by verb, actor, run and range, newest first.

Invariants
- Three queries at most, whatever the number of rows: the page, and the counts of the newest CAP + 1 that match.
- A page is bounded by the sequence of its first and last row, so that it never drifts while entries are appended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.agents.activity import ToldEntry, told
from memory.base import sql
from memory.base.asof import AsOf
from memory.base.errors import Invalid, NotFound
from memory.ledger.models import Entry

CAP = 10_000
CHUNK = 500


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What the list is narrowed to. `who` is "agent:<id>", "person:<id>" or "system"; first and last are inclusive."""

    verb: str = ""
    who: str = ""
    run: UUID | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class LogFacet:
    """One value, what it is called, and how many of the listed entries have it."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class LogPage:
    """One page. `total` is exact up to CAP; `is_capped` where there are more."""

    items: tuple[ToldEntry, ...]
    total: int
    is_capped: bool
    verbs: tuple[LogFacet, ...]
    actors: tuple[LogFacet, ...]
    newer: str
    older: str


def log(at: AsOf, *, where: LogFilter, after: str = "", limit: int = 50) -> LogPage:
    """One page of the log up to the point. `after` is a cursor from `newer` or `older`.

    Raises Invalid (cursor, who).
    """
    rows = _narrowed(at, where)
    backwards, cursor = after.startswith(">"), after.lstrip("<>")
    if after and (after[0] not in "<>" or not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 18):
        raise Invalid.at("after", expected="a cursor from `newer` or `older`", got=after)
    if after:
        rows = rows.filter(seq__gt=int(cursor)) if backwards else rows.filter(seq__lt=int(cursor))
    found = told(rows.order_by("seq" if backwards else "-seq")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    has_older, has_newer = (bool(after), more) if backwards else (more, bool(after))
    counts = _counts(at, where)
    total = sum(row[-1] for row in counts)
    return LogPage(
        tuple(found), min(total, CAP), total > CAP, _verbs(counts), _actors(counts),
        newer=f">{found[0].seq}" if found and has_newer else "",
        older=f"<{found[-1].seq}" if found and has_older else "",
    )  # fmt: skip


def entry_told(at: AsOf, *, seq: int) -> ToldEntry:
    """One entry as a line.   Raises NotFound."""
    found = told(Entry.objects.filter(namespace=at.namespace, seq=seq, seq__lte=at.seq))
    if not found:
        raise NotFound(f"There is no entry {seq} as of entry {at.seq}.")
    return found[0]


def every_entry(at: AsOf, *, where: LogFilter, most: int) -> Iterator[ToldEntry]:
    """The entries of the list over all its pages, newest first, at most so many; one query for each CHUNK of them."""
    before, left = at.seq + 1, most
    while left > 0:
        found = told(_narrowed(at, where).filter(seq__lt=before).order_by("-seq")[: min(CHUNK, left)])
        yield from found
        if len(found) < CHUNK:
            return
        before, left = found[-1].seq, left - len(found)


def _narrowed(at: AsOf, where: LogFilter) -> Any:
    last = at.seq if where.last is None else min(at.seq, where.last)
    rows = Entry.objects.filter(namespace=at.namespace, seq__lte=last)
    rows = rows.filter(seq__gte=where.first) if where.first is not None else rows
    rows = rows.filter(verb=where.verb) if where.verb else rows
    rows = rows.filter(run=where.run) if where.run is not None else rows
    return rows.filter(**_acted(where.who)) if where.who else rows


def _acted(who: str) -> dict[str, Any]:
    kind, _, name = who.partition(":")
    try:
        if kind == "agent":
            return {"agent": UUID(name)}
        if kind == "person" and name.isascii() and name.isdecimal() and len(name) <= 18:
            return {"person": int(name)}
    except ValueError:
        pass
    if who == "system":
        return {"principal": "system"}
    raise Invalid.at("who", expected="agent:<id>, person:<id> or system", got=who)


Row = tuple[str, str, UUID | None, int | None, str | None, str | None, int]


def _counts(at: AsOf, where: LogFilter) -> list[Row]:
    """(verb, principal, agent, person, the agent's name, the person's name, n) over the newest CAP + 1 entries."""
    rows = _narrowed(at, where).order_by("-seq").values("verb", "principal", "agent", "person")[: CAP + 1]
    inner, values = rows.query.sql_with_params()
    columns = "verb, principal, agent, person"
    agent = (
        "SELECT n.text FROM memory_agent a JOIN memory_name n ON n.namespace_id = a.namespace_id AND n.id = a.name"
        " WHERE a.namespace_id = %s AND a.id = c.agent"
    )
    person = (
        "SELECT coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.username) FROM auth_user u"
        " WHERE u.id = c.person"
    )
    statement = (
        f"WITH newest({columns}) AS ({inner}),"
        f" counted({columns}, n) AS (SELECT {columns}, count(*) FROM newest GROUP BY {columns})"
        f" SELECT {columns}, ({agent}), ({person}), n FROM counted c"
    )
    return [
        (verb, principal, sql.as_id(by) if by is not None else None, of, agent_name, person_name, int(n))
        for verb, principal, by, of, agent_name, person_name, n in sql.fetch(statement, [*values, at.namespace])
    ]


def _verbs(counts: list[Row]) -> tuple[LogFacet, ...]:
    found: Counter[str] = Counter()
    for row in counts:
        found[row[0]] += row[-1]
    return tuple(LogFacet(verb, verb, n) for verb, n in sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _actors(counts: list[Row]) -> tuple[LogFacet, ...]:
    found: Counter[tuple[str, str]] = Counter()
    for _, principal, agent, person, agent_name, person_name, n in counts:
        if agent is not None:
            found[f"agent:{agent}", agent_name or ""] += n
        elif person is not None:
            found[f"person:{person}", person_name or ""] += n
        elif principal == "system":
            found["system", "the system"] += n
    return tuple(LogFacet(*key, n) for key, n in sorted(found.items(), key=lambda one: (-one[1], one[0])))
