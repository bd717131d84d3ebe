"""What an import has to say about rows that break a law: codes, and one value for each case.

Invariants
- A code has one clause, one meaning and one severity.
- A finding that touches two namespaces holds identifiers and names of namespaces, no text.
- What is quarantined names its rows, and the rows are kept.

Source: laws of the store 2.1, 4.3, 5.10 (I7, I10, I11).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memory.interchange.contextfs.kernel.cells import JsonObject
from memory.interchange.contextfs.kernel.source import RowRef

type Severity = Literal["repaired", "quarantined", "information"]


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    """`clause` is the law that the case breaks or touches; empty where it is none of them."""

    clause: str
    severity: Severity
    meaning: str


CODES: dict[str, CodeMeaning] = {
    "edge-write-lost": CodeMeaning("L2", "repaired", "the record claims a parent and its edge was never written"),
    "abbreviation-expanded": CodeMeaning("L7", "repaired", "one identifier of the namespace extends the text"),
    "inherited-claim-dropped": CodeMeaning("L2", "repaired", "ancestry keys that were copied from a parent"),
    "unpaired": CodeMeaning("L3", "repaired", "the inverse edge was never written; it is computed here"),
    "target-missing": CodeMeaning("L7", "quarantined", "no record has the identifier of the parent"),
    "edge-without-claim": CodeMeaning("L2", "quarantined", "an ancestry edge that no derivation of its record wrote"),
    "abbreviation-ambiguous": CodeMeaning("L7", "quarantined", "several identifiers of the namespace extend the text"),
    "captured": CodeMeaning("L4", "quarantined", "another namespace has saved a record under the abbreviation"),
    "cycle": CodeMeaning("L2", "quarantined", "an ancestry edge that would make a record its own ancestor"),
    "cross-namespace": CodeMeaning("L4", "quarantined", "an edge that joins two namespaces"),
    "claim-malformed": CodeMeaning("L2", "quarantined", "the own claim has the wrong shape and names no parent"),
    "claim-ambiguous": CodeMeaning(
        "L2", "quarantined", "several claims, and neither clocks nor edges tell the own one"
    ),
    "endpoint-missing": CodeMeaning("L7", "quarantined", "an end of the edge is no record"),
    "self-link": CodeMeaning("", "quarantined", "an edge from a record to itself"),
    "relation-unknown": CodeMeaning("", "quarantined", "a label outside the 22"),
    "row-unusable": CodeMeaning("", "quarantined", "a row that cannot be stored as a record or an edge"),
    "row-altered": CodeMeaning("L1", "quarantined", "the row differs from the earlier snapshot; the older one stays"),
    "late-ancestry": CodeMeaning("L1", "quarantined", "a new ancestry edge of a record that was imported before"),
    "row-gone": CodeMeaning("L1", "information", "a row of the earlier snapshot that this one lacks"),
    "stale-content-hash": CodeMeaning("L1", "information", "the text was changed in place after it was hashed"),
    "record-withdrawn": CodeMeaning("L1", "information", "the source has marked the record as deleted"),
    "target-younger": CodeMeaning("L1", "information", "the parent was saved later than its child: replaced, perhaps"),
    "unpaired-outside": CodeMeaning("L3", "information", "a quarantined derivation edge without its inverse"),
    "one-way-link": CodeMeaning("L3", "information", "a link without its inverse, as links are by default"),
    "label-has-no-inverse": CodeMeaning("L3", "information", "the source knows no inverse of the label"),
    "endpoint-withdrawn": CodeMeaning("L7", "information", "an end of the edge is marked as deleted"),
    "edge-withdrawn": CodeMeaning("", "information", "the edge is marked as deleted and its ends are not"),
    "duplicate-source": CodeMeaning("", "information", "a merge names one source more than once; one parent is kept"),
    "bad-json": CodeMeaning("", "information", "a cell that should hold JSON; it is kept as text"),
    "type-unknown": CodeMeaning("", "information", "a type outside the 22"),
    "clock-unreadable": CodeMeaning("", "information", "a clock that is no instant; it is kept as text"),
    "offsets-disagree": CodeMeaning("", "information", "inferred offsets differ, so none is assumed for other rows"),
    "revision-missing": CodeMeaning("", "information", "the store does not say its schema revision"),
    "not-imported": CodeMeaning("", "information", "rows of other tables: kept raw, or only counted"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One case. `namespace` is where it is filed; None if it belongs to no single one.

    `ids` are identifiers of the source, the record concerned first. `before` and `after` are what the source holds and
    what was made of it. `rows` are the source rows concerned: kept by this finding if it is a quarantine.
    """

    code: str
    namespace: str | None
    ids: tuple[str, ...] = ()
    relation: str | None = None
    before: JsonObject | None = None
    after: JsonObject | None = None
    rows: tuple[RowRef, ...] = ()

    @property
    def clause(self) -> str:
        return CODES[self.code].clause

    @property
    def severity(self) -> Severity:
        return CODES[self.code].severity

    @property
    def is_quarantine(self) -> bool:
        return self.severity == "quarantined"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings sorted by code, identifiers, relation and rows."""
    return tuple(sorted(findings, key=lambda f: (f.code, f.ids, f.relation or "", [row.key for row in f.rows])))
