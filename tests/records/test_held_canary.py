"""A held memory shows in no default read, whatever the door, and no token gets it confirmed by any.

Every route of the API and every page of the console is walked, so that a new one is walked too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from memory.agents import operations as agents
from memory.base.actor import Actor, RunGiven
from memory.facts.operations.ending import retract
from memory.interchange.models import EXPORT_FORMATS
from memory.interchange.operations import export_file
from memory.interchange.slices import Selection
from memory.ledger.models import Item
from memory.records.models import RecordState
from memory.records.review import waiting
from memory.records.reviewing import Target, review
from tests.browser.addresses import routes as pages
from tests.browsers import browser
from tests.contract.callers import NOTHING, Caller
from tests.contract.routes import Route, routes
from tests.contract.stage import EXAMPLES, Stage
from tests.erasures.canary import new_canary
from tests.facts.stating import state

pytestmark = pytest.mark.django_db(databases=["default", "tasks"])

ROUTES = routes()
READS = [route for route in ROUTES if not route.is_write]
WRITES = [route for route in ROUTES if route.is_write]
# An archive and a proof hold everything, for people and for the author of what is held.
WHOLE = {"interchange_export", "ledger_proof"}
SUBJECT = "a held subject"
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The queue is where people look at what is held, and an erasure must find what it names wherever it stands.
FOR_REVIEW = ("inbox", "erasures", "sign-in", "sign-out", "api/")


class Held:
    """A stage with one more held record that names a canary, its text told a second time by nobody."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.canary = new_canary()
        by = replace(self.stage.scout, run=RunGiven(title="a run that wrote it"))
        self.id, self.seq = self.held(by)
        self.run = RecordState.objects.get(namespace=self.stage.namespace, id=self.id).run
        self.other = self.stage.agent("another", scopes=("read", "write", "control"))
        rows = "kind=fact attribute=held_attribute -> hold\ntype=procedure -> hold 14 d"
        agents.change_setting(self.stage.alice, name="review_policy", value=rows)
        self.fact = state(self.stage, "held_attribute", f"the {self.canary} of a fact", subject=SUBJECT)

    def held(self, by: Actor) -> tuple[UUID, int]:
        saved = self.stage.save(f"the {self.canary} of two notes", type="procedure", by=by, tags=(self.canary,))
        assert saved.state == "held"
        return saved.id, saved.seq

    def items(self) -> list[tuple[int, int]]:
        """Every item of the entries that brought what is held: names and texts."""
        brought = Item.objects.filter(namespace=self.stage.namespace, object__in=(self.id, self.fact)).values("seq")
        rows = Item.objects.filter(namespace=self.stage.namespace, seq__in=brought)
        return list(rows.values_list("seq", "item"))

    def state(self) -> str:
        row = RecordState.objects.get(namespace=self.stage.namespace, id=self.id)
        return "current" if row.confirmed_seq is not None else "held" if row.withdrawn_seq is None else "withdrawn"


@pytest.fixture
def held() -> Held:
    return Held()


def readers(held: Held) -> Iterator[tuple[str, Caller]]:
    stage = held.stage
    assert stage.scout.agent is not None
    assert held.other.agent is not None
    yield "its author", Caller("lab", token=stage.secrets[stage.scout.agent])
    yield "another agent", Caller("lab", token=stage.secrets[held.other.agent])
    yield "an owner", Caller("lab", person=stage.alice.person)


def test_no_read_of_the_api_shows_it_to_anybody_who_did_not_ask(held: Held) -> None:
    shown = []
    for route in READS:
        example = EXAMPLES[route.operation](held.stage)
        for who, by in readers(held):
            for query in _queries(route, held, example.query):
                body = NOTHING if example.body is None else _asking(example.body, held.canary)
                answer = by.call(route.method, example.path, body, query=query, content_type=example.content_type)
                if held.canary in _text(answer):
                    shown.append((route.operation, who, query))
    whole = {(operation, who) for operation, who, _ in shown}
    assert whole == {(operation, who) for operation in WHOLE for who in ("its author", "an owner")}


def _queries(route: Route, held: Held, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield query
    if "q" in route.query:
        yield {**query, "q": held.canary}
    if "format" in route.query:
        yield from ({"format": format} for format in EXPORT_FORMATS)
    if "item" in route.query:
        yield from ({"seq": seq, "item": item} for seq, item in held.items())
    if "subject" in route.query:
        yield {**query, "subject": SUBJECT}
    if "attribute" in route.query:
        yield {name: value for name, value in query.items() if name != "subject"} | {"attribute": "held_attribute"}
    if "include" in route.query:
        yield {**query, "include": "superseded,withdrawn,erased"}
    if "known_at" in route.query and "valid_at" in route.query:
        yield {**query, "known_at": f"seq:{held.seq}", "valid_at": "2999-01-01T00:00:00Z"}


def _asking(body: Any, canary: str) -> Any:
    return {**body, "query": f"{canary} notes"} if isinstance(body, dict) and "query" in body else body


def _text(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content, "utf-8", "replace")


def test_by_its_id_and_by_its_word_it_is_shown_to_people_and_its_author_alone(held: Held) -> None:
    paths = ("/records/{}", "/records/{}/timeline", "/records/{}/suggestions", "/lineage?focus={}", "/records/{}/diff")
    for who, by in readers(held):
        for template in paths:
            query = {"with": str(held.stage.first.id)} if template.endswith("diff") else {}
            path, _, focus = template.format(held.id).partition("?focus=")
            answer = by.call("GET", path, query={**query, **({"focus": focus} if focus else {})})
            assert answer.status_code == (404 if who == "another agent" else 200), (who, template)
        is_other = who == "another agent"
        asked = by.get(f"/records/{held.id}", include="held")
        assert (asked.status_code, asked.json().get("state")) == ((404, None) if is_other else (200, "held"))
        for query in ({"include": "held"}, {"state": "held"}, {"include": "held", "q": held.canary}):
            listed = by.get("/records", **query, type="procedure").json()
            found = {item["id"]: item["state"] for item in listed["items"]}
            assert found.get(str(held.id)) == (None if is_other else "held"), (who, query)
        assert by.get("/records", q=held.canary).json()["hidden"] == ({} if is_other else {"held": 1})
        assert by.get("/records", tag=held.canary).json()["hidden"] == ({} if is_other else {"held": 1})
        told = by.post("/recall", {"query": held.canary}).json()["hidden"]
        assert told == ({} if is_other else {"held": 1})
        assert by.get("/records", type="procedure").json()["hidden"] == {"held": 2}
        assert by.get(f"/facts/{held.fact}").status_code == (404 if is_other else 200)


@pytest.mark.sqlite_only
def test_no_agent_takes_an_archive_of_what_waits_nor_a_proof_of_it(held: Held) -> None:
    by = dict(readers(held))
    refused = by["another agent"].get("/export", format="jsonl")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    waits = list(waiting(held.stage.namespace))
    assert f"{len(waits)} held memories wait for a review" in refused.json()["detail"]
    told = {
        who: {one.get("/ledger/proof", seq=s, item=i).status_code for s, i in held.items()} for who, one in by.items()
    }
    assert told["its author"] == told["an owner"] == {200}
    for seq, item in held.items():
        row = Item.objects.get(namespace=held.stage.namespace, seq=seq, item=item)
        is_of_it = row.kind == "name" or row.object in (held.id, held.fact)
        assert by["another agent"].get("/ledger/proof", seq=seq, item=item).status_code == (404 if is_of_it else 200)
    review(held.stage.alice, confirm=[Target(one.kind, one.object) for one in waits])
    for seq, item in held.items():
        assert by["another agent"].get("/ledger/proof", seq=seq, item=item).status_code == 200
    assert by["another agent"].get("/export", format="jsonl").status_code == 200


def test_nothing_rests_on_what_is_held_and_to_other_agents_it_is_not_there(held: Held) -> None:
    stage = held.stage
    taken_back = state(stage, "held_attribute", "taken back", subject=SUBJECT)
    retract(stage.scout, fact=taken_back, retracted_as="wrong", reason="a slip")
    refused = {}
    for who, by in readers(held):
        for what, thing in (("record", held.id), ("fact", held.fact), ("taken back", taken_back)):
            for operation in ("facts_assert_fact", "tombstones_bury", "tombstones_file_evidence"):
                example = EXAMPLES[operation](stage)
                body = _resting_on(example.body, str(thing))
                refused[who, what, operation] = by.post(example.path, body).status_code
    for (who, what, operation), status in refused.items():
        is_told = what == "taken back" or who != "another agent"
        expected = 201 if (who, what) == ("an owner", "taken back") else 409 if is_told else 404
        assert status == expected, (who, what, operation)


def _resting_on(body: Any, thing: str) -> Any:
    if "references" in body:
        return {**body, "references": [thing]}
    return {**body, "evidence": {"text": "it says so", "references": [thing]}}


def test_no_export_of_what_stands_holds_it(held: Held) -> None:
    for format in ("prov", "openlineage"):
        file = BytesIO()
        export_file(held.stage.alice, held.stage.now(), file, format=format, selection=Selection())
        assert held.canary.encode() not in file.getvalue()


def test_no_page_shows_it_but_the_queue_and_its_own(held: Held) -> None:
    client = browser(held.stage.alice)
    plain = [f"/{route}" for route in pages() if "<" not in route and not route.startswith(FOR_REVIEW)]
    first = held.stage.first.id
    asked = [
        *plain, f"/search?q={held.canary}", f"/records?q={held.canary}", "/records?include=superseded,withdrawn,erased",
        f"/ledger/{held.seq}", f"/runs/{held.run}", f"/records/{first}", f"/records/{first}/suggestions",
        f"/records/{first}/entries", f"/timeline?record={first}", f"/records.csv?q={held.canary}",
        f"/facts?q={SUBJECT}", "/facts?attribute=held_attribute", f"/timeline?subject={SUBJECT}",
        f"/timeline?subject={SUBJECT}&attribute=held_attribute", f"/ledger/{held.stage.now().seq}",
    ]  # fmt: skip
    shown = [address for address in asked if held.canary in _without_question(client, address, held.canary)]
    assert shown == []
    assert held.canary in client.get(f"/records/{held.id}").text
    assert held.canary in client.get(f"/facts/{held.fact}").text
    assert client.get("/inbox").text.count(f"the {held.canary} of") >= 2


def _without_question(client: Client, address: str, canary: str) -> str:
    """The answer, without the places where it repeats what was asked for."""
    text = _text(client.get(address, follow=True))
    return text if f"q={canary}" not in address else text.replace(canary, "", _echoes(text, canary))


def _echoes(text: str, canary: str) -> int:
    return text.count(canary) - text.count(f"the {canary} of")


def test_no_token_gets_it_confirmed_by_any_route(held: Held) -> None:
    stage = held.stage
    tried = set()
    for route in WRITES:
        for agent in (stage.scout.agent, held.other.agent):
            assert agent is not None
            by = Caller("lab", token=stage.secrets[agent])
            example = EXAMPLES[route.operation](stage)
            bodies = [NOTHING if example.body is None else example.body]
            bodies += [_named(example.body, held.id)] if isinstance(example.body, dict) else []
            for body in bodies:
                path = ID.sub(str(held.id), example.path)
                tried.add(by.call(route.method, path, body, content_type=example.content_type).status_code)
                assert held.state() != "current", route.operation
                if held.state() == "withdrawn":
                    held.id, _ = held.held(stage.scout)
    assert {403, 404, 409} <= tried


def _named(value: Any, id: UUID) -> Any:
    if isinstance(value, str):
        return ID.sub(str(id), value)
    if isinstance(value, list):
        return [_named(one, id) for one in value]
    return {name: _named(one, id) for name, one in value.items()} if isinstance(value, dict) else value
