"""Configurations of monitor runs and the hashes of forecasts and labels, against what the peer wrote."""

from __future__ import annotations

from typing import Any

import pytest

from memory.base.errors import Invalid
from memory.beliefs.kernel.monitoring import (
    MonitorConfig,
    config_document,
    config_json,
    config_sha256,
    outcome_hash,
    parse_config,
    prediction_hash,
    source_family,
)
from tests.calibration.peer_cases import config_cases, law_of, monitor_cases, normalised

pytestmark = pytest.mark.sqlite_only


@pytest.mark.parametrize("case", config_cases()["invalid"], ids=lambda case: str(case["config"])[:40])
def test_an_invalid_configuration_is_refused_at_its_place(case: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        parse_config(case["config"])
    assert refused.value.errors[0].loc == (next(iter(case["config"])),)


def test_valid_configurations_are_spelled_and_hashed_as_by_the_peer() -> None:
    found = [(config_json(config), config_sha256(config)) for config in _parsed(config_cases()["valid"])]
    assert found == [(case["canonical_json"], case["sha256"]) for case in config_cases()["valid"]]
    runs = monitor_cases()
    assert [config_sha256(config) for config in _parsed(runs)] == [
        case["reports"][0]["expected"]["config_sha256"] for case in runs
    ]


def _parsed(cases: list[dict[str, Any]]) -> list[MonitorConfig]:
    return [parse_config(case["config"]) for case in cases]


def test_the_address_and_the_document_name_one_run() -> None:
    assert parse_config({}, run_id="r") == parse_config({"run_id": "r"}) == MonitorConfig(run_id="r")
    assert "run_id" not in config_document(MonitorConfig())
    with pytest.raises(Invalid, match="as in the address"):
        parse_config({"run_id": "other"}, run_id="r")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, None], ids=str)
def test_a_guard_without_a_finite_value_is_refused(value: object) -> None:
    with pytest.raises(Invalid):
        parse_config({"max_ece": value})


@pytest.mark.parametrize(
    ("provenance", "family"),
    [
        ({}, "unspecified"),
        ({"tool": "t"}, "t"),
        ({"tool": "t", "encoder_family": "e"}, "e"),
        ({"tool": "t", "encoder_family": "e", "monitor_family": "m"}, "m"),
        ({"tool": "t", "encoder_family": "", "monitor_family": 7}, "t"),
        ({"tool": "t" * 128}, "t" * 128),
        ({"tool": "t" * 129}, None),
        ({"tool": "t", "monitor_family": "m" * 129}, None),
        ({"tool": "a\nb"}, None),
    ],
)
def test_the_source_family_is_the_first_text_of_three_keys(provenance: dict[str, object], family: str | None) -> None:
    assert source_family(provenance) == family


@pytest.mark.parametrize("case", monitor_cases(), ids=lambda case: case["id"])
def test_forecasts_and_labels_hash_as_in_the_journal_of_the_peer(case: dict[str, Any]) -> None:
    forecasts, labels = _hashes(case)
    samples = case["journal_hash_samples"]
    assert {name: forecasts[name] for name, _, _ in samples["predictions"]} == {
        name: digest for name, _, digest in samples["predictions"]
    }
    assert {name: labels[name] for name, _, _, _ in samples["outcomes"]} == {
        name: digest for name, _, _, digest in samples["outcomes"]
    }


def _hashes(case: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    forecasts: dict[str, str] = {}
    labels: dict[str, str] = {}
    relation: dict[str, str] = {}
    for event in case["events"]:
        if "expected_error" in event:
            continue
        if event["op"] == "observe":
            given = event["payload"]
            relation[given["observation_id"]] = given["relation_type"]
            names, fingerprint = law_of(case["relations"][given["relation_type"]])
            forecasts[given["observation_id"]] = prediction_hash(
                observation_id=given["observation_id"],
                run_id=case["config"]["run_id"],
                namespace=given["namespace"],
                relation_type=given["relation_type"],
                source_family=source_family(given.get("provenance", {})) or "",
                posterior=normalised(given["posterior"]),
                support_labels=names,
                law_fingerprint=fingerprint,
                observed_at=given["observed_at"],
                tracked_at=event["tracked_at"],
            )
        elif event["expected"]:
            relation_type = relation[event["observation_id"]]
            names, fingerprint = law_of(case["relations"][relation_type])
            labels[event["outcome_event_id"]] = outcome_hash(
                outcome_event_id=event["outcome_event_id"],
                observation_id=event["observation_id"],
                relation_type=relation_type,
                true_index=names.index(event["true_relation"]),
                true_label=event["true_relation"],
                law_fingerprint=fingerprint,
                labeled_at=event["labeled_at"],
                recorded_at=event["recorded_at"],
                supersedes_event_id=None,
                correction_reason=None,
            )
    return forecasts, labels
