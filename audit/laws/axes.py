"""L6 of a snapshot: whether a store keeps the time of the world apart from the time of its knowledge.

The weak form is read off the schema. Its strong form is a theorem about recording: where two histories that differ only
in valid time give one store, no function of that store can answer both; only a column can repair it.

Source: laws of the store, 2.1 (note 2).
"""

from __future__ import annotations

from audit.laws.tally import Tally
from audit.laws.values import Finding, Snapshot, Witness


def bitemporality(snapshot: Snapshot) -> Finding:
    """L6 by the columns of the store."""
    tally = Tally("L6")
    if not snapshot.valid_time_columns:
        tally.add(Witness("no_valid_time", facts={"time_columns": list(snapshot.time_columns)}))
    return tally.finding(decided_by="the columns of the schema")
