"""The table that says that a namespace is closed, with its triggers, and the same word at the head of the log."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0008_settings"),
    ]

    operations = [
        migrations.CreateModel(
            name="Closing",
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
                ("reason", models.CharField(max_length=20)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason__in", ["mistake", "policy", "request", "secret", "source"])),
                        name="closing_reason",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="closing_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="head",
            name="closed_seq",
            field=models.BigIntegerField(null=True),
        ),
        memory.base.triggers.Guard(
            table="memory_closing",
            erasable=None,
        ),
    ]
