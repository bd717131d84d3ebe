"""Tables of records.

Invariants: a Record row never changes; RecordState is derived from evidence and content and holds no clock: expiry and
"not yet" are worked out by the reader from `valid_from` and `valid_to`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce

from memory.base.asof import AsOf
from memory.base.models import Evidence, Projection, entry_key, one_of, record_key
from memory.ledger.models import Entry

SOURCE_CLASSES = ("first_hand", "relayed", "derived")
HIDDEN = ("superseded", "withdrawn", "erased", "held", "not_valid")
HELD_KINDS = ("record", "fact")
CAUSES = ("person", "origins", "author", "lapse")
NOT_REVIEWED = "not reviewed in time"
DOC_ITEM_BITS = 20


class Record(Evidence):
    """One unit of memory. `line` is the id of the first record of its line of versions.

    The ancestry digest covers the item's commitment and so cannot be a part of it; verification recomputes it.
    """

    item_kind = "record"
    uncommitted = frozenset({"ancestry_digest"})

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    type = models.UUIDField()
    line = models.UUIDField()
    source_class = models.CharField(max_length=10)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    source_recorded_at = models.DateTimeField(null=True)
    n_quarantined = models.IntegerField(default=0)
    ancestry_digest = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="record_item"),
            one_of("source_class", SOURCE_CLASSES, "record_source_class"),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_to__isnull=True)
                | Q(valid_to__gt=models.F("valid_from")),
                name="record_interval",
            ),
            entry_key("record_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "line", "seq"], name="record_line")]


class Withdrawal(Evidence):
    """The record is hidden on every read by default from this entry on, or shown again (`withdrawn` false)."""

    item_kind = "withdrawal"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    record = models.UUIDField()
    withdrawn = models.BooleanField()
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [record_key("withdrawal_record", "record"), entry_key("withdrawal_entry")]
        indexes: ClassVar = [models.Index(fields=["namespace", "record", "seq"], name="withdrawal_record_seq")]


class Held(Evidence):
    """A record or a fact that a review policy holds, written by the entry that brought it (`of_item` is its item).

    `rule` is the row of the policy that matched, from 0; `policy_seq` the entry that set the policy. From `until_at` on
    nobody can confirm it any more. `origins_needed`: so many independent origins of the same confirm it, 0 for none.
    """

    item_kind = "held"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    kind = models.CharField(max_length=8)
    object = models.UUIDField()
    of_item = models.IntegerField()
    rule = models.IntegerField()
    policy_seq = models.BigIntegerField()
    until_at = models.DateTimeField(null=True)
    origins_needed = models.SmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "kind", "object"], name="held_once"),
            one_of("kind", HELD_KINDS, "held_kind"),
            models.CheckConstraint(condition=Q(origins_needed__in=[0, 2]), name="held_origins"),
            entry_key("held_entry"),
        ]


class Review(Evidence):
    """What became of something held: shown from this entry on (`confirmed`), or turned down.

    `cause`: a person's word, the independent origins that its rule asks for, its author's own taking back, or the lapse
    of its date. The newest row about one thing counts.
    """

    item_kind = "review"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    kind = models.CharField(max_length=8)
    object = models.UUIDField()
    confirmed = models.BooleanField()
    cause = models.CharField(max_length=8)

    class Meta:
        constraints: ClassVar = [
            one_of("kind", HELD_KINDS, "review_kind"),
            one_of("cause", CAUSES, "review_cause"),
            entry_key("review_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "kind", "object", "seq"], name="review_object")]


# Lineage stands above and registers how many children a record had at a point; at the head its column says so.
_children_at: list[Callable[[AsOf], Any]] = []


def count_children_by(expression: Callable[[AsOf], Any]) -> None:
    """Register the expression that counts, for a row of RecordState, what had come from the record by the point."""
    if expression not in _children_at:
        _children_at.append(expression)


def superseded_by(at: AsOf) -> Any:
    """The expression that says whether a row of RecordState was superseded at the point."""
    if at.source_at is not None:
        successor = RecordState.objects.filter(
            namespace=at.namespace, id=OuterRef("superseded_by"), source_recorded_at__lte=at.source_at
        )
        return Exists(successor)
    return _boolean(Q(superseded_seq__isnull=False, superseded_seq__lte=at.seq))


def _boolean(condition: Q) -> models.ExpressionWrapper[Q]:
    return models.ExpressionWrapper(condition, output_field=models.BooleanField())


def withdrawn_by(at: AsOf) -> Any:
    """The expression that says whether a row of RecordState was withdrawn at the point."""
    told = Withdrawal.objects.filter(namespace=at.namespace, record=OuterRef("id"))
    if at.source_at is not None:
        return Exists(told.filter(withdrawn=True, claimed_at__lte=at.source_at))
    latest = told.filter(seq__lte=at.seq).order_by("-seq").values("withdrawn")[:1]
    then = Coalesce(models.Subquery(latest), False)
    return Case(When(_has_moved(at), then=then), default=Q(withdrawn_seq__isnull=False)) if at.is_head else then


def held_by(at: AsOf) -> Q:
    """The condition that a row of RecordState waits for a review at the point, or was turned down or lapsed."""
    return Q(held_seq__isnull=False) & (Q(confirmed_seq__isnull=True) | Q(confirmed_seq__gt=at.seq))


# Rows whose text may be told beside other things: what was held and never confirmed is told where it is asked for.
CONFIRMED = Q(held_seq__isnull=True) | Q(confirmed_seq__isnull=False)
# Rows that wait for a review now, past their date or not.
WAITING = ~CONFIRMED & Q(withdrawn_seq__isnull=True)


def lapse_instant(at: AsOf) -> datetime | None:
    """The instant by which dates of held things are read: now at the head, else the recorded instant of the point."""
    return at.valid_at if at.is_now else at.known_at


def _withdrawn_or_lapsed(at: AsOf) -> Any:
    instant = lapse_instant(at)
    if instant is None:
        return withdrawn_by(at)
    lapsed = held_by(at) & Q(held_until__lte=instant)
    return Case(When(lapsed, then=Value(True)), default=withdrawn_by(at), output_field=models.BooleanField())


def _has_moved(at: AsOf) -> Exists:
    """Whether the head has moved since the point was resolved; asked once for a statement, not for each row."""
    return Exists(Entry.objects.filter(namespace=at.namespace, seq__gt=at.seq))


class RecordStateQuerySet(models.QuerySet["RecordState"]):
    """Rows as of a point. Adjectives only; every method narrows or annotates."""

    def known(self, at: AsOf) -> Self:
        """Rows that stand in the namespace at the point, with `is_superseded`, `is_withdrawn` and `is_held` as of it.

        What is held past its date reads as withdrawn, whether or not the entry that says so has been written yet.
        """
        rows = self.filter(namespace=at.namespace)
        if at.source_at is None:
            rows = rows.filter(seq__lte=at.seq)
        else:
            rows = rows.filter(source_recorded_at__lte=at.source_at)
        rows = rows.annotate(
            is_superseded=superseded_by(at), is_withdrawn=_withdrawn_or_lapsed(at), is_held=_boolean(held_by(at))
        )
        return rows.with_children(at)

    def seen_from(self, *points: AsOf) -> Self:
        """Rows with `superseded_0`, `withdrawn_0`, `held_0` and so on: the same words as of each of other points."""
        words = {f"superseded_{index}": superseded_by(at) for index, at in enumerate(points)}
        words |= {f"withdrawn_{index}": _withdrawn_or_lapsed(at) for index, at in enumerate(points)}
        words |= {f"held_{index}": _boolean(held_by(at)) for index, at in enumerate(points)}
        return self.annotate(**words)

    def with_children(self, at: AsOf) -> Self:
        """Rows with `n_children_then`, the number of children known at the point; at the head a column says it."""
        then = sum((count(at) for count in _children_at), Value(0))
        told = Case(When(_has_moved(at), then=then), default=F("n_children")) if at.is_head else then
        return self.annotate(n_children_then=told)

    def valid(self, at: AsOf) -> Self:
        """Rows whose half-open valid interval covers the point; unknown ends cover everything."""
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=at.valid_at),
            Q(valid_to__isnull=True) | Q(valid_to__gt=at.valid_at),
        )

    def waiting(self, at: AsOf) -> Self:
        """What is held and was neither reviewed nor taken back by the point, whatever its date."""
        still = Q(withdrawn_seq__isnull=True) | Q(withdrawn_seq__gt=at.seq)
        return self.filter(still, held_by(at), namespace=at.namespace, seq__lte=at.seq, erased_seq__isnull=True)

    def current(self, at: AsOf) -> Self:
        """What recall and lists answer by default."""
        rows = self.known(at).valid(at).exclude(held_by(at))
        return rows.filter(is_superseded=False, is_withdrawn=False, erased_seq__isnull=True)


class RecordState(Projection):
    """What lists and recall read of a record. `doc` orders records by (seq, item) and keys the full-text index.

    `erased_seq` holds at every recorded time: text that is gone cannot be shown in the past either.
    """

    pk = models.CompositePrimaryKey("namespace_id", "id")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    id = models.UUIDField()
    doc = models.BigIntegerField()
    seq = models.BigIntegerField()
    item = models.IntegerField()
    recorded_at = models.DateTimeField()
    type = models.UUIDField()
    agent = models.UUIDField(null=True)
    run = models.UUIDField(null=True)
    source_class = models.CharField(max_length=10)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    source_recorded_at = models.DateTimeField(null=True)
    first_line = models.CharField(max_length=160)
    text_digest = models.BinaryField(max_length=16, null=True)
    n_parents = models.IntegerField(default=0)
    n_children = models.IntegerField(default=0)
    superseded_seq = models.BigIntegerField(null=True)
    superseded_by = models.UUIDField(null=True)
    withdrawn_seq = models.BigIntegerField(null=True)
    erased_seq = models.BigIntegerField(null=True)
    held_seq = models.BigIntegerField(null=True)
    held_until = models.DateTimeField(null=True)
    confirmed_seq = models.BigIntegerField(null=True)

    objects = RecordStateQuerySet.as_manager()

    # Annotated by `known`; a row that did not come through it has none.
    is_superseded: bool
    is_withdrawn: bool
    is_held: bool
    n_children_then: int

    @property
    def is_unconfirmed(self) -> bool:
        """Held, and confirmed by nobody so far."""
        return self.held_seq is not None and self.confirmed_seq is None

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["namespace", "doc"], name="record_state_doc")]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "type", "doc"], name="record_state_type"),
            models.Index(fields=["namespace", "agent", "doc"], name="record_state_agent"),
            models.Index(fields=["namespace", "run", "doc"], name="record_state_run"),
            models.Index(fields=["namespace", "text_digest"], name="record_state_text"),
        ]


def doc_of(seq: int, item: int) -> int:
    """The integer that orders and keys a record: seq and item in one."""
    return seq << DOC_ITEM_BITS | item


def address_of(doc: int) -> tuple[int, int]:
    """(seq, item) of a doc."""
    return doc >> DOC_ITEM_BITS, doc & ((1 << DOC_ITEM_BITS) - 1)
