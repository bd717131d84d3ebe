"""What was written lately, told so that people can read it: entries with the names of who acted, and counts by day.

Invariants
- One query for entries, one for days, whatever the number of rows. A day is a UTC day.
- The log has no gaps, so the entries of a day are counted by the sequences at its two ends, not one by one.
- A name that was erased, and one that never was, reads as empty: the page has a word of its own for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce, Concat, NullIf, Trim

from memory.agents.counting import Counted
from memory.agents.labels import called
from memory.agents.models import Agent, Membership, Run
from memory.base import sql
from memory.base.asof import AsOf
from memory.ledger.models import Content, Entry, Item, Name, Refusal, Restoration

UNTOLD_KINDS = ("name", "run")
"""Items that come along with another act: they say nothing that the entry itself does not."""

COUNTED = 100
"""More objects of one entry than these are told as "100+"."""

Place = tuple[type[models.Model], str, bool, models.Q]
ALL = models.Q()

_labels: dict[str, Place] = {}


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """An entry as a line. `kind`, `object` and `label` are those of its first object, `n_objects` counts those of that
    kind up to COUNTED + 1. `refused` is the code of a refusal, `n_refused` how many acts it stands for; `agent` is who
    acted or, in a refusal, who was refused."""

    seq: int
    recorded_at: datetime
    verb: str
    principal: str
    person: int | None
    person_name: str
    agent: UUID | None
    agent_name: str
    on_behalf_of: str
    run: UUID | None
    run_title: str
    n_items: int
    kind: str
    object: UUID | None
    label: str
    n_objects: int
    refused: str
    n_refused: int
    leaf: bytes = b""


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day; None where the namespace did not exist yet. `n_refused` counts acts, `n_writes` entries."""

    day: date
    n_writes: int | None
    n_refused: int | None


def labelled_by(
    kinds: Iterable[str], model: type[models.Model], column: str, *, is_name: bool = False, shown: models.Q = ALL
) -> None:
    """Register what an object of these kinds is called: a column of the row of `model` with its id.

    `is_name`: the column holds the id of a name of the dictionary. `shown`: the rows that may be called by it.
    """
    _labels.update(dict.fromkeys(kinds, (model, column, is_name, shown)))


def latest(at: AsOf, *, limit: int = 20) -> list[ToldEntry]:
    """The newest entries up to the point, newest first."""
    rows = Entry.objects.filter(namespace=at.namespace, seq__lte=at.seq).order_by("-seq")
    return told(rows[:limit])


def told(rows: models.QuerySet[Entry]) -> list[ToldEntry]:
    """The entries with all that a line says of them, in the order given, by one query."""
    first = _items_of(OuterRef("seq")).exclude(kind__in=UNTOLD_KINDS).order_by("item")
    refusal = Refusal.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    columns: dict[str, Any] = {
        "refused": Subquery(refusal.values("code")[:1]),
        "n_refused": Subquery(refusal.values("count")[:1]),
        "told_agent": Coalesce(F("agent"), Subquery(refusal.values("agent")[:1])),
        "agent_named": agent_name("told_agent"),
        "person_named": person_name("person"),
        "behalf": name_of("on_behalf_of"),
        "run_told": _run_told("run"),
        "first_kind": Subquery(first.values("kind")[:1]),
        "first_object": Subquery(first.values("object")[:1]),
        "n_objects": Counted(
            _items_of(OuterRef("seq")).filter(kind=OuterRef("first_kind")).values("item")[: COUNTED + 1]
        ),
        "label": _label(),
    }
    for name, value in columns.items():
        rows = rows.annotate(**{name: value})
    return [_told(row) for row in rows]


def _told(row: Any) -> ToldEntry:
    return ToldEntry(
        row.seq, row.recorded_at, row.verb, row.principal, row.person, row.person_named or "", row.told_agent,
        row.agent_named or "", row.behalf or "", row.run, called(row.run_told) if row.run_told else "", row.n_items,
        row.first_kind or "", row.first_object, row.label or "", row.n_objects, row.refused or "", row.n_refused or 0,
        bytes(row.leaf),
    )  # fmt: skip


def _label() -> Case:
    """The label of the first object, by its kind; agents and people are called by their names."""
    places: dict[Place, list[str]] = {}
    for kind, place in _labels.items():
        places.setdefault(place, []).append(kind)
    whens = [
        When(first_kind__in=("agent", "freeze"), then=agent_name("first_object")),
        When(first_kind="membership", then=_member_name()),
    ]
    for (model, column, is_name, may_show), kinds in places.items():
        rows = model._default_manager.filter(may_show, namespace=OuterRef("namespace"), id=OuterRef("first_object"))
        shown = rows.annotate(shown=name_of(column) if is_name else F(column)).values("shown")[:1]
        whens.append(When(first_kind__in=kinds, then=Subquery(shown)))
    return Case(*whens, default=Value(""), output_field=models.CharField())


def _member_name() -> Subquery:
    rows = Membership.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    return Subquery(rows.annotate(shown=person_name("person")).values("shown")[:1])


def _items_of(seq: Any) -> models.QuerySet[Item]:
    return Item.objects.filter(namespace=OuterRef("namespace"), seq=seq)


def name_of(column: str) -> Subquery:
    """The text of a name of the dictionary."""
    return Subquery(Name.objects.filter(namespace=OuterRef("namespace"), id=OuterRef(column)).values("text")[:1])


def person_name(column: str) -> Subquery:
    """The full name of an account, or what the person signs in with; of a row that has a namespace and a seq.

    None where the row came here in an archive: its number is that of an account of the former host, and the account
    of that number here may be anybody's. Whoever restored the archive is known by theirs.
    """
    whole = Trim(Concat("first_name", Value(" "), "last_name"))
    former = Restoration.objects.filter(
        namespace=OuterRef(OuterRef("namespace")), seq__gte=OuterRef(OuterRef("seq")), keeps_people=False
    ).exclude(person=OuterRef("pk"))
    people = User.objects.filter(~Exists(former), pk=OuterRef(column))
    return Subquery(people.annotate(shown=Coalesce(NullIf(whole, Value("")), "username")).values("shown")[:1])


def agent_name(column: str) -> Subquery:
    """What an agent is called."""
    agents = Agent.objects.filter(namespace=OuterRef("namespace"), id=OuterRef(column)).annotate(shown=name_of("name"))
    return Subquery(agents.values("shown")[:1])


def _run_told(column: str) -> Subquery:
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "run"}
    payload = Subquery(Content.objects.filter(**own).values("payload")[:1])
    runs = Run.objects.filter(namespace=OuterRef("namespace"), id=OuterRef(column)).annotate(told=payload)
    return Subquery(runs.values("told")[:1])


def days(at: AsOf, *, founded_at: datetime, until: datetime, n_days: int = 14) -> list[Day]:
    """The last days up to the one that holds `until`, oldest first."""
    midnight = until.replace(hour=0, minute=0, second=0, microsecond=0)
    starts = [midnight - timedelta(days=back) for back in range(n_days - 1, -1, -1)]
    found = {index: (entries, refusals, refused) for index, entries, refusals, refused in _counts(at, starts)}
    told_days = []
    for index, start in enumerate(starts):
        if start + timedelta(days=1) <= founded_at:
            told_days.append(Day(start.date(), None, None))
            continue
        entries, refusals, refused = found[index]
        told_days.append(Day(start.date(), entries - refusals, refused))
    return told_days


def _counts(at: AsOf, starts: Iterable[datetime]) -> list[tuple[int, int, int, int]]:
    """(index of the day, entries, entries that are refusals, refused acts)."""
    bounds = [(index, start, start + timedelta(days=1)) for index, start in enumerate(starts)]
    marks = " UNION ALL ".join(["SELECT %s AS day, %s AS low, %s AS high"] * len(bounds))
    last = (
        "coalesce((SELECT e.seq FROM memory_entry e WHERE e.namespace_id = %s AND e.seq <= %s AND e.recorded_at < {}"
        " ORDER BY e.recorded_at DESC LIMIT 1), 0)"
    )
    within = "FROM memory_refusal r WHERE r.namespace_id = %s AND r.seq > s.low AND r.seq <= s.high"
    statement = (
        f"WITH days AS ({marks}),"
        f" spans AS (SELECT day, {last.format('days.low')} AS low, {last.format('days.high')} AS high FROM days)"
        f" SELECT s.day, s.high - s.low, (SELECT count(*) {within}), (SELECT coalesce(sum(r.count), 0) {within})"
        " FROM spans s ORDER BY s.day"
    )
    point = [at.namespace, at.seq]
    values = [value for bound in bounds for value in bound] + point * 2 + [at.namespace] * 2
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in sql.fetch(statement, values)]
