"""What runs did, told so that people can read it: who opened them and for whom, and each of their entries as a line.

Invariants
- The number of queries does not grow with the entries: one for what lists add to runs, one each for the head of a run,
  its content, its verbs and its entries.
- An entry belongs to the run that it names, also after the end of the run; what was refused belongs to it too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Subquery, Sum

from memory.agents.activity import ToldEntry, agent_name, name_of, person_name, told
from memory.agents.models import Run, RunEnd
from memory.agents.queries import RunRow, rows_of_runs, with_entries
from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.base.errors import NotFound
from memory.ledger.models import Content, Entry, Refusal


@dataclass(frozen=True, slots=True)
class RunTold:
    """Beside the row of a run: the names of who opened it and for whom, the refused acts, and the note of its end."""

    agent_name: str
    person_name: str
    on_behalf_of: str
    n_refused: int
    end_note: str


@dataclass(frozen=True, slots=True)
class RunStory:
    """A run, its verbs with how often it did each, and the entries of one page; `next` is the seq to go on after."""

    row: RunRow
    told: RunTold
    verbs: tuple[tuple[str, int], ...]
    entries: tuple[ToldEntry, ...]
    n_listed: int
    next: int | None


def told_runs(at: AsOf, ids: Iterable[UUID]) -> dict[UUID, RunTold]:
    """{run: what lists say beside its row} by one query."""
    of_run = {"namespace": at.namespace, "run": OuterRef(OuterRef("id")), "seq__lte": at.seq}
    refused = Entry.objects.filter(**of_run, verb="refuse").values("seq")
    refusals = Refusal.objects.filter(namespace=at.namespace, seq__in=Subquery(refused)).order_by()
    rows: Any = Run.objects.filter(namespace=at.namespace, id__in=sorted(ids))
    columns: dict[str, Any] = {
        "opened_by": _first("agent"), "opened_person": _first("person"), "opened_for": _first("on_behalf_of"),
        "agent_named": agent_name("opened_by"), "person_named": person_name("opened_person"),
        "behalf": name_of("opened_for"),
        "n_refused": Subquery(refusals.values("namespace").annotate(n=Sum("count")).values("n")[:1]),
        "end_note": _end_note(at),
    }  # fmt: skip
    for name, value in columns.items():
        rows = rows.annotate(**{name: value})
    return {
        row.id: RunTold(
            row.agent_named or "", row.person_named or "", row.behalf or "", row.n_refused or 0,
            str(strict_loads(row.end_note)) if row.end_note is not None else "",
        )
        for row in rows
    }  # fmt: skip


def _first(column: str) -> Subquery:
    entry = Entry.objects.filter(namespace=OuterRef("namespace"), seq=OuterRef("seq"))
    return Subquery(entry.values(column)[:1])


def _end_note(at: AsOf) -> Subquery:
    told_of = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "note"}
    note = Subquery(Content.objects.filter(**told_of).values("payload")[:1])
    ends = RunEnd.objects.filter(namespace=OuterRef("namespace"), run=OuterRef("id"), seq__lte=at.seq)
    return Subquery(ends.annotate(told=note).values("told")[:1])


def run_story(at: AsOf, *, run: UUID, verbs: Collection[str] = (), after: int = 0, limit: int = 200) -> RunStory:
    """Everything that one run did up to the point, in the order of the ledger; of some verbs only, where given.

    Five queries. Raises NotFound.
    """
    found = list(with_entries(at, Run.objects.filter(namespace=at.namespace, id=run, seq__lte=at.seq)))
    if not found:
        raise NotFound(f"There is no run {run} as of entry {at.seq}.")
    (row,) = rows_of_runs(at, found)
    entries = Entry.objects.filter(namespace=at.namespace, run=run, seq__lte=at.seq)
    counted = entries.order_by().values("verb").annotate(n=Count("seq")).values_list("verb", "n")
    counts = tuple(sorted(counted, key=lambda pair: (-pair[1], pair[0])))
    shown = entries.filter(verb__in=verbs) if verbs else entries
    n_listed = sum(n for verb, n in counts if verb in verbs or not verbs)
    lines = told(shown.filter(seq__gt=after).order_by("seq")[: limit + 1])
    further = lines[limit - 1].seq if len(lines) > limit else None
    return RunStory(row, told_runs(at, [run])[run], counts, tuple(lines[:limit]), n_listed, further)
