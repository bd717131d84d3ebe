"""What is written at the addresses of tombstones: who wrote it and when, its text, and what it refers to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from memory.agents.models import Agent
from memory.ledger.models import Entry, Name
from memory.ledger.queries.addressed import Address
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.mentions import Mention, mentions
from memory.tombstones.models import EVIDENCE

CHUNK = 400


@dataclass(frozen=True, slots=True)
class Said:
    """One entry: when, by whom, in which run. `agent_name` is empty for people and where the name is erased."""

    seq: int
    recorded_at: datetime
    person: int | None
    agent: UUID | None
    agent_name: str
    run: UUID | None


@dataclass(frozen=True, slots=True)
class Written:
    """What is written at some addresses: `texts` by part, `rests` on what, `said` by whom, by entry."""

    texts: Mapping[Address, Mapping[str, Any]]
    rests: Mapping[Address, tuple[Mention, ...]]
    said: Mapping[int, Said]


def written(namespace: int, addresses: Iterable[Address]) -> Written:
    """What is written there; what is erased is missing."""
    wanted = set(addresses)
    return Written(
        contents_of(namespace, wanted), mentions(namespace, wanted, kind=EVIDENCE),
        said(namespace, [seq for seq, _ in wanted]),
    )  # fmt: skip


def said(namespace: int, seqs: Iterable[int]) -> dict[int, Said]:
    """{seq: who wrote it and when}."""
    wanted = sorted(set(seqs))
    name = Name.objects.filter(namespace=namespace, id=OuterRef("name")).values("text")[:1]
    agent = Agent.objects.filter(namespace=namespace, id=OuterRef("agent")).values(text=Subquery(name))[:1]
    rows = Entry.objects.filter(namespace=namespace).annotate(agent_name=Coalesce(Subquery(agent), Value("")))
    found: dict[int, Said] = {}
    for start in range(0, len(wanted), CHUNK):
        chunk = rows.filter(seq__in=wanted[start : start + CHUNK])
        for row in chunk.values_list("seq", "recorded_at", "person", "agent", "agent_name", "run"):
            found[row[0]] = Said(*row)
    return found
