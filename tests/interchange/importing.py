"""How a test imports a ContextFS store and looks at what became of it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from memory.base.actor import Actor
from memory.base.canonical import strict_loads
from memory.interchange.contextfs.kernel.accounting import rebuild_tables
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.texts import RawRow
from memory.interchange.contextfs.operations import Options, Progress, Report, import_store
from memory.interchange.models import ImportedRow
from memory.interchange.targets import founder
from memory.ledger.models import Content, Namespace
from tests.dumps import TABLES

SYSTEM = Actor(0, "system")


def imported(
    path: Path, base: str = "kept", *, by: Actor = SYSTEM, dry_run: bool = False, owners: Sequence[int] = (),
    progress: Progress | None = None, **options: Any,
) -> Report:  # fmt: skip
    """Import the store with these options."""
    ensure = founder(by, owners=owners)
    chosen = Options(base=base, **options)
    return import_store(by, path, options=chosen, ensure=ensure, dry_run=dry_run, progress=progress)


def added(report: Report) -> dict[str, int]:
    """What all targets took together."""
    names = ("n_records", "n_edges", "n_quarantined", "n_findings")
    return {name: sum(getattr(one, name) for one in report.applied) for name in names}


def n_rows() -> dict[str, int]:
    """The size of every table of evidence and content."""
    return {model.__name__: model._default_manager.count() for model in TABLES}


def raw_contents() -> list[tuple[str, UUID, Any]]:
    """(what it became, of which object, the raw row) of every imported row whose text stands."""
    stored = Content.objects.filter(part="raw").values_list("namespace", "seq", "item", "payload")
    payloads = {address: strict_loads(payload) for *address_, payload in stored for address in [tuple(address_)]}
    rows = ImportedRow.objects.order_by("namespace", "seq", "item")
    return [
        (row.became, row.object, payloads[row.namespace_id, row.seq, row.item])
        for row in rows
        if (row.namespace_id, row.seq, row.item) in payloads
    ]


def rebuilt() -> dict[str, list[dict[str, Any]]]:
    """The source tables, built again from what the imports keep."""
    rows = [
        RawRow(RowRef(_table(raw), index, tuple(raw["key"][1:])), raw["row"], raw["hash"])
        for index, (_, _, raw) in enumerate(raw_contents())
    ]
    return rebuild_tables(rows)


def _table(raw: Any) -> str:
    return str(raw["key"][0])


def source_tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The two tables as SQLite gives them, sorted by key."""
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        return {
            "memories": [dict(row) for row in db.execute("SELECT * FROM memories ORDER BY id")],
            "memory_edges": [
                dict(row) for row in db.execute("SELECT * FROM memory_edges ORDER BY from_id, to_id, relation")
            ],
        }


def namespaces(report: Report) -> dict[str, int]:
    """{source namespace: id of its target}."""
    ids = dict(Namespace.objects.values_list("name", "pk"))
    return {source: ids[target] for source, target in report.targets.items()}


def fates() -> Counter[str]:
    """What the imported rows became."""
    return Counter(ImportedRow.objects.values_list("became", flat=True))
