"""Tables of calibration.

Invariants: no row of evidence ever changes; an observation has one first label, and a label one successor; the
reference of a segment is locked once, by the label that fills it; an alarm names the label that tipped it. Reasons are
content. Claimed instants are float64 seconds, as in beliefs. A null `source_family` is every family together.
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q

from memory.base.models import Evidence, Projection, SameNamespaceKey, entry_key, one_of
from memory.beliefs.models import law_key, observation_key, run_key

INSTRUMENTS = ("evidence", "change")
TURNS = ("acknowledge", "close")
RESTARTS = ("correction", "closing")

EVERY_FAMILY = UUID(int=0)
"""In the key of a derived row: all source families together."""


def label_key(name: str, column: str = "label") -> SameNamespaceKey:
    """The column holds the id of a label of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", column), to="memory_labeloutcome", to_columns=("namespace_id", "id")
    )


class LabelOutcome(Evidence):
    """The true relation of an observation, as an index of its law's labels; a correction supersedes one.

    `name` is the id that the client knows the event by. `recorded_at` is the instant that a client of the peer claims;
    without one the entry's own stands. The reason of a correction is content (`note`).
    """

    item_kind = "label_outcome"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    name = models.UUIDField()
    observation = models.UUIDField()
    true_index = models.SmallIntegerField()
    labeled_at = models.FloatField()
    recorded_at = models.FloatField(null=True)
    supersedes = models.UUIDField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="label_outcome_item"),
            models.UniqueConstraint(fields=["namespace", "name"], name="label_outcome_name"),
            models.UniqueConstraint(
                fields=["namespace", "observation"], condition=Q(supersedes__isnull=True), name="label_outcome_first"
            ),
            models.UniqueConstraint(fields=["namespace", "supersedes"], name="label_outcome_successor"),
            models.CheckConstraint(condition=Q(true_index__gte=0, true_index__lte=255), name="label_outcome_index"),
            observation_key("label_outcome_observation"),
            label_key("label_outcome_superseded", "supersedes"),
            entry_key("label_outcome_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "observation", "seq"], name="label_outcome_chain")]


class LockedReference(Evidence):
    """The reference of a segment, complete with this label. Its members are the first labels of the segment by arrival.

    `members` is the SHA-256 of their observations' ids in that order.
    """

    item_kind = "locked_reference"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    monitor_run = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField(null=True)
    label = models.UUIDField()
    n_members = models.BigIntegerField()
    members = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="locked_reference_item"),
            models.UniqueConstraint(
                fields=["namespace", "monitor_run", "relation_type", "source_family"], name="locked_reference_family"
            ),
            models.UniqueConstraint(
                fields=["namespace", "monitor_run", "relation_type"], condition=Q(source_family__isnull=True),
                name="locked_reference_all",
            ),
            law_key("locked_reference_law"),
            run_key("locked_reference_run"),
            label_key("locked_reference_label"),
            entry_key("locked_reference_entry"),
        ]  # fmt: skip


class Alarm(Evidence):
    """A process of a segment crossed its threshold with this label. `level` and `threshold` are logs, in nats.

    `n_open`: forecasts that held a stream then; the guarantee is exact once they are labelled.
    """

    item_kind = "alarm"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    monitor_run = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField()
    instrument = models.CharField(max_length=8)
    label = models.UUIDField()
    epoch = models.IntegerField()
    n_labels = models.BigIntegerField()
    n_open = models.IntegerField()
    level = models.FloatField()
    threshold = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="alarm_item"),
            one_of("instrument", INSTRUMENTS, "alarm_instrument"),
            models.CheckConstraint(condition=Q(level__gte=models.F("threshold")), name="alarm_crossed"),
            law_key("alarm_law"),
            run_key("alarm_run"),
            label_key("alarm_label"),
            entry_key("alarm_entry"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "monitor_run", "relation_type", "seq"], name="alarm_segment")
        ]


class AlarmTurn(Evidence):
    """What a person did about an alarm, with a reason (content, `note`): seen, or done with."""

    item_kind = "alarm_turn"

    pk = models.CompositePrimaryKey("namespace_id", "alarm", "kind")
    alarm = models.UUIDField()
    kind = models.CharField(max_length=11)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="alarm_turn_item"),
            one_of("kind", TURNS, "alarm_turn_kind"),
            SameNamespaceKey(
                name="alarm_turn_of", columns=("namespace", "alarm"), to="memory_alarm",
                to_columns=("namespace_id", "id"),
            ),
            entry_key("alarm_turn_entry"),
        ]  # fmt: skip


class ProcessRestart(Evidence):
    """The processes of a segment began again as an alarm was closed; or a label was corrected after one.

    `epoch` is the one that began; evidence has a smaller share of its level in each. A correction is noted once after
    an alarm and sets its epoch apart: the processes hold what they held until a person closes the alarm.
    """

    item_kind = "process_restart"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    monitor_run = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField()
    cause = models.CharField(max_length=10)
    epoch = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="process_restart_item"),
            models.UniqueConstraint(
                fields=["namespace", "monitor_run", "relation_type", "source_family", "epoch"],
                name="process_restart_epoch",
            ),
            one_of("cause", RESTARTS, "process_restart_cause"),
            law_key("process_restart_law"),
            run_key("process_restart_run"),
            entry_key("process_restart_entry"),
        ]


class ForecastState(Projection):
    """A forecast as scoring reads it. Places count from 1 as they were issued: in the run, the relation, the family.

    `posterior` is float64 over the labels; null once erased, and the row is scored no more at any seq.
    """

    pk = models.CompositePrimaryKey("namespace_id", "monitor_run", "observation")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    monitor_run = models.UUIDField()
    observation = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField()
    seq = models.BigIntegerField()
    item = models.IntegerField()
    place = models.BigIntegerField()
    place_in_relation = models.BigIntegerField()
    place_in_family = models.BigIntegerField()
    observed_at = models.FloatField()
    tracked_at = models.FloatField()
    posterior = models.BinaryField(max_length=2_048, null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "place_in_relation"],
                name="forecast_state_relation",
            ),
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "source_family", "place_in_family"],
                name="forecast_state_family",
            ),
            models.Index(fields=["namespace", "seq", "item"], name="forecast_state_doc"),
        ]


class LabelState(Projection):
    """A label of a forecast of one run, and what it did to the watch of its segment.

    `place` counts labels of the run, corrections too; the other places count first labels as they arrived, and a
    correction keeps those of what it corrects. `until_seq`: superseded by that entry. `n_bets` and
    `bets_per_lane` are of the epoch. A correction has no logs.
    """

    pk = models.CompositePrimaryKey("namespace_id", "monitor_run", "label")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    monitor_run = models.UUIDField()
    label = models.UUIDField()
    observation = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField()
    seq = models.BigIntegerField()
    item = models.IntegerField()
    until_seq = models.BigIntegerField(null=True)
    is_first = models.BooleanField()
    place = models.BigIntegerField()
    place_in_relation = models.BigIntegerField()
    place_in_family = models.BigIntegerField()
    labeled_at = models.FloatField()
    recorded_at = models.FloatField()
    true_index = models.SmallIntegerField()
    log_evidence = models.FloatField(null=True)
    log_change = models.FloatField(null=True)
    log_order = models.FloatField(null=True)
    n_bets = models.BigIntegerField(null=True)
    bets_per_lane = models.FloatField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["namespace", "monitor_run", "place"], name="label_state_place"),
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "place_in_relation"], name="label_state_relation"
            ),
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "source_family", "place_in_family"],
                name="label_state_family",
            ),
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "labeled_at", "place"], name="label_state_told"
            ),
            models.Index(
                fields=["namespace", "monitor_run", "relation_type", "source_family", "labeled_at", "place"],
                name="label_state_told_family",
            ),
            models.Index(fields=["namespace", "monitor_run", "observation"], name="label_state_of"),
        ]


class SegmentState(Projection):
    """A segment at the head: its counts, the exact sums of both windows, and the watch (of one family alone).

    `source_family` is EVERY_FAMILY for all together. `seq` is the last entry that added a forecast or a label;
    `last_forecast` and `last_label` are places in the run.
    """

    pk = models.CompositePrimaryKey("namespace_id", "monitor_run", "relation_type", "source_family")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    monitor_run = models.UUIDField()
    relation_type = models.UUIDField()
    source_family = models.UUIDField()
    first_seq = models.BigIntegerField()
    seq = models.BigIntegerField()
    n_tracked = models.BigIntegerField()
    n_labeled = models.BigIntegerField()
    last_forecast = models.BigIntegerField()
    last_label = models.BigIntegerField(null=True)
    reference = models.BinaryField()
    current = models.BinaryField()
    watch = models.BinaryField()
