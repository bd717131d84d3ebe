"""Every attack on a stored log is found by the scan, under its own code; and each is missed without its check.

The attacker writes to the tables directly, with the triggers lifted. One edit gives one code.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.db import models

from memory.ledger.kernel import note
from memory.ledger.models import Checkpoint, Item
from memory.ledger.operations.checkpoints import checkpoint
from memory.ledger.queries import scanning, verification
from memory.ledger.queries.verification import scan
from tests.ledger import attacks
from tests.ledger.scanned import attacked, codes
from tests.ledger.store import Store, remove, rewrite, shorten
from tests.world import World

pytestmark = pytest.mark.django_db

Attack = Callable[[Store], object]
Rows = models.QuerySet


@dataclass(frozen=True, slots=True)
class Expected:
    """The code of an attack, and the function that finds it."""

    code: str
    check: tuple[object, str]


PART = (scanning, "_fault_of_part")
ITEM = (scanning, "_faults_of_item")
ITEMS = (verification, "faults_of_entry")
UNLISTED = (verification, "unlisted")
LEAF = (verification._Walk, "_leaf_fault")
GAP = (verification._Walk, "_gap_fault")
NODES = (verification, "_compare_nodes")
LENGTH = (verification, "_scan_length")
NOTES = (verification, "_checkpoint_fault")
DIGESTS = (verification, "_further")

ATTACKS: dict[Attack, Expected] = {
    attacks.change_payload: Expected("payload_mismatch", PART),
    attacks.change_summary: Expected("payload_mismatch", PART),
    attacks.respell_payload: Expected("payload_mismatch", PART),
    attacks.change_name: Expected("payload_mismatch", PART),
    attacks.swap_the_ids_of_two_names: Expected("row_mismatch", ITEM),
    attacks.change_note_of_withdrawal: Expected("payload_mismatch", PART),
    attacks.change_salt: Expected("payload_mismatch", PART),
    attacks.swap_payloads_of_two_items: Expected("payload_mismatch", PART),
    attacks.shorten_salt: Expected("salt_invalid", PART),
    attacks.empty_salt: Expected("salt_invalid", PART),
    attacks.drop_content: Expected("content_missing", PART),
    attacks.drop_name: Expected("content_missing", PART),
    attacks.add_content_of_a_part_that_was_not_written: Expected("content_unlisted", ITEM),
    attacks.add_content_of_no_item: Expected("content_unlisted", UNLISTED),
    attacks.put_erased_content_back: Expected("content_unlisted", PART),
    attacks.add_a_name_of_no_item: Expected("content_unlisted", UNLISTED),
    attacks.give_another_valid_time: Expected("row_mismatch", ITEM),
    attacks.give_another_class_of_source: Expected("row_mismatch", ITEM),
    attacks.give_another_ancestry_digest: Expected("row_mismatch", DIGESTS),
    attacks.swap_rows_of_two_items: Expected("row_mismatch", ITEM),
    attacks.turn_an_edge_to_another_parent: Expected("row_mismatch", ITEM),
    attacks.lose_a_part_of_an_item: Expected("row_mismatch", ITEM),
    attacks.drop_a_record: Expected("row_missing", ITEM),
    attacks.drop_the_key_that_signed: Expected("row_missing", ITEM),
    attacks.drop_an_edge: Expected("row_missing", ITEM),
    attacks.add_an_edge: Expected("row_unlisted", UNLISTED),
    attacks.add_an_erasure: Expected("row_unlisted", UNLISTED),
    attacks.change_item_hash: Expected("items_mismatch", ITEMS),
    attacks.change_item_commitment: Expected("items_mismatch", ITEMS),
    attacks.change_item_object: Expected("items_mismatch", ITEMS),
    attacks.swap_items: Expected("items_mismatch", ITEMS),
    attacks.move_item_to_another_entry: Expected("items_mismatch", ITEMS),
    attacks.drop_an_item: Expected("items_mismatch", ITEMS),
    attacks.add_an_item: Expected("items_mismatch", ITEMS),
    attacks.change_who_wrote: Expected("leaf_mismatch", LEAF),
    attacks.change_when: Expected("leaf_mismatch", LEAF),
    attacks.change_what_was_done: Expected("leaf_mismatch", LEAF),
    attacks.change_leaf: Expected("leaf_mismatch", LEAF),
    attacks.change_the_root_of_the_items: Expected("leaf_mismatch", LEAF),
    attacks.change_a_leaf_node: Expected("node_mismatch", NODES),
    attacks.change_an_inner_node: Expected("node_mismatch", NODES),
    attacks.drop_a_node: Expected("node_mismatch", NODES),
    attacks.swap_two_entries: Expected("order_mismatch", LEAF),
    attacks.remove_an_entry_from_the_middle: Expected("sequence_gap", GAP),
    attacks.remove_the_row_of_an_entry: Expected("sequence_gap", GAP),
    attacks.remove_entries_after_a_gap_in_the_first_chunk: Expected("sequence_gap", GAP),
    attacks.drop_the_tail_below_the_checkpoint: Expected("log_truncated", LENGTH),
    attacks.drop_the_tail_and_hide_it: Expected("log_truncated", LENGTH),
    attacks.drop_the_last_entry: Expected("log_truncated", LENGTH),
    attacks.lengthen_the_head: Expected("log_truncated", LENGTH),
    rewrite: Expected("checkpoint_inconsistent", NOTES),
    attacks.edit_body_of_a_checkpoint: Expected("signature_invalid", NOTES),
    attacks.edit_signature_of_a_checkpoint: Expected("signature_invalid", NOTES),
    attacks.edit_root_beside_a_checkpoint: Expected("signature_invalid", NOTES),
    attacks.replay_an_older_checkpoint: Expected("signature_invalid", NOTES),
    attacks.put_no_checkpoint_in_its_place: Expected("signature_invalid", NOTES),
    attacks.put_the_checkpoint_of_another_namespace: Expected("origin_mismatch", NOTES),
    attacks.sign_a_checkpoint_with_an_unknown_key: Expected("key_unknown", NOTES),
}


def name_of(attack: Attack) -> str:
    return attack.__name__


@pytest.fixture(scope="module")
def store(around_all: None) -> Store:
    """Each attack is undone."""
    return Store()


@pytest.fixture(scope="module", autouse=True)
def elsewhere(around_all: None) -> Store:
    return Store("elsewhere")


@pytest.fixture(scope="module", autouse=True)
def without_a_checkpoint(around_all: None) -> World:
    world = World("without-a-checkpoint")
    world.save("a note")
    return world


def test_a_store_that_nobody_touched_has_no_fault(store: Store) -> None:
    found = scan(store.namespace, kept=store.early.note)
    assert found.faults == []
    assert (found.content, found.inclusion, found.consistency) == ("ok", "ok", "ok")
    assert (found.n_entries, found.n_checkpoints) == (store.size, 2)
    assert found.n_items == store.of(Item).count()


@pytest.mark.parametrize("attack", ATTACKS, ids=name_of)
def test_an_attack_is_found_under_its_own_code_alone_and_not_without_its_check(
    attack: Attack, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(attacked(store, attack)) == {ATTACKS[attack].code}
    assert scan(store.namespace).is_clean
    # What slices above add may know a second way to notice; it is silent too.
    for holder, name in (ATTACKS[attack].check, DIGESTS):
        monkeypatch.setattr(holder, name, silent(name))
    assert ATTACKS[attack].code not in codes(attacked(store, attack))


def silent(name: str) -> Callable[..., object]:
    """A check that finds nothing: None for one fault, no fault for many."""
    finds_many = name in ("_faults_of_item", "faults_of_entry", "unlisted", "_further")
    return lambda *_args, **_options: iter(()) if finds_many else None


def test_every_code_of_the_scan_but_those_about_a_kept_checkpoint_has_an_attack() -> None:
    documented = (verification.__doc__ or "").split("Codes:")[1].replace("\n", " ").strip(" .")
    named = {code.strip() for code in documented.split(",")}
    assert {expected.code for expected in ATTACKS.values()} == named - {"checkpoint_rolled_back"}


# The verdicts are kept apart.


def test_changed_text_leaves_the_verdict_on_the_log_as_it_was(store: Store) -> None:
    found = attacked(store, attacks.change_payload, kept=store.early.note)
    assert (found.content, found.inclusion, found.consistency) == ("failed", "ok", "ok")


def test_a_changed_entry_leaves_the_verdict_on_text_as_it_was(store: Store) -> None:
    found = attacked(store, attacks.change_who_wrote)
    assert (found.content, found.inclusion, found.consistency) == ("ok", "failed", "not_checked")


def test_an_erased_text_is_neither_ok_nor_failed(store: Store) -> None:
    store.erase(store.single.id)
    found = scan(store.namespace)
    assert (found.content, found.n_erased, found.faults) == ("erased", 2, [])


def test_a_log_without_a_checkpoint_is_not_said_to_be_included_in_one(without_a_checkpoint: World) -> None:
    assert scan(without_a_checkpoint.namespace).inclusion == "not_checked"


def test_a_fault_says_where_and_shows_both_sides(store: Store) -> None:
    (fault,) = attacked(store, attacks.change_payload).faults
    assert (fault.seq, fault.item, fault.part) == (*store.address(store.single.id), "content")
    assert len(fault.expected) == len(fault.got) == 64
    assert fault.expected != fault.got


# What only a reader's own checkpoint shows.


def roll_back(store: Store) -> None:
    """The whole store as it was at the early checkpoint, later checkpoints too."""
    size = store.early.seq
    remove(store, first=size + 1, last=store.size)
    shorten(store, size=size)


def rewrite_and_sign_again(store: Store) -> None:
    """By somebody with the node's own key, who replaces every checkpoint."""
    rewrite(store)
    store.of(Checkpoint).delete()
    checkpoint(store.namespace)


KEPT: dict[Attack, str] = {roll_back: "checkpoint_rolled_back", rewrite_and_sign_again: "checkpoint_inconsistent"}


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_history_replaced_as_a_whole_shows_against_a_kept_checkpoint(attack: Attack, store: Store) -> None:
    found = attacked(store, attack, kept=store.late.note)
    assert codes(found) == {KEPT[attack]}
    assert found.consistency == "failed"


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_history_replaced_as_a_whole_shows_to_nobody_else(attack: Attack, store: Store) -> None:
    """The limit that the product states: without a witness the host's master can rewrite everything."""
    assert attacked(store, attack).is_clean


@pytest.mark.parametrize("attack", KEPT, ids=name_of)
def test_without_the_check_of_the_kept_checkpoint_nobody_would_notice(
    attack: Attack, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "_scan_kept", lambda *_: None)
    assert attacked(store, attack, kept=store.late.note).is_clean


def of_another_namespace(_: Store, elsewhere: Store) -> str:
    return elsewhere.late.note


def with_another_root(store: Store, _: Store) -> str:
    signed = note.parse(store.late.note)
    forged = note.Checkpoint(signed.checkpoint.origin, signed.checkpoint.size, os.urandom(32))
    return note.format_note(note.SignedNote(forged, signed.signatures))


def with_another_key(store: Store, _: Store) -> str:
    return attacks.foreign_note(store)


PRESENTED: dict[Callable[[Store, Store], str], str] = {
    of_another_namespace: "origin_mismatch",
    with_another_root: "signature_invalid",
    with_another_key: "key_unknown",
}


@pytest.mark.parametrize("made", PRESENTED, ids=name_of)
def test_a_kept_checkpoint_that_is_none_of_this_log_is_refused_and_taints_nothing_else(
    made: Callable[[Store, Store], str], store: Store, elsewhere: Store
) -> None:
    found = scan(store.namespace, kept=made(store, elsewhere))
    assert codes(found) == {PRESENTED[made]}
    assert (found.content, found.inclusion, found.consistency) == ("ok", "ok", "failed")


def test_a_kept_text_that_is_no_checkpoint_is_said_to_be_none(store: Store) -> None:
    with pytest.raises(note.NoteError):
        scan(store.namespace, kept="what I remember")
