"""What a review policy holds, and what became of it: reviews speak of facts as well as of records."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0009_closing"),
    ]

    operations = [
        memory.base.triggers.Unguard(
            table="memory_review",
            erasable=None,
        ),
        migrations.DeleteModel(
            name="Review",
        ),
        migrations.CreateModel(
            name="Held",
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
                ("kind", models.CharField(max_length=8)),
                ("object", models.UUIDField()),
                ("of_item", models.IntegerField()),
                ("rule", models.IntegerField()),
                ("policy_seq", models.BigIntegerField()),
                ("until_at", models.DateTimeField(null=True)),
                ("origins_needed", models.SmallIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "kind", "object"), name="held_once"),
                    models.CheckConstraint(condition=models.Q(("kind__in", ["fact", "record"])), name="held_kind"),
                    models.CheckConstraint(condition=models.Q(("origins_needed__in", [0, 2])), name="held_origins"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="held_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Review",
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
                ("kind", models.CharField(max_length=8)),
                ("object", models.UUIDField()),
                ("confirmed", models.BooleanField()),
                ("cause", models.CharField(max_length=8)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "kind", "object", "seq"], name="review_object")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["fact", "record"])), name="review_kind"),
                    models.CheckConstraint(
                        condition=models.Q(("cause__in", ["author", "lapse", "origins", "person"])), name="review_cause"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="review_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="recordstate",
            name="held_seq",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="recordstate",
            name="held_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="recordstate",
            name="confirmed_seq",
            field=models.BigIntegerField(null=True),
        ),
        memory.base.triggers.Guard(
            table="memory_held",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_review",
            erasable=None,
        ),
    ]
