"""Tables of records, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers
import memory.records.fulltext


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0003_checks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Record",
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
                ("type", models.UUIDField()),
                ("line", models.UUIDField()),
                ("source_class", models.CharField(max_length=10)),
                ("valid_from", models.DateTimeField(null=True)),
                ("valid_to", models.DateTimeField(null=True)),
                ("source_recorded_at", models.DateTimeField(null=True)),
                ("n_quarantined", models.IntegerField(default=0)),
                ("ancestry_digest", models.BinaryField(max_length=32)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "line", "seq"], name="record_line")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="record_item"),
                    models.CheckConstraint(
                        condition=models.Q(("source_class__in", ["derived", "first_hand", "relayed"])),
                        name="record_source_class",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("valid_from__isnull", True),
                            ("valid_to__isnull", True),
                            ("valid_to__gt", models.F("valid_from")),
                            _connector="OR",
                        ),
                        name="record_interval",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="record_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Withdrawal",
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
                ("record", models.UUIDField()),
                ("withdrawn", models.BooleanField()),
                ("claimed_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "record", "seq"], name="withdrawal_record_seq")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "record"),
                        name="withdrawal_record",
                        to="memory_record",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="withdrawal_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
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
                ("record", models.UUIDField()),
                ("confirmed", models.BooleanField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "record"),
                        name="review_record",
                        to="memory_record",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="review_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="RecordState",
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
                ("item", models.IntegerField()),
                ("recorded_at", models.DateTimeField()),
                ("type", models.UUIDField()),
                ("agent", models.UUIDField(null=True)),
                ("run", models.UUIDField(null=True)),
                ("source_class", models.CharField(max_length=10)),
                ("valid_from", models.DateTimeField(null=True)),
                ("valid_to", models.DateTimeField(null=True)),
                ("source_recorded_at", models.DateTimeField(null=True)),
                ("first_line", models.CharField(max_length=160)),
                ("text_digest", models.BinaryField(max_length=16, null=True)),
                ("n_parents", models.IntegerField(default=0)),
                ("n_children", models.IntegerField(default=0)),
                ("superseded_seq", models.BigIntegerField(null=True)),
                ("superseded_by", models.UUIDField(null=True)),
                ("withdrawn_seq", models.BigIntegerField(null=True)),
                ("erased_seq", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "type", "doc"], name="record_state_type"),
                    models.Index(fields=["namespace", "agent", "doc"], name="record_state_agent"),
                    models.Index(fields=["namespace", "run", "doc"], name="record_state_run"),
                    models.Index(fields=["namespace", "text_digest"], name="record_state_text"),
                ],
                "constraints": [models.UniqueConstraint(fields=("namespace", "doc"), name="record_state_doc")],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_record",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_withdrawal",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_review",
            erasable=None,
        ),
        memory.records.fulltext.TextIndex(),
    ]
