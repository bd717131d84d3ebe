"""One source namespace of a ContextFS store becomes one entry of one namespace here.

Drafts are made and hashed from the staged rows before the lock; under it they are inserted, and the staged rows go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memory.base import gate, ids
from memory.base.actor import Actor
from memory.base.errors import Conflict
from memory.base.text import NAME_CHARS
from memory.interchange import sources, staging
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.plan import Derivation, NamespacePlan, PlannedLink, PlannedRecord
from memory.interchange.contextfs.kernel.snapshots import row_key
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.texts import RecordText, record_text
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.ledger import drafts as drafting
from memory.ledger.drafts import Draft
from memory.ledger.models import Namespace
from memory.ledger.operations.appending import NameBook, opened, retried
from memory.lineage.effects import Effects
from memory.lineage.models import Edge
from memory.lineage.operations.deriving import Cause, Rules, derivation_draft
from memory.lineage.operations.links import edge_draft
from memory.records.content import NewRecord
from memory.records.models import Record
from memory.records.operations import Parent, Prepared, enter, prepare, withdrawal_draft

FORMAT = "contextfs"
SOFT_DELETE = "source soft delete"


@dataclass(frozen=True, slots=True)
class Target:
    """Where one source namespace goes, and from which source it comes.

    batch : what stands for the staged rows.   last_seq : the newest entry by which the namespace took rows of this
    source when the plan was made, 0 for none.
    """

    namespace: Namespace
    source: str
    file_digest: bytes
    batch: bytes
    last_seq: int = 0
    erase_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """What one target took: the entry and the import, None where nothing was new. Where a store of beliefs came in,
    `n_records` are observations."""

    namespace: str
    seq: int | None
    n_records: int
    n_edges: int
    n_quarantined: int
    n_findings: int
    n_skipped: int
    run: UUID | None = None
    n_labels: int = 0
    n_revocations: int = 0


@dataclass(slots=True)
class _Made:
    """Drafts in the order in which they enter, and what they do to the state of records."""

    records: list[Prepared] = field(default_factory=list)
    others: list[Draft] = field(default_factory=list)
    rows: list[Draft] = field(default_factory=list)
    findings: list[Draft] = field(default_factory=list)
    effects: Effects = field(default_factory=Effects)
    n_edges: int = 0
    n_quarantined: int = 0


@retried
def apply(by: Actor, target: Target, plan: NamespacePlan, *, more: Iterable[Finding] = ()) -> Applied:
    """Write the plan's new rows as one entry. `more` are findings of the file that belong to no namespace.

    Locks: the namespace head. Appends: `import`. Nothing is written where nothing is new.
    Raises Conflict (another import of the source was applied, or took the staged rows away, since the plan was made).
    """
    run = ids.new_id()
    maker = _Maker(target, plan, run)
    made = maker.make(more)
    new = [record for record in plan.records if record.novelty == "new"]
    n_skipped = len(plan.records) - len(new)
    staged_away = len(made.records) + len(made.others) + len(made.rows) + len(made.findings)
    counts = (len(made.records), made.n_edges, made.n_quarantined, len(made.findings), n_skipped)
    if not staged_away:
        staging.drop(target.namespace.pk)
        return Applied(target.namespace.name, None, *counts)
    row = {
        "id": run, "format": FORMAT, "source": maker.book.id(target.source), "n_records": counts[0],
        "n_edges": counts[1], "n_quarantined": counts[2], "n_skipped": n_skipped,
    }  # fmt: skip
    report = {"source": target.source, "namespace": plan.namespace, "file": target.file_digest.hex()}
    head = Draft("import_run", run, ImportRun, row, {"report": report})
    drafting.seal([head, *made.others, *made.rows, *made.findings])
    with opened(by, verb="import", need=gate.OWN, names=maker.book) as entry:
        if sources.last_seq(target.namespace, source=target.source) != target.last_seq:
            raise Conflict(f"Another import of this source into {target.namespace.name} has ended; start again.")
        entry.add(head)
        enter(entry, made.records)
        entry.add(*made.others, *made.findings, *made.rows)
        entry.then(lambda: made.effects.apply(by.namespace, entry.seq))
        entry.then(lambda: staging.drop(by.namespace))
    return Applied(target.namespace.name, entry.seq, *counts, run=run)


class _Maker:
    """Turns one namespace's plan and its staged rows into drafts."""

    def __init__(self, target: Target, plan: NamespacePlan, run: UUID) -> None:
        self.target, self.plan, self.run = target, plan, run
        self.book = NameBook(target.namespace.pk)
        self.secret = bytes(target.namespace.secret)
        self.raws: dict[RowRef, Mapping[str, Any]] = {}
        self.records: dict[str, UUID] = {}
        self.digests: dict[UUID, bytes] = {}
        self.heads: dict[UUID, UUID] = {}
        self.made = _Made()

    def make(self, more: Iterable[Finding]) -> _Made:
        self.book.learn([self.target.source])
        findings = [*self.plan.findings, *more]
        self._read_staged(rows_to_stage(self.plan, findings))
        self._know()
        self._make_records()
        for link in self.plan.links:
            if link.novelty == "new":
                self._make_link(link)
        self._make_findings(findings)
        return self.made

    def _read_staged(self, refs: Sequence[RowRef]) -> None:
        staged = [value for _, value in staging.staged(self.target.namespace.pk, self.target.batch)]
        if [value["key"] for value in staged] != [list(row_key(ref)) for ref in refs]:
            raise Conflict(f"The staged rows for {self.target.namespace.name} are gone: another import took its place.")
        self.raws = dict(zip(refs, staged, strict=True))

    def _know(self) -> None:
        """The ids of records that an earlier import made, with their digests and the lines that they head."""
        foreign = [record.foreign_id for record in self.plan.records if record.novelty != "new"]
        self.records = sources.records_of(
            self.target.namespace, source=self.target.source, table="memories", keys=foreign
        )
        wanted, here = list(self.records.values()), self.target.namespace
        for start in range(0, len(wanted), sources.CHUNK):
            chunk = wanted[start : start + sources.CHUNK]
            for row in Record.objects.filter(namespace=here, id__in=chunk):
                self.digests[row.id] = bytes(row.ancestry_digest)
                self.heads[row.id] = row.line
            evolved = Edge.objects.filter(namespace=here, relation="evolved_from", target__in=chunk)
            for record in evolved.values_list("target", flat=True):
                self.heads.pop(record, None)

    def _make_records(self) -> None:
        new = [record for record in self.plan.records if record.novelty == "new"]
        fresh = ids.new_ids(len(new))
        self.records.update({record.foreign_id: identity for record, identity in zip(new, fresh, strict=True)})
        groups: dict[str, Draft] = {}
        for record in new:
            prepared = self._prepared(record)
            self.made.records.append(prepared)
            self.digests[prepared.id] = prepared.draft.values["ancestry_digest"]
            self._row(record.ref, "record", prepared.id)
            if record.parents and record.derivation is not None:
                self._derive(record, record.derivation, prepared, groups)
            if record.withdrawn is not None:
                self.made.others.append(
                    withdrawal_draft(prepared.id, reason=SOFT_DELETE, hidden=True, claimed_at=record.withdrawn.at)
                )
                self.made.effects.withdrawn.append(prepared.id)

    def _prepared(self, record: PlannedRecord) -> Prepared:
        text = self._text(record)
        parents = [
            Parent(parent.relation, self.records[parent.parent_id], self.digests[self.records[parent.parent_id]])
            for parent in record.parents
        ]
        (prepared,) = prepare(self.book, [self._new(record, text)], parents=[parents], lines=[self._line(record)])
        return prepared

    def _line(self, record: PlannedRecord) -> UUID | None:
        """An evolve of its line's head extends the line; everything else opens one."""
        identity = self.records[record.foreign_id]
        line = identity
        if record.derivation is not None and record.derivation.kind == "evolve" and len(record.parents) == 1:
            parent = self.records[record.parents[0].parent_id]
            if parent in self.heads:
                line = self.heads.pop(parent)
        self.heads[identity] = line
        return line

    def _new(self, record: PlannedRecord, text: RecordText) -> NewRecord:
        imported = {
            "id": record.foreign_id, "format": FORMAT, "fields": dict(text.source_fields),
            "structured": text.structured, "authoritative": text.is_authoritative or None,
            "unread": dict(text.unread),
            "clock": {"text": record.recorded.text, "how": record.recorded.how,
                      "offset_seconds": record.recorded.offset_seconds},
            "holds_foreign_text": record.holds_foreign_text or None,
        }  # fmt: skip
        is_hidden = self.target.erase_deleted and record.withdrawn is not None
        return NewRecord(
            id=self.records[record.foreign_id], type=record.type[:NAME_CHARS] or "unknown",
            content="" if is_hidden else text.content, summary="" if is_hidden else text.summary or "",
            tags=() if is_hidden else tuple(sorted(set(text.tags))), metadata={} if is_hidden else text.metadata,
            source_class="relayed", origin=self.target.source, pointer=record.foreign_id,
            source_recorded_at=record.recorded.at, n_quarantined=record.n_quarantined,
            imported={"id": record.foreign_id, "format": FORMAT, "text": "left out"}
            if is_hidden
            else {name: value for name, value in imported.items() if value},
        )  # fmt: skip

    def _text(self, record: PlannedRecord) -> RecordText:
        return record_text(record.ref, self.raws[record.ref]["row"])

    def _derive(
        self, record: PlannedRecord, derivation: Derivation, prepared: Prepared, groups: dict[str, Draft]
    ) -> None:
        draft = groups.get(derivation.group)
        if draft is None:
            draft = groups[derivation.group] = self._derivation(derivation)
            self.made.others.append(draft)
        for parent in record.parents:
            above = self.records[parent.parent_id]
            self.made.others.append(
                edge_draft(prepared.id, parent.relation, above, ordinal=parent.ordinal, derivation=draft.object)
            )
            self.made.n_edges += 1
            self.made.effects.child(above)
            if derivation.kind in ("evolve", "split"):
                self.made.effects.supersede(above, prepared.id)
            for ref in parent.rows:
                self._row(ref, "edge", prepared.id)
            for ref in parent.inverse_rows:
                self._row(ref, "inverse", prepared.id)

    def _derivation(self, derivation: Derivation) -> Draft:
        cause = Cause(
            reason=derivation.change_reason or "observation",
            note=f"strategy: {derivation.merge_strategy}" if derivation.merge_strategy else "",
            given=derivation.change_reason is not None and not derivation.is_default_reason,
            claimed_at=derivation.claimed_at.at if derivation.claimed_at is not None else None,
        )
        return derivation_draft(derivation.kind, cause=cause, rules=Rules(content="explicit"))

    def _make_link(self, planned: PlannedLink) -> None:
        edge = planned.edge
        about, to = self.records[edge.from_id], self.records[edge.to_id]
        derivation = None
        if edge.kind == "supersede":
            claimed = edge.superseded_at.at if edge.superseded_at is not None else None
            draft = derivation_draft("supersede", cause=Cause(given=False, claimed_at=claimed), rules=Rules())
            self.made.others.append(draft)
            derivation = draft.object
            self.made.effects.supersede(to, about)
        # A symmetric pair is stored by its ids, which chance drew; the rows of the source must not hang on them.
        source, target = sorted((about, to)) if edge.is_symmetric else (about, to)
        self.made.others.append(edge_draft(source, edge.relation, target, derivation=derivation))
        self.made.n_edges += 1
        for ref in edge.rows:
            self._row(ref, "edge", about)
        for ref in edge.inverse_rows:
            self._row(ref, "inverse", about)

    def _make_findings(self, findings: Iterable[Finding]) -> None:
        listed = [(finding, self._finding_digest(finding)) for finding in findings]
        known = sources.known_findings(self.target.namespace, [digest for _, digest in listed])
        for finding, digest in listed:
            if digest in known:
                continue
            known.add(digest)
            self._make_finding(finding, digest)

    def _finding_digest(self, finding: Finding) -> bytes:
        rows = [[*row_key(ref), self.raws[ref]["hash"]] for ref in finding.rows]
        value = [finding.code, list(finding.ids), finding.relation, finding.before, finding.after, rows]
        return sources.finding_digest(self.secret, self.target.source, value)

    def _make_finding(self, finding: Finding, digest: bytes) -> None:
        identity = ids.new_id()
        row = {
            "id": identity, "run": self.run, "code": finding.code, "clause": finding.clause,
            "severity": finding.severity, "record": self.records.get(finding.ids[0]) if finding.ids else None,
            "digest": digest,
        }  # fmt: skip
        report = {
            "ids": list(finding.ids), "relation": finding.relation, "before": finding.before, "after": finding.after,
        }  # fmt: skip
        self.made.findings.append(Draft("import_finding", identity, ImportFinding, row, {"report": report}))
        if finding.is_quarantine or finding.code == "not-imported":
            self.made.n_quarantined += finding.is_quarantine
            for ref in finding.rows:
                self._row(ref, "finding", identity)

    def _row(self, ref: RowRef, became: str, about: UUID) -> None:
        """Keep the row. A deleted one whose text is left out has no raw part, as if it had been erased since."""
        values = {
            "run": self.run, "digest": sources.row_digest(self.secret, self.target.source, row_key(ref)),
            "became": became, "object": about,
        }  # fmt: skip
        raw = self.raws[ref]
        is_left_out = self.target.erase_deleted and raw["row"].get("deleted_at") is not None
        parts = {} if is_left_out else {"raw": raw}
        self.made.rows.append(Draft("imported_row", about, ImportedRow, values, parts))


def rows_to_stage(plan: NamespacePlan, findings: Iterable[Finding]) -> list[RowRef]:
    """The source rows that the apply will need, each once and in order; `findings` are all that it will file."""
    wanted: dict[RowRef, None] = {}
    for record in plan.records:
        if record.novelty == "new":
            wanted[record.ref] = None
            for parent in record.parents:
                wanted.update(dict.fromkeys((*parent.rows, *parent.inverse_rows)))
    for link in plan.links:
        if link.novelty == "new":
            wanted.update(dict.fromkeys((*link.edge.rows, *link.edge.inverse_rows)))
    for finding in findings:
        wanted.update(dict.fromkeys(finding.rows))
    return list(wanted)
