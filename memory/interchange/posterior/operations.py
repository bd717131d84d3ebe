"""The import of a store of posterior-memory-harness: read-only, with a dry run, one target for each namespace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from memory.base.actor import Actor
from memory.base.errors import Invalid
from memory.beliefs.kernel.laws import Law, read_law
from memory.interchange import targets
from memory.interchange.contextfs.kernel.agreement import Reconciliation
from memory.interchange.contextfs.operations import Options, Progress, Report, targets_of
from memory.interchange.posterior import applying
from memory.interchange.posterior.applying import Target
from memory.interchange.posterior.kernel.plan import NamespacePlan, make_plan, relation_types
from memory.interchange.posterior.reader import PeerStore, read_store
from memory.ledger.models import Namespace

NOTHING_COMPARED = Reconciliation(0, 0, 0, 0, 0, 0, 0, {}, ())


def import_store(
    by: Actor, path: Path, *, options: Options, ensure: Callable[[str], Namespace], dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """Import the store at `path`.

    by : the person or system that imports and attests the laws.   ensure, progress : as for any import.
    Raises ForeignStoreError (not such a store), Invalid (a law that is missing or none; laws by which nothing of the
    store stands; source namespaces), Forbidden
    (a target that `by` does not own), Conflict (a target holds another law or configuration).
    """
    store = read_store(path)
    laws = _laws(store, options)
    names = sorted({str(row.cells["namespace"]) for row in store.rows["observations"]})
    goes = targets_of(names, options)
    stand = targets.require_own(by, goes.values())
    source = options.source or store.fingerprint
    plans = make_plan(store.rows, laws=laws, targets=goes)
    _require_some(plans)
    applied = []
    for index, (name, plan) in enumerate(plans.items()):
        if progress is not None:
            progress(f"applying {goes[name]}", index, len(plans))
        if dry_run:
            here = stand.get(goes[name])
            known = applying.standing(here, source=source, keys=applying.keys(plan)) if here is not None else {}
            applied.append(applying.would(goes[name], plan, known))
            continue
        namespace = ensure(goes[name])
        target = Target(namespace, source, store.file_sha256)
        applied.append(applying.apply(targets.within(by, namespace.pk), target, plan))
    return Report(
        source, store.fingerprint, store.file_sha256, goes, tuple(applied), dry_run, _counts(store, plans),
        _codes(plans), {}, NOTHING_COMPARED, format=applying.FORMAT,
    )  # fmt: skip


def _require_some(plans: Mapping[str, NamespacePlan]) -> None:
    """Refuse before anything is founded where the laws that were given are those of nothing in the store."""
    findings = [one for plan in plans.values() for one in plan.findings if one.code == "law-differs"]
    if findings and not any(plan.observations for plan in plans.values()):
        expected = "the laws by which the store was written; by these nothing of it stands"
        raise Invalid.at("law", expected=expected, got=findings[0].why, code="law_differs")


def _laws(store: PeerStore, options: Options) -> dict[str, Law]:
    """The law of every relation type of the store.   Raises Invalid."""
    wanted = relation_types(store.rows)
    if missing := [name for name in wanted if name not in options.laws]:
        expected = "TYPE=LAW for every relation type of the store, which keeps no law whole"
        raise Invalid.at("law", expected=expected, got=f"none for {', '.join(missing)}", code="missing")
    if unknown := sorted(set(options.laws) - set(wanted)):
        raise Invalid.at("law", expected=f"one of {', '.join(wanted)}", got=unknown[0], code="not_listed")
    return {name: _law(text) for name, text in options.laws.items()}


def _law(text: str) -> Law:
    if not text.lstrip().startswith("{"):
        return read_law(text)
    try:
        return read_law(json.loads(text))
    except ValueError as error:
        raise Invalid.at("law", expected="a law as JSON", got=str(error)) from error


def _counts(store: PeerStore, plans: Mapping[str, NamespacePlan]) -> dict[str, object]:
    rows = store.rows["observations"]
    by_namespace: dict[str, int] = {}
    for row in rows:
        by_namespace[str(row.cells["namespace"])] = by_namespace.get(str(row.cells["namespace"]), 0) + 1
    n_live = sum(row.cells["revoked_at"] is None for row in rows)
    return {"n_records": len(rows), "n_live": n_live, "n_edges": 0, "by_namespace": by_namespace,
            "n_labels": len(store.rows.get("monitor_outcomes", ()))}  # fmt: skip


def _codes(plans: Mapping[str, NamespacePlan]) -> dict[str, int]:
    codes: dict[str, int] = {}
    for plan in plans.values():
        for finding in plan.findings:
            codes[finding.code] = codes.get(finding.code, 0) + 1
    return dict(sorted(codes.items()))
