"""Labels as they stand, and what is answered to one that is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.beliefs.models import Observation
from memory.calibration.models import LabelOutcome
from memory.ledger.models import Entry
from memory.ledger.queries.contents import contents_of, name_ids

CHUNK = 400


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer to one label. `recorded` is false where it says what stands already.

    `alarms` are the ids of those that it tipped; `flags` warn of its instants; `replayed`: no entry was written.
    """

    outcome_event_id: str
    observation_id: str
    recorded: bool
    correction: bool
    id: UUID | None
    seq: int
    alarms: tuple[UUID, ...] = ()
    flags: tuple[str, ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A label that stands, of this entry or an earlier one."""

    id: UUID
    name: UUID
    observation: UUID
    true_index: int
    labeled_at: float
    recorded_at: float
    reason: str | None
    seq: int


def observations_of(namespace: int, texts: Iterable[str]) -> dict[str, Observation]:
    """The observations of these ids."""
    found: dict[str, Observation] = {}
    wanted = sorted(set(texts))
    for start in range(0, len(wanted), CHUNK):
        names = name_ids(namespace, wanted[start : start + CHUNK])
        rows = Observation.objects.filter(namespace=namespace, name__in=list(names.values()))
        by_name = {row.name: row for row in rows}
        found.update({text: by_name[name] for text, name in names.items() if name in by_name})
    return found


def labels_of(namespace: int, observations: Sequence[UUID], names: Sequence[UUID] = ()) -> list[Standing]:
    """The labels of the observations, and those under the names, the oldest first."""
    rows: dict[UUID, LabelOutcome] = {}
    for column, wanted in (("observation", observations), ("name", names)):
        for start in range(0, len(wanted), CHUNK):
            about = {"namespace": namespace, f"{column}__in": wanted[start : start + CHUNK]}
            rows |= {row.id: row for row in LabelOutcome.objects.filter(**about)}
    ordered = sorted(rows.values(), key=lambda row: (row.seq, row.item))
    notes = contents_of(namespace, [(row.seq, row.item) for row in ordered if row.supersedes is not None])
    seqs = {row.seq for row in ordered if row.recorded_at is None}
    at = dict(Entry.objects.filter(namespace=namespace, seq__in=seqs).values_list("seq", "recorded_at"))
    return [
        Standing(
            row.id, row.name, row.observation, row.true_index, row.labeled_at,
            at[row.seq].timestamp() if row.recorded_at is None else row.recorded_at,
            notes.get((row.seq, row.item), {}).get("note"), row.seq,
        )
        for row in ordered
    ]  # fmt: skip
