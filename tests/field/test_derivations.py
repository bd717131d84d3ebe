"""Derivations and what is said of them: S03, S08, S11."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memory.lineage.schemas import EvolveIn
from tests.contract.callers import Caller, caller
from tests.statements import after_first, in_thread
from tests.states import everything
from tests.world import World

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
WHOLE = {
    "type": "note", "content": "the text", "summary": "in short", "tags": ["a", "b"], "metadata": {"k": [1, None]},
    "valid_from": "2026-01-01T00:00:00.000000Z", "valid_to": "2026-06-01T00:00:00.000000Z",
    "source": {"class": "derived", "origin": "the log", "pointer": "line 7"},
}  # fmt: skip
OTHERWISE: dict[str, Any] = {
    "content": "another text", "summary": "otherwise", "tags": ["c"], "type": "decision", "metadata": {"k": 2},
    "valid_from": "2025-01-01T00:00:00.000000Z", "valid_to": "2027-01-01T00:00:00.000000Z",
}  # fmt: skip
CHANGED = [name for name in EvolveIn.model_fields if name in WHOLE]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


def merge(*records: str, **more: object) -> dict[str, object]:
    return {"kind": "merge", "records": list(records), "reason": "inference", **more}


def new_of(answer: dict[str, Any]) -> str:
    """The id of the one record that a derivation made."""
    (new,) = answer["records"]
    return str(new["id"] if isinstance(new, dict) else new)


@pytest.mark.django_db
def test_s03_a_merge_that_read_an_older_version_is_refused_with_the_current_one(world: World, agent: Caller) -> None:
    first = agent.post("/records", WHOLE).json()
    other = str(world.save("another").id)
    evolved = agent.post(
        "/derivations",
        {"kind": "evolve", "record": first["id"], "base": first["digest"], "content": "v2", "reason": "correction"},
    ).json()
    second = new_of(evolved)
    before = everything(world.namespace)
    refused = agent.post("/derivations", merge(first["id"], other))
    digest = agent.get(f"/records/{second}").json()["digest"]
    assert (refused.status_code, refused.json()["code"]) == (412, "stale_version")
    assert refused.json()["current"] == {"record": second, "digest": digest}
    assert everything(world.namespace) == before
    assert agent.get(f"/records/{second}").json()["state"] == "current"
    assert agent.post("/derivations", merge(second, other)).status_code == 201
    assert agent.post("/derivations", merge(first["id"], other, superseded="allow")).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_s03_a_version_that_is_written_while_the_merge_waits_for_the_lock_stands() -> None:
    world = World()
    agent, first, other = caller(world, world.scout), world.save("v1").id, world.save("another").id
    with after_first("FROM memory_recordstate", lambda: in_thread(lambda: world.evolve(first, content="v2"))):
        refused = agent.post("/derivations", merge(str(first), str(other)))
    assert (refused.status_code, refused.json()["code"]) == (412, "stale_version")
    second = refused.json()["current"]["record"]
    assert agent.get(f"/records/{second}").json()["content"] == "v2"
    assert agent.get("/records").json()["total"] == 2


@pytest.mark.django_db
def test_s08_an_evolve_that_names_one_field_carries_all_others_over(agent: Caller) -> None:
    assert set(CHANGED) == set(OTHERWISE) == set(WHOLE) - {"source"}
    first = agent.post("/records", WHOLE).json()
    read = agent.get(f"/records/{first['id']}", valid_at="2026-03-01T00:00:00Z").json()
    for name in CHANGED:
        saved = agent.post("/records", WHOLE).json()
        changed = {name: OTHERWISE[name]}
        base = {"record": saved["id"], "base": saved["digest"], "reason": "correction"}
        made = agent.post("/derivations", {"kind": "evolve", **base, **changed})
        assert made.status_code == 201, made.content
        found = agent.get(f"/records/{new_of(made.json())}").json()
        kept = {field: found[field] for field in (*CHANGED, "source")}
        assert kept == {**{field: read[field] for field in (*CHANGED, "source")}, **changed}, name


def examples() -> list[tuple[str, str, str, dict[str, str]]]:
    """(method, path, body, headers) of every request that the README shows."""
    found = []
    for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL):
        for command in re.split(r"\n(?!\s)", block.replace("\\\n", " ")):
            words = shlex.split(command, comments=True)
            if words[:1] != ["curl"]:
                continue
            told = dict(pairwise(words))
            headers = dict(word.split(": ", 1) for flag, word in pairwise(words) if flag == "-H")
            (url,) = [word for word in words if word.startswith("http")]
            body = told.get("-d", "")
            method = told.get("-X", "POST" if body else "GET")
            found.append((method, url.partition("/namespaces/main")[2], body, headers))
    return found


@pytest.mark.django_db
def test_s11_every_request_that_the_readme_shows_succeeds_and_does_what_it_says() -> None:
    world = World("main")
    agent = caller(world, world.scout)
    shown = examples()
    assert len(shown) == README.count("curl -s")
    answers = {}
    for method, path, body, headers in shown:
        assert headers["Authorization"] == "Bearer $PALIMPSEST_TOKEN"
        sent = {"body": body.encode(), "content_type": headers["Content-Type"]} if body else {}
        answer = agent.call(method, path, **sent)
        assert answer.status_code in (200, 201), (path, answer.content)
        answers[path] = (json.loads(body) if body else None, answer.json())
    saved, recalled = answers["/records"][0], answers["/recall"][1]
    assert [row["text"] for row in recalled["items"]] == [saved["content"]]
    ((_, known),) = [told for path, told in answers.items() if path.startswith("/facts?")]
    (item,) = known["items"]
    assert (item["status"], [value["value"] for value in item["values"]]) == ("known", [5433])


@pytest.mark.django_db
def test_s11_a_merge_across_tags_keeps_the_tags_of_all_as_is_said_of_it(world: World, agent: Caller) -> None:
    one, two = (str(world.save(f"text {tag}", tags=(tag, "shared")).id) for tag in ("x", "y"))
    made = agent.post("/derivations", merge(one, two)).json()
    record = agent.get(f"/records/{new_of(made)}").json()
    assert record["tags"] == ["shared", "x", "y"]
    by_tag = agent.get("/records", tag=["x"]).json()["items"]
    assert record["id"] in {row["id"] for row in by_tag}
