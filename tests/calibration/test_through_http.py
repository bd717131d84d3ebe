"""The peer's runs through the API under compat, and what the API says and refuses under ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.calibration.labelling import drawn
from tests.calibration.peer_cases import monitor_cases
from tests.calibration.test_reports import same
from tests.world import World

pytestmark = pytest.mark.django_db

# m08-namespaces: the peer counts forecasts and labels of both namespaces in one journal, and its report over both reads
# two stores at once; ours is one namespace each, so that report is held at the kernel and the counters are our own.
SHARED_JOURNAL = frozenset({"m08-namespaces"})
# m14-capacity: the peer refuses an observation that its full monitor cannot track; ours stores it untracked (B3.9).
STORED_UNTRACKED = frozenset({"m14-capacity"})


class Door:
    """One namespace through the API, as an agent."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.client = Client(headers={"Authorization": f"Bearer {world.secrets[world.scout_id]}"})
        self.base = f"/api/v1/namespaces/{world.name}"

    def post(self, path: str, body: Any, *, method: str = "post", **headers: str) -> Any:
        send = getattr(self.client, method)
        return send(f"{self.base}{path}", json.dumps(body), content_type="application/json", headers=headers)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"{self.base}{path}", query)


def opened(name: str, relations: dict[str, str], config: dict[str, Any]) -> Door:
    door = Door(World(name))
    for relation, law in relations.items():
        answer = door.post(f"/relations/{relation}?profile=compat", {"law": law}, method="put")
        assert answer.status_code in (200, 201), answer.content
    settings = {key: value for key, value in config.items() if key != "run_id"}
    answer = door.post(f"/monitors/{config['run_id']}", settings, method="put")
    assert answer.status_code == 201, answer.content
    return door


def played(case: dict[str, Any]) -> dict[str, Door]:
    """Every namespace of the case with its events; forecasts first, since only their own order counts."""
    doors: dict[str, Door] = {}
    where: dict[str, str] = {}
    observed: dict[str, list[Any]] = {}
    for event in case["events"]:
        if event["op"] == "observe":
            where[event["payload"]["observation_id"]] = event["payload"]["namespace"]
            observed.setdefault(event["payload"]["namespace"], []).append(event)
    for name in observed or {"ns": []}:
        doors[name] = opened(name, case["relations"], case["config"])
    for name, events in observed.items():
        documents = [{**event["payload"], "tracked_at": event["tracked_at"]} for event in events]
        told = doors[name].post("/observations/batch?profile=compat", documents).json()
        expected = [event["payload"]["observation_id"] for event in events if "expected" in event]
        untracked = [event["payload"]["observation_id"] for event in events if "expected_error" in event]
        assert bool(untracked) == (case["id"] in STORED_UNTRACKED)
        assert [item["observation_id"] for item in told["accepted"]] == [*expected, *untracked]
        lost = [item["observation_id"] for item in told["accepted"] if item["tracking"] == "capacity"]
        assert lost == untracked
        labels = [
            event for event in case["events"] if event["op"] == "outcome" and where[event["observation_id"]] == name
        ]
        _label(doors[name], labels)
    return doors


def _label(door: Door, events: list[dict[str, Any]]) -> None:
    keys = ("observation_id", "true_relation", "labeled_at", "recorded_at", "outcome_event_id", "correction_reason")
    documents = [{key: event[key] for key in keys if key in event} for event in events]
    told = door.post("/outcomes/batch?profile=compat&atomic=false", documents).json()
    assert _events(told["accepted"]) == [event["outcome_event_id"] for event in events if event.get("expected") is True]
    assert _events(told["duplicates"]) == [
        event["outcome_event_id"] for event in events if event.get("expected") is False
    ]
    refused = [(index, "not_found") for index, event in enumerate(events) if "expected_error" in event]
    assert [(error["index"], error["code"]) for error in told["errors"]] == refused


def _events(items: list[dict[str, Any]]) -> list[str]:
    return [item["outcome_event_id"] for item in items]


def _asked(case: dict[str, Any], doors: dict[str, Door]) -> Iterator[tuple[Door, dict[str, Any], Any]]:
    for asked in case["reports"]:
        args = dict(asked["args"])
        named = args.pop("namespace", None)
        if named is None and len(doors) > 1:
            continue  # over both namespaces: held at the kernel
        door = doors.get(named or next(iter(doors)))
        if door is None:
            continue  # a namespace that does not exist is not found
        if asked["kind"] == "report" and not args.keys() & {"relation_type", "source_family"}:
            args["pooled"] = "true"
        yield door, args, asked["expected"]


@pytest.mark.parametrize("case", monitor_cases(), ids=lambda case: case["id"])
def test_the_runs_of_the_peer_are_reported_alike(case: dict[str, Any]) -> None:
    doors = played(case)
    n_held = 0
    for door, args, expected in _asked(case, doors):
        answer = door.get(f"/monitors/{case['config']['run_id']}/report", profile="compat", **args)
        assert answer.status_code == 200, answer.content
        same(answer.json(), _placed(expected, door.world.name, case["id"], answer.json()), f"{case['id']} {args}")
        n_held += 1
    assert n_held > 0


def _placed(expected: Any, namespace: str, case: str, found: Any) -> Any:
    """What the peer wrote, with our namespace where it reports over all of its own."""
    if isinstance(expected, dict):
        told = {
            key: _placed(value, namespace, case, found.get(key) if isinstance(found, dict) else None)
            for key, value in expected.items()
        }
        if "namespace" in told:
            told["namespace"] = namespace
        if "snapshot" in told and case in SHARED_JOURNAL:
            told["snapshot"] = found["snapshot"]
        return told
    return expected


@pytest.fixture
def door() -> Door:
    config = {"run_id": "r", "reference_size": 6, "current_size": 4, "min_current_size": 2, "max_tracked": 100}
    door = opened("lab", {"rel": "cyclic:3"}, config)
    documents = [
        {
            "schema_version": 2, "observation_id": f"o{n}", "relation_type": "rel", "source": "a", "target": "b",
            "posterior": posterior, "evidence_family": f"f{n}", "observed_at": float(n), "provenance": {"tool": "t"},
        }
        for n, posterior in enumerate(drawn(1, 12, 3))
    ]  # fmt: skip
    assert door.post("/observations/batch", documents).status_code == 201
    return door


def _told(n: int, true: str = "0", **given: Any) -> dict[str, Any]:
    return {"observation_id": f"o{n}", "true_relation": true, "outcome_event_id": f"e{n}", "labeled_at": 20.0, **given}


def test_a_label_has_two_addresses_and_one_meaning(door: Door) -> None:
    first = door.post("/labels", _told(0))
    assert (first.status_code, first.json()["recorded"]) == (201, True)
    again = door.post("/outcomes", _told(0))
    assert (again.status_code, again.json()["recorded"]) == (200, False)
    assert door.post("/labels", _told(0, "1")).status_code == 409
    assert _events(door.post("/labels/batch", [_told(1), _told(2)]).json()["accepted"]) == ["e1", "e2"]


def test_claimed_instants_are_taken_under_compat_alone(door: Door) -> None:
    refused = door.post("/outcomes", _told(0, recorded_at=21.0))
    assert (refused.status_code, refused.json()["errors"][0]["loc"]) == (422, ["recorded_at"])
    taken = door.post("/outcomes?profile=compat", _told(5, recorded_at=1.0))
    assert (taken.status_code, taken.json()["flags"]) == (201, ["clock_skew"])


def test_an_untracked_observation_is_not_found(door: Door) -> None:
    refused = door.post("/outcomes", {"observation_id": "nowhere", "true_relation": "0"})
    assert refused.status_code == 404
    assert "PUT /monitors/{run_id}" in refused.json()["detail"]
    assert "and of none before" in refused.json()["detail"]


def test_a_report_about_names_that_no_forecast_has_says_so_and_under_compat_is_as_the_peers(door: Door) -> None:
    asked = {"relation_type": "rle", "source_family": "t"}
    found = door.get("/monitors/r/report", **asked).json()
    assert (found["status"], found["audit"]["unknown"]) == ("insufficient_data", ["relation_type"])
    assert "audit" not in door.get("/monitors/r/report", profile="compat", **asked).json()
    assert "unknown" not in door.get("/monitors/r/report", relation_type="rel", source_family="t").json()["audit"]


def test_a_report_at_a_past_entry_never_changes(door: Door) -> None:
    told: dict[int, bytes] = {}
    asked = {"relation_type": "rel"}
    for n in range(12):
        seq = door.post("/outcomes", _told(n, str(n % 3), labeled_at=40.0 - n)).json()["seq"]
        told[seq] = door.get("/monitors/r/report", **asked).content + door.get("/monitors/r/report").content
    for n in (0, 3, 11):
        corrected = _told(n, str((n + 1) % 3), correction_reason="misread", outcome_event_id=f"c{n}", labeled_at=50.0)
        seq = door.post("/outcomes", corrected).json()["seq"]
        told[seq] = door.get("/monitors/r/report", **asked).content + door.get("/monitors/r/report").content
    assert len(set(told.values())) == len(told)
    for seq, content in told.items():
        at = {"known_at": f"seq:{seq}"}
        again = door.get("/monitors/r/report", **asked, **at).content + door.get("/monitors/r/report", **at).content
        assert again == content


def test_a_late_label_moves_the_reference_of_the_peer_and_not_ours(door: Door) -> None:
    for n in range(3, 12):
        door.post("/outcomes", _told(n, str(n % 3), labeled_at=30.0 + n))
    before = {profile: _reference(door, profile) for profile in ("native", "compat")}
    door.post("/outcomes", _told(2, "1", labeled_at=20.0))
    assert _reference(door, "native") == before["native"]
    assert _reference(door, "compat") != before["compat"]


def _reference(door: Door, profile: str) -> Any:
    found = door.get("/monitors/r/report", relation_type="rel", profile=profile).json()
    assert ("audit" in found) == (profile == "native")
    return found["reference"]


def test_the_audit_says_how_much_of_the_error_is_chance(door: Door) -> None:
    for n in range(12):
        door.post("/outcomes", _told(n, str(n % 3)))
    audit = door.get("/monitors/r/report", relation_type="rel", source_family="t").json()["audit"]
    assert audit["window_rule"] == "locked_reference"
    current = audit["calibration"]["current"]
    assert current["ece_excess"] == pytest.approx(max(0.0, _ece(door) - current["ece_null"]))
    assert (audit["watch"]["epoch"], audit["watch"]["n_bets"]) == (1, 12)
    assert audit["watch"]["bets_per_lane"] == 1.0
    assert audit["pending"] == 0


def _ece(door: Door) -> float:
    return float(door.get("/monitors/r/report", relation_type="rel", source_family="t").json()["current"]["ece"])
