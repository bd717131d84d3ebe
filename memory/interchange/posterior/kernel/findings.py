"""What an import of the peer's store has to say about rows that do not verify. Each code has one meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory.interchange.contextfs.kernel.cells import Cell
from memory.interchange.contextfs.kernel.findings import CodeMeaning

Key = tuple[str, ...]

CODES: dict[str, CodeMeaning] = {
    "law-differs": CodeMeaning("", "quarantined", "the law that was given is not the one of the store"),
    "observation-unreadable": CodeMeaning("", "quarantined", "the observation breaks a rule of its own contract"),
    "observation-refused": CodeMeaning("", "quarantined", "the observation cannot stand here: its id or its parents"),
    "observation-altered": CodeMeaning("", "quarantined", "the row differs from the one imported before, which stays"),
    "revocation-unusable": CodeMeaning("", "quarantined", "the instant of the revocation is none, or too early"),
    "run-unreadable": CodeMeaning("", "quarantined", "the configuration is none, or not the one that was hashed"),
    "forecast-hash": CodeMeaning("", "quarantined", "the forecast is not what was hashed"),
    "forecast-differs": CodeMeaning("", "quarantined", "the forecast is not what its observation says now"),
    "outcome-hash": CodeMeaning("", "quarantined", "the label is not what was hashed"),
    "outcome-refused": CodeMeaning("", "quarantined", "the label cannot stand: its forecast, chain or instants"),
    "run-divided": CodeMeaning("", "information", "the run spans several namespaces; it becomes a run in each"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the store: its table, what tells it apart there, and all of its cells."""

    table: str
    key: Key
    cells: Mapping[str, Cell]

    @property
    def place(self) -> Key:
        return (self.table, *self.key)


@dataclass(frozen=True, slots=True)
class Finding:
    """One case. `ids` are identifiers of the source, the observation first; `rows` are kept raw by a quarantine."""

    code: str
    ids: tuple[str, ...]
    why: str = ""
    rows: tuple[Row, ...] = ()

    @property
    def severity(self) -> str:
        return CODES[self.code].severity

    @property
    def is_quarantine(self) -> bool:
        return self.severity == "quarantined"
