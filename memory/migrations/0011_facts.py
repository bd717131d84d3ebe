"""Tables of facts, and the triggers that keep their evidence append-only."""

import django.db.models.deletion
from django.db import migrations, models

import memory.base.models
import memory.base.triggers


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0010_review"),
    ]

    operations = [
        migrations.CreateModel(
            name="AttributeSpec",
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
                ("attribute", models.UUIDField()),
                ("cardinality", models.CharField(max_length=4)),
                ("value_type", models.CharField(max_length=8, null=True)),
                ("normaliser", models.CharField(max_length=10)),
                ("freshness_seconds", models.BigIntegerField(null=True)),
                ("n_exclusive", models.SmallIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "attribute", "seq"], name="attribute_spec_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("cardinality__in", ["many", "one"])), name="attribute_spec_cardinality"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value_type__in", ["instant", "number", "text", "truth"])),
                        name="attribute_spec_value_type",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("normaliser__in", ["exact", "folded", "instant", "number"])),
                        name="attribute_spec_normaliser",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("freshness_seconds__gt", 0)), name="attribute_spec_freshness"
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="attribute_spec_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Fact",
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
                ("subject", models.UUIDField()),
                ("attribute", models.UUIDField()),
                ("stance", models.CharField(max_length=7)),
                ("source_class", models.CharField(max_length=10)),
                ("origin", models.UUIDField(null=True)),
                ("authenticated", models.BooleanField()),
                ("candidate", models.BooleanField()),
                ("confidence", models.FloatField(null=True)),
                ("scale", models.UUIDField(null=True)),
                ("valid_from", models.DateTimeField(null=True)),
                ("valid_to", models.DateTimeField(null=True)),
                ("source_recorded_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "subject", "attribute", "seq"], name="fact_entity")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="fact_item"),
                    models.CheckConstraint(
                        condition=models.Q(("stance__in", ["asserts", "denies"])), name="fact_stance"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source_class__in", ["derived", "first_hand", "relayed"])),
                        name="fact_source_class",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)), name="fact_confidence"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("valid_from__isnull", True),
                            ("valid_to__isnull", True),
                            ("valid_to__gt", models.F("valid_from")),
                            _connector="OR",
                        ),
                        name="fact_interval",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="fact_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Supersession",
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
                        "namespace_id", "old", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("old", models.UUIDField()),
                ("new", models.UUIDField(null=True)),
                ("at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "new"], name="supersession_by")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="supersession_item"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("new__isnull", True), models.Q(("new", models.F("old")), _negated=True), _connector="OR"
                        ),
                        name="supersession_ends",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "old"),
                        name="supersession_old",
                        to="memory_fact",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "new"),
                        name="supersession_new",
                        to="memory_fact",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="supersession_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Retraction",
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
                        "namespace_id", "fact", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("fact", models.UUIDField()),
                ("retracted_as", models.CharField(max_length=9)),
                ("claimed_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "seq", "item"), name="retraction_item"),
                    models.CheckConstraint(
                        condition=models.Q(("retracted_as__in", ["duplicate", "outdated", "wrong"])),
                        name="retraction_as",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "fact"),
                        name="retraction_fact",
                        to="memory_fact",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="retraction_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Adjudication",
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
                ("case", models.UUIDField()),
                ("a", models.UUIDField()),
                ("b", models.UUIDField()),
                ("verdict", models.CharField(max_length=12)),
                ("split_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "case", "seq"], name="adjudication_case")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verdict__in", ["both_hold", "keep_a", "keep_b", "needs_more", "retract_both", "split_at"])
                        ),
                        name="adjudication_verdict",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("verdict", "split_at"), _negated=True),
                            ("split_at__isnull", False),
                            _connector="OR",
                        ),
                        name="adjudication_split_at",
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "a"),
                        name="adjudication_a",
                        to="memory_fact",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "b"),
                        name="adjudication_b",
                        to="memory_fact",
                        to_columns=("namespace_id", "id"),
                    ),
                    memory.base.models.SameNamespaceKey(
                        columns=("namespace", "seq"),
                        name="adjudication_entry",
                        to="memory_entry",
                        to_columns=("namespace_id", "seq"),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FactState",
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
                        "namespace_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField()),
                ("doc", models.BigIntegerField()),
                ("is_first", models.BooleanField()),
                ("seq", models.BigIntegerField()),
                ("item", models.IntegerField()),
                ("recorded_at", models.DateTimeField()),
                ("person", models.BigIntegerField(null=True)),
                ("agent", models.UUIDField(null=True)),
                ("run", models.UUIDField(null=True)),
                ("subject", models.UUIDField()),
                ("attribute", models.UUIDField()),
                ("stance", models.CharField(max_length=7)),
                ("value", models.TextField(null=True)),
                ("value_key", models.BinaryField(max_length=16, null=True)),
                ("source_class", models.CharField(max_length=10)),
                ("origin", models.UUIDField(null=True)),
                ("authenticated", models.BooleanField()),
                ("candidate", models.BooleanField()),
                ("confidence", models.FloatField(null=True)),
                ("scale", models.UUIDField(null=True)),
                ("valid_from", models.DateTimeField()),
                ("valid_to", models.DateTimeField(null=True)),
                ("source_recorded_at", models.DateTimeField(null=True)),
                ("held_seq", models.BigIntegerField(null=True)),
                ("held_until", models.DateTimeField(null=True)),
                ("confirmed_seq", models.BigIntegerField(null=True)),
                ("rejected_seq", models.BigIntegerField(null=True)),
                ("superseded_seq", models.BigIntegerField(null=True)),
                ("superseded_by", models.UUIDField(null=True)),
                ("superseded_at", models.DateTimeField(null=True)),
                ("superseded_claimed_at", models.DateTimeField(null=True)),
                ("retracted_seq", models.BigIntegerField(null=True)),
                ("retracted_as", models.CharField(max_length=9, null=True)),
                ("retracted_claimed_at", models.DateTimeField(null=True)),
                ("erased_seq", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["namespace", "subject", "attribute", "doc"], name="fact_state_entity"),
                    models.Index(fields=["namespace", "attribute", "doc"], name="fact_state_attribute"),
                    models.Index(fields=["namespace", "agent", "doc"], name="fact_state_agent"),
                    models.Index(fields=["namespace", "value_key"], name="fact_state_value"),
                    models.Index(fields=["namespace", "superseded_by"], name="fact_state_replaced"),
                    models.Index(
                        condition=models.Q(("is_first", True)),
                        fields=["namespace", "doc"],
                        name="fact_state_entities",
                    ),
                    models.Index(
                        condition=models.Q(("erased_seq__isnull", False)),
                        fields=["namespace", "subject", "attribute"],
                        name="fact_state_erased",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("namespace", "doc"), name="fact_state_doc")],
            },
        ),
        migrations.CreateModel(
            name="FactRect",
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
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("entity", models.BigIntegerField()),
                ("lane", models.SmallIntegerField()),
                ("doc", models.BigIntegerField()),
                ("valid_from", models.BigIntegerField()),
                ("valid_to", models.BigIntegerField(null=True)),
                ("known_from", models.BigIntegerField()),
                ("known_to", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "entity", "valid_to"], name="fact_rect_ending")],
                "constraints": [
                    models.UniqueConstraint(fields=("namespace", "doc", "known_from", "lane"), name="fact_rect_fact")
                ],
            },
        ),
        migrations.CreateModel(
            name="FactTally",
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
                        "namespace_id",
                        "subject",
                        "attribute",
                        "seq",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("subject", models.UUIDField()),
                ("attribute", models.UUIDField()),
                ("seq", models.BigIntegerField()),
                ("n_facts", models.IntegerField()),
                ("n_denials", models.IntegerField()),
                ("n_superseded", models.IntegerField()),
                ("n_retracted", models.IntegerField()),
                ("n_candidates", models.IntegerField()),
                ("n_held", models.IntegerField()),
                ("n_rejected", models.IntegerField()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ConflictCase",
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
                        "namespace_id",
                        "id",
                        "opened_seq",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("id", models.UUIDField()),
                ("subject", models.UUIDField()),
                ("attribute", models.UUIDField()),
                ("opened_seq", models.BigIntegerField()),
                ("closed_seq", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["namespace", "closed_seq", "opened_seq"], name="conflict_case_open")],
            },
        ),
        memory.base.triggers.Guard(
            table="memory_attributespec",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_fact",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_supersession",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_retraction",
            erasable=None,
        ),
        memory.base.triggers.Guard(
            table="memory_adjudication",
            erasable=None,
        ),
    ]
