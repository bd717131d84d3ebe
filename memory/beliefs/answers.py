"""What the reads of beliefs answer: the peer's documents, described for readers and sent as the kernel made them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    log_evidence: float
    retrieval: RetrievalOut
    inference_diagnostics: DiagnosticsOut
    instructions: list[Any] = Field(max_length=0)
    audit: AuditOut | None = Field(None, json_schema_extra={"x-profile": "native"})


class DecisionAuditOut(BaseModel):
    """How sure the decision is, and how many used observations lie in the component of its focus."""

    model_config = ConfigDict(extra="allow")

    certainty: str | None
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
