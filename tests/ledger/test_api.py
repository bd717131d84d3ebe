"""What the routes of the ledger answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memory.ledger import verifier
from memory.ledger.operations import checkpoints
from tests.conftest import lifted_triggers
from tests.contract.callers import Caller, caller, places
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def auditor(world: World) -> Caller:
    return caller(world, world.charlie)


@pytest.fixture
def owner(world: World) -> Caller:
    return caller(world, world.alice)


def test_entries_come_newest_first_or_as_they_were_written(world: World, auditor: Caller) -> None:
    world.save_all("one", "two")
    head = world.now().seq
    for sort, expected in (("-seq", range(head, 0, -1)), ("seq", range(1, head + 1))):
        found, after = [], {}
        while after is not None:
            page = auditor.get("/ledger/entries", sort=sort, limit=3, **after).json()
            assert page["total"] == head
            found += [entry["seq"] for entry in page["items"]]
            after = {"after": page["next"]} if page["next"] else None
        assert found == list(expected)
    saved = auditor.get("/ledger/entries", verb="save").json()
    assert (saved["total"], saved["items"][0]["n_items"]) == (1, 3)
    mine = auditor.get("/ledger/entries", agent=str(world.scout.agent)).json()
    assert [entry["verb"] for entry in mine["items"]] == ["save"]


def test_an_entry_lists_its_items_and_what_was_erased_of_them(world: World, auditor: Caller) -> None:
    record = world.save("a secret", summary="secret").id
    seq, item = world.address(record)
    erasing = world.erase(record).seq
    shown = auditor.get(f"/ledger/entries/{seq}").json()
    row = shown["items"][item]
    assert (row["kind"], row["object"]) == ("record", str(record))
    assert {part["name"]: part["erased_by"] for part in row["parts"]} == {"content": erasing, "details": erasing}
    assert "secret" not in json.dumps(shown)
    assert auditor.get("/ledger/entries/999999").status_code == 404


def test_items_of_a_long_entry_come_in_pages(world: World, auditor: Caller) -> None:
    (first, *_) = world.save_all(*(f"text {index}" for index in range(250)))
    page = auditor.get(f"/ledger/entries/{first.seq}").json()
    rest = auditor.get(f"/ledger/entries/{first.seq}", item_from=page["next_item"]).json()
    assert [row["item"] for row in [*page["items"], *rest["items"]]] == list(range(page["entry"]["n_items"]))
    assert rest["next_item"] is None


def test_a_checkpoint_is_the_newest_that_was_signed_by_the_point(world: World, auditor: Caller) -> None:
    assert auditor.get("/ledger/checkpoint").status_code == 404
    first = checkpoints.checkpoint(world.namespace, make_key=True)
    world.save("a note")
    second = checkpoints.checkpoint(world.namespace)
    shown = auditor.get("/ledger/checkpoint").json()
    assert (shown["size"], shown["root"], shown["note"]) == (second.seq, bytes(second.root).hex(), second.note)
    assert auditor.get("/ledger/checkpoint", known_at=f"seq:{second.seq - 1}").json()["size"] == first.seq


def test_a_proof_is_checked_by_a_third_party(world: World, auditor: Caller, tmp_path: Path) -> None:
    record = world.save("to be proven").id
    checkpoints.checkpoint(world.namespace, make_key=True)
    seq, item = world.address(record)
    proof = auditor.get("/ledger/proof", seq=seq, item=item)
    file = tmp_path / "proof.json"
    file.write_bytes(proof.content)
    done = subprocess.run([sys.executable, verifier.__file__, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    changed = proof.json()
    changed["contents"]["content"]["payload"] = "forged"
    file.write_text(json.dumps(changed))
    done = subprocess.run([sys.executable, verifier.__file__, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_what_cannot_be_proven_is_named(world: World, auditor: Caller) -> None:
    head = world.now().seq
    assert auditor.get("/ledger/proof", seq=head + 1).status_code == 404
    assert auditor.get("/ledger/proof", seq=1, item=99).status_code == 404
    beyond = auditor.get("/ledger/proof", seq=1, size=head + 1)
    assert (beyond.status_code, places(beyond)) == (422, [["size"]])
    assert auditor.get("/ledger/consistency", first=1, second=head).json()["path"]
    turned = auditor.get("/ledger/consistency", first=head, second=1)
    assert (turned.status_code, places(turned)) == (422, [["first"]])


def test_verification_finds_an_edit_behind_the_ledgers_back(world: World, auditor: Caller) -> None:
    saved = world.save("as it was written")
    kept = checkpoints.checkpoint(world.namespace, make_key=True).note
    world.save("another")
    clean = auditor.post("/ledger/verify", {"kept": kept}).json()
    assert clean["verdicts"] == {"content": "ok", "inclusion": "ok", "consistency": "ok"}
    assert (clean["n_faults"], clean["faults"], clean["seq"]) == (0, [], world.now().seq)
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_content SET payload = '\"forged\"' WHERE seq = %s AND part = 'content'", [saved.seq]
        )
    forged = auditor.post("/ledger/verify", {}).json()
    assert forged["verdicts"] == {"content": "failed", "inclusion": "ok", "consistency": "not_checked"}
    assert [(fault["code"], fault["seq"]) for fault in forged["faults"]] == [("payload_mismatch", saved.seq)]
    answer = auditor.post("/ledger/verify", {"kept": "no checkpoint"})
    assert (answer.status_code, places(answer)) == (422, [["kept"]])


def erase(owner: Caller, **body: Any) -> Any:
    return owner.post("/erasures", {"reason": "request", **body})


def test_a_dry_run_erases_nothing_and_tells_what_rests_on_it(world: World, owner: Caller) -> None:
    source = world.save("one and two", summary="both")
    child = world.evolve(source.id, content="three")
    grandchild = world.evolve(child, content="four")
    before = world.now().seq
    answer = erase(owner, records=[str(source.id)], dry_run=True)
    assert answer.status_code == 200
    told = answer.json()
    assert {(part["part"], part["object"]) for part in told["parts"]} >= {
        ("content", str(source.id)),
        ("details", str(source.id)),
    }
    assert [(one["kind"], one["id"]) for one in told["affected"]] == [
        ("record", str(child)),
        ("record", str(grandchild)),
    ]
    assert (told["dry_run"], told["refusal"], told["n_affected"], told["seq"]) == (True, None, 2, before)
    assert world.now().seq == before
    assert owner.get(f"/records/{child}").status_code == 200


def test_an_erasure_tells_what_went_and_is_done_once(world: World, owner: Caller) -> None:
    record = world.save("a secret").id
    would = erase(owner, records=[str(record)], dry_run=True).json()
    done = erase(owner, records=[str(record)], note="asked for by mail")
    assert done.status_code == 201
    assert done.json()["parts"] == would["parts"]
    assert owner.get(f"/records/{record}").json()["code"] == "erased"
    again = erase(owner, records=[str(record)])
    assert (again.status_code, again.json()["replayed"], again.json()["seq"]) == (200, True, done.json()["seq"])
    entry = owner.get(f"/ledger/entries/{done.json()['seq']}").json()["entry"]
    assert entry["verb"] == "erase"


def test_items_are_erased_by_their_address(world: World, owner: Caller) -> None:
    record, _ = (saved.id for saved in world.save_all("a secret", "another note"))
    seq, item = world.address(record)
    done = erase(owner, items=[[seq, item]]).json()
    assert [(part["seq"], part["item"], part["part"]) for part in done["parts"]] == [(seq, item, "content")]
    missing = erase(owner, items=[[seq, 99]])
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_an_erasure_names_records_or_items(world: World, owner: Caller) -> None:
    record = str(world.save("a secret").id)
    for body in ({}, {"records": [record], "items": [[1, 0]]}, {"records": []}, {"items": [[1]]}, {"items": [[0, 0]]}):
        assert erase(owner, **body).status_code == 422, body


def test_only_an_owner_erases(world: World) -> None:
    record = str(world.save("a secret").id)
    for who in (world.bob, world.charlie, world.scout):
        assert erase(caller(world, who), records=[record], dry_run=True).status_code == 403
