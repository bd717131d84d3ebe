"""Tables of tombstones.

Invariants: no row says in which state a tombstone is; no row changes or goes; every row belongs to a tombstone of its
own namespace. Route and origin are names; scope, conditions, plans, notes and what was asked are content.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from memory.base.models import Evidence, SameNamespaceKey, entry_key, one_of
from memory.tombstones.kernel.life import TURNS

VERDICTS = ("blocked", "clear")
REASONS = ("none", "out_of_scope", "retest_only", "retired", "audit_only")
EVIDENCE = "evidence"
"""The kind of references to what something rests on."""

HITS = ("blocked", "out_of_scope", "retest_only", "retired", "audit_only")


def tombstone_key(name: str) -> SameNamespaceKey:
    """The column `tombstone` holds the id of one of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "tombstone"), to="memory_tombstone", to_columns=("namespace_id", "id")
    )


def check_key(name: str) -> SameNamespaceKey:
    """The column `route_check` holds the id of a check of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "route_check"), to="memory_routecheck", to_columns=("namespace_id", "id")
    )


class Tombstone(Evidence):
    """A route that failed. `route_key` is the name of the folded route, by which checks find it."""

    item_kind = "tombstone"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    route = models.UUIDField()
    route_key = models.UUIDField()
    retest_at = models.DateTimeField(null=True)
    review_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="tombstone_item"),
            entry_key("tombstone_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "route_key", "seq"], name="tombstone_route")]


class RevivalCondition(Evidence):
    """One of the conditions, from 1, and how many distinct origins must speak for it."""

    item_kind = "revival_condition"

    pk = models.CompositePrimaryKey("namespace_id", "tombstone", "position")
    tombstone = models.UUIDField()
    position = models.SmallIntegerField()
    n_origins = models.SmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="revival_condition_item"),
            models.CheckConstraint(condition=models.Q(n_origins__gte=1), name="revival_condition_origins"),
            tombstone_key("revival_condition_of"),
            entry_key("revival_condition_entry"),
        ]


class RevivalEvidence(Evidence):
    """Evidence for one condition. `origin` is a name; where none was told, whoever filed it stands for it."""

    item_kind = "revival_evidence"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    tombstone = models.UUIDField()
    position = models.SmallIntegerField()
    origin = models.UUIDField(null=True)
    valid_until = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="revival_evidence_item"),
            SameNamespaceKey(
                name="revival_evidence_for", columns=("namespace", "tombstone", "position"),
                to="memory_revivalcondition", to_columns=("namespace_id", "tombstone", "position"),
            ),
            entry_key("revival_evidence_entry"),
        ]  # fmt: skip
        indexes: ClassVar = [models.Index(fields=["namespace", "tombstone", "seq"], name="revival_evidence_of")]


class RouteCheck(Evidence):
    """A check that met a tombstone, and what it was told."""

    item_kind = "route_check"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    route = models.UUIDField()
    verdict = models.CharField(max_length=8)
    reason = models.CharField(max_length=16)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="route_check_item"),
            one_of("verdict", VERDICTS, "route_check_verdict"),
            one_of("reason", REASONS, "route_check_reason"),
            entry_key("route_check_entry"),
        ]


class RouteHit(Evidence):
    """One tombstone that a check met: it blocked, or why it did not."""

    item_kind = "route_hit"

    pk = models.CompositePrimaryKey("namespace_id", "tombstone", "route_check")
    tombstone = models.UUIDField()
    route_check = models.UUIDField()
    reason = models.CharField(max_length=16)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="route_hit_item"),
            one_of("reason", HITS, "route_hit_reason"),
            tombstone_key("route_hit_of"),
            check_key("route_hit_check"),
            entry_key("route_hit_entry"),
        ]


class BlockVerdict(Evidence):
    """What was said of a block afterwards: false, or right. A report may name no check."""

    item_kind = "block_verdict"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    tombstone = models.UUIDField()
    route_check = models.UUIDField(null=True)
    is_false = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            tombstone_key("block_verdict_of"), check_key("block_verdict_check"), entry_key("block_verdict_entry"),
        ]  # fmt: skip
        indexes: ClassVar = [models.Index(fields=["namespace", "tombstone", "seq"], name="block_verdict_seq")]


class TombstoneTurn(Evidence):
    """An owner's act on a tombstone. `due_at` is the next date that it sets."""

    item_kind = "tombstone_turn"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    tombstone = models.UUIDField()
    kind = models.CharField(max_length=16)
    due_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            one_of("kind", TURNS, "tombstone_turn_kind"),
            tombstone_key("tombstone_turn_of"),
            entry_key("tombstone_turn_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "tombstone", "seq"], name="tombstone_turn_seq")]
