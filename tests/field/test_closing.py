"""S18: a namespace is closed and erased by one audited operation, and afterwards says so to everybody."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.http import HttpResponse

from memory.agents import operations as agents
from memory.agents.accounts import create_person
from memory.agents.attention import attention
from memory.base import clock, jobs
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Forbidden
from memory.checks.ledger_scan import verify
from memory.interchange.models import StagedRow
from memory.ledger.models import Content, Entry, Erasure, Head, Item, Name
from memory.ledger.operations import checkpoints
from memory.ledger.operations.closing import close_namespace
from memory.ledger.operations.founding import found
from memory.ledger.queries.verification import scan
from memory.records.models import RecordState
from memory.records.reviewing import overdue
from tests.browsers import browser
from tests.contract.callers import Caller, caller, places
from tests.contract.routes import routes
from tests.contract.stage import EXAMPLES, Stage
from tests.erasures.canary import new_canary, tables_with
from tests.erasures.everywhere import plant
from tests.interchange.archives import archive_of, lose, namespace_named, restored
from tests.interchange.foreign import foreign_bytes
from tests.query_counts import assert_baseline, count_queries
from tests.statements import after_first, in_thread
from tests.states import everything, projected, rebuilt, row_counts
from tests.world import World

pytestmark = pytest.mark.django_db

ALL = {"namespace": True, "confirm": "lab", "reason": "policy", "note": "the trial is over"}
CLOSE = "/erasures/close"
# What is erased already is answered by the entry that erased it, as ever.
NOT_REFUSED = {"ledger_erase"}
# A proof is of its entry and size, and has the shape that its verifier knows.
PROOF = "ledger_proof"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def owner(world: World) -> Caller:
    return caller(world, world.alice)


def closed(world: World) -> int:
    """The entry that closes the world."""
    return close_namespace(world.alice, confirm=world.name, reason="policy").seq


def size(world: World) -> int:
    return Entry.objects.filter(namespace=world.namespace).count()


def test_s18_one_entry_erases_everything_and_every_proof_still_verifies(
    world: World, owner: Caller, tmp_path: Path
) -> None:
    canary, beside = new_canary(), World("beside")
    kept_there = beside.save(f"another store says {canary}").id
    plant(world, canary, tmp_path)
    agents.change_setting(world.alice, name="retention", value="30")
    kept = checkpoints.checkpoint(world.namespace, make_key=True).note
    seq, evidence = size(world) + 1, Item.objects.filter(namespace=world.namespace).count()

    would = owner.post("/erasures", {**ALL, "dry_run": True}).json()
    assert size(world) == seq - 1
    records = Content.objects.filter(namespace=world.namespace, part="content").count()
    assert (would["by_kind"]["record"], would["refusal"], would["parts"]) == (records, None, [])

    done = owner.post("/erasures", ALL)
    answer = done.json()
    assert (done.status_code, answer["seq"], answer["url"]) == (201, seq, f"/erasures/{seq}?ns=lab")
    assert (answer["n_parts"], answer["by_kind"]) == (would["n_parts"], would["by_kind"])
    assert size(world) == seq
    assert Entry.objects.get(namespace=world.namespace, seq=seq).verb == "close_namespace"

    assert list(Content.objects.filter(namespace=world.namespace).values_list("seq", "item").distinct()) == [(seq, 0)]
    assert not Name.objects.filter(namespace=world.namespace).exists()
    assert not StagedRow.objects.filter(namespace=world.namespace).exists()
    texts_beside = caller(beside, beside.scout).get(f"/records/{kept_there}").json()
    assert canary in texts_beside["content"]
    lose(beside)
    assert tables_with(canary) == []

    assert Item.objects.filter(namespace=world.namespace, seq__lt=seq).count() == evidence
    again = scan(world.namespace, kept=kept)
    assert (again.content, again.inclusion, again.consistency, again.faults) == ("erased", "ok", "ok", [])
    stood = projected(world.namespace)
    assert rebuilt(world.namespace) == stood

    receipt = owner.get(f"/erasures/{seq}").json()
    assert (receipt["note"], receipt["erasure"]["is_closing"]) == (ALL["note"], True)
    assert len(receipt["parts"]) == receipt["erasure"]["n_parts"] == answer["n_parts"]
    assert owner.get("/erasures").json()["total"] == 1
    assert owner.get(f"/ledger/proof?seq={seq}").json()["size"] == seq
    assert checkpoints.checkpoint(world.namespace).seq == seq


def test_s18_under_a_hold_the_answer_is_409_and_nothing_is_written(world: World, owner: Caller) -> None:
    world.save("a note")
    agents.hold(world.alice, held=True, reason="the lawsuit of May")
    before = everything(world.namespace)
    refused = owner.post("/erasures", ALL)
    assert (refused.status_code, refused.json()["code"], refused.json()["hold"]["reason"]) == (
        409, "on_hold", "the lawsuit of May",
    )  # fmt: skip
    would = owner.post("/erasures", {**ALL, "dry_run": True}).json()
    assert (would["refusal"], would["hold"]["placed_by"]) == ("on_hold", "alice@example.org")
    alice = browser(world.alice)
    for page in (alice.get(CLOSE), alice.post(CLOSE, {"reason": "policy", "typed": "lab"})):
        assert "the lawsuit of May" in page.text
        assert "Close the namespace for good" not in page.text
    assert page.status_code == 409
    assert everything(world.namespace) == before
    agents.hold(world.alice, held=False, reason="it is over")
    assert owner.post("/erasures", ALL).status_code == 201


@pytest.mark.parametrize(
    ("changed", "at"),
    [
        ({"confirm": "LAB"}, ["confirm"]),
        ({"confirm": ""}, ["confirm"]),
        ({"reason": "boredom"}, ["reason"]),
        ({"namespace": False}, ["namespace"]),
        ({"subject": "somebody"}, []),
        ({"quoting": True}, []),
    ],
)
def test_s18_what_is_not_confirmed_word_for_word_writes_nothing(
    world: World, owner: Caller, changed: dict[str, object], at: list[str]
) -> None:
    before = row_counts()
    refused = owner.post("/erasures", {**ALL, **changed})
    assert (refused.status_code, places(refused)[0]) == (422, at)
    assert row_counts() == before


@pytest.mark.parametrize("who", ["bob", "charlie", "scout"])
def test_s18_only_an_owner_closes(world: World, who: str) -> None:
    before = row_counts()
    by = getattr(world, who)
    assert caller(world, by).post("/erasures", ALL).status_code == 403
    if by.person is not None:
        assert browser(by).get(CLOSE).status_code == 403
        assert browser(by).post(CLOSE, {"reason": "policy", "typed": "lab"}).status_code == 403
    assert row_counts() == before


def test_s18_closing_twice_is_one_entry_under_a_key_and_without(world: World, owner: Caller) -> None:
    headers = {"Idempotency-Key": "the end"}
    first = owner.post("/erasures", ALL, headers=headers).json()
    for again in (owner.post("/erasures", ALL, headers=headers), owner.post("/erasures", ALL)):
        assert (again.status_code, again.json()) == (200, {**first, "replayed": True})
    other = owner.post("/erasures", {**ALL, "note": "another"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")
    assert size(world) == first["seq"]


def test_s18_afterwards_every_route_refuses_a_write_and_says_closed_to_a_read() -> None:
    stage = Stage()
    examples = {name: example(stage) for name, example in EXAMPLES.items()}
    people = {name: caller(stage, example.by(stage)) for name, example in examples.items()}
    seq = closed(stage)
    wrong: dict[str, object] = {}
    for route in [route for route in routes() if route.operation in examples]:
        name, example, before = route.operation, examples[route.operation], row_counts()
        sent = {"query": example.query, "content_type": example.content_type}
        body = {} if example.body is None else {"body": example.body}
        answer = people[name].call(route.method, example.path, **body, **sent)
        told = answer.json() if "json" in answer.headers["Content-Type"] else {}
        said = told.get("closed", int(answer.headers.get("Palimpsest-Closed", 0)))
        if route.is_write and name not in NOT_REFUSED:
            is_right = answer.status_code == 403 and f"closed by entry {seq}" in told["detail"]
            is_right = is_right and row_counts() == before
        elif route.is_write or name == PROOF:
            is_right = answer.status_code == 200
        else:
            is_right = said == seq if answer.status_code == 200 else answer.status_code in (404, 410)
        if not is_right:
            wrong[name] = (answer.status_code, answer.content[:300])
    assert wrong == {}


def test_s18_every_page_of_a_closed_namespace_stands_says_so_and_holds_no_text() -> None:
    stage, canary = Stage(), new_canary()
    record = stage.save(f"the key is {canary}", type=f"type-{canary}", tags=(canary,)).id
    agents.create_agent(stage.alice, name=f"agent-{canary}")
    stage.evolve(record, content=f"still {canary}")
    stage.declare("mayor")
    facts = [stage.tell(canary, "mayor", f"{canary} {n}", origin=canary).id for n in range(2)]
    agents.change_setting(stage.alice, name="review_policy", value="-> hold 14 d")
    held = stage.save(f"held {canary}").id
    waits = stage.tell(canary, "mayor", f"held {canary}").id
    grave = {**EXAMPLES["tombstones_bury"](stage).body, "route": f"by way of {canary}"}
    tombstone = caller(stage, stage.alice).post("/tombstones", grave).json()["id"]
    checkpoints.checkpoint(stage.namespace)
    seq = closed(stage)
    for person in (stage.alice, stage.charlie):
        client = browser(person)
        for address in (
            "/", "/records?include=erased,superseded,withdrawn", f"/records/{record}", f"/records/{record}/versions",
            f"/records/{record}/entries", f"/records/{record}/source", "/runs", f"/runs/{stage.run}", "/ledger",
            f"/ledger/{seq}", f"/ledger/{seq - 1}", "/ledger/checkpoints", "/laws", "/laws/ledger_scan", "/erasures",
            f"/erasures/{seq}", "/agents", "/imports", f"/search?q={canary}x", "/facts", f"/facts/{facts[0]}",
            f"/facts/{waits}", "/facts/conflicts", "/inbox", f"/records/{held}",
            "/tombstones", f"/tombstones/{tombstone}", f"/timeline?record={record}", "/records/compiled",
            f"/records?known_at=seq:{seq - 1}&valid_at=2030-01-01T00:00:00Z",
        ):  # fmt: skip
            page = client.get(address, follow=True)
            assert page.status_code == 200, address
            assert "This namespace is closed" in page.text, address
            assert canary not in page.text.replace(f"{canary}x", ""), address
            assert "Erase by subject" not in page.text, address
        assert client.get("/records.json?include=erased").status_code == 200
        assert client.get(CLOSE).status_code == (409 if person is stage.alice else 403)
    assert attention(stage.namespace, now=clock.now()).waiting == {}
    assert overdue(clock.now() + timedelta(days=30)) == []
    assert scan(stage.namespace).faults == []
    stood = projected(stage.namespace)
    assert rebuilt(stage.namespace) == stood
    assert tables_with(canary) == []


def test_s18_the_page_costs_the_same_whatever_it_would_erase(world: World) -> None:
    alice = browser(world.alice)
    world.save("a note")
    found = {"now 1": count_queries(alice, CLOSE)}
    world.save_all(*(f"note {number}" for number in range(50)))
    assert_baseline("erasures:close", {**found, "now 50": count_queries(alice, CLOSE)})


def test_s18_from_the_page_what_goes_is_shown_and_the_name_is_typed(world: World) -> None:
    world.save("a note")
    alice = browser(world.alice)
    assert CLOSE in alice.get("/erasures/new").text
    shown = alice.get(CLOSE)
    key = re.search(r'name="key" value="([^"]+)"', shown.text)
    assert key is not None
    assert "Type “lab” to confirm" in unescape(shown.text)
    assert not Erasure.objects.exists()
    filled = {"key": key[1], "reason": "policy", "note": "it is over"}
    wrong = alice.post(CLOSE, {**filled, "typed": "lob"})
    assert (wrong.status_code, "it is over" in wrong.text, Erasure.objects.count()) == (422, True, 0)
    seq = size(world) + 1
    for _ in range(2):
        done: HttpResponse = alice.post(CLOSE, {**filled, "typed": "lab"})
        assert size(world) == seq
    assert Head.objects.get(namespace=world.namespace).closed_seq == seq
    receipt = alice.get(f"/erasures/{seq}")
    assert "closed the namespace" in receipt.text
    assert "it is over" in receipt.text
    assert done.status_code in (302, 409)


def test_s18_a_namespace_without_any_text_is_closed_too() -> None:
    namespace = found(Actor(0, "system"), name="bare").pk
    person = create_person("erin@example.org").pk
    agents.admit_member(Actor(namespace, "system"), person=person, role="owner")
    erin = Actor(namespace, "person", person=person, role="owner", powers=ROLE_POWERS["owner"])
    answer = Caller("bare", person=person).post("/erasures", {**ALL, "confirm": "bare"}).json()
    assert (answer["n_parts"], answer["url"]) == (0, "/ledger/3?ns=bare")
    assert browser(erin).get("/ledger/3").status_code == 200
    with pytest.raises(Forbidden):
        agents.create_agent(erin, name="late")


def test_s18_nothing_is_taken_in_for_an_import_and_a_check_of_the_log_is_still_written_down(world: World) -> None:
    seq = closed(world)
    refused = caller(world, world.alice).call(
        "POST", "/imports", foreign_bytes(), query={"format": "contextfs"}, content_type="application/octet-stream"
    )
    assert refused.status_code == 403
    assert not jobs.jobs(namespace=world.namespace, kind="import")
    recorded, _ = verify(world.system)
    assert recorded.seq == seq + 1


def test_s18_a_closed_namespace_is_restored_closed(world: World) -> None:
    world.save("a note")
    seq = closed(world)
    archive = archive_of(world.namespace)
    lose(world)
    done = restored(archive)
    here = namespace_named(done.namespace)
    assert Head.objects.get(namespace=here).closed_seq == seq
    assert scan(here).faults == []
    with pytest.raises(Forbidden, match=f"closed by entry {seq}"):
        agents.create_agent(Actor(here, "system"), name="late")


@pytest.mark.django_db(transaction=True)
def test_s18_what_waits_for_the_lock_while_it_is_closed_is_refused() -> None:
    world = World()
    with after_first("FROM memory_name", lambda: in_thread(lambda: closed(world))), pytest.raises(Forbidden):
        world.save("too late", type="new", by=replace(world.scout, host="build-7"))
    assert Content.objects.filter(namespace=world.namespace).count() == 1
    assert not RecordState.objects.filter(namespace=world.namespace).exists()
