"""Tables of beliefs, the triggers that keep their evidence append-only, and names as long as the peer has them."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0014_rectangles"),
    ]

    operations = [
        memory.base.triggers.Unguard(
            table="memory_name",
            erasable="'name'",
        ),
        migrations.AlterField(
            model_name="name",
            name="text",
            field=models.CharField(max_length=512),
        ),
        memory.base.triggers.Guard(
            table="memory_name",
            erasable="'name'",
        ),
        migrations.CreateModel(
            name="RelationLaw",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "relation_type", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("n_labels", models.IntegerField()),
                ("lineage_key", models.CharField(max_length=6)),
                ("prior_support", models.CharField(max_length=6)),
                ("has_zero_floor", models.BooleanField()),
                ("is_attested", models.BooleanField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="relation_law_item"),
                    models.CheckConstraint(
                        condition=models.Q(("n_labels__gte", 1), ("n_labels__lte", 256)), name="relation_law_n_labels"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("lineage_key__in", ["edge", "global"])), name="relation_law_lineage_key"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("prior_support__in", ["flag", "reject"])), name="relation_law_prior_support"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="relation_law_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Observation",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
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
                ("relation_type", models.UUIDField()),
                ("source", models.UUIDField()),
                ("target", models.UUIDField()),
                ("evidence_family", models.UUIDField()),
                ("source_event", models.UUIDField(null=True)),
                ("lineage_root", models.UUIDField(null=True)),
                ("encoder_revision", models.UUIDField(null=True)),
                ("calibration_revision", models.UUIDField(null=True)),
                ("is_independent", models.BooleanField()),
                ("trust", models.FloatField()),
                ("observed_at", models.FloatField()),
                ("valid_from", models.FloatField(null=True)),
                ("valid_until", models.FloatField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="observation_item"),
                    models.UniqueConstraint(fields=("namespace", "name"), name="observation_name"),
                    models.CheckConstraint(
                        condition=models.Q(("trust__gte", 0), ("trust__lte", 1)), name="observation_trust"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("valid_from__isnull", True),
                            ("valid_until__isnull", True),
                            ("valid_until__gte", models.F("valid_from")),
                            _connector="OR",
                        ),
                        name="observation_interval",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "relation_type"),
                        name="observation_law",
                        to="memory_relationlaw",
                        to_columns=("namespace_id", "relation_type"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="observation_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Revocation",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "observation", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("observation", models.UUIDField()),
                ("at", models.FloatField()),
                ("cascade", models.CharField(max_length=7)),
                ("is_reexposing", models.BooleanField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="revocation_item"),
                    models.CheckConstraint(
                        condition=models.Q(("cascade__in", ["derived", "record"])), name="revocation_cascade"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "observation"),
                        name="revocation_observation",
                        to="memory_observation",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="revocation_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="MonitorRun",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
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
                ("reference_size", models.BigIntegerField()),
                ("current_size", models.BigIntegerField()),
                ("min_current_size", models.BigIntegerField()),
                ("ece_bins", models.BigIntegerField()),
                ("max_tracked", models.BigIntegerField()),
                ("max_nll_increase", models.FloatField()),
                ("max_brier_increase", models.FloatField()),
                ("max_ece", models.FloatField()),
                ("max_prediction_js", models.FloatField()),
                ("config_sha256", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="monitor_run_item"),
                    models.UniqueConstraint(fields=("namespace", "name"), name="monitor_run_name"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ece_bins__gte", 1),
                            ("min_current_size__gte", 1),
                            ("reference_size__gte", 1),
                            ("current_size__gte", models.F("min_current_size")),
                        ),
                        name="monitor_run_sizes",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="monitor_run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Forecast",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
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
                ("observation", models.UUIDField()),
                ("source_family", models.UUIDField()),
                ("tracked_at", models.FloatField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "observation"], name="forecast_observation_idx")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="forecast_item"),
                    models.UniqueConstraint(fields=("namespace", "monitor_run", "observation"), name="forecast_of"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "observation"),
                        name="forecast_observation",
                        to="memory_observation",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "monitor_run"),
                        name="forecast_run",
                        to="memory_monitorrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="forecast_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedQuery",
            fields=[
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
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
                ("relation_type", models.UUIDField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "name", "seq"], name="saved_query_newest")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="saved_query_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "relation_type"),
                        name="saved_query_law",
                        to="memory_relationlaw",
                        to_columns=("namespace_id", "relation_type"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="saved_query_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ObservationState",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("id", models.UUIDField()),
                ("doc", models.BigIntegerField()),
                ("seq", models.BigIntegerField()),
                ("name", models.UUIDField()),
                ("relation_type", models.UUIDField()),
                ("source", models.UUIDField()),
                ("target", models.UUIDField()),
                ("lineage", models.UUIDField()),
                ("is_independent", models.BooleanField()),
                ("trust", models.FloatField()),
                ("observed_at", models.FloatField()),
                ("valid_from", models.FloatField(null=True)),
                ("valid_until", models.FloatField(null=True)),
                ("score", models.FloatField(null=True)),
                ("tie_key", models.BinaryField(max_length=2048, null=True)),
                ("posterior", models.BinaryField(max_length=2048, null=True)),
                ("prior", models.BinaryField(max_length=2048, null=True)),
                ("erased_seq", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["namespace", "relation_type", "source", "target"], name="observation_state_source"
                    ),
                    models.Index(fields=["namespace", "relation_type", "target"], name="observation_state_target"),
                    models.Index(
                        fields=["namespace", "relation_type", "lineage", "observed_at"],
                        name="observation_state_lineage",
                    ),
                    models.Index(fields=["namespace", "relation_type", "doc"], name="observation_state_type"),
                    models.Index(fields=["namespace", "name"], name="observation_state_name"),
                ],
                "constraints": [models.UniqueConstraint(fields=("namespace", "doc"), name="observation_state_doc")],
            },
        ),
        migrations.CreateModel(
            name="ObservationReach",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "observation",
                        "revoked",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("observation", models.UUIDField()),
                ("revoked", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("at", models.FloatField()),
                ("is_own", models.BooleanField()),
                ("is_reexposing", models.BooleanField()),
                ("passes_on", models.BooleanField()),
            ],
            options={
                "abstract": False,
                "indexes": [],
                "constraints": [],
            },
        ),
        migrations.CreateModel(
            name="ObservationTag",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "tag",
                        "observation",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("tag", models.CharField(max_length=128)),
                ("observation", models.UUIDField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "observation"], name="observation_tag_of")],
                "constraints": [],
            },
        ),
        migrations.CreateModel(
            name="MonitorTally",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "monitor_run", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "namespace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="memory.namespace",
                    ),
                ),
                ("monitor_run", models.UUIDField()),
                ("n_tracked", models.BigIntegerField()),
            ],
            options={
                "abstract": False,
                "indexes": [],
                "constraints": [],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_relationlaw",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_observation",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_revocation",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_monitorrun",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_forecast",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_savedquery",
            erasable=None,
        ),
    ]
