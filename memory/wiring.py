"""Which slice adds what to the mechanisms below it: one list, in the order in which things happen."""

from __future__ import annotations

from memory.agents.attention import populated_by
from memory.agents.guards import not_frozen, not_on_hold
from memory.agents.models import Run
from memory.agents.projection import RunReferences
from memory.agents.runs import attach
from memory.base import gate, projections
from memory.interchange.models import ImportRun
from memory.interchange.sources import raw_rows_of_records
from memory.ledger.operations.appending import accompany
from memory.ledger.operations.erasing import reach
from memory.ledger.projection import Heads, Nodes
from memory.ledger.queries.verification import verify_also
from memory.lineage.projection import contribute as lineage_contribution
from memory.lineage.projection import texts_of_derivations
from memory.lineage.queries.digests import digest_faults
from memory.records.projection import RecordStates, RecordTexts, contribute, notes_of_records


def connect() -> None:
    """Idempotent: called once when the app is ready."""
    gate.register(not_frozen)
    gate.register(not_on_hold)
    accompany(attach)
    reach(raw_rows_of_records)
    reach(notes_of_records)
    reach(texts_of_derivations)
    contribute(lineage_contribution)
    verify_also(digest_faults)
    for projector in (Heads(), Nodes(), RunReferences(), RecordStates(), RecordTexts()):
        projections.register(projector)
    for page, model in (("runs", Run), ("imports", ImportRun)):
        populated_by(page, model)
