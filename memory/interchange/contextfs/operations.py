"""The import of a ContextFS 0.2.35 store: read-only, dry run, staged, one entry for each target namespace.

Appends: `create_namespace` where a target does not exist, `import` in each target that has something new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory.base import ids
from memory.base.actor import Actor
from memory.base.errors import Invalid
from memory.interchange import sources, staging
from memory.interchange.contextfs import applying
from memory.interchange.contextfs.applying import Applied, Target
from memory.interchange.contextfs.kernel.findings import Finding
from memory.interchange.contextfs.kernel.plan import NamespacePlan, Plan, make_plan
from memory.interchange.contextfs.kernel.reader import ForeignStore, RowRef, read_store
from memory.interchange.contextfs.kernel.snapshots import row_key
from memory.interchange.contextfs.kernel.texts import raw_rows
from memory.ledger.models import Namespace

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller chose. namespaces : source namespace -> target; others become `<base>.<source>`."""

    base: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    source: str = ""
    erase_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did, or would do. `targets` = source namespace -> target namespace."""

    source: str
    fingerprint: str
    file_sha256: str
    targets: Mapping[str, str]
    applied: tuple[Applied, ...]
    is_dry_run: bool
    counts: Mapping[str, Any]
    codes: Mapping[str, int]


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
    ensure : the namespace of a name, made where it is absent (never called in a dry run).
    Raises ForeignStoreError (not such a store), Invalid (a source namespace that the file lacks).
    """
    with read_store(path) as store:
        first = make_plan(store)
        targets = _targets(first, options)
        source = options.source or store.identity.fingerprint
        known = _known(store, first, targets, source)
        plan = make_plan(store, known_rows=known) if known else first
        chosen = [part for part in plan.namespaces if part.namespace in targets]
        loose = plan.findings
        if dry_run:
            applied = tuple(
                _would(part, targets[part.namespace], loose if index == 0 else ()) for index, part in enumerate(chosen)
            )
        else:
            applied = tuple(
                _import_part(by, store, part, options=options, target=ensure(targets[part.namespace]), source=source,
                             loose=loose if index == 0 else (), progress=progress)
                for index, part in enumerate(chosen)
            )  # fmt: skip
        return _report(store, plan, source=source, targets=targets, applied=applied, dry_run=dry_run)


def _targets(plan: Plan, options: Options) -> dict[str, str]:
    """One target for each source namespace."""
    names = [part.namespace for part in plan.namespaces]
    for wanted in (*options.mapping, *([options.only] if options.only else [])):
        if wanted not in names:
            raise Invalid.at("source_namespace", expected=f"one of {', '.join(names)}", got=wanted)
    if options.only:
        return {options.only: options.mapping.get(options.only, options.base)}
    if len(names) == 1:
        return {names[0]: options.mapping.get(names[0], options.base)}
    return {name: options.mapping.get(name, f"{options.base}.{_slug(name)}") for name in names}


def _slug(name: str) -> str:
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_.-") else "-" for sign in name.lower())
    return kept.strip("-_.") or "unnamed"


def _known(
    store: ForeignStore, plan: Plan, targets: Mapping[str, str], source: str
) -> dict[tuple[str, ...], str | None]:
    existing = list(Namespace.objects.filter(name__in=sorted(set(targets.values()))).order_by("pk"))
    if not existing:
        return {}
    keys = [row_key(ref) for ref in (*plan.comparison.new, *plan.comparison.known, *plan.comparison.altered)]
    return sources.known_rows(existing, source=source, keys=keys)


def _import_part(
    by: Actor, store: ForeignStore, part: NamespacePlan, *, options: Options, target: Namespace, source: str,
    loose: tuple[Finding, ...], progress: Progress | None,
) -> Applied:  # fmt: skip
    digest = bytes.fromhex(store.identity.file_sha256)
    refs = applying.rows_to_stage(part, loose)
    with ids.forked(f"import/{target.name}"):
        staging.stage(
            target.pk, digest, _raw(store, refs),
            progress=None if progress is None else lambda done: progress(part.namespace, done, len(refs)),
        )  # fmt: skip
        here = replace(by, namespace=target.pk)
        return applying.apply(here, Target(target, source, digest, options.erase_deleted), part, more=loose)


def _raw(store: ForeignStore, refs: list[RowRef]) -> Iterator[staging.Staged]:
    for table, wanted in applying.by_table(refs):
        for row in raw_rows(store, refs=wanted):
            yield table, {"key": list(row_key(row.ref)), "hash": row.row_hash, "row": row.cells}


def _would(part: NamespacePlan, target: str, loose: tuple[Finding, ...]) -> Applied:
    new = [record for record in part.records if record.novelty == "new"]
    n_edges = sum(len(record.parents) for record in new if record.derivation is not None)
    n_edges += sum(link.novelty == "new" for link in part.links)
    findings = (*part.findings, *loose)
    quarantined = sum(finding.is_quarantine for finding in findings)
    return Applied(target, None, len(new), n_edges, quarantined, len(findings), len(part.records) - len(new))


def _report(
    store: ForeignStore, plan: Plan, *, source: str, targets: Mapping[str, str], applied: tuple[Applied, ...],
    dry_run: bool,
) -> Report:  # fmt: skip
    codes: dict[str, int] = {}
    for finding in plan.every_finding():
        codes[finding.code] = codes.get(finding.code, 0) + 1
    counts = {name: getattr(plan.counts, name) for name in plan.counts.__slots__}
    return Report(
        source, store.identity.fingerprint, store.identity.file_sha256, dict(targets), applied, dry_run, counts,
        dict(sorted(codes.items())),
    )  # fmt: skip
