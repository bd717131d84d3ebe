"""The import of a ContextFS 0.2.35 store: read-only, dry run, staged, one entry for each target namespace.

Appends: `create_namespace` where a target does not exist, `import` in each target that has something new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from memory.base import ids
from memory.base.actor import Actor
from memory.base.canonical import canonical
from memory.base.errors import Invalid
from memory.base.text import first_line
from memory.interchange import sources, staging, targets
from memory.interchange.contextfs import applying
from memory.interchange.contextfs.applying import Applied, Target
from memory.interchange.contextfs.kernel.agreement import Reconciliation, codes_by_record, reconciliation
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.plan import NamespacePlan, Plan, PlannedRecord, make_plan
from memory.interchange.contextfs.kernel.rows import Survey, survey
from memory.interchange.contextfs.kernel.snapshots import row_key
from memory.interchange.contextfs.kernel.source import RowRef
from memory.interchange.contextfs.kernel.texts import raw_rows, record_texts
from memory.interchange.contextfs.reader import ForeignStore, read_store
from memory.ledger.models import Namespace

PREVIEWED = 50

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller chose. mapping : source namespace -> target; others become `<base>.<source>`.

    laws : relation type -> law, a name or JSON; for stores that keep no law whole.
    """

    base: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    source: str = ""
    erase_deleted: bool = False
    laws: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preview:
    """A record as it would stand. `recorded` is the instant as the source spells it, `how` what it rests on."""

    target: str
    id: str
    type: str
    first_line: str
    recorded: str
    how: str
    is_withdrawn: bool
    n_parents: int
    n_quarantined: int


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did, or would do.

    targets : source namespace -> target namespace.   counts : of the source, before any rule.   codes : code -> cases.
    resembles : another source here -> how many rows it shares with this one.   preview : of a dry run, the first rows.
    """

    source: str
    fingerprint: str
    file_sha256: str
    targets: Mapping[str, str]
    applied: tuple[Applied, ...]
    is_dry_run: bool
    counts: Mapping[str, Any]
    codes: Mapping[str, int]
    resembles: Mapping[str, int]
    reconciliation: Reconciliation
    preview: tuple[Preview, ...] = ()
    format: str = "contextfs"


@dataclass(frozen=True, slots=True)
class _Import:
    """One run: who imports which open store from which source to where, and what is told meanwhile."""

    by: Actor
    store: ForeignStore
    options: Options
    source: str
    targets: Mapping[str, str]
    last_seqs: Mapping[str, int]
    tell: Progress


def import_store(
    by: Actor,
    path: Path,
    *,
    options: Options,
    ensure: Callable[[str], Namespace],
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Import the store at `path`.

    by : the person or system that imports; its namespace is replaced by each target.
    ensure : the namespace of a name, founded where it is absent (never called in a dry run).
    progress : called with the stage in words, rows done and rows in all.
    Raises ForeignStoreError (not such a store), Invalid (a source namespace that the file lacks; two of them for one
    target), Forbidden (a target that `by` does not own), Conflict (another import at the same time).
    """
    with read_store(path) as store:
        surveyed = _surveyed(store, progress or _silent)
        goes = targets_of(surveyed.namespaces, options)
        stand = targets.require_own(by, goes.values())
        source = options.source or store.identity.fingerprint
        last = {name: sources.last_seq(namespace, source=source) for name, namespace in stand.items()}
        run = _Import(by, store, options, source, goes, last, progress or _silent)
        keys = {row_key(ref) for ref in surveyed.refs()}
        left = targets.left_behind(by, options.base, source=source, present=surveyed.namespaces)
        known = sources.known_rows({**left, **stand}.values(), source=source, keys=keys)
        plan = make_plan(store, surveyed=surveyed, known_rows=known)
        chosen = [(part, plan.findings if index == 0 else ()) for index, part in enumerate(_chosen(plan, goes))]
        resembles = {} if any(last.values()) else sources.resembling(stand.values(), source=source, keys=keys)
        if dry_run:
            applied = tuple(_would(part, goes[part.namespace], loose) for part, loose in chosen)
        else:
            applied = _import_parts(run, chosen, ensure)
        compared = reconciliation(surveyed, codes=codes_by_record(plan.every_finding()))
        return _report(run, plan, applied, resembles, compared, _preview(run, plan) if dry_run else None)


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody asked how far it is."""


def _surveyed(store: ForeignStore, tell: Progress) -> Survey:
    n_rows = sum(store.n_rows(table) for table in store.shapes)
    tell("reading", 0, n_rows)
    surveyed = survey(store)
    tell("reading", n_rows, n_rows)
    return surveyed


def targets_of(names: Sequence[str], options: Options) -> dict[str, str]:
    """One target for each source namespace.   Raises Invalid (one that the file lacks; one target for two)."""
    for wanted in (*options.mapping, *([options.only] if options.only else [])):
        if wanted not in names:
            raise Invalid.at("source_namespace", expected=f"one of {', '.join(names)}", got=wanted)
    chosen = (options.only,) if options.only else names
    plain = options.base if len(chosen) == 1 else ""
    found = {name: options.mapping.get(name) or plain or f"{options.base}.{slug(name)}" for name in chosen}
    twice = sorted({target for target in found.values() if list(found.values()).count(target) > 1})
    if twice:
        raise Invalid.at("map", expected="a target of its own for each source namespace", got=", ".join(twice))
    return found


def slug(name: str) -> str:
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_.-") else "-" for sign in name.lower())
    return kept.strip("-_.") or "unnamed"


def _chosen(plan: Plan, goes: Mapping[str, str]) -> list[NamespacePlan]:
    return [part for part in plan.namespaces if part.namespace in goes]


def _import_parts(
    run: _Import, chosen: Sequence[tuple[NamespacePlan, tuple[Finding, ...]]], ensure: Callable[[str], Namespace]
) -> tuple[Applied, ...]:
    """Stage and apply one target after another."""
    staged = [(part, loose, applying.rows_to_stage(part, (*part.findings, *loose))) for part, loose in chosen]
    n_all, n_before = sum(len(refs) for _, _, refs in staged), 0
    applied = []
    for part, loose, refs in staged:
        applied.append(_import_part(run, part, loose, refs, ensure(run.targets[part.namespace]), (n_before, n_all)))
        n_before += len(refs)
    return tuple(applied)


def _import_part(
    run: _Import, part: NamespacePlan, loose: tuple[Finding, ...], refs: list[RowRef], namespace: Namespace,
    rows: tuple[int, int],
) -> Applied:  # fmt: skip
    """rows : how many rows were staged for the targets before this one, and how many will be in all."""
    before, total = rows
    file_digest = bytes.fromhex(run.store.identity.file_sha256)
    batch = hashlib.sha256(file_digest + canonical([[ref.table, ref.rowid] for ref in refs])).digest()
    target = Target(
        namespace, run.source, file_digest, batch, run.last_seqs.get(namespace.name, 0), run.options.erase_deleted
    )
    with ids.forked(f"import/{namespace.name}"):
        staging.stage(
            namespace.pk, batch, _raw(run.store, refs),
            progress=lambda done: run.tell(f"staging {namespace.name}", before + done, total),
        )  # fmt: skip
        run.tell(f"applying {namespace.name}", before + len(refs), total)
        return applying.apply(targets.within(run.by, namespace.pk), target, part, more=loose)


def _raw(store: ForeignStore, refs: Sequence[RowRef]) -> Iterator[staging.Staged]:
    for row in raw_rows(store, refs=refs):
        yield row.ref.table, {"key": list(row_key(row.ref)), "hash": row.row_hash, "row": row.cells}


def _would(part: NamespacePlan, target: str, loose: tuple[Finding, ...]) -> Applied:
    new = [record for record in part.records if record.novelty == "new"]
    n_edges = sum(len(record.parents) for record in new if record.derivation is not None)
    n_edges += sum(link.novelty == "new" for link in part.links)
    findings = (*part.findings, *loose)
    quarantined = sum(finding.is_quarantine for finding in findings)
    return Applied(target, None, len(new), n_edges, quarantined, len(findings), len(part.records) - len(new))


def _preview(run: _Import, plan: Plan) -> tuple[Preview, ...]:
    """The first new records of all targets, with their texts as they would stand."""
    new = ((part, record) for part in _chosen(plan, run.targets) for record in part.records if record.novelty == "new")
    first = list(islice(new, PREVIEWED))
    texts = record_texts(run.store, refs=[record.ref for _, record in first])
    return tuple(
        _previewed(record, run.targets[part.namespace], text.content, hides=run.options.erase_deleted)
        for (part, record), text in zip(first, texts, strict=True)
    )


def _previewed(record: PlannedRecord, target: str, content: str, *, hides: bool) -> Preview:
    is_withdrawn = record.withdrawn is not None
    return Preview(
        target, record.foreign_id, record.type, "" if hides and is_withdrawn else first_line(content),
        record.recorded.text, record.recorded.how, is_withdrawn, len(record.parents), record.n_quarantined,
    )  # fmt: skip


def _report(
    run: _Import, plan: Plan, applied: tuple[Applied, ...], resembles: Mapping[str, int], compared: Reconciliation,
    preview: tuple[Preview, ...] | None,
) -> Report:  # fmt: skip
    codes: dict[str, int] = {}
    for finding in plan.every_finding():
        codes[finding.code] = codes.get(finding.code, 0) + 1
    counts = {name: getattr(plan.counts, name) for name in plan.counts.__slots__}
    identity = run.store.identity
    return Report(
        run.source, identity.fingerprint, identity.file_sha256, dict(run.targets), applied, preview is not None,
        counts, dict(sorted(codes.items())), resembles, compared, preview or (),
    )  # fmt: skip
