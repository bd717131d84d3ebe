"""Tables of beliefs.

Invariants: no row of evidence ever changes; a relation type has one law for good; an observation is revoked once, and
tracked once by each monitor run. Instants that clients claim (`observed_at`, `at`, `tracked_at`) are float64 seconds as
the peer has them, exact and with closed ends; they are never copied into half-open intervals. Vectors, labels, tags,
provenance and reasons are content; everything that clients name is a name. Derived tables hold no clock.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.base.models import Evidence, Projection, SameNamespaceKey, entry_key, one_of

LINEAGE_KEYS = ("edge", "global")
PRIOR_SUPPORTS = ("reject", "flag")
CASCADES = ("derived", "record")
LINEAGE_KINDS = ("family", "event", "root")
DERIVED_FROM = "derived_from"
"""The kind of references from an observation to those that it was derived from."""


def observation_key(name: str) -> SameNamespaceKey:
    """The column `observation` holds the id of one of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "observation"), to="memory_observation", to_columns=("namespace_id", "id")
    )


def law_key(name: str) -> SameNamespaceKey:
    """The column `relation_type` has a law in the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "relation_type"), to="memory_relationlaw",
        to_columns=("namespace_id", "relation_type"),
    )  # fmt: skip


def run_key(name: str) -> SameNamespaceKey:
    """The column `monitor_run` holds the id of one of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "monitor_run"), to="memory_monitorrun", to_columns=("namespace_id", "id")
    )


class RelationLaw(Evidence):
    """The finite group of a relation type, whole as content (`value`), and how its observations are read.

    `lineage_key`: whether one event speaks once for an edge or once at all. `prior_support`: what mass outside the
    prior's support does. `has_zero_floor`: a zero is impossible, not merely improbable. `is_attested`: a person
    vouched that the law is the one which a foreign store named by its fingerprint alone.
    """

    item_kind = "relation_law"

    pk = models.CompositePrimaryKey("namespace_id", "relation_type")
    id = models.UUIDField()
    relation_type = models.UUIDField()
    n_labels = models.IntegerField()
    lineage_key = models.CharField(max_length=6)
    prior_support = models.CharField(max_length=6)
    has_zero_floor = models.BooleanField()
    is_attested = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="relation_law_item"),
            models.CheckConstraint(condition=Q(n_labels__gte=1, n_labels__lte=256), name="relation_law_n_labels"),
            one_of("lineage_key", LINEAGE_KEYS, "relation_law_lineage_key"),
            one_of("prior_support", PRIOR_SUPPORTS, "relation_law_prior_support"),
            entry_key("relation_law_entry"),
        ]


class Observation(Evidence):
    """A posterior over the relation of two nodes, with its prior, its trust and where it comes from.

    `name` is the id that the client knows it by.
    """

    item_kind = "observation"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    name = models.UUIDField()
    relation_type = models.UUIDField()
    source = models.UUIDField()
    target = models.UUIDField()
    evidence_family = models.UUIDField()
    source_event = models.UUIDField(null=True)
    lineage_root = models.UUIDField(null=True)
    encoder_revision = models.UUIDField(null=True)
    calibration_revision = models.UUIDField(null=True)
    is_independent = models.BooleanField()
    trust = models.FloatField()
    observed_at = models.FloatField()
    valid_from = models.FloatField(null=True)
    valid_until = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="observation_item"),
            models.UniqueConstraint(fields=["namespace", "name"], name="observation_name"),
            models.CheckConstraint(condition=Q(trust__gte=0, trust__lte=1), name="observation_trust"),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_until__gte=models.F("valid_from")),
                name="observation_interval",
            ),
            law_key("observation_law"),
            entry_key("observation_entry"),
        ]


class Revocation(Evidence):
    """From the claimed instant `at` on the observation counts no more; with `derived`, neither does what came of it.

    `is_reexposing`: an older observation of the same lineage may speak again.
    """

    item_kind = "revocation"

    pk = models.CompositePrimaryKey("namespace_id", "observation")
    observation = models.UUIDField()
    at = models.FloatField()
    cascade = models.CharField(max_length=7)
    is_reexposing = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="revocation_item"),
            one_of("cascade", CASCADES, "revocation_cascade"),
            observation_key("revocation_observation"),
            entry_key("revocation_entry"),
        ]


class MonitorRun(Evidence):
    """A locked configuration under which every independent observation's forecast is kept for its label."""

    item_kind = "monitor_run"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    name = models.UUIDField()
    reference_size = models.BigIntegerField()
    current_size = models.BigIntegerField()
    min_current_size = models.BigIntegerField()
    ece_bins = models.BigIntegerField()
    max_tracked = models.BigIntegerField()
    max_nll_increase = models.FloatField()
    max_brier_increase = models.FloatField()
    max_ece = models.FloatField()
    max_prediction_js = models.FloatField()
    config_sha256 = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="monitor_run_item"),
            models.UniqueConstraint(fields=["namespace", "name"], name="monitor_run_name"),
            models.CheckConstraint(
                condition=Q(reference_size__gte=1, min_current_size__gte=1, ece_bins__gte=1)
                & Q(current_size__gte=models.F("min_current_size")),
                name="monitor_run_sizes",
            ),
            entry_key("monitor_run_entry"),
        ]


class Forecast(Evidence):
    """An observation's posterior as a run froze it, in the observation's own entry. The vector is content (`value`).

    `tracked_at` is the instant that a client of the peer claims; without one the entry's own stands.
    """

    item_kind = "forecast"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    monitor_run = models.UUIDField()
    observation = models.UUIDField()
    source_family = models.UUIDField()
    tracked_at = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="forecast_item"),
            models.UniqueConstraint(fields=["namespace", "monitor_run", "observation"], name="forecast_of"),
            observation_key("forecast_observation"),
            run_key("forecast_run"),
            entry_key("forecast_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "observation"], name="forecast_observation_idx")]


class SavedQuery(Evidence):
    """A question kept under a name; the newest of a name counts. The question is content (`value`)."""

    item_kind = "saved_query"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    name = models.UUIDField()
    relation_type = models.UUIDField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="saved_query_item"),
            law_key("saved_query_law"),
            entry_key("saved_query_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "name", "seq"], name="saved_query_newest")]


class ObservationState(Projection):
    """An observation as retrieval reads it.

    `lineage` is what speaks once: the name alone, or with its kind and the two nodes, as the law's `lineage_key` says.
    `tie_key` is the client's id as UTF-8, which breaks ties; `posterior` and `prior` are float64 over the labels, as
    given. What comes of content, `tie_key` included, is null once erased, and the row counts no more at any seq.
    """

    pk = models.CompositePrimaryKey("namespace_id", "id")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    id = models.UUIDField()
    doc = models.BigIntegerField()
    seq = models.BigIntegerField()
    name = models.UUIDField()
    relation_type = models.UUIDField()
    source = models.UUIDField()
    target = models.UUIDField()
    lineage = models.UUIDField()
    is_independent = models.BooleanField()
    trust = models.FloatField()
    observed_at = models.FloatField()
    valid_from = models.FloatField(null=True)
    valid_until = models.FloatField(null=True)
    score = models.FloatField(null=True)
    tie_key = models.BinaryField(max_length=2_048, null=True)
    posterior = models.BinaryField(max_length=2_048, null=True)
    prior = models.BinaryField(max_length=2_048, null=True)
    erased_seq = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["namespace", "doc"], name="observation_state_doc")]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "relation_type", "source", "target"], name="observation_state_source"),
            models.Index(fields=["namespace", "relation_type", "source", "observed_at"], name="observation_state_from"),
            models.Index(fields=["namespace", "relation_type", "target", "observed_at"], name="observation_state_to"),
            models.Index(
                fields=["namespace", "relation_type", "lineage", "observed_at"], name="observation_state_lineage"
            ),
            models.Index(fields=["namespace", "relation_type", "doc"], name="observation_state_type"),
            models.Index(fields=["namespace", "name"], name="observation_state_name"),
        ]


class ObservationReach(Projection):
    """A revocation reaches an observation: its own, or that of something it was derived from. Known from `seq` on.

    `passes_on`: it reaches what is derived from the observation too.
    """

    pk = models.CompositePrimaryKey("namespace_id", "observation", "revoked")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    observation = models.UUIDField()
    revoked = models.UUIDField()
    seq = models.BigIntegerField()
    at = models.FloatField()
    is_own = models.BooleanField()
    is_reexposing = models.BooleanField()
    passes_on = models.BooleanField()


class ObservationTag(Projection):
    """A tag of an observation; the row goes with the content that holds it."""

    pk = models.CompositePrimaryKey("namespace_id", "tag", "observation")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    tag = models.CharField(max_length=128)
    observation = models.UUIDField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["namespace", "observation"], name="observation_tag_of")]


class MonitorTally(Projection):
    """How many forecasts a run holds."""

    pk = models.CompositePrimaryKey("namespace_id", "monitor_run")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    monitor_run = models.UUIDField()
    n_tracked = models.BigIntegerField()
