"""Headers of a write: the run it belongs to, for whom it is, and who may speak for others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from memory.agents import operations as agents
from memory.agents.identity import LOADER
from memory.base.actor import Actor
from memory.ledger.models import Entry
from memory.ledger.operations.founding import found
from memory.ledger.queries.contents import names_of
from memory.records import operations as records
from memory.records.content import NewRecord
from tests.contract.callers import Caller, caller, places
from tests.contract.stage import Stage

pytestmark = pytest.mark.django_db

NOTE = {"type": "note", "content": "a note"}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def entry(stage: Stage, answer: Any) -> Entry:
    assert answer.status_code in (200, 201), answer.content
    return Entry.objects.get(namespace=stage.namespace, seq=answer.json()["seq"])


@pytest.fixture
def agent(stage: Stage) -> Caller:
    return caller(stage, stage.scout)


def test_a_write_belongs_to_the_run_that_it_names(stage: Stage, agent: Caller) -> None:
    run = str(stage.run)
    by_header = agent.post("/records", NOTE, headers={"Palimpsest-Run": run})
    by_body = agent.post("/records", {**NOTE, "run": {"id": run}})
    by_both = agent.post("/records", {**NOTE, "run": {"id": run}}, headers={"Palimpsest-Run": run})
    for answer in (by_header, by_body, by_both):
        assert str(entry(stage, answer).run) == run
    shown = agent.get(f"/runs/{run}").json()
    assert [one["entry"]["verb"] for one in shown["items"]] == ["open_run", "save", "save", "save"]
    assert shown["items"][1]["objects"] == [{"kind": "record", "id": by_header.json()["id"]}]


def test_header_and_body_may_not_name_two_runs(stage: Stage, agent: Caller) -> None:
    answer = agent.post("/records", {**NOTE, "run": {"id": str(uuid4())}}, headers={"Palimpsest-Run": str(stage.run)})
    assert (answer.status_code, places(answer)) == (422, [["run", "id"]])


def test_a_run_that_is_not_there_is_not_found(stage: Stage, elsewhere: Stage, agent: Caller) -> None:
    for run in (uuid4(), elsewhere.run):
        answer = agent.post("/records", NOTE, headers={"Palimpsest-Run": str(run)})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_the_first_write_opens_the_run_that_it_describes(stage: Stage, agent: Caller) -> None:
    told = {
        "kind": "case",
        "title": "the missing parcel",
        "refs": {"ticket": "4413"},
        "runtime": {"model": "m", "version": "1", "prompt_hash": "abc"},
    }
    run = entry(stage, agent.post("/records", {**NOTE, "run": told})).run
    shown = agent.get(f"/runs/{run}").json()["run"]
    assert {name: shown[name] for name in told} == told
    assert shown["agent_name"] == "scout"
    assert agent.get("/runs", q="4413").json()["items"][0]["id"] == str(run)
    assert agent.get("/runs", q="missing parcel").json()["total"] == 1
    assert agent.get("/runs", q=str(run)[:8]).json()["total"] == 1
    assert agent.get("/runs", q="title").json()["total"] == 0


def test_a_trace_finds_its_run_again(stage: Stage, agent: Caller) -> None:
    headers = {"traceparent": PARENT}
    first = entry(stage, agent.post("/records", NOTE, headers=headers)).run
    other_span = {"traceparent": f"00-{TRACE}-00f067aa0ba902b8-00"}
    assert entry(stage, agent.post("/records", NOTE, headers=other_span)).run == first
    shown = agent.get(f"/runs/{first}").json()["run"]
    assert (shown["kind"], shown["refs"]) == ("session", {"trace": TRACE, "traceparent": PARENT})
    other = {"traceparent": PARENT.replace("4b", "5b")}
    assert entry(stage, agent.post("/records", NOTE, headers=other)).run != first


def test_a_body_may_say_more_of_the_run_of_a_trace(stage: Stage, agent: Caller) -> None:
    body = {**NOTE, "run": {"title": "a traced task", "refs": {"ticket": "4414"}}}
    run = entry(stage, agent.post("/records", body, headers={"traceparent": PARENT})).run
    shown = agent.get(f"/runs/{run}").json()["run"]
    assert (shown["title"], shown["kind"]) == ("a traced task", "session")
    assert shown["refs"] == {"ticket": "4414", "trace": TRACE, "traceparent": PARENT}


def test_a_run_named_by_its_id_goes_before_a_trace(stage: Stage, agent: Caller) -> None:
    headers = {"traceparent": PARENT, "Palimpsest-Run": str(stage.run)}
    assert entry(stage, agent.post("/records", NOTE, headers=headers)).run == stage.run


def test_a_trace_opens_a_run_by_itself(stage: Stage, agent: Caller) -> None:
    opened = agent.post("/runs", {}, headers={"traceparent": PARENT})
    assert opened.status_code == 201
    assert str(entry(stage, agent.post("/records", NOTE, headers={"traceparent": PARENT})).run) == opened.json()["id"]
    again = agent.post("/runs", {}, headers={"traceparent": PARENT})
    assert (again.status_code, again.json()["run"]) == (409, opened.json()["id"])


@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        "00",
        PARENT.upper(),
        PARENT[:-1],
        f"{PARENT}-extra",
        PARENT.replace(TRACE, "0" * 32),
        PARENT.replace("00f067aa0ba902b7", "0" * 16),
        f"ff{PARENT[2:]}",
        PARENT.replace("4b", "4g"),
    ],
)
def test_a_traceparent_that_is_none_is_named(stage: Stage, agent: Caller, traceparent: str) -> None:
    answer = agent.post("/records", NOTE, headers={"traceparent": traceparent})
    assert (answer.status_code, places(answer)) == (422, [["traceparent"]])


def test_a_traceparent_of_a_later_version_is_read_as_far_as_it_is_known(stage: Stage, agent: Caller) -> None:
    answer = agent.post("/records", NOTE, headers={"traceparent": f"01{PARENT[2:]}-more"})
    assert answer.status_code == 201


def test_for_whom_and_from_where_are_names_of_the_entry(stage: Stage, agent: Caller) -> None:
    headers = {"Palimpsest-On-Behalf-Of": "the night shift", "Palimpsest-Host": "build-7"}
    written = entry(stage, agent.post("/records", NOTE, headers=headers))
    names = names_of(stage.namespace, [written.on_behalf_of, written.host])
    assert (names[written.on_behalf_of], names[written.host]) == ("the night shift", "build-7")
    shown = agent.get(f"/ledger/entries/{written.seq}").json()["entry"]
    assert (shown["on_behalf_of"], shown["host"]) == ("the night shift", "build-7")


@pytest.mark.parametrize("name", ["Palimpsest-On-Behalf-Of", "Palimpsest-Host", "Palimpsest-Run"])
@pytest.mark.parametrize("value", ["", "x" * 401, "a\0b"])
def test_a_name_that_is_none_is_named(stage: Stage, agent: Caller, name: str, value: str) -> None:
    answer = agent.post("/records", NOTE, headers={name: value})
    assert (answer.status_code, places(answer)) == (422, [[name]])


def test_the_request_is_written_down(stage: Stage, agent: Caller) -> None:
    request = uuid4()
    answer = agent.post("/records", NOTE, headers={"X-Request-ID": str(request)})
    assert entry(stage, answer).request == request


def test_if_match_names_the_version_to_evolve(stage: Stage, agent: Caller) -> None:
    digest = stage.first.digest.hex()
    body = {"kind": "evolve", "record": str(stage.first.id), "content": "reworded"}
    both = agent.post("/derivations", {**body, "base": "0" * 64}, headers={"If-Match": f'"{digest}"'})
    assert (both.status_code, places(both)) == (422, [["If-Match"]])
    neither = agent.post("/derivations", body)
    assert (neither.status_code, places(neither)) == (422, [["base"]])
    stale = agent.post("/derivations", body, headers={"If-Match": f'"{"0" * 64}"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
    assert stale.json()["current"] == {"record": str(stage.first.id), "digest": digest}
    assert "no version" in stale.json()["detail"]
    assert not {"differs", "since"} & stale.json().keys()
    assert agent.post("/derivations", body, headers={"If-Match": f'"{digest}"'}).status_code == 201


def test_a_star_in_if_match_takes_whatever_version_is_current(stage: Stage, agent: Caller) -> None:
    body = {"kind": "evolve", "record": str(stage.first.id), "content": "reworded"}
    both = agent.post("/derivations", {**body, "base": "0" * 64}, headers={"If-Match": "*"})
    assert both.status_code == 412
    assert agent.post("/derivations", body, headers={"If-Match": "*"}).status_code == 201
    stale = agent.post("/derivations", {**body, "content": "again"}, headers={"If-Match": "*"})
    assert (stale.status_code, stale.json()["since"]) == (412, str(stage.first.id))
    assert [one["field"] for one in stale.json()["differs"]] == ["content"]


@pytest.mark.parametrize("given", ["", "hello", '"hello"', '"*"', "0" * 64, 'W/"{digest}"', '"{digest}", "{digest}"'])
def test_an_if_match_that_names_no_digest_is_refused_by_its_name(stage: Stage, agent: Caller, given: str) -> None:
    body = {"kind": "evolve", "record": str(stage.first.id), "content": "reworded"}
    match = given.replace("{digest}", stage.first.digest.hex())
    answer = agent.post("/derivations", body, headers={"If-Match": match})
    assert (answer.status_code, places(answer)) == (422, [["If-Match"]])


def test_if_match_is_refused_where_nothing_is_replaced(stage: Stage, agent: Caller) -> None:
    headers = {"If-Match": f'"{stage.first.digest.hex()}"'}
    supersede = {"kind": "supersede", "old": str(stage.first.id), "new": str(stage.second.id)}
    for path, body in (("/records", NOTE), ("/derivations", supersede)):
        answer = agent.post(path, body, headers=headers)
        assert (answer.status_code, places(answer)) == (422, [["If-Match"]])


class Replay:
    """A namespace that replays events, with its loader."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.namespace = found(Actor(0, "system"), name="replay", host_clock="replay").pk
        system = Actor(self.namespace, "system")
        self.tokens = {}
        for name in (LOADER, "scout"):
            agent = agents.create_agent(system, name=name).id
            self.tokens[name] = agents.issue_token(system, agent=agent).secret
        agents.admit_member(system, person=self.stage.bob.person or 0, role="reviewer")
        ends = datetime(2040, 1, 1, tzinfo=UTC)
        agents.admit_member(system, person=self.stage.charlie.person or 0, role="auditor", expires_at=ends)
        records.save(
            replace(system, event_at=datetime(2031, 1, 1, tzinfo=UTC)), records=[NewRecord("note", "the first")]
        )
        self.loader = Caller("replay", token=self.tokens[LOADER])

    def post(self, path: str, body: Any, **headers: str) -> Any:
        return self.loader.post(path, body, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture(scope="module")
def replay(stage: Stage) -> Replay:
    return Replay(stage)


def test_the_loader_writes_in_the_name_of_whoever_acted_then(replay: Replay) -> None:
    at = "2031-05-01T10:00:00.000001Z"
    answer = replay.post("/records", NOTE, Palimpsest_Actor="agent:scout", Palimpsest_Event_At=at)
    written = Entry.objects.get(namespace=replay.namespace, seq=answer.json()["seq"])
    shown = replay.loader.get(f"/ledger/entries/{written.seq}").json()["entry"]
    assert shown["recorded_at"] == at
    assert (written.principal, written.agent == written.loader) == ("agent", False)
    record = answer.json()["id"]
    at = "2031-05-01T11:00:00Z"
    withdrawn = replay.post(
        f"/records/{record}/withdraw",
        {"reason": "x"},
        Palimpsest_Actor="person:Bob@example.org",
        Palimpsest_Event_At=at,
    )
    assert withdrawn.status_code == 200
    written = Entry.objects.get(namespace=replay.namespace, seq=withdrawn.json()["seq"])
    assert (written.principal, written.person) == ("person", replay.stage.bob.person)
    assert written.loader is not None


def test_the_loader_may_write_as_itself(replay: Replay) -> None:
    answer = replay.post("/records", NOTE, Palimpsest_Event_At="2031-05-01T10:00:00Z")
    written = Entry.objects.get(namespace=replay.namespace, seq=answer.json()["seq"])
    assert (written.principal, written.loader) == ("agent", None)


def test_the_loader_holds_the_powers_of_whom_it_writes_for(replay: Replay) -> None:
    auditor = {"Palimpsest_Actor": "person:charlie@example.org", "Palimpsest_Event_At": "2031-05-01T10:00:00Z"}
    answer = replay.post("/records", NOTE, **auditor)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "actor", ["agent:nobody", "person:nobody@example.org", "person:alice@example.org", "scout", "system:", "agent:"]
)
def test_whom_the_loader_cannot_be_is_named(replay: Replay, actor: str) -> None:
    answer = replay.post("/records", NOTE, Palimpsest_Actor=actor, Palimpsest_Event_At="2031-05-01T10:00:00Z")
    assert (answer.status_code, places(answer)) == (422, [["Palimpsest-Actor"]])


def test_the_loader_must_say_when(replay: Replay) -> None:
    for headers in ({"Palimpsest_Actor": "agent:scout"}, {"Palimpsest_Event_At": "yesterday"}):
        answer = replay.post("/records", NOTE, **headers)
        assert (answer.status_code, places(answer)) == (422, [["Palimpsest-Event-At"]])
    unsaid = replay.post("/records", NOTE)
    assert (unsaid.status_code, unsaid.json()["code"]) == (403, "forbidden")


def test_nobody_but_the_loader_of_a_replay_speaks_for_others(replay: Replay) -> None:
    live = caller(replay.stage, replay.stage.scout)
    other = Caller("replay", token=replay.tokens["scout"])
    loader_by_name = caller(replay.stage, replay.stage.agent(LOADER))
    person = caller(replay.stage, replay.stage.alice)
    headers = {"Palimpsest-Actor": "agent:scout", "Palimpsest-Event-At": "2031-05-01T10:00:00Z"}
    for who in (live, other, loader_by_name, person):
        for name, value in headers.items():
            answer = who.post("/records", NOTE, headers={name: value})
            assert (answer.status_code, places(answer)) == (422, [[name]])


def test_a_replay_takes_no_writes_from_anybody_else(replay: Replay) -> None:
    answer = Caller("replay", token=replay.tokens["scout"]).post("/records", NOTE)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
