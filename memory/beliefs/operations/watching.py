"""Monitor runs as they watch: which forecasts of new observations they keep, and when they are full.

- Every run of the namespace tracks every independent observation; what cannot be tracked is stored all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from memory.base import ids, sql
from memory.base.errors import Conflict
from memory.beliefs.kernel.documents import ObservationDocument
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.monitoring import MonitorConfig, config_sha256, source_family
from memory.beliefs.models import Forecast, MonitorRun, Observation
from memory.ledger.drafts import Draft
from memory.ledger.operations.appending import NameBook

Tracking = Literal["tracked", "dependent", "capacity", "family_too_long", "not_watched"]
SIZES = (
    "reference_size", "current_size", "min_current_size", "ece_bins", "max_tracked", "max_nll_increase",
    "max_brier_increase", "max_ece", "max_prediction_js",
)  # fmt: skip


@dataclass(slots=True)
class Watch:
    """A run and how many forecasts it can still take."""

    id: UUID
    name: UUID
    sha256: str
    room: int
    draft: Draft | None = None
    n_tracked: int = 0


@dataclass(slots=True)
class Tracked:
    """What became of an observation's forecasts."""

    word: Tracking
    drafts: list[Draft] = field(default_factory=list)


def watches(namespace: int, *, name: UUID | None = None) -> list[Watch]:
    """The runs of the namespace, or that of one name, with their room. One query."""
    only, values = ("", []) if name is None else (" AND r.name = %s", [name])
    rows = sql.fetch(
        "SELECT r.id, r.name, r.config_sha256, r.max_tracked - COALESCE(t.n_tracked, 0) FROM memory_monitorrun r"
        " LEFT JOIN memory_monitortally t ON t.namespace_id = r.namespace_id AND t.monitor_run = r.id"
        f" WHERE r.namespace_id = %s{only} ORDER BY r.seq, r.item",
        [namespace, *values],
    )
    return [Watch(sql.as_id(id), sql.as_id(name), bytes(digest).hex(), room) for id, name, digest, room in rows]


def opened_run(book: NameBook, config: MonitorConfig) -> Watch:
    """A run to be, with its draft."""
    id, name, digest = ids.new_id(), book.id(config.run_id), config_sha256(config)
    assert name is not None
    values = {"id": id, "name": name, "config_sha256": bytes.fromhex(digest)}
    values |= {size: getattr(config, size) for size in SIZES}
    return Watch(id, name, digest, config.max_tracked, Draft("monitor_run", id, MonitorRun, values))


def require_config(watch: Watch, config: MonitorConfig) -> None:
    """Raise Conflict where the run is locked to another configuration."""
    if watch.sha256 != config_sha256(config):
        raise Conflict(
            f"The monitor run {config.run_id} is locked to another configuration; a new one is another run.",
            run_id=config.run_id, config_sha256=watch.sha256,
        )  # fmt: skip


def track(
    book: NameBook, watching: Sequence[Watch], document: ObservationDocument, *, observation: UUID, posterior: Floats
) -> Tracked:
    """The forecasts of one observation, for every run that has room. posterior : (S,) masses as given."""
    if not document.independent_evidence:
        return Tracked("dependent")
    family = source_family(document.provenance)
    if family is None:
        return Tracked("family_too_long")
    frozen = floored(posterior[None])[0].tolist()
    drafts = []
    for watch in watching:
        if watch.room <= watch.n_tracked:
            continue
        watch.n_tracked += 1
        id = ids.new_id()
        values = {
            "id": id, "monitor_run": watch.id, "observation": observation, "source_family": book.id(family),
            "tracked_at": document.tracked_at,
        }  # fmt: skip
        drafts.append(Draft("forecast", id, Forecast, values, {"value": frozen}))
    full: Tracking = "capacity" if watching else "not_watched"
    return Tracked("tracked" if drafts else full, drafts)


def tracking_of(
    namespace: int, rows: Sequence[Observation], provenance: Mapping[UUID, Mapping[str, object]]
) -> dict[UUID, Tracking]:
    """What became of the forecasts of stored observations."""
    kept = Forecast.objects.filter(namespace=namespace, observation__in=[row.id for row in rows])
    tracked = set(kept.values_list("observation", flat=True))
    opened = MonitorRun.objects.filter(namespace=namespace).order_by("seq").values_list("seq", flat=True).first()
    found: dict[UUID, Tracking] = {}
    for row in rows:
        if row.id in tracked:
            found[row.id] = "tracked"
        elif not row.is_independent:
            found[row.id] = "dependent"
        elif source_family(provenance[row.id]) is None:
            found[row.id] = "family_too_long"
        else:
            found[row.id] = "not_watched" if opened is None or opened > row.seq else "capacity"
    return found
