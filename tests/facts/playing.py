"""Event sequences of the arc of facts, posted through the API, each event by who may, and what they then answer.

The clock stands at the instant of the event. Where the fixture begins a fact at the event itself, nothing is sent for
it: a fact without a beginning holds from its recording on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.http import HttpResponse

from memory.base import clock, instants
from memory.facts.models import AttributeSpec, Fact, Retraction, Supersession
from memory.ledger.models import Entry, Erasure
from tests.contract.callers import Caller, caller
from tests.world import World

FIXTURE = Path(__file__).parent / "fixtures" / "arc_b.json"
BEFORE_ALL = datetime(2025, 12, 31, tzinfo=UTC)
COUNTED = (AttributeSpec, Fact, Supersession, Retraction, Erasure, Entry)
CLASSES = {"first_hand": "first_hand", "hearsay": "relayed", "derived": "derived", "unconfirmed": "relayed"}


@cache
def sequences() -> dict[str, Any]:
    """{id: sequence}."""
    return {each["id"]: each for each in json.loads(FIXTURE.read_text())["sequences"]}


class Play:
    """One sequence in a namespace of its own. `times`: how often each event is posted, under one key."""

    def __init__(self, sequence: Mapping[str, Any], *, times: int = 1, world: World | None = None) -> None:
        self.sequence, self.times = sequence, times
        with clock.fixed(BEFORE_ALL):
            self.world = world or World()
        self.agent, self.owner = caller(self.world, self.world.scout), caller(self.world, self.world.alice)
        self.told: dict[str, Any] = {"notes": [], "rejected": []}

    def run(self, events: Sequence[Mapping[str, Any]] | None = None) -> Play:
        """Declare what the fixture declares, then post all events, or these in their place."""
        self.is_explicit = events is not None
        config = self.sequence["config"]
        with clock.fixed(BEFORE_ALL):
            for cardinality, names in (("one", config["single_valued"]), ("many", config["multi_valued"])):
                for name in names:
                    assert self.agent.put(f"/attributes/{name}", {"cardinality": cardinality}).status_code == 201
        for index, event in enumerate(self.sequence["events"] if events is None else events):
            with clock.fixed(instants.read(event["t"])):
                for _ in range(self.times):
                    self._post(event, f"{self.sequence['id']}-{index}")
        return self

    def id_of(self, name: str) -> str:
        return str(uuid5(NAMESPACE_URL, f"{self.sequence['id']}/{name}"))

    def n_rows(self) -> dict[str, int]:
        return {m.__name__: m._default_manager.filter(namespace=self.world.namespace).count() for m in COUNTED}

    def _post(self, event: Mapping[str, Any], key: str) -> None:
        who, path, body = self._request(event)
        answer = who.post(path, body, headers={"Idempotency-Key": key})
        self._note(event, answer)

    def _request(self, event: Mapping[str, Any]) -> tuple[Caller, str, dict[str, Any]]:
        match event["ev"]:
            case "assert":
                return self.agent, "/facts", self._fact(event)
            case "declare_conflict":
                body = {"subject": event["subject"], "attribute": event["predicate"], "value": "any"}
                return self.agent, "/facts", {**body, "status": "conflict"}
            case "supersede":
                body = {"at": event["at"], "by": self.id_of(event["new"]), "reason": "correction"}
                return self.agent, f"/facts/{self.id_of(event['old'])}/supersede", body
            case "retract":
                body = {"as": "wrong", "reason": event["reason"]}
                return self.agent, f"/facts/{self.id_of(event['id'])}/retract", body
            case "erase":
                body = {"facts": [self.id_of(event["id"])], "reason": "policy", "note": event["policy"]}
                return self.owner, "/erasures", body
        raise AssertionError(event["ev"])

    def _fact(self, event: Mapping[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "id": self.id_of(event["id"]), "subject": event["subject"], "attribute": event["predicate"],
            "value": event["value"], "confidence": event["confidence"],
            "source": {
                "class": CLASSES[event["source_class"]], "origin": event["root"], "pointer": event["source"],
            },
            "candidate": event["source_class"] == "unconfirmed",
        }  # fmt: skip
        if event["valid_from"] != event["t"] or self.is_explicit:
            body["valid_from"] = event["valid_from"]
        if event["valid_to"] is not None:
            body["valid_to"] = event["valid_to"]
        return body

    def _note(self, event: Mapping[str, Any], answer: HttpResponse) -> None:
        problem = answer.json()
        if event["ev"] == "declare_conflict":
            assert answer.status_code == 422
            assert [error["loc"] for error in problem["errors"]] == [["status"]]
            self.told["notes"] = ["declared_conflict_ignored"]
        elif answer.status_code >= 400:
            assert (answer.status_code, problem["code"]) == (409, "conflict"), answer.content
            self.told["rejected"] = ["id_reuse_conflict"]


def answered(play: Play, query: Mapping[str, Any], *, namespace: str = "") -> dict[str, Any]:
    """What the API says to the query, in the words of the fixture."""
    known_at = instants.read(query["known_at"])
    agent = play.agent if not namespace else Caller(namespace, person=play.world.alice.person)
    with clock.fixed(max(known_at, instants.read(query["valid_at"]))):
        answer = agent.get(
            "/facts", subject=query["subject"], attribute=query["predicate"], valid_at=query["valid_at"],
            known_at=query["known_at"],
        )  # fmt: skip
    assert answer.status_code == 200, answer.content
    (item,) = answer.json()["items"]
    names = {play.id_of(event["id"]): event["id"] for event in play.sequence["events"] if "id" in event}
    lists = {name: [names[one] for one in item[name]] for name in ("superseded", "retracted", "candidates", "erased")}
    return {
        **play.told, **lists, "state": item["status"], "reason": item["why"],
        "values": sorted(value["value"] for value in item["values"]),
        "support": {value["value"]: value["origins"] for value in item["values"]},
        "last_known": names.get(item["last_known"]), "may_act": item["may_act"],
    }  # fmt: skip


def agrees(found: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """The listed keys alone are compared; the order of arrival is tried by the test itself."""
    return all(found[key] == value for key, value in expected.items() if key != "order_independent")
