"""Where the store differs from the peer's on purpose, each difference by its name, through the API of one world."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from memory.beliefs.kernel.laws import fingerprint, law_document, opposite, parse_law, read_law
from memory.beliefs.models import Forecast, Observation, RelationLaw, Revocation
from memory.beliefs.relations import relations
from memory.calibration.models import LabelOutcome
from memory.ledger.queries.contents import contents_of
from memory.management.posterior.running import run
from tests.beliefs.cases import law_named
from tests.calibration.test_through_http import Door
from tests.conftest import lifted_triggers
from tests.world import World

pytestmark = pytest.mark.django_db

Observe = Callable[..., Any]


@pytest.fixture(scope="module")
def door(around_all: None) -> Door:
    found = Door(World("ns"))
    found.world.save()
    assert found.post("/relations/rel", {"law": "cyclic:4"}, method="put").status_code == 201
    assert found.post("/monitors/default", {}, method="put").status_code == 201
    return found


def document(id: str, source: str, target: str, label: int, **more: Any) -> dict[str, Any]:
    posterior = [0.05] * 4
    posterior[label] = 0.85
    return {
        "schema_version": 2, "observation_id": id, "namespace": "ns", "relation_type": "rel", "source": source,
        "target": target, "posterior": posterior, "evidence_family": f"family of {id}", "observed_at": 10.0, **more,
    }  # fmt: skip


def told(door: Door, *documents: dict[str, Any], profile: str = "native") -> Any:
    answer = door.post(f"/observations/batch?profile={profile}", list(documents))
    assert answer.status_code == 201, answer.content
    return answer.json()


def asked(door: Door, *nodes: str, params: str = "", **more: Any) -> Any:
    query = {
        "schema_version": 2, "namespace": "ns", "relation_type": "rel", "root": nodes[0], "nodes": list(nodes),
        "as_of": 100.0, **more,
    }  # fmt: skip
    answer = door.post(f"/beliefs/query{params}", {key: value for key, value in query.items() if value is not None})
    assert answer.status_code == 200, answer.content
    return answer


def believed(capsule: dict[str, Any], node: str) -> dict[str, float]:
    (belief,) = [one for one in capsule["beliefs"] if one["node"] == node]
    return {one["state"]: one["probability"] for one in belief["candidates"]}


def test_b2_1_a_limit_that_was_hit_is_told_with_the_number_that_was_dropped(door: Door) -> None:
    told(door, *(document(f"ten {index}", "a", "b", index % 4) for index in range(10)))
    native = asked(door, "a", "b", max_observations=2).json()
    assert (native["retrieval"]["truncated"], native["retrieval"]["observation_limit_hit"]) == (True, True)
    assert native["audit"]["dropped_observation_count"] == 8
    compat = asked(door, "a", "b", max_observations=2, params="?profile=compat").json()
    assert (compat["retrieval"]["truncated"], compat["retrieval"]["observation_limit_hit"]) == (False, False)
    assert "audit" not in compat
    assert compat["used_observation_ids"] == native["used_observation_ids"]


def test_b2_2_an_edge_between_two_nodes_at_the_last_hop_belongs_to_the_answer(door: Door) -> None:
    told(door, document("near 1", "a", "b", 1), document("near 2", "a", "c", 2), document("rim", "b", "c", 1))
    found = asked(door, "a", nodes=None, seeds=["a"], max_hops=1, retrieval_policy="coverage").json()
    assert "rim" in found["used_observation_ids"]
    assert found["retrieval"]["hops_explored"] == 1


@pytest.mark.parametrize(("lineage_key", "used"), [("edge", ["one", "two"]), ("global", ["two"])])
def test_b3_1_one_event_speaks_once_for_each_edge_or_once_at_all(
    door: Door, lineage_key: str, used: list[str]
) -> None:  # fmt: skip
    law = {"law": "cyclic:4", "lineage_key": lineage_key}
    assert door.post("/relations/keyed", law, method="put").status_code == 201
    shared = {"relation_type": "keyed", "source_event_id": "event"}
    told(
        door, document("one", "a", "b", 1, **shared), document("two", "b", "c", 1, observed_at=11.0, **shared),
    )  # fmt: skip
    found = asked(door, "a", "b", "c", relation_type="keyed").json()
    assert found["used_observation_ids"] == used
    # A family and a root of one text are two lineages under `edge`, and one under `global`.
    told(
        door, document("by family", "c", "d", 1, relation_type="keyed", evidence_family="R"),
        document("by root", "c", "d", 1, relation_type="keyed", lineage_root_id="R", observed_at=12.0),
    )  # fmt: skip
    both = asked(door, "c", "d", relation_type="keyed").json()["used_observation_ids"]
    assert both == (["by family", "by root"] if lineage_key == "edge" else ["by root"])


def test_b3_1_a_relation_type_is_bound_by_edges_natively_and_globally_under_compat(door: Door) -> None:
    for profile, expected in (("native", "edge"), ("compat", "global")):
        answer = door.post(f"/relations/{profile}?profile={profile}", {"law": "s3"}, method="put")
        assert answer.json()["lineage_key"] == expected


@pytest.mark.parametrize("profile", ["native", "compat"])
def test_b3_2_a_past_point_answers_the_same_bytes_whatever_came_since(door: Door, profile: str) -> None:
    told(door, document("first", "a", "b", 1), document("second", "b", "c", 2))
    then = door.world.now().seq
    at = f"?profile={profile}&known_at=seq:{then}"
    before = asked(door, "a", "b", "c", params=at).content
    told(door, document("backdated", "a", "c", 0, observed_at=5.0))
    revoked = door.post("/observations/first/revoke", {"at": 20.0, "reason": "a broken probe"})
    assert revoked.status_code == 200
    assert asked(door, "a", "b", "c", params=at).content == before
    now = asked(door, "a", "b", "c", params=f"?profile={profile}").json()
    assert now["used_observation_ids"] == ["backdated", "second"]
    assert json.loads(before)["used_observation_ids"] == ["first", "second"]


def test_b3_2_an_instant_past_the_head_is_provisional(door: Door) -> None:
    told(door, document("only", "a", "b", 1))
    assert asked(door, "a", "b", params="?known_at=2999-01-01T00:00:00Z").json()["audit"]["provisional"] is True
    assert asked(door, "a", "b").json()["audit"]["provisional"] is False


@pytest.fixture
def labelled(door: Door) -> Door:
    """One observation with all that can be said of it."""
    told(door, document("said", "a", "b", 1), document("gone", "a", "c", 1))
    outcome = {"observation_id": "said", "true_relation": "1", "outcome_event_id": "seen", "labeled_at": 20.0}
    assert door.post("/outcomes", outcome).status_code == 201
    assert door.post("/observations/gone/revoke", {"at": 20.0, "reason": "a broken probe"}).status_code == 200
    return door


@pytest.mark.parametrize("model", [RelationLaw, Observation, Revocation, Forecast, LabelOutcome])
def test_b3_3_nothing_is_altered_or_deleted_by_direct_statements(labelled: Door, model: Any) -> None:
    table = model._meta.db_table
    for statement in (f"UPDATE {table} SET seq = seq + 1", f"DELETE FROM {table}"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Observation, "trust = 0.5"),
        (RelationLaw, "prior_support = 'flag'"),
        (Revocation, "at = 21.0"),
        (Forecast, "tracked_at = 3.0"),
        (LabelOutcome, "labeled_at = 21.0"),
    ],
)
def test_b3_3_a_forced_change_makes_verify_name_its_entry(
    labelled: Door, model: Any, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seq = model.objects.filter(namespace=labelled.world.namespace).order_by("-seq").values_list("seq", flat=True)[0]
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {model._meta.db_table} SET {change} WHERE seq = %s", [seq])
    capsys.readouterr()
    assert run(["verify"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert f"at seq {seq} " in found["errors"][0]


def test_b3_4_a_revocation_takes_its_echo_and_says_whom_it_reached(door: Door) -> None:
    source = document("source", "x", "y", 1, source_event_id="event")
    echo = document("echo", "x", "y", 1, source_event_id="event", derived_from=["source"], observed_at=11.0)
    told(door, source, echo)
    assert believed(asked(door, "x", "y").json(), "y")["1"] == pytest.approx(0.85)
    revoked = door.post("/observations/source/revoke", {"at": 20.0, "reason": "a broken probe"}).json()
    assert revoked["affected"] == ["source", "echo"]
    assert asked(door, "x", "y").json()["used_observation_ids"] == []
    assert believed(asked(door, "x", "y").json(), "y")["0"] == pytest.approx(0.25)
    assert believed(asked(door, "x", "y", as_of=15.0).json(), "y")["1"] == pytest.approx(0.85)


def test_b3_4_under_compat_a_revocation_leaves_the_echo_and_uncovers_the_older_word(door: Door) -> None:
    told(
        door, document("source", "x", "y", 1, source_event_id="event"),
        document("echo", "x", "y", 1, source_event_id="event", derived_from=["source"], observed_at=11.0),
    )  # fmt: skip
    path = "/observations/{}/revoke?profile=compat"
    body = {"at": 20.0, "reason": "a broken probe"}
    assert door.post(path.format("source"), body).json()["affected"] == ["source"]
    assert asked(door, "x", "y").json()["used_observation_ids"] == ["echo"]
    told(door, document("older", "x", "z", 1, source_event_id="word"), document("newer", "x", "z", 2, observed_at=12.0,
                                                                                source_event_id="word"))  # fmt: skip
    door.post(path.format("newer"), body)
    assert asked(door, "x", "z").json()["used_observation_ids"] == ["older"]


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}])
def test_b3_5_a_retry_after_a_lost_answer_is_one_record(door: Door, headers: dict[str, str]) -> None:
    """The first answer never arrived: the client sends the same again, and reads that it stands."""
    lost = door.post("/observations", document("sent", "a", "b", 1), **headers)
    again = door.post("/observations", document("sent", "a", "b", 1), **headers)
    assert (lost.status_code, again.status_code) == (201, 200)
    assert again.json()["observation_id"] == "sent"
    assert again.json()["seq"] == lost.json()["seq"]
    assert again.json()["recorded"] is bool(headers)
    assert again.json()["replayed"] is True
    assert Observation.objects.filter(namespace=door.world.namespace).count() == 1
    other = door.post("/observations", document("sent", "a", "b", 2))
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    compat = door.post("/observations?profile=compat", document("sent", "a", "b", 1))
    assert (compat.status_code, compat.json()["code"]) == (409, "conflict")


def test_b3_7_a_law_is_stored_whole(door: Door) -> None:
    """What its fingerprint stands for can be read from the store alone."""
    laws = {"turned": opposite(read_law("s3")), "shifted": law_named("Z3shift")}
    for name, law in laws.items():
        assert door.post(f"/relations/{name}", {"law": law_document(law)}, method="put").status_code == 201
    namespace = door.world.namespace
    bound = relations(namespace, seq=door.world.now().seq, texts=laws)
    stored = contents_of(namespace, [(one.seq, one.item) for one in bound.values()])
    for name, law in laws.items():
        value = stored[bound[name].seq, bound[name].item]["value"]
        assert value == law_document(law)
        assert fingerprint(parse_law(value)) == fingerprint(law) == bound[name].fingerprint


def test_b3_8_a_batch_with_one_error_stores_none(door: Door) -> None:
    good = [document(f"part {index}", "a", "b", 1) for index in range(3)]
    wrong = document("wrong", "a", "b", 1, posterior=[1, 2])
    answer = door.post("/observations/batch", [*good, wrong])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][0] == 3
    assert not Observation.objects.filter(namespace=door.world.namespace).exists()
    told(door, *good[:2])
    again = told(door, *good)
    assert [one["observation_id"] for one in again["accepted"]] == ["part 2"]
    assert [one["observation_id"] for one in again["duplicates"]] == ["part 0", "part 1"]


def test_b3_9_what_a_monitor_cannot_track_is_stored_all_the_same(door: Door) -> None:
    small = {"reference_size": 1, "current_size": 1, "min_current_size": 1, "max_tracked": 2}
    assert door.post("/monitors/small", small, method="put").status_code == 201
    for index, expected in enumerate(("tracked", "tracked", "capacity")):
        telling = document(f"m{index}", "a", "b", 1, provenance={"tool": "probe"})
        told_ = door.post("/observations?profile=compat", telling).json()
        assert told_["tracking"] == ("tracked" if expected == "capacity" else expected)
    assert Forecast.objects.filter(namespace=door.world.namespace).count() == 5
    long = document("long", "a", "b", 1, provenance={"tool": "t" * 129})
    assert door.post("/observations", long).json()["tracking"] == "family_too_long"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b'{"observed_at": 1' + b"0" * 400 + b"}", 422),
        (b'{"posterior": [1e308, 1e308, 1e308, 1e308], "prior": [1, 1, 1, 1]}', 422),
        (b'{"provenance": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 422),
    ],
)
@pytest.mark.parametrize("profile", ["native", "compat"])
def test_b4_1_what_no_double_or_stack_can_hold_is_an_error_of_the_input(
    door: Door, text: bytes, status: int, profile: str
) -> None:
    given = json.dumps({key: value for key, value in document("o1", "a", "b", 1).items() if key != "posterior"})
    body = given[:-1].encode() + b", " + text[1:]
    if b"posterior" not in text:
        body = body[:-1] + b', "posterior": [1, 0, 0, 0]}'
    sent = door.client.post(f"{door.base}/observations?profile={profile}", body, content_type="application/json")
    assert sent.status_code == status
    assert sent.json()["code"] == "invalid"


def test_b4_2_a_repeated_key_is_refused_by_name_and_under_compat_the_last_counts(door: Door) -> None:
    body = json.dumps(document("o1", "a", "b", 1))[:-1] + ', "trust": 0.5, "trust": 0.25}'
    native = door.client.post(f"{door.base}/observations", body, content_type="application/json")
    assert native.status_code in (400, 422)
    assert "trust" in json.dumps(native.json()["errors"])
    compat = door.client.post(f"{door.base}/observations?profile=compat", body, content_type="application/json")
    assert compat.status_code == 201
    assert Observation.objects.get(namespace=door.world.namespace).trust == 0.25


def test_b4_3_mass_outside_a_prior_is_refused_where_the_type_says_so_and_flagged_elsewhere(door: Door) -> None:
    vectors = {"posterior": [0.98, 0.01, 0.01, 0], "prior": [0.5, 0.5, 0, 0]}
    refused = door.post("/observations", document("o1", "a", "b", 1, **vectors))
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (422, "mass_outside_prior")
    law = {"law": "cyclic:4", "prior_support": "flag"}
    assert door.post("/relations/flagged", law, method="put").status_code == 201
    flagged = door.post("/observations", document("o1", "a", "b", 1, relation_type="flagged", **vectors))
    assert flagged.json()["flags"] == ["mass_outside_prior"]
    found = asked(door, "a", "b", relation_type="flagged").json()
    assert believed(found, "b")["2"] == pytest.approx(1.0, abs=1e-6)
