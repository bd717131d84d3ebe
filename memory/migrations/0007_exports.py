"""Tables of what left the house and what came back, and the triggers that keep them append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0006_interchange"),
    ]

    operations = [
        migrations.CreateModel(
            name="Restoration",
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
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "seq", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("archive", models.BinaryField(max_length=32)),
                ("restored_at", models.DateTimeField()),
                ("person", models.BigIntegerField(null=True)),
                ("keeps_people", models.BooleanField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="restoration_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="ExportRun",
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
                ("format", models.CharField(max_length=16)),
                ("at_seq", models.BigIntegerField()),
                ("n_items", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField()),
                ("file_digest", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("format__in", ["jsonl", "openlineage", "prov"])), name="export_run_format"
                    ),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="export_run_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="export_run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="RestoreRun",
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
                ("store", models.UUIDField()),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField(max_length=32)),
                ("file_digest", models.BinaryField(max_length=32)),
                ("n_erased", models.IntegerField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="restore_run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_restoration",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_exportrun",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_restorerun",
            erasable=None,
        ),
    ]
