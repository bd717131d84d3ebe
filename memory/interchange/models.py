"""Tables of imports.

Invariants: an ImportedRow is found again by a digest keyed with the namespace's secret, so that a second import of the
same row adds nothing even after its text is erased; StagedRow is working space and never outlives its import.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from memory.base.models import Evidence, Projection, SameNamespaceKey, entry_key, one_of

FORMATS = ("contextfs", "posterior")
EXPORT_FORMATS = ("jsonl", "prov", "openlineage", "public")
BECAME = (
    "record", "edge", "inverse", "finding", "law", "run", "observation", "revocation", "forecast", "outcome",
)  # fmt: skip
SEVERITIES = ("repaired", "quarantined", "information")


def _run_key(name: str) -> SameNamespaceKey:
    return SameNamespaceKey(
        name=name, columns=("namespace", "run"), to="memory_importrun", to_columns=("namespace_id", "id")
    )


class ImportRun(Evidence):
    """One applied import into this namespace; source name, file and options are content (part `report`)."""

    item_kind = "import_run"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    format = models.CharField(max_length=16)
    source = models.UUIDField()
    n_records = models.IntegerField()
    n_edges = models.IntegerField()
    n_quarantined = models.IntegerField()
    n_skipped = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            one_of("format", FORMATS, "import_run_format"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="import_run_item"),
            entry_key("import_run_entry"),
        ]


class ImportedRow(Evidence):
    """One row of the source, kept raw (part `raw`), and what it became: `object` is a record, an observation (also of
    its revocation, forecast and labels), a law, a run or a finding.

    `digest` stands for (source, table, primary key), keyed: it finds the row again after its text is erased.
    """

    item_kind = "imported_row"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    run = models.UUIDField()
    digest = models.BinaryField(max_length=32)
    became = models.CharField(max_length=12)
    object = models.UUIDField()

    class Meta:
        constraints: ClassVar = [
            one_of("became", BECAME, "imported_row_became"),
            _run_key("imported_row_run"),
            entry_key("imported_row_entry"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "digest"], name="imported_row_digest"),
            models.Index(fields=["namespace", "object"], name="imported_row_object"),
        ]


class ImportFinding(Evidence):
    """Something the import repaired, quarantined or noticed; ids, before and after are content (part `report`).

    `digest` stands for the whole finding, keyed, so that a second import says it no second time.
    """

    item_kind = "import_finding"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    run = models.UUIDField()
    code = models.CharField(max_length=32)
    clause = models.CharField(max_length=6)
    severity = models.CharField(max_length=12)
    record = models.UUIDField(null=True)
    digest = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            one_of("severity", SEVERITIES, "import_finding_severity"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="import_finding_item"),
            models.UniqueConstraint(fields=["namespace", "digest"], name="import_finding_digest"),
            _run_key("import_finding_run"),
            entry_key("import_finding_entry"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "run", "severity"], name="import_finding_run_index"),
            models.Index(fields=["namespace", "record"], name="import_finding_record"),
        ]


class ExportRun(Evidence):
    """A file that left the house: its format, the point it shows, how much it holds, and its SHA-256.

    The filter is content (part `report`). What it held cannot be called back; an erasure names it as out of reach.
    """

    item_kind = "export_run"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    format = models.CharField(max_length=16)
    at_seq = models.BigIntegerField()
    n_items = models.BigIntegerField()
    n_bytes = models.BigIntegerField()
    file_digest = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            one_of("format", EXPORT_FORMATS, "export_run_format"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="export_run_item"),
            entry_key("export_run_entry"),
        ]


class RestoreRun(Evidence):
    """An archive that a member of this namespace restored beside it: the namespace of uid `store`, `size` entries."""

    item_kind = "restore_run"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    store = models.UUIDField()
    size = models.BigIntegerField()
    root = models.BinaryField(max_length=32)
    file_digest = models.BinaryField(max_length=32)
    n_erased = models.IntegerField()

    class Meta:
        constraints: ClassVar = [entry_key("restore_run_entry")]


class StagedRow(Projection):
    """One parsed row that waits for its import to be applied; dropped with it, reread from the source if lost."""

    pk = models.CompositePrimaryKey("namespace_id", "file_digest", "ordinal")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    file_digest = models.BinaryField(max_length=32)
    ordinal = models.IntegerField()
    table = models.CharField(max_length=40)
    payload = models.TextField()
