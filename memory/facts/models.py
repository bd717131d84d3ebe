"""Tables of facts.

Invariants: no row of evidence ever changes; a fact is superseded once and retracted once. The derived tables hold no
clock: what has expired is worked out by the reader.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from memory.base.models import Evidence, Projection, SameNamespaceKey, entry_key, one_of
from memory.facts.kernel.values import CARDINALITIES, NORMALISERS, STANCES, VALUE_TYPES
from memory.records.models import SOURCE_CLASSES

RETRACTED_AS = ("wrong", "outdated", "duplicate")
# How a fact that a verdict states anew refers to the one that it repeats.
REPEATS = "repeats"
VERDICTS = ("keep_a", "keep_b", "split_at", "both_hold", "retract_both", "needs_more")


def fact_key(name: str, column: str) -> SameNamespaceKey:
    """The column holds the id of a fact of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", column), to="memory_fact", to_columns=("namespace_id", "id")
    )


class AttributeSpec(Evidence):
    """What is declared of an attribute from this entry on. Exclusive pairs of values are content (`value`)."""

    item_kind = "attribute_spec"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    attribute = models.UUIDField()
    cardinality = models.CharField(max_length=4)
    value_type = models.CharField(max_length=8, null=True)
    normaliser = models.CharField(max_length=10)
    freshness_seconds = models.BigIntegerField(null=True)
    n_exclusive = models.SmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            one_of("cardinality", CARDINALITIES, "attribute_spec_cardinality"),
            one_of("value_type", VALUE_TYPES, "attribute_spec_value_type"),
            one_of("normaliser", NORMALISERS, "attribute_spec_normaliser"),
            models.CheckConstraint(condition=Q(freshness_seconds__gt=0), name="attribute_spec_freshness"),
            entry_key("attribute_spec_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "attribute", "seq"], name="attribute_spec_newest")]


class Fact(Evidence):
    """One statement. The value is content; subject, attribute, origin and scale are names.

    `valid_from` is null where it was not given: the fact then holds from its entry's recorded instant on.
    """

    item_kind = "fact"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    subject = models.UUIDField()
    attribute = models.UUIDField()
    stance = models.CharField(max_length=7)
    source_class = models.CharField(max_length=10)
    origin = models.UUIDField(null=True)
    authenticated = models.BooleanField()
    candidate = models.BooleanField()
    confidence = models.FloatField(null=True)
    scale = models.UUIDField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    source_recorded_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="fact_item"),
            one_of("stance", STANCES, "fact_stance"),
            one_of("source_class", SOURCE_CLASSES, "fact_source_class"),
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="fact_confidence"),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="fact_interval",
            ),
            entry_key("fact_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "subject", "attribute", "seq"], name="fact_entity")]


class Supersession(Evidence):
    """From the instant `at` on the older fact holds no more; `new` is what took its place, where something did."""

    item_kind = "supersession"

    pk = models.CompositePrimaryKey("namespace_id", "old")
    old = models.UUIDField()
    new = models.UUIDField(null=True)
    at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="supersession_item"),
            models.CheckConstraint(condition=Q(new__isnull=True) | ~Q(new=F("old")), name="supersession_ends"),
            fact_key("supersession_old", "old"),
            fact_key("supersession_new", "new"),
            entry_key("supersession_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "new"], name="supersession_by")]


class Retraction(Evidence):
    """The statement is taken back, as wrong, as outdated or as a duplicate of another."""

    item_kind = "retraction"

    pk = models.CompositePrimaryKey("namespace_id", "fact")
    fact = models.UUIDField()
    retracted_as = models.CharField(max_length=9)
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="retraction_item"),
            one_of("retracted_as", RETRACTED_AS, "retraction_as"),
            fact_key("retraction_fact", "fact"),
            entry_key("retraction_entry"),
        ]


class Adjudication(Evidence):
    """A person's verdict on two facts of one entity that cannot both hold. What it ends are items beside it."""

    item_kind = "adjudication"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    case = models.UUIDField()
    a = models.UUIDField()
    b = models.UUIDField()
    verdict = models.CharField(max_length=12)
    split_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            one_of("verdict", VERDICTS, "adjudication_verdict"),
            models.CheckConstraint(
                condition=~Q(verdict="split_at") | Q(split_at__isnull=False), name="adjudication_split_at"
            ),
            fact_key("adjudication_a", "a"),
            fact_key("adjudication_b", "b"),
            entry_key("adjudication_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "case", "seq"], name="adjudication_case")]


class FactState(Projection):
    """A fact with all that has been said of it since, each with the seq from which it is known.

    `value` is canonical JSON, null once erased; `value_key` finds equal values. `valid_from` is never null here.
    `is_first` marks the first fact of its entity: these rows list the entities.
    """

    pk = models.CompositePrimaryKey("namespace_id", "id")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    id = models.UUIDField()
    doc = models.BigIntegerField()
    is_first = models.BooleanField()
    seq = models.BigIntegerField()
    item = models.IntegerField()
    recorded_at = models.DateTimeField()
    person = models.BigIntegerField(null=True)
    agent = models.UUIDField(null=True)
    run = models.UUIDField(null=True)
    subject = models.UUIDField()
    attribute = models.UUIDField()
    stance = models.CharField(max_length=7)
    value = models.TextField(null=True)
    value_key = models.BinaryField(max_length=16, null=True)
    source_class = models.CharField(max_length=10)
    origin = models.UUIDField(null=True)
    authenticated = models.BooleanField()
    candidate = models.BooleanField()
    confidence = models.FloatField(null=True)
    scale = models.UUIDField(null=True)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)
    source_recorded_at = models.DateTimeField(null=True)
    held_seq = models.BigIntegerField(null=True)
    held_until = models.DateTimeField(null=True)
    confirmed_seq = models.BigIntegerField(null=True)
    rejected_seq = models.BigIntegerField(null=True)
    superseded_seq = models.BigIntegerField(null=True)
    superseded_by = models.UUIDField(null=True)
    superseded_at = models.DateTimeField(null=True)
    superseded_claimed_at = models.DateTimeField(null=True)
    retracted_seq = models.BigIntegerField(null=True)
    retracted_as = models.CharField(max_length=9, null=True)
    retracted_claimed_at = models.DateTimeField(null=True)
    erased_seq = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["namespace", "doc"], name="fact_state_doc")]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "subject", "attribute", "doc"], name="fact_state_entity"),
            models.Index(fields=["namespace", "attribute", "doc"], name="fact_state_attribute"),
            models.Index(fields=["namespace", "agent", "doc"], name="fact_state_agent"),
            models.Index(fields=["namespace", "value_key"], name="fact_state_value"),
            models.Index(fields=["namespace", "superseded_by"], name="fact_state_replaced"),
            models.Index(fields=["namespace", "doc"], condition=Q(is_first=True), name="fact_state_entities"),
            models.Index(
                fields=["namespace", "subject", "attribute"],
                condition=Q(erased_seq__isnull=False),
                name="fact_state_erased",
            ),
        ]


class FactRect(Projection):
    """Where a fact stands, or how it does not, as a rectangle of valid time and known seq; null is an open end.

    `entity` is a hash of namespace, subject, attribute and lane, so that one index answers for each lane alone; rows
    are told apart by the fact, never by the hash. Valid ends are microseconds since 1970. The key is a plain integer:
    the spatial index of SQLite is joined by it.
    """

    id = models.BigAutoField(primary_key=True)
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    entity = models.BigIntegerField()
    lane = models.SmallIntegerField()
    doc = models.BigIntegerField()
    valid_from = models.BigIntegerField()
    valid_to = models.BigIntegerField(null=True)
    known_from = models.BigIntegerField()
    known_to = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "doc", "known_from", "lane"], name="fact_rect_fact"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "entity", "known_from"], name="fact_rect_known"),
        ]


class FactTally(Projection):
    """How many facts of an entity stood in each way once entry `seq` was written; the newest row by a seq answers."""

    pk = models.CompositePrimaryKey("namespace_id", "subject", "attribute", "seq")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    subject = models.UUIDField()
    attribute = models.UUIDField()
    seq = models.BigIntegerField()
    n_facts = models.IntegerField()
    n_denials = models.IntegerField()
    n_superseded = models.IntegerField()
    n_retracted = models.IntegerField()
    n_candidates = models.IntegerField()
    n_held = models.IntegerField()
    n_rejected = models.IntegerField()


class ConflictCase(Projection):
    """A span of seqs in which facts of one entity could not all hold. Open while `closed_seq` is null."""

    pk = models.CompositePrimaryKey("namespace_id", "id", "opened_seq")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    id = models.UUIDField()
    subject = models.UUIDField()
    attribute = models.UUIDField()
    opened_seq = models.BigIntegerField()
    closed_seq = models.BigIntegerField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["namespace", "closed_seq", "opened_seq"], name="conflict_case_open")]
