"""What a monitor run is locked to, and the hashes that a forecast and a label carry.

- A configuration is valid as a whole or refused with its place; its hash covers all of it but the run's own name.
- A forecast belongs to one source family, read from its provenance by a fixed order of keys.
- Hashes cover claimed instants as doubles, -0.0 as 0.0.

Source: posterior-memory-harness 0.9.0, MonitorConfig and its prediction and outcome journals.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from memory.base.errors import Invalid
from memory.beliefs.kernel.hashing import peer_json, peer_sha256, plain_zero

FAMILY_CHARS = 128
RUN_ID_CHARS = 128
UNSPECIFIED = "unspecified"

_FAMILY_KEYS = ("monitor_family", "encoder_family", "tool")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_SIZES = ("reference_size", "current_size", "min_current_size", "ece_bins", "max_tracked")
_GUARDS = ("max_nll_increase", "max_brier_increase", "max_ece", "max_prediction_js")
_LIMITS = {"ece_bins": 1_000}
_LIMIT = 2**53 - 1


@dataclass(frozen=True, slots=True)
class MonitorConfig:
    """Sizes count labels; nll in nats, brier in 0..2, ece in 0..1, js in nats. `run_id` is no part of the hash."""

    reference_size: int = 200
    current_size: int = 100
    min_current_size: int = 30
    ece_bins: int = 10
    max_nll_increase: float = 0.15
    max_brier_increase: float = 0.05
    max_ece: float = 0.10
    max_prediction_js: float = 0.08
    max_tracked: int = 100_000
    run_id: str = "default"


_KEYS = frozenset(field.name for field in fields(MonitorConfig))


def parse_config(document: Mapping[str, object], *, run_id: str | None = None) -> MonitorConfig:
    """The configuration of a document; absent keys take their defaults.

    run_id : the run the address names; the document may repeat it or leave it out.
    Raises Invalid for an unknown key, a value of the wrong kind or range, windows that do not fit, another run's name.
    """
    for key in sorted(set(document) - _KEYS):
        raise Invalid.at(key, expected="a key of a monitor configuration", code="unknown_key")
    named = {} if run_id is None else {"run_id": run_id}
    values: dict[str, object] = {**asdict(MonitorConfig()), **named, **document}
    run = _run_id(values["run_id"])
    if run_id is not None and run != run_id:
        raise Invalid.at("run_id", expected=f"{run_id!r}, as in the address", got=run)
    sizes = {key: _size(key, values[key]) for key in _SIZES}
    if sizes["min_current_size"] > sizes["current_size"]:
        raise Invalid.at("min_current_size", expected="at most current_size", got=sizes["min_current_size"])
    if sizes["max_tracked"] < sizes["reference_size"] + sizes["current_size"]:
        raise Invalid.at("max_tracked", expected="at least reference_size + current_size", got=sizes["max_tracked"])
    guards = {key: _guard(key, values[key]) for key in _GUARDS}
    return MonitorConfig(
        reference_size=sizes["reference_size"],
        current_size=sizes["current_size"],
        min_current_size=sizes["min_current_size"],
        ece_bins=sizes["ece_bins"],
        max_nll_increase=guards["max_nll_increase"],
        max_brier_increase=guards["max_brier_increase"],
        max_ece=guards["max_ece"],
        max_prediction_js=guards["max_prediction_js"],
        max_tracked=sizes["max_tracked"],
        run_id=run,
    )


def config_document(config: MonitorConfig) -> dict[str, int | float]:
    """All of the configuration but the name of its run: what is locked, hashed and repeated in every report."""
    document = asdict(config)
    del document["run_id"]
    return document


def config_schema() -> dict[str, object]:
    """The JSON Schema of the document, as far as a schema can tell."""
    sizes = {key: {"type": "integer", "minimum": 1, "maximum": _LIMITS.get(key, _LIMIT)} for key in _SIZES}
    guards = {key: {"type": "number", "minimum": 0} for key in _GUARDS}
    run = {"type": "string", "minLength": 1, "maxLength": RUN_ID_CHARS}
    told = {**sizes, **guards, "run_id": run}
    defaults = asdict(MonitorConfig())
    properties = {key: {**schema, "default": defaults[key]} for key, schema in told.items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def config_json(config: MonitorConfig) -> str:
    """The text that `config_sha256` hashes."""
    return peer_json(config_document(config))


def config_sha256(config: MonitorConfig) -> str:
    """The fingerprint of the locked part, 64 lower-case hex digits."""
    return peer_sha256(config_document(config))


def source_family(provenance: Mapping[str, object]) -> str | None:
    """The first text among monitor_family, encoder_family and tool; "unspecified" without one.

    None where that text is longer than FAMILY_CHARS or holds a control character: such a forecast has no family and
    cannot be tracked. The next key is not tried, since a family must not depend on the length of another.
    """
    for key in _FAMILY_KEYS:
        value = provenance.get(key)
        if isinstance(value, str) and value:
            return None if len(value) > FAMILY_CHARS or _CONTROL.search(value) else value
    return UNSPECIFIED


def prediction_hash(
    *,
    observation_id: str,
    run_id: str,
    namespace: str,
    relation_type: str,
    source_family: str,
    posterior: Sequence[float],
    support_labels: Sequence[str],
    law_fingerprint: str,
    observed_at: float,
    tracked_at: float,
) -> str:
    """The hash of a forecast as it was frozen. posterior : normalised, in label order; instants : claimed, seconds."""
    return peer_sha256(
        {
            "observation_id": observation_id,
            "run_id": run_id,
            "namespace": namespace,
            "relation_type": relation_type,
            "source_family": source_family,
            "posterior": [plain_zero(value) for value in posterior],
            "support_labels": list(support_labels),
            "law_fingerprint": law_fingerprint,
            "observed_at": plain_zero(observed_at),
            "tracked_at": plain_zero(tracked_at),
        }
    )


def outcome_hash(
    *,
    outcome_event_id: str,
    observation_id: str,
    relation_type: str,
    true_index: int,
    true_label: str,
    law_fingerprint: str,
    labeled_at: float,
    recorded_at: float,
    supersedes_event_id: str | None,
    correction_reason: str | None,
) -> str:
    """The hash of a label. `supersedes_event_id` and `correction_reason` (stripped) are None for a first label."""
    return peer_sha256(
        {
            "outcome_event_id": outcome_event_id,
            "observation_id": observation_id,
            "relation_type": relation_type,
            "true_index": true_index,
            "true_label": true_label,
            "law_fingerprint": law_fingerprint,
            "labeled_at": plain_zero(labeled_at),
            "recorded_at": plain_zero(recorded_at),
            "supersedes_event_id": supersedes_event_id,
            "correction_reason": correction_reason,
        }
    )


def _run_id(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Invalid.at("run_id", expected="text that is not empty", got=value)
    if len(value) > RUN_ID_CHARS or _CONTROL.search(value):
        raise Invalid.at("run_id", expected=f"at most {RUN_ID_CHARS} characters, none of them a control", got=value)
    return value


def _size(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LIMITS.get(key, _LIMIT):
        raise Invalid.at(key, expected=f"a whole number, 1 to {_LIMITS.get(key, _LIMIT)}", got=value)
    return value


def _guard(key: str, value: object) -> float:
    # NaN fails both comparisons.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise Invalid.at(key, expected="a finite number of at least 0", got=value)
    return plain_zero(value)
