"""Tables of the ledger.

Invariants: (namespace, seq) of Entry is gapless from 1 and `recorded_at` rises with it; an Item's hash covers its kind,
object and commitment; Content and Name rows go only with an Erasure row; Head and Node are derived from entries.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from memory.base.models import Content as ContentBase
from memory.base.models import Evidence, Projection, entry_key, one_of

CLOCKS = ("host", "replay")
PRINCIPALS = ("person", "agent", "system")
REASONS = ("request", "policy", "secret", "mistake", "source")
PARTS = (
    "content", "details", "note", "raw", "name", "run", "conflicts", "report", "value",
)  # fmt: skip
PART_CODE = {name: index + 1 for index, name in enumerate(PARTS)}
PART_NAME = {code: name for name, code in PART_CODE.items()}


class Namespace(Evidence):
    """One store. Its first entry, item 0, is this row."""

    item_kind = "namespace"
    uncommitted = frozenset({"id", "secret", "created_at"})

    namespace = None  # type: ignore[assignment]
    seq = None  # type: ignore[assignment]
    item = None  # type: ignore[assignment]
    id = models.BigAutoField(primary_key=True)
    uid = models.UUIDField(unique=True)
    name = models.CharField(max_length=100, unique=True)
    clock = models.CharField(max_length=10)
    secret = models.BinaryField(max_length=32)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [one_of("clock", CLOCKS, "namespace_clock")]

    @property
    def origin(self) -> str:
        """The name in checkpoints, unlike any other namespace's anywhere."""
        return f"palimpsest/{self.name}/{self.uid}"


class Entry(Evidence):
    """One operation. `loader` is set in a replay namespace: the agent that wrote in the principal's name."""

    item = None  # type: ignore[assignment]
    pk = models.CompositePrimaryKey("namespace_id", "seq")
    recorded_at = models.DateTimeField()
    principal = models.CharField(max_length=6)
    person = models.BigIntegerField(null=True)
    agent = models.UUIDField(null=True)
    loader = models.UUIDField(null=True)
    host = models.UUIDField(null=True)
    on_behalf_of = models.UUIDField(null=True)
    run = models.UUIDField(null=True)
    verb = models.CharField(max_length=32)
    request = models.UUIDField(null=True)
    key = models.BinaryField(max_length=32, null=True)
    fingerprint = models.BinaryField(max_length=32, null=True)
    n_items = models.IntegerField()
    items_root = models.BinaryField(max_length=32)
    leaf = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "key"], name="entry_key"),
            models.UniqueConstraint(fields=["namespace", "recorded_at"], name="entry_recorded_at"),
            models.CheckConstraint(condition=models.Q(n_items__gte=1), name="entry_n_items"),
            one_of("principal", PRINCIPALS, "entry_principal"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "run", "seq"], name="entry_run"),
            models.Index(fields=["namespace", "agent", "seq"], name="entry_agent"),
        ]


class Item(Evidence):
    """One row of evidence as the entry commits to it. `parts` packs (part code, 32-byte commitment) pairs."""

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    kind = models.CharField(max_length=20)
    object = models.UUIDField()
    parts = models.BinaryField()
    commitment = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [entry_key("item_entry")]
        indexes: ClassVar = [models.Index(fields=["namespace", "object"], name="item_object")]


class Content(ContentBase):
    """One part of one item: canonical JSON and its salt."""

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item", "part")
    part = models.CharField(max_length=10)
    payload = models.TextField()

    class Meta:
        constraints: ClassVar = [entry_key("content_entry")]


class Name(ContentBase):
    """The dictionary of names that clients choose; evidence holds ids. A row is part `name` of its item."""

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    text = models.CharField(max_length=512)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "text"], name="name_text"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="name_item"),
            entry_key("name_entry"),
        ]


class Reference(Evidence):
    """A row mentions another: an upward link that needs no import."""

    item_kind = "reference"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    from_item = models.IntegerField()
    to_seq = models.BigIntegerField()
    to_item = models.IntegerField()
    kind = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [entry_key("reference_entry")]
        indexes: ClassVar = [models.Index(fields=["namespace", "to_seq", "to_item"], name="reference_to")]


class Erasure(Evidence):
    """Content that is gone: who and why stand in the entry, what in these columns."""

    item_kind = "erasure"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    target_seq = models.BigIntegerField()
    target_item = models.IntegerField()
    target_part = models.CharField(max_length=10)
    reason = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["namespace", "target_seq", "target_item", "target_part"], name="erasure_target"
            ),
            entry_key("erasure_entry"),
        ]


class Closing(Evidence):
    """The namespace takes no further writes: all that it held was erased by this entry."""

    item_kind = "closing"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    reason = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [one_of("reason", REASONS, "closing_reason"), entry_key("closing_entry")]


class Refusal(Evidence):
    """A control refusal, appended after the rollback; `count` of the same within the minute before it."""

    item_kind = "refusal"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    code = models.CharField(max_length=24)
    agent = models.UUIDField(null=True)
    object = models.UUIDField(null=True)
    count = models.IntegerField()

    class Meta:
        constraints: ClassVar = [entry_key("refusal_entry")]
        indexes: ClassVar = [models.Index(fields=["namespace", "agent", "code", "seq"], name="refusal_agent")]


class PublicKey(Evidence):
    """A checkpoint key of this node; the newest signs, all of them verify."""

    item_kind = "public_key"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    key = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [entry_key("public_key_entry")]


class Checkpoint(Evidence):
    """A signed note over the first `seq` entries. It speaks about entries and is none."""

    item = None  # type: ignore[assignment]
    pk = models.CompositePrimaryKey("namespace_id", "seq")
    root = models.BinaryField(max_length=32)
    signed_at = models.DateTimeField()
    note = models.TextField()

    class Meta:
        constraints: ClassVar = [entry_key("checkpoint_entry")]


class Restoration(Evidence):
    """The first `seq` entries of this log came verbatim from an archive of another store.

    It speaks about entries and is none, as a checkpoint does, so that the log goes on as the archive ends. `person` is
    who restored it here: the accounts that the archive's memberships name are those of the former host, and open
    nothing here but to that person, nor do its tokens; `keeps_people` where the accounts came along too.
    """

    item = None  # type: ignore[assignment]
    pk = models.CompositePrimaryKey("namespace_id", "seq")
    archive = models.BinaryField(max_length=32)
    restored_at = models.DateTimeField()
    person = models.BigIntegerField(null=True)
    keeps_people = models.BooleanField()

    class Meta:
        constraints: ClassVar = [entry_key("restoration_entry")]


class Head(Projection):
    """The length and last instant of a log: the row that a writer locks. `closed_seq` is the entry that closed it."""

    namespace = models.OneToOneField(Namespace, on_delete=models.PROTECT, primary_key=True, related_name="head")
    size = models.BigIntegerField()
    last_at = models.DateTimeField()
    closed_seq = models.BigIntegerField(null=True)


class Node(Projection):
    """A complete subtree of the log: the root over leaves [index * 2**level, (index + 1) * 2**level)."""

    pk = models.CompositePrimaryKey("namespace_id", "level", "index")
    namespace = models.ForeignKey(Namespace, on_delete=models.PROTECT, related_name="+", db_index=False)
    level = models.SmallIntegerField()
    index = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)
