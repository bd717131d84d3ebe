"""Tables of agents, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0001_ledger"),
    ]

    operations = [
        migrations.CreateModel(
            name="Agent",
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
                ("operator", models.BigIntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "name"), name="agent_name"),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="agent_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="agent_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Token",
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
                ("agent", models.UUIDField()),
                ("secret_hash", models.BinaryField(max_length=32)),
                ("prefix", models.CharField(max_length=12)),
                ("scopes", models.SmallIntegerField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "secret_hash"), name="token_secret"),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="token_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "agent"),
                        name="token_agent",
                        to="memory_agent",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="token_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="TokenRevocation",
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
                ("token", models.UUIDField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "token"), name="token_revocation_once"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "token"),
                        name="token_revocation_token",
                        to="memory_token",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="token_revocation_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Membership",
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
                ("person", models.BigIntegerField()),
                ("role", models.CharField(max_length=10)),
                ("expires_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["person", "namespace", "seq"], name="membership_person")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["auditor", "none", "owner", "reviewer"])),
                        name="membership_role",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="membership_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Freeze",
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
                ("agent", models.UUIDField()),
                ("frozen", models.BooleanField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "agent", "seq"], name="freeze_agent_seq")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "agent"),
                        name="freeze_agent",
                        to="memory_agent",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="freeze_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
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
                ("held", models.BooleanField()),
                ("until_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="hold_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Setting",
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
                ("name", models.CharField(max_length=24)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name__in", ["approval_mode"])), name="setting_name"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="setting_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                ("kind", models.CharField(max_length=12)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["case", "conversation", "session", "task"])), name="run_kind"
                    ),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="run_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="run_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="RunEnd",
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
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "run"),
                        name="run_end_run",
                        to="memory_run",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="run_end_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="RunReference",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "run_id", "key", blank=True, editable=False, primary_key=True, serialize=False
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
                ("run_id", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                ("key", models.CharField(max_length=40)),
                ("value", models.CharField(max_length=400)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "value"], name="run_reference_value")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("key", "trace")), fields=("namespace", "value"), name="run_reference_trace"
                    )
                ],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_agent",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_token",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_tokenrevocation",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_membership",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_freeze",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_hold",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_setting",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_run",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_runend",
            erasable=None,
        ),
    ]
