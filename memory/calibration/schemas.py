"""What the routes of calibration take and answer.

Labels are the peer's documents: the kernel of beliefs reads them and knows their places; reports have the peer's keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, RootModel

from memory.base.errors import DomainError
from memory.base.schemas import Act, BatchError, Reason, Written
from memory.beliefs.kernel.reading import IDENTIFIER_CHARS
from memory.beliefs.schemas import Profiled
from memory.calibration.labels import Recorded
from memory.calibration.operations.alarms import Turned

Scoped = Annotated[str, Field(min_length=1, max_length=IDENTIFIER_CHARS)]


class OutcomeOut(Written):
    """The answer to a label. `recorded` is false where it says what stands already.

    `alarms` are the ids of those that it tipped; `flags` warn of its instants.
    """

    outcome_event_id: str
    observation_id: str
    recorded: bool
    correction: bool
    id: UUID | None
    alarms: list[UUID]
    flags: list[Literal["clock_skew"]]

    @classmethod
    def of(cls, done: Recorded, *, url: str) -> Self:
        return cls(
            outcome_event_id=done.outcome_event_id, observation_id=done.observation_id, recorded=done.recorded,
            correction=done.correction, id=done.id, alarms=list(done.alarms),
            flags=["clock_skew"] if done.flags else [], seq=done.seq, url=url, replayed=done.replayed,
        )  # fmt: skip


class OutcomeItem(BaseModel):
    """One label of a batch; `index` is its place there, from 0."""

    index: int
    outcome_event_id: str
    observation_id: str
    correction: bool
    id: UUID | None
    seq: int
    alarms: list[UUID]
    flags: list[Literal["clock_skew"]]


class OutcomeBatchOut(Written):
    """What became of each item: told now, stood before, or refused."""

    accepted: list[OutcomeItem]
    duplicates: list[OutcomeItem]
    errors: list[BatchError]

    @classmethod
    def of(
        cls, answers: Mapping[int, Recorded | DomainError], refusals: Mapping[int, DomainError], *, head: int, url: str
    ) -> Self:
        """`head` stands for the entry where nothing was or had been told."""
        done = {index: one for index, one in answers.items() if isinstance(one, Recorded)}
        refused = {**refusals, **{i: one for i, one in answers.items() if isinstance(one, DomainError)}}
        items = {
            index: OutcomeItem(
                index=index, outcome_event_id=one.outcome_event_id, observation_id=one.observation_id,
                correction=one.correction, id=one.id, seq=one.seq, alarms=list(one.alarms),
                flags=["clock_skew"] if one.flags else [],
            )
            for index, one in done.items()
        }  # fmt: skip
        fresh = {index for index, one in done.items() if not one.replayed}
        return cls(
            accepted=[item for index, item in items.items() if index in fresh],
            duplicates=[item for index, item in items.items() if index not in fresh],
            errors=[BatchError(index=i, code=error.code, detail=error.detail) for i, error in sorted(refused.items())],
            seq=max((one.seq for one in done.values()), default=head), url=url,
            replayed=not fresh,
        )  # fmt: skip


class ReportAsked(Profiled):
    """Which report: of one relation type, one source family, both, or with `pooled` of everything together.

    Without any of them the full tree. `as_of` cuts by claimed instants, in seconds.
    """

    relation_type: Scoped | None = None
    source_family: Scoped | None = None
    pooled: bool = False
    as_of: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @property
    def is_tree(self) -> bool:
        return self.relation_type is None and self.source_family is None and not self.pooled


class ScopeOut(BaseModel):
    """What was asked about; null is everything."""

    namespace: str
    relation_type: str | None
    source_family: str | None
    as_of: float | None


class SnapshotOut(BaseModel):
    """The last forecast and the last label, by their places in the run."""

    high_water_prediction_seq: int | None
    high_water_outcome_seq: int | None


class CountsOut(BaseModel):
    """Forecasts, those with a label, those without; the sizes of both windows, where one law is reported."""

    tracked: int
    labeled: int
    pending: int
    reference: int | None = None
    current: int | None = None


class MetricsOut(BaseModel):
    """Metrics of a window, or the difference of two."""

    accuracy: float
    nll: float
    brier: float
    ece: float
    top2_coverage: float
    mean_confidence: float
    mean_entropy: float


class DriftOut(BaseModel):
    """How far the forecasts of both windows are apart."""

    prediction_marginal_js: float
    mean_confidence_delta: float
    mean_entropy_delta: float


class AlertOut(BaseModel):
    """A fixed guard that is passed. It is told, and pages nobody."""

    code: Literal["nll_regression", "brier_regression", "ece_limit", "prediction_drift"]
    observed: float
    threshold: float


class MonitorReportOut(BaseModel):
    """The report of one scope. Under the profile `compat` there is no `audit`."""

    schema_version: Literal[2]
    run_id: str
    config_sha256: str
    scope: ScopeOut
    snapshot: SnapshotOut
    counts: CountsOut
    locked_config: dict[str, float]
    status: Literal["insufficient_data", "segmented_by_relation", "alert", "healthy"]
    reason: str | None = None
    relation_types: list[str] | None = None
    alerts: list[AlertOut] | None = None
    reference: MetricsOut | None = None
    current: MetricsOut | None = None
    delta: MetricsOut | None = None
    drift: DriftOut | None = None
    audit: dict[str, Any] | None = Field(None, json_schema_extra={"x-profile": "native"})


class RelationReportsOut(BaseModel):
    """The reports of one relation type."""

    overall: MonitorReportOut
    by_source_family: dict[str, MonitorReportOut]


class ReportTreeOut(BaseModel):
    """Every relation type, each with all its forecasts and with those of each source family."""

    schema_version: Literal[2]
    run_id: str
    config_sha256: str
    namespace: str
    as_of: float | None
    relations: dict[str, RelationReportsOut]
    audit: dict[str, Any] | None = Field(None, json_schema_extra={"x-profile": "native"})


class AnyReportOut(RootModel[ReportTreeOut | MonitorReportOut]):
    """One report, or the full tree."""


class TurnIn(Act):
    """Why an alarm is acknowledged or closed."""

    reason: Reason


class AlarmTurnOut(Written):
    """A person's act on an alarm."""

    alarm: UUID
    kind: Literal["acknowledge", "close"]

    @classmethod
    def of(cls, done: Turned, *, url: str) -> Self:
        return cls(alarm=done.alarm, kind=done.kind, seq=done.seq, url=url, replayed=done.replayed)
