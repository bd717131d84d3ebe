"""Rows of a ContextFS store, kept as they stood, as one side of a comparison.

Left out, because an allocator, a clock or a machine supplied it: id, session, instants, clocks, hashes of the store's
own, and metadata that names an instant. Ancestry named in metadata is read as pointing at records. That a row is marked
as deleted is seen; when it was marked is not.

Source: laws of the store, 3.3 and 5.1.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from audit.laws.bisimilarity.values import Observation, Side, digest
from audit.laws.relations import ANCESTRY, CLOCK_KEY

SUPPLIED = frozenset({
    "id", "session_id", "created_at", "updated_at", "vector_clock", "content_hash", "last_modified_by", "deleted_at",
})  # fmt: skip
PARSED = frozenset({"tags", "metadata", "structured_data"})
INSTANT = re.compile(r"(?:_at|_on|_timestamp|_time|_clock)$")
MARK = "deleted_at"

type Row = Mapping[str, Any]


def side(name: str, *, memories: Iterable[Row], edges: Iterable[Row], sees_marks: bool = True) -> Side:
    """A side from rows by column name. A cell of JSON that does not parse is seen as the text that it is.

    sees_marks : an edge that is marked as deleted is another one than an edge that is not.
    """
    records = {str(row["id"]): _observed(row) for row in memories}
    return Side(name, records, frozenset(_edge(row, sees_mark=sees_marks) for row in edges))


def _edge(row: Row, *, sees_mark: bool) -> tuple[str, str, str]:
    mark = " (marked deleted)" if sees_mark and row.get(MARK) is not None else ""
    return str(row["from_id"]), f"{row['relation']}{mark}", str(row["to_id"])


def _observed(row: Row) -> Observation:
    cells = {name: _parsed(cell) if name in PARSED else cell for name, cell in row.items()}
    metadata = cells.pop("metadata", None)
    values = {name: cell for name, cell in cells.items() if name not in SUPPLIED and cell not in (None, "", [], {}, 0)}
    if isinstance(values.get("tags"), list):
        values["tags"] = sorted({str(tag) for tag in values["tags"]})
    mentions: dict[str, tuple[str, ...]] = {}
    if isinstance(metadata, Mapping):
        for key, value in metadata.items():
            if key in ANCESTRY:
                mentions[key] = tuple(str(target) for target in (value if isinstance(value, list) else [value]))
            elif key not in CLOCK_KEY.values() and not INSTANT.search(key):
                values[f"metadata.{key}"] = value
    elif metadata:
        values["metadata"] = metadata
    if row.get(MARK) is not None:
        values["marked deleted"] = True
    return Observation({name: digest(_plain(value)) for name, value in values.items()}, mentions)


def _parsed(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _plain(value: Any) -> Any:
    """A cell as a JSON value: bytes by their hexadecimal digits."""
    return {"bytes": value.hex()} if isinstance(value, bytes) else value
