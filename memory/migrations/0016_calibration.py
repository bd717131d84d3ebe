"""Tables of calibration, and the triggers that keep their evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0015_beliefs"),
    ]

    operations = [
        migrations.CreateModel(
            name="LabelOutcome",
            fields=[
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("name", models.UUIDField()),
                ("observation", models.UUIDField()),
                ("true_index", models.SmallIntegerField()),
                ("labeled_at", models.FloatField()),
                ("recorded_at", models.FloatField(null=True)),
                ("supersedes", models.UUIDField(null=True)),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "observation", "seq"], name="label_outcome_chain")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="label_outcome_item"),
                    models.UniqueConstraint(fields=("namespace", "name"), name="label_outcome_name"),
                    models.UniqueConstraint(
                        condition=models.Q(("supersedes__isnull", True)),
                        fields=("namespace", "observation"),
                        name="label_outcome_first",
                    ),
                    models.UniqueConstraint(fields=("namespace", "supersedes"), name="label_outcome_successor"),
                    models.CheckConstraint(
                        condition=models.Q(("true_index__gte", 0), ("true_index__lte", 255)), name="label_outcome_index"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "observation"),
                        name="label_outcome_observation",
                        to="memory_observation",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "supersedes"),
                        name="label_outcome_superseded",
                        to="memory_labeloutcome",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="label_outcome_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LockedReference",
            fields=[
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("monitor_run", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField(null=True)),
                ("label", models.UUIDField()),
                ("n_members", models.BigIntegerField()),
                ("members", models.BinaryField(max_length=32)),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="locked_reference_item"),
                    models.UniqueConstraint(
                        fields=("namespace", "monitor_run", "relation_type", "source_family"),
                        name="locked_reference_family",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source_family__isnull", True)),
                        fields=("namespace", "monitor_run", "relation_type"),
                        name="locked_reference_all",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "relation_type"),
                        name="locked_reference_law",
                        to="memory_relationlaw",
                        to_columns=("namespace_id", "relation_type"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "monitor_run"),
                        name="locked_reference_run",
                        to="memory_monitorrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "label"),
                        name="locked_reference_label",
                        to="memory_labeloutcome",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="locked_reference_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("monitor_run", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("instrument", models.CharField(max_length=8)),
                ("label", models.UUIDField()),
                ("epoch", models.IntegerField()),
                ("n_labels", models.BigIntegerField()),
                ("n_open", models.IntegerField()),
                ("level", models.FloatField()),
                ("threshold", models.FloatField()),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "monitor_run", "relation_type", "seq"], name="alarm_segment")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="alarm_item"),
                    models.CheckConstraint(
                        condition=models.Q(("instrument__in", ["change", "evidence"])), name="alarm_instrument"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("level__gte", models.F("threshold"))), name="alarm_crossed"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "relation_type"),
                        name="alarm_law",
                        to="memory_relationlaw",
                        to_columns=("namespace_id", "relation_type"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "monitor_run"),
                        name="alarm_run",
                        to="memory_monitorrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "label"),
                        name="alarm_label",
                        to="memory_labeloutcome",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="alarm_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlarmTurn",
            fields=[
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "alarm", "kind", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("alarm", models.UUIDField()),
                ("kind", models.CharField(max_length=11)),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="alarm_turn_item"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["acknowledge", "close"])), name="alarm_turn_kind"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "alarm"),
                        name="alarm_turn_of",
                        to="memory_alarm",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="alarm_turn_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProcessRestart",
            fields=[
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("monitor_run", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("cause", models.CharField(max_length=10)),
                ("epoch", models.IntegerField()),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="process_restart_item"),
                    models.UniqueConstraint(
                        fields=("namespace", "monitor_run", "relation_type", "source_family", "epoch"),
                        name="process_restart_epoch",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("cause__in", ["closing", "correction"])), name="process_restart_cause"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "relation_type"),
                        name="process_restart_law",
                        to="memory_relationlaw",
                        to_columns=("namespace_id", "relation_type"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "monitor_run"),
                        name="process_restart_run",
                        to="memory_monitorrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="process_restart_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ForecastState",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "monitor_run",
                        "observation",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("monitor_run", models.UUIDField()),
                ("observation", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                ("place", models.BigIntegerField()),
                ("place_in_relation", models.BigIntegerField()),
                ("place_in_family", models.BigIntegerField()),
                ("observed_at", models.FloatField()),
                ("tracked_at", models.FloatField()),
                ("posterior", models.BinaryField(max_length=2048, null=True)),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "place_in_relation"],
                        name="forecast_state_relation",
                    ),
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "source_family", "place_in_family"],
                        name="forecast_state_family",
                    ),
                    models.Index(fields=["namespace", "seq", "item"], name="forecast_state_doc"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LabelState",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "monitor_run",
                        "label",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("monitor_run", models.UUIDField()),
                ("label", models.UUIDField()),
                ("observation", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                ("until_seq", models.BigIntegerField(null=True)),
                ("is_first", models.BooleanField()),
                ("place", models.BigIntegerField()),
                ("place_in_relation", models.BigIntegerField()),
                ("place_in_family", models.BigIntegerField()),
                ("labeled_at", models.FloatField()),
                ("recorded_at", models.FloatField()),
                ("true_index", models.SmallIntegerField()),
                ("log_evidence", models.FloatField(null=True)),
                ("log_change", models.FloatField(null=True)),
                ("log_order", models.FloatField(null=True)),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "monitor_run", "place"], name="label_state_place"),
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "place_in_relation"],
                        name="label_state_relation",
                    ),
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "source_family", "place_in_family"],
                        name="label_state_family",
                    ),
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "labeled_at", "place"],
                        name="label_state_told",
                    ),
                    models.Index(
                        fields=["namespace", "monitor_run", "relation_type", "source_family", "labeled_at", "place"],
                        name="label_state_told_family",
                    ),
                    models.Index(fields=["namespace", "monitor_run", "observation"], name="label_state_of"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SegmentState",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "monitor_run",
                        "relation_type",
                        "source_family",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("monitor_run", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("first_seq", models.BigIntegerField()),
                ("seq", models.BigIntegerField()),
                ("n_tracked", models.BigIntegerField()),
                ("n_labeled", models.BigIntegerField()),
                ("last_forecast", models.BigIntegerField()),
                ("last_label", models.BigIntegerField(null=True)),
                ("reference", models.BinaryField()),
                ("current", models.BinaryField()),
                ("watch", models.BinaryField()),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        memory.base.triggers.Guard(
            table="memory_labeloutcome",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_lockedreference",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_alarm",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_alarmturn",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_processrestart",
            erasable=None,
        ),
    ]
