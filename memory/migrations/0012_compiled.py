"""Tables of compiled records, the kinds of derivation and the formats of export that come with them.

The guards of two tables are lifted while a list of words grows, and stand again at the end.
"""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0011_facts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Compilation",
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
                        "namespace_id", "record", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("record", models.UUIDField()),
                ("output", models.CharField(max_length=8)),
                ("function", models.UUIDField()),
                ("version", models.UUIDField()),
                ("redacted", models.BooleanField()),
                ("covers", models.UUIDField(null=True)),
                ("inputs", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="compilation_item"),
                    models.CheckConstraint(
                        condition=models.Q(("output__in", ["compiled", "public"])), name="compilation_output"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("output", "compiled"), ("redacted", True), _connector="OR"),
                        name="compilation_redacted",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "record"),
                        name="compilation_record",
                        to="memory_record",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="compilation_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [
                    models.Index(fields=["namespace", "inputs"], name="compilation_inputs"),
                    models.Index(fields=["namespace", "covers"], name="compilation_covers"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CoveredRecord",
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
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "topic", "doc", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("topic", models.UUIDField()),
                ("doc", models.BigIntegerField()),
                ("record", models.UUIDField()),
            ],
            options={
                "abstract": False,
            },
        ),
        memory.base.triggers.Unguard(
            table="memory_derivation",
        ),
        migrations.RemoveConstraint(
            model_name="derivation",
            name="derivation_kind",
        ),
        migrations.AddConstraint(
            model_name="derivation",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["compile", "evolve", "merge", "split", "supersede"])),
                name="derivation_kind",
            ),
        ),
        memory.base.triggers.Guard(
            table="memory_derivation",
        ),
        memory.base.triggers.Unguard(
            table="memory_exportrun",
        ),
        migrations.RemoveConstraint(
            model_name="exportrun",
            name="export_run_format",
        ),
        migrations.AddConstraint(
            model_name="exportrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("format__in", ["jsonl", "openlineage", "prov", "public"])),
                name="export_run_format",
            ),
        ),
        memory.base.triggers.Guard(
            table="memory_exportrun",
        ),
        memory.base.triggers.Guard(
            table="memory_compilation",
            erasable=None,
        ),
    ]
