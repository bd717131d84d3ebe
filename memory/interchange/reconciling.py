"""The edges and claims of an imported source beside each other, from the rows that the imports keep.

Invariants
- Nothing is written, to the source least of all: the rows are those that the imports kept raw. Rows whose text is
  erased cannot be compared and are counted.
- What broke an invariant stays quarantined. Ancestry is written once, with its record; what an owner may still add to a
  record that stands is a link, and every tie of which both ends stand here is offered as one.

Source: laws of the store 1.5 (S4), 4.3, 5.10 (I7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.canonical import strict_loads
from memory.interchange import sources
from memory.interchange.contextfs.kernel.agreement import Disagreement, Reconciliation, explained, reconciliation
from memory.interchange.contextfs.kernel.cells import decode_cell
from memory.interchange.contextfs.kernel.rows import survey
from memory.interchange.contextfs.kernel.source import RowRef, SourceRow
from memory.interchange.contextfs.kernel.vocabulary import ANCESTRY_RELATIONS, EDGES, MEMORIES
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.interchange.queries import RunDetail, import_run
from memory.ledger.models import Content, Namespace, Reference
from memory.ledger.queries.contents import contents_of
from memory.lineage.models import Edge
from memory.records.queries.detail import RecordRow, rows_by_id

CHUNK = 400
RECONCILES = "reconciles"
LINK = "references"
OFFERED = (
    "edge-without-claim", "captured", "cycle", "abbreviation-ambiguous", "late-ancestry", "target-missing",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """One record that disagrees, with the record that it became; None where it became none or is not in this import."""

    row: Disagreement
    record: UUID | None


@dataclass(frozen=True, slots=True)
class Offer:
    """A quarantined tie of which both ends stand here: `source` would be linked to `target`.

    `applied_by` is the entry that has done so, None where none has.
    """

    finding: UUID
    seq: int
    item: int
    code: str
    relation: str
    source: UUID
    target: UUID
    applied_by: int | None


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The source as the namespace has taken it by this import. `n_erased` rows could not be compared."""

    run: RunDetail
    found: Reconciliation
    rows: tuple[Compared, ...]
    offers: tuple[Offer, ...]
    n_erased: int
    records: dict[UUID, RecordRow]


class _Kept:
    """The raw rows of some imports, as rows of the store that they came from."""

    def __init__(self, namespace: int, seqs: Sequence[int]) -> None:
        self._tables: dict[str, list[SourceRow]] = {}
        self.n_rows = 0
        payloads = Content.objects.filter(namespace=namespace, part="raw", seq__in=seqs).order_by("seq", "item")
        for index, payload in enumerate(payloads.values_list("payload", flat=True).iterator()):
            raw: Any = strict_loads(payload)
            table, *key = raw["key"]
            cells = {column: decode_cell(value) for column, value in raw["row"].items()}
            self._tables.setdefault(table, []).append(SourceRow(RowRef(table, index, tuple(key)), cells))
            self.n_rows += 1

    def rows(self, table: str) -> Iterator[SourceRow]:
        yield from self._tables.get(table, ()) if table in (MEMORIES, EDGES) else ()


def reconciled(at: AsOf, *, run: UUID) -> Reconciled:
    """Compare what the import, and those of the same source before it, brought into the namespace.

    Raises NotFound (no such import at the point).
    """
    found = import_run(at, id=run)
    source = ImportRun.objects.filter(namespace=at.namespace, id=run).values("source")
    runs = ImportRun.objects.filter(namespace=at.namespace, source__in=source, seq__lte=found.row.seq)
    seqs = dict(runs.order_by("seq").values_list("id", "seq"))
    kept = _Kept(at.namespace, list(seqs.values()))
    findings = _findings(at, list(seqs))
    codes = explained((told["ids"][0], row.code) for row, told in findings if told.get("ids"))
    compared = reconciliation(survey(kept), codes=codes)
    became = _became(at, found.row.source, [row.id for row in compared.rows])
    offers = tuple(_offers(at, found.row.source, findings))
    shown = {*became.values(), *(end for offer in offers for end in (offer.source, offer.target))}
    n_rows = ImportedRow.objects.filter(namespace=at.namespace, run__in=list(seqs)).count()
    return Reconciled(
        found, compared, tuple(Compared(row, became.get(row.id)) for row in compared.rows), offers,
        n_rows - kept.n_rows, rows_by_id(at, sorted(shown)),
    )  # fmt: skip


def _findings(at: AsOf, runs: Sequence[UUID]) -> list[tuple[ImportFinding, dict[str, Any]]]:
    """Findings of the imports with what they say; nothing where that is erased."""
    rows = list(ImportFinding.objects.filter(namespace=at.namespace, run__in=runs).order_by("seq", "item"))
    parts = contents_of(at.namespace, [(row.seq, row.item) for row in rows])
    return [(row, parts[row.seq, row.item].get("report", {})) for row in rows]


def _became(at: AsOf, source: str, keys: Sequence[str]) -> dict[str, UUID]:
    store = Namespace.objects.get(pk=at.namespace)
    return sources.records_of(store, source=source, table=MEMORIES, keys=keys)


def _offers(at: AsOf, source: str, findings: Sequence[tuple[ImportFinding, dict[str, Any]]]) -> Iterator[Offer]:
    """Quarantined ancestry ties, each with the one record that its other end can only mean."""
    ties = [
        (row, told["relation"], target)
        for row, told in findings
        if row.code in OFFERED and row.record is not None and told.get("relation") in ANCESTRY_RELATIONS
        for target in _targets(told)
    ]
    ends = _became(at, source, [target for _, _, target in ties])
    applied = _applied(at, [row for row, _, _ in ties])
    for row, relation, target in ties:
        other = ends.get(target)
        if other is not None and other != row.record and row.record is not None:
            by = applied.get((row.seq, row.item))
            yield Offer(row.id, row.seq, row.item, row.code, relation, row.record, other, by)


def _targets(told: dict[str, Any]) -> list[str]:
    """The text of the tie itself; what it may abbreviate, where that is one record of the namespace."""
    candidates = (told.get("after") or {}).get("candidates", [])
    named = list(told["ids"][1:2])
    return named + (candidates if len(candidates) == 1 else [])


def _applied(at: AsOf, rows: Sequence[ImportFinding]) -> dict[tuple[int, int], int]:
    """{address of a finding: the entry that made a link of it}, by the point."""
    seqs = sorted({row.seq for row in rows})
    found: dict[tuple[int, int], int] = {}
    for start in range(0, len(seqs), CHUNK):
        references = Reference.objects.filter(
            namespace=at.namespace, to_seq__in=seqs[start : start + CHUNK], kind=RECONCILES, seq__lte=at.seq
        )
        for to_seq, to_item, seq in references.order_by("seq").values_list("to_seq", "to_item", "seq"):
            found.setdefault((to_seq, to_item), seq)
    return found


def linked_already(namespace: int, offers: Sequence[Offer]) -> set[tuple[UUID, UUID]]:
    """The pairs among the offers between which the link stands, whoever made it."""
    pairs: set[tuple[UUID, UUID]] = set()
    ends = sorted({offer.source for offer in offers})
    for start in range(0, len(ends), CHUNK):
        rows = Edge.objects.filter(namespace=namespace, source__in=ends[start : start + CHUNK], relation=LINK)
        pairs.update(rows.values_list("source", "target"))
    return pairs & {(offer.source, offer.target) for offer in offers}
