"""Event sequences played through the API, each event by who may: agents by their token, an owner by a session.

The clock stands at the instant of the event. What an episode says of its outcome becomes the evidence of the burial.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpResponse

from memory.base import clock, instants
from memory.base.asof import AsOf
from memory.ledger.queries import asof
from memory.tombstones import queries
from memory.tombstones.models import BlockVerdict, RevivalEvidence, RouteCheck, Tombstone, TombstoneTurn
from tests.contract.callers import caller
from tests.world import World

BEFORE_ALL = datetime(2025, 12, 31, tzinfo=UTC)
FIXTURE = Path(__file__).parent / "fixtures" / "dead_ends.json"
REVIEW_AFTER = timedelta(days=90)
COUNTED = (Tombstone, RevivalEvidence, RouteCheck, BlockVerdict, TombstoneTurn)


@cache
def sequences() -> dict[str, Any]:
    """{id: sequence}."""
    return {each["id"]: each for each in json.loads(FIXTURE.read_text())["sequences"]}


class Play:
    """One sequence in a namespace of its own. `is_doubled`: every event is posted twice under one key."""

    def __init__(self, sequence: Mapping[str, Any], *, is_doubled: bool = False) -> None:
        self.sequence, self.is_doubled = sequence, is_doubled
        with clock.fixed(BEFORE_ALL):
            self.world = World()
        self.agent, self.owner = caller(self.world, self.world.scout), caller(self.world, self.world.alice)
        self.evidence: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.told: dict[str, Any] = {"route": {}, "checks": [], "rejected": []}
        self.last_at = BEFORE_ALL

    def run(self) -> dict[str, Any]:
        """Play all events; answers the end in the words of the fixture."""
        for index, event in enumerate(self.sequence["events"]):
            self.last_at = instants.read(event["t"])
            with clock.fixed(self.last_at):
                getattr(self, "on_" + event["ev"].replace(".", "_"))(event, f"{self.sequence['id']}-{index}")
        return self.outcome(self.world.namespace)

    def outcome(self, namespace: int) -> dict[str, Any]:
        """What stands in the namespace at the last event, with what was answered on the way."""
        found = queries.tombstones(self.at(namespace), retired=True)
        states = {row.sign.route: row.state for row in found.items}
        failures = {row.sign.route: row.standing.n_failures for row in found.items}
        return {**self.told, "tombstones": states, "failures": max(failures.values(), default=0)}

    def at(self, namespace: int) -> AsOf:
        with clock.fixed(self.last_at):
            return asof.now(namespace)

    def n_rows(self) -> Counter[str]:
        return Counter({m.__name__: m._default_manager.filter(namespace=self.world.namespace).count() for m in COUNTED})

    def post(self, who: Any, path: str, body: Any, key: str) -> HttpResponse:
        headers = {"Idempotency-Key": key}
        answer: HttpResponse = who.post(path, body, headers=headers)
        if self.is_doubled:
            again = who.post(path, body, headers=headers)
            assert again.status_code == (200 if answer.status_code < 300 else answer.status_code)
            if answer.status_code < 300:
                assert {**again.json(), "replayed": False} == answer.json()
                assert again.json()["replayed"]
        return answer

    def on_episode(self, event: Mapping[str, Any], key: str) -> None:
        self.evidence[event["id"]] = f"{event['outcome']}, {event['evidence']}"

    def on_consolidate(self, event: Mapping[str, Any], key: str) -> None:
        whole = event["tombstone"]
        review_at = instants.text(instants.read(event["t"]) + REVIEW_AFTER)
        evidence = "; ".join(self.evidence[one] for one in event["episodes"])
        answer = self.post(self.agent, "/tombstones", {**whole, "evidence": evidence, "review_at": review_at}, key)
        if answer.status_code == 422:
            assert [error["loc"] for error in answer.json()["errors"]] == [["revival"]]
            self.told["route"][event["candidate"]] = "audit_only"
            return
        assert answer.status_code == 201, answer.content
        self.told["route"][event["candidate"]] = "tombstone"
        self.ids[whole["route"]] = answer.json()["id"]

    def on_route_check(self, event: Mapping[str, Any], key: str) -> None:
        body = {"route": event["route"], "scope": event["scope"]}
        answer = self.post(self.agent, "/tombstones/check", body, key).json()
        names = {one["id"] for one in answer["tombstones"] if one["reason"] == "blocked"}
        assert names == ({self.ids[event["route"]]} if answer["verdict"] == "blocked" else set())
        is_blocked, reason = answer["verdict"] == "blocked", answer["reason"]
        self.told["checks"].append("blocked" if is_blocked else "allowed" if reason == "none" else f"allowed:{reason}")

    def on_revival_evidence(self, event: Mapping[str, Any], key: str) -> None:
        body = {"condition": event["condition"], "valid_until": event["valid_until"]}
        assert self.post(self.agent, f"{self._path(event)}/evidence", body, key).status_code == 201

    def on_revive(self, event: Mapping[str, Any], key: str) -> None:
        assert self.agent.post(f"{self._path(event)}/revive", {}).status_code == 403
        answer = self.post(self.owner, f"{self._path(event)}/revive", {}, key)
        if answer.status_code == 422:
            problem = answer.json()
            assert {error["code"] for error in problem["errors"]} == {"revival_unmet"}
            self.told["rejected"].append("revival_unmet:" + ",".join(error["got"] for error in problem["errors"]))

    def on_retest_route(self, event: Mapping[str, Any], key: str) -> None:
        self.post(self.owner, f"{self._path(event)}/retest", {"passed": event["passed"]}, key)

    def on_false_block(self, event: Mapping[str, Any], key: str) -> None:
        assert self.post(self.agent, f"{self._path(event)}/false-block", {}, key).status_code == 200

    def _path(self, event: Mapping[str, Any]) -> str:
        return f"/tombstones/{self.ids[event['route']]}"


def agrees(outcome: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """The listed keys alone are compared."""
    return all(outcome[key] == value for key, value in expected.items())
