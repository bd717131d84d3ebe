"""A slice as OpenLineage run events: entries as runs, their verbs as jobs, versions of records as datasets.

Invariants
- Each run has a START and one end: COMPLETE, or ABORT where it was refused.
- A run has the same id in every export: it follows from namespace and entry. No text of a record is in an event.

Source: OpenLineage 2-0-2, RunEvent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid5

from memory.base import instants
from memory.interchange.slices import Act, Slice

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def events(found: Slice) -> Iterator[dict[str, Any]]:
    """The events of the slice in the order of the ledger."""
    for act in found.acts:
        yield _event(found, act, "START")
        yield _event(found, act, "ABORT" if act.refused else "COMPLETE")


def run_id(store: UUID, seq: int) -> UUID:
    """The id of the run that an entry is."""
    return uuid5(store, f"entry/{seq}")


def _event(found: Slice, act: Act, kind: str) -> dict[str, Any]:
    job = f"{act.verb}.{act.refused}" if act.refused else act.verb
    return {
        "eventType": kind,
        "eventTime": instants.text(act.recorded_at),
        "run": {"runId": str(run_id(found.uid, act.seq))},
        "job": {"namespace": found.namespace, "name": job},
        "inputs": [_dataset(found, id) for id in dict.fromkeys([*act.used, *act.ended])],
        "outputs": [_dataset(found, id) for id in act.generated],
        "producer": f"urn:palimpsest:{found.uid}",
        "schemaURL": SCHEMA,
    }


def _dataset(found: Slice, id: UUID) -> dict[str, str]:
    return {"namespace": found.namespace, "name": f"record/{id}"}
