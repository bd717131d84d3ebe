"""Tables of lineage, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0004_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="Derivation",
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
                ("kind", models.CharField(max_length=10)),
                ("reason", models.CharField(max_length=12)),
                ("reason_given", models.BooleanField()),
                ("content_rule", models.CharField(max_length=12)),
                ("type_rule", models.CharField(max_length=12)),
                ("valid_rule", models.CharField(max_length=12)),
                ("n_conflicts", models.IntegerField()),
                ("claimed_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="derivation_item"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["evolve", "merge", "split", "supersede"])),
                        name="derivation_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason__in", ["correction", "decay", "inference", "observation"])),
                        name="derivation_reason",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="derivation_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Edge",
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
                        "source",
                        "relation",
                        "target",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("source", models.UUIDField()),
                ("relation", models.CharField(max_length=14)),
                ("target", models.UUIDField()),
                ("ordinal", models.IntegerField()),
                ("derivation", models.UUIDField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "target", "relation", "source"], name="edge_back")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="edge_item"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "relation__in",
                                [
                                    "caused_by",
                                    "contradicts",
                                    "depends_on",
                                    "evolved_from",
                                    "implements",
                                    "merged_from",
                                    "parent_of",
                                    "part_of",
                                    "references",
                                    "related_to",
                                    "resolves",
                                    "split_from",
                                    "supersedes",
                                ],
                            )
                        ),
                        name="edge_relation",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source", models.F("target")), _negated=True), name="edge_ends"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "source"),
                        name="edge_source",
                        to="memory_record",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "target"),
                        name="edge_target",
                        to="memory_record",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="edge_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_derivation",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_edge",
            erasable=None,
        ),
    ]
