"""Sequences of the arc of lineage, posted through the API as an agent would, and what they then show.

Ids of a sequence become ids of records; a rebuilt record has an id of its own, and the name goes over to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.http import HttpResponse

from memory.base.asof import AsOf
from memory.lineage.queries.compiled import compiled
from memory.records.queries.detail import record
from tests.contract.callers import Caller

FIXTURE = Path(__file__).parent / "fixtures" / "arc_lineage.json"
SEQUENCES: Mapping[str, Mapping[str, Any]] = {
    one["id"]: one for one in json.loads(FIXTURE.read_text(encoding="utf-8"))["sequences"]
}


@dataclass(slots=True)
class Played:
    """One sequence while it is posted. `times`: how often each event is sent, under one key."""

    agent: Caller
    sequence: str
    times: int = 1
    ids: dict[str, UUID] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)
    rebuilt: dict[str, Any] = field(default_factory=dict)
    recipes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def play(self) -> Played:
        for n, event in enumerate(SEQUENCES[self.sequence]["events"]):
            answers = [self._post(n, event) for _ in range(self.times)]
            assert len({answer.status_code // 100 for answer in answers}) == 1, [a.content for a in answers]
            codes = {error["code"] for error in answers[0].json().get("errors", ())}
            self.rejected += sorted(codes)
        return self

    def _post(self, n: int, event: Mapping[str, Any]) -> HttpResponse:
        name, key = event["id"], {"Idempotency-Key": f"{self.sequence}/{n}"}
        match event["ev"]:
            case "raw.add":
                body = {"type": "note", "content": event["content"], "id": str(self._named(name)),
                        "tags": [event["topic"]] if "topic" in event else [],
                        "source": {"class": "first_hand"}}  # fmt: skip
                answer = self.agent.post("/records", body, headers=key)
                self.ids[name] = self._named(name)
            case "derive":
                self.recipes[name] = self._recipe(event)
                answer = self._derived(name, {**self.recipes[name], "id": str(self._named(name))}, key)
            case "rebuild":
                answer = self._derived(name, self.recipes[name], key)
                self.rebuilt[name] = answer.json()["rebuild"]
            case "projection.delete":
                answer = self.agent.post(f"/records/{self.ids[name]}/withdraw", {"reason": "deleted"}, headers=key)
            case "raw.update":
                answer = self.agent.call("PATCH", f"/records/{self.ids[name]}", {"content": event["content"]})
            case other:
                raise AssertionError(other)
        return answer

    def _named(self, name: str) -> UUID:
        return uuid5(NAMESPACE_URL, f"{self.sequence}/{name}")

    def _recipe(self, event: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: event[name] for name in ("redacted", "covers") if name in event}
        sources = [str(self.ids[source]) for source in event["sources"]]
        content = f"{event['kind']} {event['fn']} of {', '.join(event['sources'])}"
        return {"kind": "compile", "sources": sources, "function": {"name": "sum up", "version": event["fn"]},
                "output": event["kind"], "content": content, **given}  # fmt: skip

    def _derived(self, name: str, body: dict[str, Any], key: dict[str, str]) -> HttpResponse:
        answer = self.agent.post("/derivations", body, headers=key)
        if answer.status_code < 300:
            self.ids[name] = UUID(answer.json()["records"][0])
        return answer


def shown(at: AsOf, played: Played) -> dict[str, Any]:
    """What the sequence shows at the point, in the words of its `expected`."""
    names = {id: name for name, id in played.ids.items()}
    made = {name: found for id, name in names.items() if (found := compiled(at, record=id)) is not None}
    told = {
        "items": {name: found.freshness.word for name, found in made.items()},
        "roots": {name: [names[root] for root in found.roots] for name, found in made.items()},
        "raw": {name: record(at, id=id).content for id, name in names.items() if name not in made},
        "rebuild_equal": {name: one["equal"] for name, one in played.rebuilt.items()},
        "rejected": played.rejected,
    }
    expected = SEQUENCES[played.sequence]["expected"]
    # Of roots and raw texts a sequence names those that it is about.
    narrowed = {name: {key: told[name][key] for key in expected[name]} for name in ("roots", "raw") if name in expected}
    return {name: narrowed.get(name, told[name]) for name in expected}
