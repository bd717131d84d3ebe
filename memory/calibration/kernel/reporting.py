"""The report of a monitor run: one scope, or every relation type with its source families.

- Keys, their order of meaning and the four statuses are the peer's; what we add is the one key `audit`.
- A report is a function of counts and two windows; how these were read makes no difference to it.
- Fixed guards are compared strictly. They are told, and page nobody.

Source: posterior-memory-harness 0.9.0, report schema 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memory.beliefs.kernel.monitoring import MonitorConfig, config_document, config_sha256
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.smooth import smooth_error
from memory.calibration.kernel.sums import ExactSums
from memory.calibration.kernel.windows import current_span, is_sufficient, reference_span

SCHEMA_VERSION = 2
NOT_POOLED = "probability supports cannot be pooled across laws"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a report is asked about; None is everything. `as_of` is a claimed instant, in seconds."""

    namespace: str | None
    relation_type: str | None = None
    source_family: str | None = None
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many forecasts and labels a scope holds; the last of each by its place in the run, None without one."""

    n_tracked: int = 0
    n_labeled: int = 0
    last_forecast: int | None = None
    last_label: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One relation type within the scope. The windows are sums of their members; both None where too few are labelled.

    Members whose forecast is erased are counted in the windows' sizes and in no sum.
    """

    relation_type: str
    counted: Counted
    reference: ExactSums | None = None
    current: ExactSums | None = None
    audit: Document | None = None


def report(
    config: MonitorConfig, *, scope: Scope, segments: Sequence[Segment], audit: Document | None = None
) -> Document:
    """The report of a scope that holds these segments, one for each relation type with a forecast.

    audit : what we say of the whole; that of a single segment joins it. Without one there is no such key.
    """
    counted = _together([segment.counted for segment in segments])
    base = _base(config, scope, counted)
    segment = segments[0] if len(segments) == 1 else Segment("", Counted())
    told = {} if audit is None else {"audit": {**audit, **(segment.audit or {})}}
    if len(segments) > 1:
        names = sorted(segment.relation_type for segment in segments)
        return {**base, "status": "segmented_by_relation", "reason": NOT_POOLED, "relation_types": names, **told}
    base["counts"] |= _window_counts(config, counted.n_labeled)
    if not _is_compared(config, segment):
        return {**base, "status": "insufficient_data", "alerts": [], **told}
    return {**base, **_compared(config, segment), **told}


def tree(
    config: MonitorConfig,
    *,
    scope: Scope,
    relations: Mapping[str, tuple[Document, Mapping[str, Document]]],
    audit: Document | None = None,
) -> Document:
    """The full tree. relations : for each relation type the report of all its forecasts, and one for each family."""
    told = {} if audit is None else {"audit": audit}
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": config.run_id,
        "config_sha256": config_sha256(config),
        "namespace": scope.namespace,
        "as_of": scope.as_of,
        "relations": {
            name: {"overall": overall, "by_source_family": {family: families[family] for family in sorted(families)}}
            for name, (overall, families) in sorted(relations.items())
        },
        **told,
    }


def audit_of(sums: ExactSums, *, n_bins: int) -> Document:
    """What we say of a window beside the peer's metrics."""
    parts = scores.brier_parts(sums, n_bins=n_bins)
    found = scores.calibration(sums, n_bins=n_bins)
    return {
        "n": scores.n_rows(sums),
        "ece_null": found.ece_null,
        "ece_excess": found.ece_excess,
        "rms_debiased": found.rms_debiased,
        "smooth_ece": float(smooth_error(scores.residuals(sums, n_bins=n_bins))),
        "predicted_label_brier": asdict(parts),
    }


def is_readable(sums: ExactSums | None) -> bool:
    """Whether any member of the window can be scored."""
    return sums is not None and scores.n_rows(sums) > 0


def _base(config: MonitorConfig, scope: Scope, counted: Counted) -> Document:
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": config.run_id,
        "config_sha256": config_sha256(config),
        "scope": asdict(scope),
        "snapshot": {
            "high_water_prediction_seq": counted.last_forecast,
            "high_water_outcome_seq": counted.last_label,
        },
        "counts": {
            "tracked": counted.n_tracked,
            "labeled": counted.n_labeled,
            "pending": counted.n_tracked - counted.n_labeled,
        },
        "locked_config": config_document(config),
    }


def _together(counted: Sequence[Counted]) -> Counted:
    forecasts = [each.last_forecast for each in counted if each.last_forecast is not None]
    labels = [each.last_label for each in counted if each.last_label is not None]
    return Counted(
        sum(each.n_tracked for each in counted),
        sum(each.n_labeled for each in counted),
        max(forecasts, default=None),
        max(labels, default=None),
    )


def _window_counts(config: MonitorConfig, n_labeled: int) -> dict[str, int]:
    size = config.reference_size
    return {
        "reference": reference_span(n_labeled, reference_size=size).n,
        "current": current_span(n_labeled, reference_size=size, current_size=config.current_size).n,
    }


def _is_compared(config: MonitorConfig, segment: Segment) -> bool:
    enough = is_sufficient(
        segment.counted.n_labeled, reference_size=config.reference_size, min_current_size=config.min_current_size
    )
    return enough and is_readable(segment.reference) and is_readable(segment.current)


def _compared(config: MonitorConfig, segment: Segment) -> Document:
    assert segment.reference is not None
    assert segment.current is not None
    bins = config.ece_bins
    reference = asdict(scores.metrics(segment.reference, n_bins=bins))
    current = asdict(scores.metrics(segment.current, n_bins=bins))
    delta = {key: current[key] - reference[key] for key in reference}
    drift = {
        "prediction_marginal_js": scores.jensen_shannon(
            scores.mean_forecast(segment.reference, n_bins=bins), scores.mean_forecast(segment.current, n_bins=bins)
        ),
        "mean_confidence_delta": delta["mean_confidence"],
        "mean_entropy_delta": delta["mean_entropy"],
    }
    guards = (
        ("nll_regression", delta["nll"], config.max_nll_increase),
        ("brier_regression", delta["brier"], config.max_brier_increase),
        ("ece_limit", current["ece"], config.max_ece),
        ("prediction_drift", drift["prediction_marginal_js"], config.max_prediction_js),
    )
    alerts = [
        {"code": code, "observed": observed, "threshold": threshold}
        for code, observed, threshold in guards
        if observed > threshold
    ]
    return {
        "status": "alert" if alerts else "healthy",
        "reference": reference,
        "current": current,
        "delta": delta,
        "drift": drift,
        "alerts": alerts,
    }
