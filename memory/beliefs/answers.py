"""What the reads of beliefs answer: the peer's documents, described for readers and sent as the kernel made them."""

from __future__ import annotations

from typing import Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memory.base.schemas import Listed, Read
from memory.beliefs.content import NAMED
from memory.beliefs.kernel.masses import Flag
from memory.beliefs.queries.lists import ObservationPage, ObservationRow
from memory.beliefs.queries.observed import ObservationStory


class CandidateOut(BaseModel):
    """A state and its probability."""

    state: str
    probability: float


class BeliefOut(BaseModel):
    """A node and its most probable states."""

    node: str
    candidates: list[CandidateOut]


class ConflictOut(BaseModel):
    """A used observation whose own most probable relation is not that of the best assignment."""

    observation_id: str
    source: str
    target: str
    local_top1: str
    inferred_relation: str


class RetrievalOut(BaseModel):
    """What was used of what may speak, and whether a limit cut it."""

    mode: Literal["explicit", "neighborhood"]
    seed_nodes: list[str]
    hops_explored: int
    node_limit_hit: bool
    observation_limit_hit: bool
    truncated: bool
    policy: Literal["recent", "coverage", "cycle_aware"]
    selected_observation_count: int
    independent_lineage_count: int
    connected_components: int
    cycle_rank: int
    covered_node_fraction: float
    factor_information_score: float
    cycle_information_score: float


class DiagnosticsOut(BaseModel):
    """How the answer was found. The seven keys of a beam are null here: nothing is searched by a beam."""

    mode: Literal["exact", "subgraph", "prior-only"]
    stable: bool
    base_beam_size: None = None
    comparison_beam_size: None = None
    map_agreement: None = None
    max_marginal_tv: None = None
    max_entropy_delta: None = None
    marginal_tv_tolerance: None = None
    entropy_tolerance: None = None


class InfluenceOut(BaseModel):
    """What one used observation does. `strength_nats` above 0: the rest speaks against it; below: for it; 0: a bridge.

    `cavity` is the belief about its relation without it, `relation_posterior` with it, in the order of `labels`.
    """

    observation_id: str
    source: str
    target: str
    strength_nats: float
    is_bridge: bool
    loo_log_evidence: float
    local_top1: str
    likelihood_top1: str
    inferred_relation: str
    cavity: list[float]
    relation_posterior: list[float]


class AuditOut(BaseModel):
    """What the answer rests on and how sure it is: our own words beside the peer's. `hidden` counts, by why, the
    observations between the nodes that were not used."""

    model_config = ConfigDict(extra="allow")

    seq: int
    provisional: bool
    as_of: float
    certainty: Literal["exact", "certified", "uncertified", "unreliable"]
    method: Literal["enumeration", "junction_tree", "subgraph", "prior_only"]
    width: int
    entries: int
    log_bayes_factor: float
    dropped_observation_count: int
    zero_trust_count: int
    labels: list[str]
    conflicts: list[InfluenceOut]
    near_contradiction: list[str] | None
    near_contradiction_minimal: bool | None
    root_prior_ignored: bool
    hidden: dict[str, int]


class CapsuleOut(BaseModel):
    """The belief about each node as seen from the root. Under the profile `compat` there is no `audit`."""

    namespace: str
    relation_type: str
    beliefs: list[BeliefOut]
    conflicts: list[ConflictOut]
    used_observation_ids: list[str]
    inference_backend: str
    approximate: bool
    log_evidence: float | None
    retrieval: RetrievalOut
    inference_diagnostics: DiagnosticsOut
    instructions: list[Any] = Field(max_length=0)
    audit: AuditOut | None = Field(None, json_schema_extra={"x-profile": "native"})


class DecisionAuditOut(BaseModel):
    """How sure the decision is, and how many used observations lie in the component of its focus.

    `source`: computed here, or from a capsule that was handed in, whose certainty nobody here knows.
    """

    model_config = ConfigDict(extra="allow")

    certainty: str | None
    source: Literal["computed", "handed_in"]
    evidence_near_focus: int | None


class DecisionOut(BaseModel):
    """One node of a capsule, for whoever acts on it. It grants no act."""

    schema_version: Literal[1]
    kind: Literal["memory_decision"]
    namespace: str | None
    relation_type: str | None
    focus_node: str
    highest_probability_state: str
    highest_probability: float
    alternatives: list[CandidateOut]
    evidence_count: int
    focus_conflict_count: int
    inference_backend: str | None
    approximate: bool | None
    inference_stable: bool | None
    instructions: list[Any] = Field(max_length=0)
    audit: DecisionAuditOut | None = Field(None, json_schema_extra={"x-profile": "native"})


class ObservationRowOut(BaseModel):
    """An observation as lists show it. Instants are claimed seconds; a name that is erased reads ""."""

    id: UUID
    observation_id: str
    relation_type: str
    source: str
    target: str
    observed_at: float
    trust: float
    independent_evidence: bool
    revoked: bool
    erased: bool
    observed_seq: int

    @classmethod
    def of(cls, row: ObservationRow) -> Self:
        plain = ("id", "observation_id", "relation_type", "source", "target", "observed_at", "trust")
        return cls(
            **{name: getattr(row, name) for name in plain}, independent_evidence=row.is_independent,
            revoked=row.is_revoked, erased=row.is_erased, observed_seq=row.seq,
        )  # fmt: skip


class ObservationList(Listed[ObservationRowOut]):
    """Observations, the newest entry first."""

    @classmethod
    def of(cls, found: ObservationPage, **told: Any) -> Self:
        return cls(
            items=[ObservationRowOut.of(row) for row in found.items],
            next=None if found.next is None else str(found.next), total=found.total, **told,
        )  # fmt: skip


class RevocationOut(BaseModel):
    """A revocation that reaches the observation: its own, or that of something it comes of."""

    observation_id: str
    at: float
    cascade: Literal["derived", "record"]
    reexpose: bool
    reason: str | None
    seq: int


class ObservationOut(Read):
    """An observation whole, in the words of its payload. Vectors follow `labels`; they are null once erased."""

    id: UUID
    observation_id: str
    relation_type: str
    source: str
    target: str
    evidence_family: str
    source_event_id: str | None
    lineage_root_id: str | None
    encoder_revision: str | None
    calibration_revision: str | None
    labels: list[str]
    posterior: list[float] | None
    prior: list[float] | None
    provenance: dict[str, Any] | None
    tags: list[str]
    trust: float
    independent_evidence: bool
    observed_at: float
    valid_from: float | None
    valid_until: float | None
    derived_from: list[str]
    derived: list[str]
    n_derived: int
    flags: list[Flag]
    revocations: list[RevocationOut]
    tracked_by: list[str]
    erased: bool
    observed_seq: int
    url: str

    @classmethod
    def of(cls, told: ObservationStory, **more: Any) -> Self:
        row, law = told.row, None if told.relation is None else told.relation.law
        plain = ("trust", "observed_at", "valid_from", "valid_until")
        return cls(
            id=row.id, observation_id=told.observation_id,
            **{key: None if getattr(row, column) is None else told.names[key] for column, key in NAMED.items()},
            labels=[] if law is None else list(law.labels),
            posterior=None if told.posterior is None else told.posterior.tolist(),
            prior=None if told.prior is None else told.prior.tolist(),
            provenance=None if told.provenance is None else dict(told.provenance), tags=list(told.tags),
            **{name: getattr(row, name) for name in plain}, independent_evidence=row.is_independent,
            derived_from=[one.observation_id for one in told.parents],
            derived=[one.observation_id for one in told.children], n_derived=told.n_children, flags=list(told.flags),
            revocations=[
                RevocationOut(
                    observation_id=one.observation_id, at=one.at, cascade=one.cascade, reexpose=one.is_reexposing,
                    reason=one.note, seq=one.seq,
                )
                for one in told.reached
            ],
            tracked_by=[one.run for one in told.forecasts], erased=told.is_erased, observed_seq=row.seq, **more,
        )  # fmt: skip
