"""What a receipt says, and that it says the same later."""

from __future__ import annotations

from io import BytesIO

import pytest

from memory.base.errors import NotFound
from memory.interchange.operations import export_file
from memory.interchange.slices import Selection
from memory.ledger.drafts import unpack
from memory.ledger.models import Item
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import erased, receipts
from tests.browsers import browser
from tests.contract.callers import caller
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def exported(world: World) -> int:
    """The entry that says that the namespace left the house."""
    return export_file(world.alice, world.now(), BytesIO(), format="jsonl", selection=Selection())[1]


def test_it_names_every_part_with_the_commitment_that_stands_for_it(world: World) -> None:
    saved = world.save("a note", summary="in short")
    done = world.erase(saved.id, reason="secret", note="it leaked")
    found = receipts.receipt(world.now(), seq=done.seq)
    assert (found.row.reason, found.note, found.row.person) == ("secret", "it leaked", world.alice.person)
    assert tuple((part.seq, part.item, part.part) for part in found.parts) == done.refs
    row = Item.objects.get(namespace=world.namespace, seq=saved.seq, kind="record")
    for part, commitment in unpack(row.parts).items():
        assert found.commitments[row.seq, row.item, part] == commitment
    assert found.commitments == erased.commitments(world.namespace, seq=done.seq)


def test_the_commitments_of_a_namespace_are_those_of_all_its_erasures(world: World) -> None:
    first, second = world.erase(world.save("one").id), world.erase(world.save("two").id)
    both = erased.commitments(world.namespace)
    assert both.keys() == {*first.refs, *second.refs}
    assert erased.commitments(world.namespace, seq=first.seq).keys() == set(first.refs)
    assert erased.commitments(World("mill").namespace) == {}


def test_counts_of_places_are_those_of_what_was_there(world: World) -> None:
    one, two = world.save("one", summary="s"), world.save("two")
    world.save("three")
    world.withdraw(one.id, reason="private")
    done = world.erase(one.id, two.id)
    touched = receipts.receipt(world.now(), seq=done.seq).touched
    assert touched is not None
    assert (touched["content"], touched["names"], touched["salts"]) == (4, 0, 4)
    assert touched["projections"] == {
        "heads": 0, "nodes": 0, "run_references": 0, "record_states": 2, "record_texts": 2,
        **{name: n for name, n in touched["projections"].items() if n == 0},
    }  # fmt: skip


def test_exports_made_before_that_held_it_are_named_and_later_ones_are_not(world: World) -> None:
    early = exported(world)
    record = world.save("a note").id
    held = exported(world)
    done = world.erase(record)
    exported(world)
    found = receipts.receipt(world.now(), seq=done.seq)
    ids = {str(about): seq for about, seq in Item.objects.filter(kind="export_run").values_list("object", "seq")}
    assert [ids[one.id] for one in found.exports] == [held]
    assert early not in [ids[one.id] for one in found.exports]
    text = browser(world.bob).get(f"/erasures/{done.seq}").text
    assert "1 export held it" in text


def test_a_receipt_is_that_of_its_point(world: World) -> None:
    record = world.save("a note").id
    before = world.now().seq
    done = world.erase(record)
    with pytest.raises(NotFound):
        receipts.receipt(world.at(before), seq=done.seq)
    assert receipts.erasures(world.at(before)) == []
    assert [row.seq for row in receipts.erasures(world.now())] == [done.seq]


@pytest.mark.parametrize("which", ["another verb", "nothing"])
def test_what_erased_nothing_has_no_receipt(world: World, which: str) -> None:
    seq = world.save("a note").seq if which == "another verb" else 10**6
    with pytest.raises(NotFound):
        receipts.receipt(world.now(), seq=seq)


def test_the_list_goes_on_where_its_page_ends(world: World) -> None:
    seqs = [world.erase(world.save(f"note {n}").id).seq for n in range(5)]
    auditor = caller(world, world.charlie)
    first = auditor.get("/erasures", limit=3).json()
    rest = auditor.get("/erasures", limit=3, after=first["next"]).json()
    assert [row["seq"] for row in [*first["items"], *rest["items"]]] == seqs[::-1]
    assert (first["total"], rest["next"]) == (5, None)


def test_the_route_tells_the_whole_receipt(world: World) -> None:
    done = world.erase(world.save("a note").id, note="it leaked")
    told = caller(world, world.charlie).get(f"/erasures/{done.seq}").json()
    assert told["erasure"]["reason"] == "request"
    assert told["note"] == "it leaked"
    assert {(part["seq"], part["item"], part["part"]) for part in told["parts"]} == set(done.refs)
    assert all(len(part["commitment"]) == 64 for part in told["parts"])
    assert told["touched"]["content"] == 1
    assert (told["scrubbed_at"], told["scrubbed_seq"]) == (None, None)
    assert {place["place"] for place in told["out_of_reach"]} >= {"backups", "exports", "clients", "replicas"}
    assert caller(world, world.charlie).get("/erasures/1").status_code == 404


def test_an_act_of_the_api_by_subject_with_what_quotes_it(world: World) -> None:
    owner = caller(world, world.alice)
    record = world.save("anna berg lives in a small house").id
    merge = world.merge(record, world.save("another").id)
    within = world.save("johanna bergman").id
    would = owner.post("/erasures", {"subject": "Anna Berg", "reason": "request", "dry_run": True}).json()
    assert would["n_within_words"] == 1
    assert {part["object"] for part in would["parts"]} >= {str(record), str(merge)}
    one = owner.post("/erasures", {"records": [str(record)], "reason": "request", "dry_run": True}).json()
    assert [(quote["record"], quote["n_lines"]) for quote in one["quotes"]] == [(str(merge), 1)]
    done = owner.post("/erasures", {"records": [str(record)], "reason": "request", "quoting": True})
    assert done.status_code == 201
    assert {part["object"] for part in done.json()["parts"]} >= {str(record), str(merge)}
    assert done.json()["url"] == f"/erasures/{done.json()['seq']}?ns=lab"
    assert owner.get(f"/records/{within}").status_code == 200
    nothing = owner.post("/erasures", {"subject": "Anna Berg", "reason": "request"})
    assert (nothing.status_code, nothing.json()["code"]) == (409, "conflict")
    two = owner.post("/erasures", {"subject": "x y", "records": [str(within)], "reason": "request"})
    assert two.status_code == 422


def test_what_holds_no_text_cannot_be_erased(world: World) -> None:
    agent = Item.objects.filter(namespace=world.namespace, kind="agent").values_list("seq", "item")[0]
    answer = caller(world, world.alice).post("/erasures", {"items": [list(agent)], "reason": "request"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_the_receipt_of_an_erased_note_keeps_its_parts(world: World) -> None:
    done = world.erase(world.save("a note").id, note="about somebody")
    again = erase(world.alice, items=[(done.seq, 0)], reason="mistake")
    found = receipts.receipt(world.now(), seq=done.seq)
    assert (found.note, found.touched, found.erased_by) == ("", None, again.seq)
    assert tuple((part.seq, part.item, part.part) for part in found.parts) == done.refs


def test_under_a_hold_a_dry_run_and_the_refusal_say_who_why_and_until_when(world: World) -> None:
    owner = caller(world, world.alice)
    record = str(world.save("a note").id)
    owner.put("/hold", {"held": True, "reason": "the lawsuit of May", "until": "2999-01-01T00:00:00Z"})
    body = {"records": [record], "reason": "request"}
    would = owner.post("/erasures", {**body, "dry_run": True}).json()
    refused = owner.post("/erasures", body)
    assert (refused.status_code, would["refusal"], would["dry_run"]) == (409, "on_hold", True)
    for hold in (would["hold"], refused.json()["hold"]):
        assert (hold["placed_by"], hold["reason"]) == ("alice@example.org", "the lawsuit of May")
        assert hold["until"].startswith("2999-01-01T00:00:00")
        assert hold["seq"] == world.now().seq
    assert owner.get("/erasures").json()["total"] == 0
