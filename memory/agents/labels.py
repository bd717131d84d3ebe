"""What people read instead of ids: names of the dictionary, of agents and of runs, by one query.

What is erased, and what never was, is missing: the reader has a word of its own for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast

from memory.agents.models import Agent, Run
from memory.base.canonical import strict_loads
from memory.ledger.models import Content, Name


@dataclass(frozen=True, slots=True)
class Labels:
    """{id: text} of each kind."""

    names: Mapping[UUID, str] = field(default_factory=dict)
    agents: Mapping[UUID, str] = field(default_factory=dict)
    runs: Mapping[UUID, str] = field(default_factory=dict)


def labels(
    namespace: int,
    *,
    names: Iterable[UUID | None] = (),
    agents: Iterable[UUID | None] = (),
    runs: Iterable[UUID | None] = (),
) -> Labels:
    """The texts of the ids. A run is called by its title, else by its first external reference, else by its kind."""
    named = Name.objects.filter(namespace=namespace, id=OuterRef("name"))
    told = Content.objects.filter(namespace=namespace, seq=OuterRef("seq"), item=OuterRef("item"), part="run")
    asked = [
        _asked("name", Name.objects.filter(namespace=namespace), names, F("text")),
        _asked("agent", Agent.objects.filter(namespace=namespace), agents, Subquery(named.values("text")[:1])),
        _asked("run", Run.objects.filter(namespace=namespace), runs, Subquery(told.values("payload")[:1])),
    ]
    parts = [rows for rows in asked if rows is not None]
    found: dict[str, dict[UUID, str]] = {"name": {}, "agent": {}, "run": {}}
    for identity, text, kind in parts[0].union(*parts[1:], all=True) if parts else ():
        if text is not None:
            found[kind][identity] = called(text) if kind == "run" else text
    return Labels(found["name"], found["agent"], found["run"])


def _asked(kind: str, rows: QuerySet[Any], ids: Iterable[UUID | None], text: Any) -> QuerySet[Any] | None:
    wanted = sorted({one for one in ids if one is not None})
    if not wanted:
        return None
    labelled: QuerySet[Any] = rows.filter(id__in=wanted).annotate(label=Cast(text, TextField()), kind_of=Value(kind))
    return labelled.values_list("id", "label", "kind_of")


def called(payload: str) -> str:
    """What people call the run whose stored content this is."""
    value: Any = strict_loads(payload)
    refs = [f"{key} {text}" for key, text in value["refs"].items() if key != "trace"]
    return str(value["title"] or (refs[0] if refs else ""))
