"""Tables of tombstones, and the triggers that keep their evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0012_compiled"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tombstone",
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
                ("route", models.UUIDField()),
                ("route_key", models.UUIDField()),
                ("retest_at", models.DateTimeField(null=True)),
                ("review_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "route_key", "seq"], name="tombstone_route")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="tombstone_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="tombstone_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RevivalCondition",
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
                        "namespace_id",
                        "tombstone",
                        "position",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tombstone", models.UUIDField()),
                ("position", models.SmallIntegerField()),
                ("n_origins", models.SmallIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="revival_condition_item"),
                    models.CheckConstraint(condition=models.Q(("n_origins__gte", 1)), name="revival_condition_origins"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "tombstone"),
                        name="revival_condition_of",
                        to="memory_tombstone",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="revival_condition_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RevivalEvidence",
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
                ("tombstone", models.UUIDField()),
                ("position", models.SmallIntegerField()),
                ("origin", models.UUIDField(null=True)),
                ("valid_until", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "tombstone", "seq"], name="revival_evidence_of")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="revival_evidence_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "tombstone", "position"),
                        name="revival_evidence_for",
                        to="memory_revivalcondition",
                        to_columns=("namespace_id", "tombstone", "position"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="revival_evidence_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RouteCheck",
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
                ("route", models.UUIDField()),
                ("verdict", models.CharField(max_length=8)),
                ("reason", models.CharField(max_length=16)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="route_check_item"),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["blocked", "clear"])), name="route_check_verdict"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reason__in", ["audit_only", "none", "out_of_scope", "retest_only", "retired"])
                        ),
                        name="route_check_reason",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="route_check_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RouteHit",
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
                        "namespace_id",
                        "tombstone",
                        "route_check",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("tombstone", models.UUIDField()),
                ("route_check", models.UUIDField()),
                ("reason", models.CharField(max_length=16)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="route_hit_item"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reason__in", ["audit_only", "blocked", "out_of_scope", "retest_only", "retired"])
                        ),
                        name="route_hit_reason",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "tombstone"),
                        name="route_hit_of",
                        to="memory_tombstone",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "route_check"),
                        name="route_hit_check",
                        to="memory_routecheck",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="route_hit_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BlockVerdict",
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
                        "namespace_id", "seq", "item", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tombstone", models.UUIDField()),
                ("route_check", models.UUIDField(null=True)),
                ("is_false", models.BooleanField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "tombstone", "seq"], name="block_verdict_seq")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "tombstone"),
                        name="block_verdict_of",
                        to="memory_tombstone",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "route_check"),
                        name="block_verdict_check",
                        to="memory_routecheck",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="block_verdict_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TombstoneTurn",
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
                        "namespace_id", "seq", "item", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tombstone", models.UUIDField()),
                ("kind", models.CharField(max_length=16)),
                ("due_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "tombstone", "seq"], name="tombstone_turn_seq")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["keep", "retest_failed", "retest_passed", "retire", "revive"])
                        ),
                        name="tombstone_turn_kind",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "tombstone"),
                        name="tombstone_turn_of",
                        to="memory_tombstone",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="tombstone_turn_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_tombstone",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_revivalcondition",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_revivalevidence",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_routecheck",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_routehit",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_blockverdict",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_tombstoneturn",
            erasable=None,
        ),
    ]
