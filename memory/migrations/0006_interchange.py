"""Tables of interchange, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0005_lineage"),
    ]

    operations = [
        migrations.CreateModel(
            name="ImportRun",
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
                ("source", models.UUIDField()),
                ("n_records", models.IntegerField()),
                ("n_edges", models.IntegerField()),
                ("n_quarantined", models.IntegerField()),
                ("n_skipped", models.IntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("format__in", ["contextfs"])), name="import_run_format"),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="import_run_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="import_run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="ImportedRow",
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
                ("digest", models.BinaryField(max_length=32)),
                ("became", models.CharField(max_length=12)),
                ("object", models.UUIDField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "digest"], name="imported_row_digest"),
                    models.Index(fields=["namespace", "object"], name="imported_row_object"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("became__in", ["edge", "finding", "inverse", "record"])),
                        name="imported_row_became",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "run"),
                        name="imported_row_run",
                        to="memory_importrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="imported_row_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportFinding",
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
                ("run", models.UUIDField()),
                ("code", models.CharField(max_length=32)),
                ("clause", models.CharField(max_length=6)),
                ("severity", models.CharField(max_length=12)),
                ("record", models.UUIDField(null=True)),
                ("digest", models.BinaryField(max_length=32)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "run", "severity"], name="import_finding_run_index"),
                    models.Index(fields=["namespace", "record"], name="import_finding_record"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("severity__in", ["information", "quarantined", "repaired"])),
                        name="import_finding_severity",
                    ),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="import_finding_item"),
                    models.UniqueConstraint(fields=("namespace", "digest"), name="import_finding_digest"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "run"),
                        name="import_finding_run",
                        to="memory_importrun",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="import_finding_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StagedRow",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "file_digest",
                        "ordinal",
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
                ("file_digest", models.BinaryField(max_length=32)),
                ("ordinal", models.IntegerField()),
                ("table", models.CharField(max_length=40)),
                ("payload", models.TextField()),
            ],
            options={
                "abstract": False,
                "indexes": [],
                "constraints": [],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_importrun",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_importedrow",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_importfinding",
            erasable=None,
        ),
    ]
