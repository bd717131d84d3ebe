"""Tables of what checks found. A run's report is content; findings hold ids, kinds and counts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from memory.base.models import Evidence, SameNamespaceKey, entry_key, one_of

VERDICTS = ("ok", "failed", "not_checked", "holds", "violated", "undecidable")


class CheckRun(Evidence):
    """One run of one check over the namespace as of `at_seq`."""

    item_kind = "check_run"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    check_name = models.CharField(max_length=32)
    version = models.SmallIntegerField()
    verdict = models.CharField(max_length=12)
    at_seq = models.BigIntegerField()
    n_checked = models.BigIntegerField()
    n_findings = models.IntegerField()
    input_digest = models.BinaryField(max_length=32, null=True)

    class Meta:
        constraints: ClassVar = [
            one_of("verdict", VERDICTS, "check_run_verdict"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="check_run_item"),
            entry_key("check_run_entry"),
        ]
        indexes: ClassVar = [models.Index(fields=["namespace", "check_name", "seq"], name="check_run_name")]


class Finding(Evidence):
    """One kind of fault of a run, at one row; `count` of the same kind there."""

    item_kind = "finding"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    run = models.UUIDField()
    kind = models.CharField(max_length=40)
    object = models.UUIDField(null=True)
    at_seq = models.BigIntegerField(null=True)
    at_item = models.IntegerField(null=True)
    count = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            SameNamespaceKey(
                name="finding_run", columns=("namespace", "run"), to="memory_checkrun",
                to_columns=("namespace_id", "id"),
            ),
            entry_key("finding_entry"),
        ]  # fmt: skip
        indexes: ClassVar = [models.Index(fields=["namespace", "run"], name="finding_run_index")]


class Waiver(Evidence):
    """An owner's act: the check counts as settled on the board until `expires_at`. Its reason is content."""

    item_kind = "waiver"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    check_name = models.CharField(max_length=32)
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [entry_key("waiver_entry")]
