"""What the rows of a store come to in each namespace: documents that verify, and findings for all that does not.

Invariants
- Rows keep the order in which the peer wrote them: parents stand before children, labels before their corrections.
- A forecast stands only if its hash does and it is what its observation says; its labels stand only with it.
- Nothing is repaired. What is left out is a finding that holds the row.

Source: posterior-memory-harness 0.9.0, its journals and their hashes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory.base.errors import DomainError
from memory.beliefs.kernel.acts import OutcomeDocument, label_index, outcome_document
from memory.beliefs.kernel.documents import ObservationDocument, observation_document
from memory.beliefs.kernel.factors import floored
from memory.beliefs.kernel.laws import Law, fingerprint
from memory.beliefs.kernel.masses import vector
from memory.beliefs.kernel.monitoring import MonitorConfig, config_sha256, outcome_hash, parse_config, prediction_hash
from memory.beliefs.kernel.monitoring import source_family as family_of
from memory.interchange.posterior.kernel.findings import Finding, Row

Rows = Mapping[str, Sequence[Row]]
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class PlannedObservation:
    """An observation that can be sent. `run` tracks it, if its forecast stands; `revoked_at` is a claimed instant."""

    row: Row
    document: ObservationDocument
    run: str | None
    revoked_at: float | None
    forecast: Row | None


@dataclass(frozen=True, slots=True)
class PlannedOutcome:
    """A label that can be sent, first ones before their corrections."""

    row: Row
    document: OutcomeDocument


@dataclass(slots=True)
class NamespacePlan:
    """One namespace of the source. `laws` are those that it uses, `runs` those that track something in it."""

    name: str
    laws: dict[str, Law] = field(default_factory=dict)
    attested: set[str] = field(default_factory=set)
    runs: dict[str, MonitorConfig] = field(default_factory=dict)
    observations: list[PlannedObservation] = field(default_factory=list)
    outcomes: list[PlannedOutcome] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    shared: dict[str, Row] = field(default_factory=dict)


def relation_types(rows: Rows) -> list[str]:
    """The relation types that need a law, sorted."""
    return sorted({str(row.cells["relation_type"]) for row in rows["observations"]})


def make_plan(rows: Rows, *, laws: Mapping[str, Law], targets: Mapping[str, str]) -> dict[str, NamespacePlan]:
    """{source namespace: what comes of it} for those that go somewhere.   laws : one for every relation type."""
    return _Planner(rows, laws, targets).plan()


class _Planner:
    def __init__(self, rows: Rows, laws: Mapping[str, Law], targets: Mapping[str, str]) -> None:
        self.rows, self.laws, self.targets = rows, laws, targets
        self.plans = {name: NamespacePlan(name) for name in targets}
        self.refused = _refused_laws(rows, laws)
        self.registered = {str(row.cells["relation_type"]) for row in rows.get("relation_laws", ())}
        self.configs: dict[str, MonitorConfig] = {}
        self.run_rows = {str(row.cells["run_id"]): row for row in rows.get("monitor_runs", ())}
        self.law_rows = {str(row.cells["relation_type"]): row for row in rows.get("relation_laws", ())}
        self.forecasts = {row.key: row for row in rows.get("monitor_predictions", ())}
        self.homes = {str(row.cells["observation_id"]): str(row.cells["namespace"]) for row in rows["observations"]}
        self.tracked: dict[str, PlannedObservation] = {}

    def plan(self) -> dict[str, NamespacePlan]:
        spread = _spread(self.rows)
        for row in self.rows["observations"]:
            plan = self.plans.get(str(row.cells["namespace"]))
            if plan is not None:
                self._observation(plan, row)
        for row in self.rows.get("monitor_outcomes", ()):
            self._outcome(row)
        for plan in self.plans.values():
            for run in plan.runs:
                if len(spread.get(run, ())) > 1:
                    plan.findings.append(Finding("run-divided", (run,), ", ".join(sorted(spread[run]))))
        return self.plans

    def _observation(self, plan: NamespacePlan, row: Row) -> None:
        relation, id = str(row.cells["relation_type"]), str(row.cells["observation_id"])
        forecast = self.forecasts.get(row.key)
        kept = (row,) if forecast is None else (row, forecast)
        if relation in self.refused:
            plan.findings.append(Finding("law-differs", (id,), self.refused[relation], kept))
            return
        law = self.laws[relation]
        try:
            document = observation_document(_payload(row, self.targets[plan.name]), profile="compat")
            posterior = vector(document.posterior, law, "posterior")
            if document.prior is not None:
                vector(document.prior, law, "prior")
        except (DomainError, ValueError, TypeError, RecursionError) as error:
            plan.findings.append(Finding("observation-unreadable", (id,), _words(error), kept))
            return
        plan.laws[relation] = law
        if relation in self.law_rows:
            plan.shared.setdefault(f"law/{relation}", self.law_rows[relation])
        if relation not in self.registered:
            plan.attested.add(relation)
        run = None
        if forecast is not None:
            run = self._run(plan, forecast, document, floored(posterior[None])[0], law)
        tracked_at = None if run is None or forecast is None else float(_number(forecast.cells["tracked_at"]))
        revoked_at = self._revoked_at(plan, row, document)
        planned = PlannedObservation(
            row, _tracked(document, tracked_at), run, revoked_at, forecast if run is not None else None
        )  # fmt: skip
        plan.observations.append(planned)
        if run is not None:
            self.tracked[id] = planned

    def _revoked_at(self, plan: NamespacePlan, row: Row, document: ObservationDocument) -> float | None:
        cell = row.cells["revoked_at"]
        if cell is None:
            return None
        at = _number(cell)
        if not math.isfinite(at) or document.observed_at is None or at < document.observed_at:
            plan.findings.append(
                Finding("revocation-unusable", (str(document.observation_id),), f"revoked_at {cell!r}", (row,))
            )
            return None
        return at

    def _run(
        self, plan: NamespacePlan, row: Row, document: ObservationDocument, posterior: Any, law: Law
    ) -> str | None:
        """The run that tracks the observation; None, with a finding, where its forecast does not verify."""
        id, name = str(document.observation_id), str(row.cells["run_id"])
        try:
            config = self._config(name)
        except (DomainError, ValueError, TypeError, KeyError) as error:
            kept = (row, self.run_rows[name]) if name in self.run_rows else (row,)
            plan.findings.append(Finding("run-unreadable", (id, name), _words(error), kept))
            return None
        try:
            code, why = _forecast_fault(row, plan.name, document, posterior, law)
        except (ValueError, TypeError) as error:
            code, why = "forecast-hash", _words(error)
        if code:
            plan.findings.append(Finding(code, (id, name), why, (row,)))
            return None
        plan.runs[name] = config
        plan.shared.setdefault(f"run/{name}", self.run_rows[name])
        return name

    def _config(self, name: str) -> MonitorConfig:
        if name not in self.configs:
            cells = self.run_rows[name].cells
            config = parse_config(json.loads(str(cells["config_json"])), run_id=name)
            if config_sha256(config) != cells["config_sha256"]:
                raise ValueError(f"the configuration of {name} has another hash than {cells['config_sha256']!r}")
            self.configs[name] = config
        return self.configs[name]

    def _outcome(self, row: Row) -> None:
        id, event = str(row.cells["observation_id"]), str(row.cells["outcome_event_id"])
        plan = self.plans.get(self.homes.get(id, ""))
        if plan is None:
            return
        planned = self.tracked.get(id)
        if planned is None:
            plan.findings.append(Finding("outcome-refused", (id, event), "its forecast does not stand", (row,)))
            return
        law = self.laws[planned.document.relation_type]
        try:
            document = _label(row, law)
        except (DomainError, ValueError, TypeError) as error:
            plan.findings.append(Finding("outcome-hash", (id, event), _words(error), (row,)))
            return
        plan.outcomes.append(PlannedOutcome(row, document))


def _refused_laws(rows: Rows, laws: Mapping[str, Law]) -> dict[str, str]:
    """{relation type: why} where the store was written by another law than the one that was given."""
    refused: dict[str, str] = {}
    for table in ("relation_laws", "monitor_laws", "monitor_predictions"):
        for row in rows.get(table, ()):
            relation = str(row.cells["relation_type"])
            law, stored = laws.get(relation), row.cells["law_fingerprint"]
            if law is not None and fingerprint(law) != stored:
                refused.setdefault(relation, f"{law.name} has the fingerprint {fingerprint(law)}, not {stored!r}")
    return refused


def _spread(rows: Rows) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows.get("monitor_predictions", ()):
        found.setdefault(str(row.cells["run_id"]), set()).add(str(row.cells["namespace"]))
    return found


def _payload(row: Row, namespace: str) -> dict[str, Any]:
    """The observation as a client would send it to the target.   Raises ValueError (a cell that is no JSON)."""
    cells = row.cells
    told: dict[str, Any] = {
        name: cells[name]
        for name in ("observation_id", "relation_type", "source", "target", "evidence_family", "observed_at",
                     "valid_from", "valid_until", "trust")
    }  # fmt: skip
    told |= {name: json.loads(str(cells[f"{name}_json"])) for name in ("posterior", "prior", "provenance", "tags")}
    told |= {"schema_version": 2, "namespace": namespace, "independent_evidence": _flag(cells["independent_evidence"])}
    for name in ("source_event_id", "lineage_root_id", "encoder_revision", "calibration_revision"):
        told[name] = cells.get(name)
    told["derived_from"] = json.loads(str(cells.get("derived_from_json", "[]")))
    return told


def _flag(cell: object) -> bool:
    if cell not in (0, 1):
        raise ValueError(f"independent_evidence is {cell!r}, expected 0 or 1")
    return bool(cell)


def _tracked(document: ObservationDocument, at: float | None) -> ObservationDocument:
    fields = {name: getattr(document, name) for name in ObservationDocument.__slots__}
    return ObservationDocument(**{**fields, "tracked_at": at})


def _forecast_fault(
    row: Row, namespace: str, document: ObservationDocument, posterior: Any, law: Law
) -> tuple[str, str]:
    """What does not verify of a forecast: its hash first, then what its observation says; two empty texts if all."""
    cells = row.cells
    frozen = [float(value) for value in json.loads(str(cells["posterior_json"]))]
    labels = [str(label) for label in json.loads(str(cells["support_labels_json"]))]
    found = prediction_hash(
        observation_id=str(cells["observation_id"]), run_id=str(cells["run_id"]), namespace=str(cells["namespace"]),
        relation_type=str(cells["relation_type"]), source_family=str(cells["source_family"]), posterior=frozen,
        support_labels=labels, law_fingerprint=str(cells["law_fingerprint"]),
        observed_at=_number(cells["observed_at"]), tracked_at=_number(cells["tracked_at"]),
    )  # fmt: skip
    if found != cells["payload_sha256"]:
        return "forecast-hash", f"its hash is {found}, not {cells['payload_sha256']!r}"
    expected = {
        "namespace": (cells["namespace"], namespace), "relation_type": (cells["relation_type"], document.relation_type),
        "observed_at": (cells["observed_at"], document.observed_at),
        "source_family": (cells["source_family"], family_of(document.provenance)),
        "support_labels": (labels, list(law.labels)), "independent_evidence": (True, document.independent_evidence),
    }  # fmt: skip
    for name, (stored, said) in expected.items():
        if stored != said:
            return "forecast-differs", f"{name}: it says {stored!r}, its observation {said!r}"
    if len(frozen) != law.size or float(np.abs(np.array(frozen) - posterior).max()) > SAME:
        return "forecast-differs", "posterior: it is not that of its observation"
    return "", ""


def _label(row: Row, law: Law) -> OutcomeDocument:
    """The label as a client would send it.   Raises Invalid, ValueError (what was hashed is another)."""
    cells = row.cells
    reason = None if cells["correction_reason"] is None else str(cells["correction_reason"])
    before = None if cells["supersedes_event_id"] is None else str(cells["supersedes_event_id"])
    document = outcome_document(
        {
            "observation_id": cells["observation_id"], "true_relation": cells["true_label"],
            "outcome_event_id": cells["outcome_event_id"], "labeled_at": cells["labeled_at"],
            "recorded_at": cells["recorded_at"], "correction_reason": reason,
        },
        profile="compat",
    )  # fmt: skip
    index = label_index(document, law)
    if index != cells["true_index"]:
        raise ValueError(f"the label {document.true_relation} has the index {index}, not {cells['true_index']!r}")
    found = outcome_hash(
        outcome_event_id=str(cells["outcome_event_id"]), observation_id=str(cells["observation_id"]),
        relation_type=str(cells["relation_type"]), true_index=index, true_label=str(cells["true_label"]),
        law_fingerprint=str(cells["law_fingerprint"]), labeled_at=_number(cells["labeled_at"]),
        recorded_at=_number(cells["recorded_at"]), supersedes_event_id=before, correction_reason=reason,
    )  # fmt: skip
    if found != cells["payload_sha256"]:
        raise ValueError(f"its hash is {found}, not {cells['payload_sha256']!r}")
    return document


def _number(cell: object) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        raise TypeError(f"{cell!r} is no number")
    return float(cell)


def _words(error: Exception) -> str:
    return error.detail if isinstance(error, DomainError) else f"{type(error).__name__}: {error}"
