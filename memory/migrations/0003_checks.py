"""Tables of checks, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0002_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="CheckRun",
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
                ("check_name", models.CharField(max_length=32)),
                ("version", models.SmallIntegerField()),
                ("verdict", models.CharField(max_length=12)),
                ("at_seq", models.BigIntegerField()),
                ("n_checked", models.BigIntegerField()),
                ("n_findings", models.IntegerField()),
                ("input_digest", models.BinaryField(max_length=32, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "check_name", "seq"], name="check_run_name")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verdict__in", ["failed", "holds", "not_checked", "ok", "undecidable", "violated"])
                        ),
                        name="check_run_verdict",
                    ),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="check_run_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="check_run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Finding",
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
                ("run", models.UUIDField()),
                ("kind", models.CharField(max_length=40)),
                ("object", models.UUIDField(null=True)),
                ("at_seq", models.BigIntegerField(null=True)),
                ("at_item", models.IntegerField(null=True)),
                ("count", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "run"], name="finding_run_index")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "run"),
                        name="finding_run",
                        to="memory_checkrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="finding_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Waiver",
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
                ("check_name", models.CharField(max_length=32)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="waiver_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_checkrun",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_finding",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_waiver",
            erasable=None,
        ),
    ]
