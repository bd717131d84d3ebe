"""Erasure, deletion and lineage: D04, D05, D14, D22, S13, S14, S23."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from memory.checks.models import CheckRun
from memory.checks.scrubbing import scrub_and_record
from memory.ledger.models import Content
from memory.ledger.operations import checkpoints
from memory.ledger.queries.verification import scan
from memory.records.content import NewRecord
from memory.records.operations import save
from tests.browsers import browser
from tests.contract.callers import Caller, caller, places
from tests.erasures.canary import new_canary, tables_with
from tests.field.stated import ids_of
from tests.states import everything, projected, rebuilt, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agent(world: World) -> Caller:
    return caller(world, world.scout)


@pytest.fixture
def owner(world: World) -> Caller:
    return caller(world, world.alice)


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def test_d04_erasing_one_subject_leaves_the_other_and_needs_one_to_be_named(
    world: World, agent: Caller, owner: Caller, alice: Client
) -> None:
    body = [{"type": "note", "content": f"{who} likes item {n}"} for who in ("Anna Berg", "Bo Dahl") for n in range(5)]
    agent.post("/records/batch", body)
    before = everything(world.namespace)
    asked = {"subject": "Anna Berg", "reason": "request"}
    would = owner.post("/erasures", {**asked, "dry_run": True}).json()
    assert len({(part["seq"], part["item"]) for part in would["parts"]}) == 5
    assert alice.get("/erasures/new", {"subject": "Anna Berg"}).text.count('name="item"') == 5
    assert everything(world.namespace) == before

    for nothing in ({"reason": "request"}, {"reason": "request", "records": []}, {**asked, "subject": ""}):
        refused = owner.post("/erasures", nothing)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid"), nothing
    assert everything(world.namespace) == before

    assert owner.post("/erasures", asked).status_code == 201
    assert agent.get("/records", q="Dahl").json()["total"] == 5
    assert agent.get("/records", q="Anna").json()["total"] == 0
    listed = agent.get("/records").json()
    assert (listed["total"], listed["hidden"]) == (5, {"erased": 5})
    assert tables_with("x" * 4 + "Anna Berg likes i" + "x" * 4) == []
    exported = owner.get("/export", format="jsonl").getvalue().decode()
    assert ("Anna Berg" in exported, "Bo Dahl" in exported) == (False, True)


def in_another_process(ask: Callable[[], bool]) -> bool:
    """What the function answers in a process of its own, with connections of its own."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        is_right = False
        try:
            is_right = ask()
        finally:
            connections.close_all()
            os._exit(0 if is_right else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.django_db(transaction=True)
def test_d05_what_is_withdrawn_or_erased_is_found_nowhere_at_once_in_this_process_and_in_another() -> None:
    world = World()
    agent, owner, alice = caller(world, world.scout), caller(world, world.alice), browser(world.alice)
    saved = agent.post(
        "/records/batch", [{"type": "note", "content": f"boiler {word}"} for word in ("kept", "withdrawn", "erased")]
    ).json()["accepted"]
    kept, withdrawn, erased = (row["id"] for row in saved)
    assert agent.post(f"/records/{withdrawn}/withdraw", {"reason": "wrong"}).status_code == 200
    assert owner.post("/erasures", {"records": [erased], "reason": "request"}).status_code == 201

    def is_found_nowhere() -> bool:
        listed, searched = agent.get("/records").json(), agent.get("/records", q="boiler").json()
        recalled = agent.post("/recall", {"query": "boiler"}).json()
        page = alice.get("/records?q=boiler").text
        return (
            ids_of(listed) == ids_of(searched) == {UUID(kept)}
            and [row["id"] for row in recalled["items"]] == [kept]
            and listed["hidden"] == {"erased": 1, "withdrawn": 1}
            # What is erased has left the index: no search can count it any more.
            and searched["hidden"] == {"withdrawn": 1}
            and recalled["hidden"]["withdrawn"] == 1
            and withdrawn not in page
            and erased not in page
            and agent.get(f"/records/{withdrawn}").status_code == 410
            and agent.get(f"/records/{erased}").status_code == 410
            and agent.get(f"/records/{erased}", include="erased").json()["content"] is None
        )

    assert is_found_nowhere()
    assert in_another_process(is_found_nowhere)


def test_d14_an_erased_parent_keeps_its_three_edges_and_is_drawn_as_erased(
    world: World, owner: Caller, alice: Client
) -> None:
    canary = new_canary()
    parent = world.save(f"the parent of three, {canary}").id
    child, other = world.evolve(parent, content="said better"), world.save("another").id
    merge, (part, _) = world.merge(parent, other, content="both"), world.split(parent, "one half", "the other half")
    kept = checkpoints.checkpoint(world.namespace, make_key=True).note
    digests = {one: owner.get(f"/records/{one}").json()["ancestry_digest"] for one in (child, merge, part)}
    assert owner.post("/erasures", {"records": [str(parent)], "reason": "request"}).status_code == 201

    told = StringIO()
    call_command("check_laws", namespace=world.name, stdout=told)
    assert "dangling" not in told.getvalue().lower().replace("0 dangling", "")
    for one, digest in digests.items():
        assert owner.get(f"/records/{one}").json()["ancestry_digest"] == digest
        above = owner.get(f"/records/{one}/ancestry").json()["items"]
        assert str(parent) in {row["id"] for row in above}
        page = alice.get(f"/records/{one}").text
        assert f"/records/{parent}" in page
        assert "erased" in page
        assert canary not in page
    drawn = owner.get("/lineage", focus=str(merge)).json()["nodes"]
    assert {node["id"]: node["state"] for node in drawn}[str(parent)] == "erased"
    found = scan(world.namespace, kept=kept)
    assert (found.content, found.inclusion, found.consistency, found.faults) == ("erased", "ok", "ok", [])
    assert alice.get(f"/records/{parent}").status_code == 200


def test_d22_an_unknown_id_is_not_found_and_a_known_one_is_gone_from_every_route(
    world: World, agent: Caller, owner: Caller, alice: Client
) -> None:
    canary = new_canary()
    record = agent.post("/records", {"type": "note", "content": f"about {canary}", "tags": [canary]}).json()["id"]
    before = row_counts()
    assert agent.post(f"/records/{UNKNOWN}/withdraw", {"reason": "wrong"}).status_code == 404
    for named in ({"records": [UNKNOWN]}, {"records": [record, UNKNOWN]}, {"items": [[1, 99]]}):
        for dry_run in (True, False):
            refused = owner.post("/erasures", {**named, "reason": "request", "dry_run": dry_run})
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), named
    assert row_counts() == before

    done = owner.post("/erasures", {"records": [record], "reason": "request"}).json()
    assert tables_with(canary) == []
    for path in (f"/records/{record}", "/records", f"/records/{record}/timeline", f"/records/{record}/ancestry"):
        assert canary not in agent.get(path, include="erased").content.decode() or "include" not in path
    for path in (f"/records/{record}", "/records?include=erased", "/search?q=about", f"/ledger/{done['seq']}"):
        assert canary not in alice.get(path).text
    assert canary not in owner.get("/export", format="jsonl").getvalue().decode()
    receipt = owner.get(f"/erasures/{done['seq']}").json()
    assert (receipt["scrubbed_at"], receipt["scrubbed_seq"]) == (None, None)
    out = {row["place"] for row in receipt["out_of_reach"]}
    assert {"backups", "exports", "logs of the database"} <= out
    assert all(place in alice.get(f"/erasures/{done['seq']}").text for place in out)


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_d22_a_scrub_has_a_state_and_is_done_once_every_store_was_written_anew() -> None:
    world = World()
    seq = world.erase(world.save("a note").id).seq
    owner = caller(world, world.alice)
    assert "not yet scrubbed" in browser(world.alice).get(f"/erasures/{seq}").text
    done = scrub_and_record()
    run = CheckRun.objects.get(namespace=world.namespace, check_name="scrub")
    assert (run.verdict, run.seq) == ("ok", done.recorded[world.namespace])
    report = owner.get(f"/checks/{run.id}").json()
    assert report["check"]["verdict"] == "ok"
    receipt = owner.get(f"/erasures/{seq}").json()
    assert receipt["scrubbed_seq"] == run.seq
    assert ">scrubbed" in browser(world.alice).get(f"/erasures/{seq}").text


def test_s13_the_id_of_another_namespace_is_not_found_and_nothing_happens(world: World, agent: Caller) -> None:
    elsewhere = World("elsewhere")
    theirs = elsewhere.save("a note of theirs").id
    before = everything(world.namespace), everything(elsewhere.namespace)
    answers = [
        agent.post(f"/records/{one}/withdraw", {"reason": "wrong"}) for one in (theirs, uuid4())
    ]  # fmt: skip
    answers += [
        caller(world, world.alice).post("/erasures", {"records": [str(one)], "reason": "request"})
        for one in (theirs, uuid4())
    ]
    bodies = [{**answer.json(), "request_id": "", "detail": "", "id": ""} for answer in answers]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert bodies[0] == bodies[1]
    assert bodies[2] == bodies[3]
    assert browser(world.bob).post(f"/records/{theirs}/withdraw?ns=lab", {"reason": "wrong"}).status_code == 404
    assert (everything(world.namespace), everything(elsewhere.namespace)) == before


def test_s14_all_that_is_derived_agrees_after_a_withdrawal_an_erasure_and_a_supersession(
    world: World, agent: Caller, owner: Caller
) -> None:
    records = world.save_all("one", "two", "three", "four")
    child = world.evolve(records[0].id, content="one, reworded")
    n_texts = Content.objects.filter(namespace=world.namespace).count()
    world.supersede(records[1].id, records[2].id)
    assert Content.objects.filter(namespace=world.namespace).count() >= n_texts
    agent.post(f"/records/{child}/withdraw", {"reason": "wrong"})
    stood = projected(world.namespace)
    assert rebuilt(world.namespace) == stood
    owner.post("/erasures", {"records": [str(records[3].id)], "reason": "request"})
    stood = projected(world.namespace)
    assert rebuilt(world.namespace) == stood
    told = StringIO()
    call_command("rebuild", check=True, stdout=told)
    assert agent.get(f"/records/{records[1].id}").json()["content"] == "two"
    assert agent.get("/records", include="superseded").json()["hidden"] == {"withdrawn": 1, "erased": 1}


@pytest.mark.slow
def test_s23_a_lineage_of_ten_thousand_is_answered_in_bounds_and_says_what_it_leaves_out(
    world: World, agent: Caller, alice: Client
) -> None:
    leaves = [one.id for n in range(10) for one in save(world.scout, records=_notes(n))]
    sums = [world.merge(*leaves[n : n + 200], content=f"sum {n}") for n in range(0, 10_000, 200)]
    root = world.merge(*sums, content="the sum of sums")
    with connection.cursor() as cursor:
        # What a server does by itself before long: the planner knows how many there are.
        cursor.execute("ANALYZE")
    found = agent.get("/lineage", focus=str(root), up=3)
    assert found.status_code == 200
    answer = found.json()
    assert len(answer["nodes"]) <= 500
    assert (answer["total"], answer["total_is_capped"]) == (10_051, False) or answer["total_is_capped"]
    assert answer["cut_by"]
    assert len(found.content) < 1_000_000
    page = alice.get(f"/records/{root}?up=3")
    assert page.status_code == 200
    assert re.search(r"10\W?05[01]", page.text)
    for query, name in (({"up": -1}, "up"), ({"up": "abc"}, "up"), ({"relations": "nonsense"}, "relations")):
        refused = agent.get("/lineage", focus=str(root), **query)
        assert (refused.status_code, places(refused)[0][0]) == (422, name)
    shown = alice.get(f"/records/{root}?up=nonsense")
    assert (shown.status_code, "up" in shown.text) == (422, True)


def _notes(chunk: int) -> list[NewRecord]:
    return [NewRecord("note", f"leaf {chunk}-{n}") for n in range(1_000)]
