"""What every entry leaves behind for compiled records: which of its raw records bear a covered topic."""

from __future__ import annotations

from memory.ledger.operations.appending import OpenEntry
from memory.lineage.covering import cover


def covered(entry: OpenEntry) -> None:
    """Companion of every entry: once its rows stand, its tagged raw records are matched with the covered topics."""
    entry.then(lambda: _enter(entry))


def _enter(entry: OpenEntry) -> None:
    compiled = {draft.object for draft in entry.drafts if draft.kind == "compilation"}
    tagged = [
        (draft.object, item, draft.parts["details"]["tags"])
        for item, draft in enumerate(entry.drafts)
        if draft.kind == "record" and draft.object not in compiled and draft.parts.get("details", {}).get("tags")
    ]
    if tagged:
        cover(entry.by.namespace, entry.seq, tagged)
