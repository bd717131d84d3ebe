"""Tables of ledger, and the triggers that keep its evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Namespace",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("uid", models.UUIDField(unique=True)),
                ("name", models.CharField(max_length=100, unique=True)),
                ("clock", models.CharField(max_length=10)),
                ("secret", models.BinaryField(max_length=32)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("clock__in", ["host", "replay"])), name="namespace_clock"
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Entry",
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
                ("recorded_at", models.DateTimeField()),
                ("principal", models.CharField(max_length=6)),
                ("person", models.BigIntegerField(null=True)),
                ("agent", models.UUIDField(null=True)),
                ("loader", models.UUIDField(null=True)),
                ("host", models.UUIDField(null=True)),
                ("on_behalf_of", models.UUIDField(null=True)),
                ("run", models.UUIDField(null=True)),
                ("verb", models.CharField(max_length=32)),
                ("request", models.UUIDField(null=True)),
                ("key", models.BinaryField(max_length=32, null=True)),
                ("fingerprint", models.BinaryField(max_length=32, null=True)),
                ("n_items", models.IntegerField()),
                ("items_root", models.BinaryField(max_length=32)),
                ("leaf", models.BinaryField(max_length=32)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "run", "seq"], name="entry_run"),
                    models.Index(fields=["namespace", "agent", "seq"], name="entry_agent"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "key"), name="entry_key"),
                    models.UniqueConstraint(fields=("namespace", "recorded_at"), name="entry_recorded_at"),
                    models.CheckConstraint(condition=models.Q(("n_items__gte", 1)), name="entry_n_items"),
                    models.CheckConstraint(
                        condition=models.Q(("principal__in", ["agent", "person", "system"])), name="entry_principal"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Item",
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
                ("kind", models.CharField(max_length=20)),
                ("object", models.UUIDField()),
                ("parts", models.BinaryField()),
                ("commitment", models.BinaryField(max_length=32)),
                ("hash", models.BinaryField(max_length=32)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "object"], name="item_object")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="item_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Content",
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
                ("salt", models.BinaryField(max_length=32)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id",
                        "seq",
                        "item",
                        "part",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("part", models.CharField(max_length=10)),
                ("payload", models.TextField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="content_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Name",
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
                ("salt", models.BinaryField(max_length=32)),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("text", models.CharField(max_length=400)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "text"), name="name_text"),
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="name_item"),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="name_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Reference",
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
                ("from_item", models.IntegerField()),
                ("to_seq", models.BigIntegerField()),
                ("to_item", models.IntegerField()),
                ("kind", models.CharField(max_length=20)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "to_seq", "to_item"], name="reference_to")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="reference_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Erasure",
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
                ("target_seq", models.BigIntegerField()),
                ("target_item", models.IntegerField()),
                ("target_part", models.CharField(max_length=10)),
                ("reason", models.CharField(max_length=20)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("namespace", "target_seq", "target_item", "target_part"), name="erasure_target"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="erasure_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Refusal",
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
                ("code", models.CharField(max_length=24)),
                ("agent", models.UUIDField(null=True)),
                ("object", models.UUIDField(null=True)),
                ("count", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "agent", "code", "seq"], name="refusal_agent")],
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="refusal_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PublicKey",
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
                ("key", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="public_key_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Checkpoint",
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
                ("root", models.BinaryField(max_length=32)),
                ("signed_at", models.DateTimeField()),
                ("note", models.TextField()),
            ],
            options={
                "constraints": [
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="checkpoint_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    )
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Head",
            fields=[
                (
                    "namespace",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="head",
                        serialize=False,
                        to="memory.namespace",
                    ),
                ),
                ("size", models.BigIntegerField()),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "abstract": False,
                "indexes": [],
                "constraints": [],
            },
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "namespace_id", "level", "index", blank=True, editable=False, primary_key=True, serialize=False
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
                ("level", models.SmallIntegerField()),
                ("index", models.BigIntegerField()),
                ("hash", models.BinaryField(max_length=32)),
            ],
            options={
                "abstract": False,
                "indexes": [],
                "constraints": [],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_namespace",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_entry",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_item",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_content",
            erasable="OLD.part",
        ),
        memory.base.triggers.Guard(
            table="memory_name",
            erasable="'name'",
        ),
        memory.base.triggers.Guard(
            table="memory_reference",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_erasure",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_refusal",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_publickey",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_checkpoint",
            erasable=None,
        ),
    ]
