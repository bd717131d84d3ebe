"""Tables of lineage.

Invariants: an Edge reads `source relation target` ("new evolved_from old"); one stored row, its inverse is a query;
symmetric relations are stored once with the lower id first; both ends are records of the row's namespace. A record is
compiled if and only if it has a Compilation, written by the entry that made it; every other record is raw.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from memory.base.models import Evidence, Projection, entry_key, one_of, record_key

DERIVATIONS = ("evolve", "merge", "split", "supersede", "compile")
OUTPUTS = ("compiled", "public")
REASONS = ("observation", "inference", "correction", "decay")
RULES = ("", "explicit", "generated", "majority", "tie-break", "intersection", "hull", "single")

INVERSE = {
    "evolved_from": "evolved_into", "merged_from": "merged_into", "split_from": "split_into",
    "supersedes": "superseded_by", "references": "referenced_by", "parent_of": "child_of", "part_of": "contains",
    "caused_by": "causes", "resolves": "resolved_by", "related_to": "related_to", "contradicts": "contradicts",
}  # fmt: skip
ANCESTRY = ("evolved_from", "merged_from", "split_from")
SYMMETRIC = ("related_to", "contradicts")
ONE_WAY = ("depends_on", "implements")
STORED = (*INVERSE, *ONE_WAY)
LINKS = tuple(relation for relation in STORED if relation not in (*ANCESTRY, "supersedes"))


class Derivation(Evidence):
    """How new records came from old: kind, reason, and the rules that chose content, type and valid time."""

    item_kind = "derivation"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    kind = models.CharField(max_length=10)
    reason = models.CharField(max_length=12)
    reason_given = models.BooleanField()
    content_rule = models.CharField(max_length=12)
    type_rule = models.CharField(max_length=12)
    valid_rule = models.CharField(max_length=12)
    n_conflicts = models.IntegerField()
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="derivation_item"),
            one_of("kind", DERIVATIONS, "derivation_kind"),
            one_of("reason", REASONS, "derivation_reason"),
            entry_key("derivation_entry"),
        ]


class Edge(Evidence):
    """One relation between two records. `ordinal` keeps the order in which a derivation named its sources."""

    item_kind = "edge"

    pk = models.CompositePrimaryKey("namespace_id", "source", "relation", "target")
    source = models.UUIDField()
    relation = models.CharField(max_length=14)
    target = models.UUIDField()
    ordinal = models.IntegerField()
    derivation = models.UUIDField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="edge_item"),
            one_of("relation", STORED, "edge_relation"),
            models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="edge_ends"),
            record_key("edge_source", "source"),
            record_key("edge_target", "target"),
            entry_key("edge_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "target", "relation", "source"], name="edge_back")]


class Compilation(Evidence):
    """How a compiled record was made: by which version of which function, and from what.

    `function`, `version` and `covers` are ids of names; `covers` is the topic, a tag of raw records, that the record
    is meant to speak for. `inputs` is a hash over the digests of the sources in the order of their naming: equal where
    the same function had the same sources. The database takes no public record that is not redacted.
    """

    item_kind = "compilation"

    pk = models.CompositePrimaryKey("namespace_id", "record")
    record = models.UUIDField()
    output = models.CharField(max_length=8)
    function = models.UUIDField()
    version = models.UUIDField()
    redacted = models.BooleanField()
    covers = models.UUIDField(null=True)
    inputs = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="compilation_item"),
            one_of("output", OUTPUTS, "compilation_output"),
            models.CheckConstraint(
                condition=models.Q(output="compiled") | models.Q(redacted=True), name="compilation_redacted"
            ),
            record_key("compilation_record", "record"),
            entry_key("compilation_entry"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "inputs"], name="compilation_inputs"),
            models.Index(fields=["namespace", "covers"], name="compilation_covers"),
        ]


class CoveredRecord(Projection):
    """A raw record that bears a topic which a compilation before it covers: what may put that one behind.

    `topic` is the id of a name; `doc` is that of the record's state row.
    """

    pk = models.CompositePrimaryKey("namespace_id", "topic", "doc")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    topic = models.UUIDField()
    doc = models.BigIntegerField()
    record = models.UUIDField()
