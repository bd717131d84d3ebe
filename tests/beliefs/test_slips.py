"""What a slip of a client comes to: it is refused in words that mend it, or taken with a warning."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from memory.base import clock
from memory.beliefs.models import Revocation
from tests.browsers import browser
from tests.calibration.test_through_http import Door
from tests.world import World

pytestmark = pytest.mark.django_db

DAY_SECONDS = 86_400.0


@pytest.fixture(scope="module")
def stage(around_all: None) -> Door:
    found = Door(World("ns"))
    found.world.save()
    assert found.post("/relations/rel", {"law": "cyclic:2"}, method="put").status_code == 201
    return found


@pytest.fixture
def door(stage: Door, db: None) -> Door:
    return stage


def document(id: str, posterior: Any = (0.9, 0.1), **more: Any) -> dict[str, Any]:
    return {
        "schema_version": 2, "observation_id": id, "namespace": "ns", "relation_type": "rel", "source": "a",
        "target": "b", "posterior": posterior, "evidence_family": id, "observed_at": 10.0, **more,
    }  # fmt: skip


def stored(door: Door, id: str, posterior: Any = (0.9, 0.1), **more: Any) -> dict[str, Any]:
    answer = door.post("/observations", document(id, posterior, **more))
    assert answer.status_code in (200, 201), answer.content
    found: dict[str, Any] = answer.json()
    return found


def question(**more: Any) -> dict[str, Any]:
    return {"schema_version": 2, "relation_type": "rel", "root": "a", "nodes": ["a", "b"], **more}


def refusal(answer: Any, *, status: int = 422) -> tuple[str, list[Any]]:
    assert answer.status_code == status, answer.content
    told = answer.json()
    return told["detail"], told["errors"][0]["loc"]


def test_an_observation_is_not_revoked_from_an_instant_to_come(door: Door) -> None:
    stored(door, "o1")
    milliseconds = clock.now().timestamp() * 1000
    path, body = "/observations/o1/revoke", {"reason": "a broken probe", "at": milliseconds}
    words, place = refusal(door.post(path, body))
    assert ("an instant that has come" in words, place) == (True, ["at"])
    assert not Revocation.objects.filter(namespace=door.world.namespace).exists()
    assert door.post("/beliefs/query", question()).json()["used_observation_ids"] == ["o1"]
    assert door.post(path, {**body, "at": clock.now().timestamp()}).status_code == 200
    assert door.post("/beliefs/query", question()).json()["used_observation_ids"] == []
    stored(door, "o2")
    assert door.post("/observations/o2/revoke?profile=compat", body).json()["at"] == milliseconds


def test_what_claims_to_be_of_later_is_revoked_from_then_on(door: Door) -> None:
    later = clock.now().timestamp() + 9 * DAY_SECONDS
    for id in ("o1", "o2", "o3"):
        stored(door, id, observed_at=later)
    assert door.post("/observations/o1/revoke", {"reason": "why"}).json()["at"] == later
    assert door.post("/observations/o2/revoke", {"reason": "why", "at": later}).json()["at"] == later
    assert refusal(door.post("/observations/o3/revoke", {"reason": "why", "at": later + 1}))[1] == ["at"]
    assert refusal(door.post("/observations/o3/revoke?profile=compat", {"reason": "why"}))[1] == ["at"]


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({"posterior": {"0": 0.5}}, ["rescaled"]),
        ({"posterior": [0.5, 0.6]}, ["rescaled"]),
        ({"prior": [1, 1]}, ["rescaled"]),
        ({"posterior": [0.5, 0.5 + 1e-7], "prior": None}, []),
        ({"observed_at": DAY_SECONDS + 60}, ["observed_in_future"]),
        ({"observed_at": DAY_SECONDS - 60}, []),
        ({"observed_at": 1e12, "posterior": [0, 0]}, ["observed_in_future", "rescaled", "uninformative_vector"]),
    ],
)
def test_what_is_rescaled_or_claims_to_be_of_later_is_flagged_wherever_it_is_told(
    door: Door, given: dict[str, Any], flags: list[str]
) -> None:
    more = dict(given)
    if "observed_at" in more and more["observed_at"] < 1e9:
        more["observed_at"] += clock.now().timestamp()
    first = stored(door, "o1", **more)
    again = stored(door, "o1", **more)
    assert (first["flags"], again["flags"], again["recorded"]) == (flags, flags, False)
    assert door.get("/observations/o1").json()["flags"] == flags
    audit = door.post("/beliefs/query", question(as_of=2e12)).json()["audit"]
    of_vectors = [flag for flag in flags if flag != "observed_in_future"]
    assert audit["flags"] == ([{"observation_id": "o1", "flags": of_vectors}] if of_vectors else [])


@pytest.mark.sqlite_only
def test_the_page_of_an_observation_says_that_it_was_rescaled(door: Door) -> None:
    world = door.world
    pages = [
        browser(world.charlie).get(f"/beliefs/observations/{stored(door, id, masses)['id']}?ns=ns").text
        for id, masses in (("o1", [0.5, 0.6]), ("o2", [0.5, 0.5]))
    ]
    assert ["as given, rescaled" in page for page in pages] == [True, False]
    assert ["does not sum to 1" in page for page in pages] == [True, False]


def test_a_question_under_a_used_name_replaces_the_first_which_keeps_its_address(door: Door) -> None:
    def save(root: str, **headers: str) -> Any:
        body = {"name": "where", "query": question(root=root, nodes=[root, "b"])}
        return door.post("/beliefs/saved", body, **headers).json()

    first, second = save("a"), save("c", **{"Idempotency-Key": "k"})
    third, again = save("d"), save("c", **{"Idempotency-Key": "k"})
    assert [one["replaces"] for one in (first, second, third, again)] == [None, first["id"], second["id"], first["id"]]
    assert [one["id"] for one in door.get("/beliefs/saved").json()["items"]] == [third["id"]]
    client = browser(door.world.charlie)
    shown = [client.get(f"/beliefs/saved/{one['id']}?ns=ns", follow=True) for one in (first, second, third)]
    assert [json.loads(one.wsgi_request.GET["query"])["root"] for one in shown] == ["a", "c", "d"]
    assert ["a newer one stands" in one.text for one in shown] == [True, True, False]
    assert f"/beliefs/saved/{third['id']}" in shown[0].text
    # As it was known then, the first is the one that is asked.
    past = client.get(f"/beliefs/saved/{first['id']}?ns=ns&known_at=seq:{first['seq']}", follow=True)
    assert (past.status_code, "a newer one stands" in past.text) == (200, False)
    assert client.get(f"/beliefs/saved/{UUID(int=1)}?ns=ns").status_code == 404
    assert refusal(door.post("/beliefs/saved", {"name": "  ", "query": question()}))[1] == ["name"]


def test_a_capsule_that_is_handed_in_is_not_vouched_for(door: Door) -> None:
    stored(door, "o1")
    focus = {"focus_node": "b"}
    capsule = door.post("/beliefs/query", question()).json()
    computed = door.post("/beliefs/decision", {**question(), **focus}).json()["audit"]
    assert (computed["certainty"], computed["source"]) == ("exact", "computed")
    handed = door.post("/beliefs/decision", {"capsule": capsule, **focus}).json()["audit"]
    assert (handed["certainty"], handed["source"]) == (None, "handed_in")
    elsewhere = {"capsule": {**capsule, "namespace": "another"}, **focus}
    assert refusal(door.post("/beliefs/decision", elsewhere))[1] == ["capsule", "namespace"]
    candidates = [{"state": "0", "probability": 0.9}, {"state": "1", "probability": 0.8}]
    too_sure = {"capsule": {**capsule, "beliefs": [{"node": "b", "candidates": candidates}]}, **focus}
    assert refusal(door.post("/beliefs/decision", too_sure))[1] == ["capsule", "beliefs", 0, "candidates"]
    for body in (elsewhere, too_sure):
        assert door.post("/beliefs/decision?profile=compat", body).status_code == 200


def test_a_refusal_names_its_place_and_what_would_do(door: Door) -> None:
    assert refusal(door.post("/observations", []))[0] == "the body: expected an object, got a list"
    assert refusal(door.post("/observations/batch", [[]]))[0] == "0: expected an object, got a list"
    first = {**document("o1"), "schema_version": 1, "encoder_revision": "e"}
    absent = {key: value for key, value in first.items() if key != "schema_version"}
    for body in (first, absent):
        words = refusal(door.post("/observations", body))[0]
        assert words == "encoder_revision: expected schema_version 2 with this field, got version 1"
    assert "expected no field of this name" in refusal(door.post("/observations", {**first, "schema_version": 2,
                                                                                   "unknown": 1}))[0]  # fmt: skip
    words, place = refusal(door.post("/beliefs/query?profile=zz", question()))
    assert (words.rstrip("."), place) == ("profile: expected native or compat, got zz", ["profile"])
    assert door.post("/beliefs/query?profile=", question()).status_code == 200
    page = browser(door.world.charlie).get("/beliefs/graph?ns=ns&query=null")
    assert (page.status_code, "NoneType" in page.text) == (422, False)
