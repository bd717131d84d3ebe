"""`verify`: the store's own check, references, every record read again, hashes and ledger; `schema`: its tables.

- Nothing is written, not even that it was asked. What is derived is made anew and compared, and that is rolled back.
- Each damage is one sentence that names the namespace and the first entry that it shows in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from memory.base import sql
from memory.base.canonical import strict_loads
from memory.base.errors import DomainError
from memory.beliefs.ancestry import observations_at, parents_by_item
from memory.beliefs.content import document_of, names_in
from memory.beliefs.kernel.documents import Lineage, ObservationDocument, Parent, observation_document, require_parent
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.laws import fingerprint, parse_law
from memory.beliefs.kernel.monitoring import config_sha256
from memory.beliefs.models import Forecast, MonitorRun, Observation, RelationLaw
from memory.beliefs.relations import Relation, relations_by_id
from memory.beliefs.states import chunks, read_vectors
from memory.calibration.models import LabelOutcome
from memory.checks.rebuilding import looked_over
from memory.ledger.models import Namespace
from memory.ledger.queries.contents import contents_of, names_of
from memory.ledger.queries.verification import scan
from memory.management.posterior import reading, stores
from memory.management.posterior.arguments import Arguments

Document = dict[str, Any]
CHUNK = 400
TOLD = 100
# The schema of the peer's whose contract this store answers.
PEER_SCHEMA = 3


@dataclass(slots=True)
class Checked:
    """What one namespace comes to."""

    name: str
    errors: list[str] = field(default_factory=list)
    audit: Document = field(default_factory=dict)


def verify(asked: Arguments, store: Path | None) -> Document:
    """Check everything in the store.   Raises FileNotFoundError, SchemaFault."""
    with stores.reading(store):
        quick, n_dangling = _storage()
        every = reading.every(None)
        found = [_checked(one) for one in every]
        errors = [f"storage: {line}" for line in quick if line not in ("ok", "not_checked")]
        errors += [f"storage: {n_dangling} rows refer to none"] if n_dangling else []
        errors += [error for one in found for error in one.errors]
        told = {
            "ok": not errors, "checks": _checks(quick, n_dangling), "errors": errors[:TOLD], "warnings": [],
        }  # fmt: skip
        if any(reading.profile_in(one, asked) == "native" for one in every):
            told["audit"] = {"namespaces": [one.audit for one in found], "n_errors": len(errors)}
    return told


def schema(asked: Arguments, store: Path | None) -> Document:
    """The tables of the store, brought up to date unless they are only looked at.   Raises as `stores`."""
    if asked.action == "migrate":
        stores.migrated(store)
    with stores.reading(store):
        names = stores.applied()
        applied = MigrationRecorder(connection).applied_migrations()
        migrations = [
            {"version": int(name[:4]), "name": name, "applied_at": applied[stores.APP, name].applied.isoformat()}
            for name in names
        ]
        columns = {
            "observation_columns": Observation, "monitor_run_columns": MonitorRun, "relation_law_columns": RelationLaw,
            "monitor_law_columns": None, "monitor_prediction_columns": Forecast,
            "monitor_outcome_columns": LabelOutcome,
        }  # fmt: skip
        version = int(names[-1][:4])
        return {
            "version": version, "current_version": version, "compatible": True,
            **{key: list(sql.columns(model)) if model is not None else [] for key, model in columns.items()},
            "migrations": migrations, "triggers": stores.guards(),
        }  # fmt: skip


def _storage() -> tuple[list[str], int]:
    """What SQLite says of its own pages, and how many rows refer to none; PostgreSQL has no such question."""
    if connection.vendor != "sqlite":
        return ["not_checked"], 0
    quick = [str(line) for (line,) in sql.fetch("PRAGMA quick_check", [])]
    return quick, len(sql.fetch("PRAGMA foreign_key_check", []))


def _checks(quick: list[str], n_dangling: int) -> Document:
    of_laws = "SELECT DISTINCT f.namespace_id, f.monitor_run, o.relation_type FROM memory_forecast f"
    of_laws += " JOIN memory_observation o ON o.namespace_id = f.namespace_id AND o.id = f.observation"
    roots = LabelOutcome.objects.filter(supersedes__isnull=True).values("namespace", "observation")
    twice = roots.annotate(n=models.Count("id")).filter(n__gt=1)
    return {
        "quick_check": quick, "foreign_key_violations": n_dangling, "schema_version": PEER_SCHEMA,
        "schema_compatible": True, "observations": Observation.objects.count(),
        "monitor_runs": MonitorRun.objects.count(), "relation_laws": RelationLaw.objects.count(),
        "monitor_laws": len(sql.fetch(of_laws, [])), "monitor_predictions": Forecast.objects.count(),
        "monitor_outcomes": LabelOutcome.objects.count(), "unbound_observation_relation_types": [],
        "outcome_root_conflicts": twice.count(),
    }  # fmt: skip


def _checked(namespace: Namespace) -> Checked:
    found = Checked(namespace.name)
    scanned = scan(namespace.pk)
    for fault in sorted(scanned.faults, key=lambda one: (one.seq, -1 if one.item is None else one.item)):
        where = f"seq {fault.seq}" + ("" if fault.item is None else f" item {fault.item}")
        told = f"expected {fault.expected or 'otherwise'}, got {fault.got or 'this'}"
        found.errors.append(f"{namespace.name}: {fault.code} at {where}: {told}")
    if not found.errors:
        found.errors += [f"{namespace.name}: {error}" for error in _read_again(namespace)]
        found.errors += [
            f"{namespace.name}: {one.n_differences} rows of {one.projector} are not what they are derived from"
            for one in looked_over(namespace.pk).comparisons
            if one.n_differences
        ]
    found.audit = {
        "namespace": namespace.name, "size": scanned.size, "root": scanned.root.hex(), "items": scanned.n_items,
        "erased": scanned.n_erased,
        "verdicts": {
            "content": scanned.content, "inclusion": scanned.inclusion, "consistency": scanned.consistency,
        },
    }  # fmt: skip
    return found


def _read_again(namespace: Namespace) -> Iterator[str]:
    """Every law, run, observation and forecast, as a client would send it."""
    bound = relations_by_id(namespace.pk)
    for relation in bound.values():
        if relation.law is not None and fingerprint(parse_law(_law_at(namespace.pk, relation))) != relation.fingerprint:
            yield f"the law of {relation.text} at seq {relation.seq} has another fingerprint"
    for row in MonitorRun.objects.filter(namespace=namespace).order_by("seq"):
        if config_sha256(reading.config_in(row)) != bytes(row.config_sha256).hex():
            yield f"the configuration of the monitor run at seq {row.seq} has another hash"
    for rows in chunks(namespace.pk):
        yield from _observations(namespace, rows, bound)


def _law_at(namespace: int, relation: Relation) -> Any:
    return contents_of(namespace, [(relation.seq, relation.item)])[relation.seq, relation.item]["value"]


def _observations(namespace: Namespace, rows: list[Observation], bound: Any) -> Iterator[str]:
    addresses = [(row.seq, row.item) for row in rows]
    parents = parents_by_item(namespace.pk, addresses)
    above = observations_at(namespace.pk, [one for items in parents.values() for one in items])
    parts = contents_of(namespace.pk, addresses)
    names = names_of(namespace.pk, [name for row in (*rows, *above.values()) for name in names_in(row)])
    kept = _forecasts(namespace.pk, rows)
    for row, address in zip(rows, addresses, strict=True):
        law = bound[row.relation_type].law
        if "value" not in parts[address] or law is None:
            continue
        document = document_of(row, parts[address], names, namespace=namespace.name)
        try:
            vectors = read_vectors(document.posterior, document.prior, law)
            observation_document(_sent(document), profile="compat")
            for index, item in enumerate(parents.get(address, ())):
                require_parent(
                    document, index=index, observed_at=row.observed_at, parent=_parent(above[item], names, namespace)
                )
        except DomainError as error:
            yield f"the observation at seq {row.seq} item {row.item} cannot be read: {error.detail}"
            continue
        expected = floored(vectors.posterior[None])[0]
        for told in kept.get(row.id, []):
            if not np.array_equal(np.array(told, dtype=np.float64), expected):
                yield f"a forecast of the observation at seq {row.seq} item {row.item} is not what it observed"


def _sent(document: ObservationDocument) -> Document:
    """The fields that a client would send; the names that are erased are left out of the question."""
    given = {name: getattr(document, name) for name in ObservationDocument.__slots__}
    for name in ("posterior", "prior"):
        if isinstance(given[name], tuple):
            given[name] = list(given[name])
    texts = ("observation_id", "source", "target", "relation_type", "evidence_family")
    given |= {name: given[name] or "erased" for name in texts}
    optional = ("source_event_id", "lineage_root_id", "encoder_revision", "calibration_revision")
    given |= {name: given[name] or None for name in optional}
    return {**given, "schema_version": 2, "tags": list(document.tags), "derived_from": [], "tracked_at": None}


def _parent(row: Observation, names: Any, namespace: Namespace) -> Parent:
    one = document_of(row, {"value": {"posterior": []}}, names, namespace=namespace.name)
    lineage: Lineage = one.lineage
    return Parent(
        str(one.observation_id), namespace.name, one.relation_type, one.source, one.target, row.observed_at, lineage
    )  # fmt: skip


def _forecasts(namespace: int, rows: list[Observation]) -> dict[Any, list[list[float]]]:
    """The frozen vectors of each observation; what is erased is left out."""
    found: dict[Any, list[list[float]]] = {}
    for chunk in batched([row.id for row in rows], CHUNK):
        marks = ", ".join(["%s"] * len(chunk))
        told = sql.fetch(
            "SELECT f.observation, c.payload FROM memory_forecast f JOIN memory_content c"
            " ON c.namespace_id = f.namespace_id AND c.seq = f.seq AND c.item = f.item AND c.part = 'value'"
            f" WHERE f.namespace_id = %s AND f.observation IN ({marks})",
            [namespace, *chunk],
        )
        for observation, payload in told:
            found.setdefault(sql.as_id(observation), []).append(strict_loads(payload))  # type: ignore[arg-type]
    return found
