"""Who wrote an entry and when, for what is told of a tombstone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.agents.labels import labels
from memory.ledger.models import Entry

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


def said(namespace: int, seqs: Iterable[int]) -> dict[int, Said]:
    """{seq: who wrote it and when}."""
    wanted = sorted(set(seqs))
    rows: list[Entry] = []
    for start in range(0, len(wanted), CHUNK):
        rows.extend(Entry.objects.filter(namespace=namespace, seq__in=wanted[start : start + CHUNK]))
    names = labels(namespace, agents=[row.agent for row in rows]).agents
    return {
        row.seq: Said(
            row.seq, row.recorded_at, row.person, row.agent, names.get(row.agent, "") if row.agent else "", row.run
        )
        for row in rows
    }
