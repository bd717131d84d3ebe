"""Signed checkpoints of a log, and proofs of single rows in them, as a third party checks both."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.base.errors import Conflict, Invalid, NotFound, Unavailable
from memory.ledger import verifier
from memory.ledger.kernel import merkle, note, signing
from memory.ledger.models import Checkpoint, Entry, Item, Namespace, PublicKey
from memory.ledger.operations.checkpoints import checkpoint, deliver
from memory.ledger.queries.proofs import consistency, proof
from memory.ledger.queries.trees import root
from tests.conftest import lifted_triggers
from tests.ledger.store import Store, regrow, rewrite
from tests.states import row_counts
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def own_key(settings: Any, tmp_path: Path) -> Path:
    """A node of its own: no key yet."""
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "signing.key"
    return tmp_path / "signing.key"


def test_the_first_checkpoint_makes_the_key_and_publishes_it_in_an_entry_that_it_covers(own_key: Path) -> None:
    world = World()
    world.save("a note")
    signed = checkpoint(world.namespace, make_key=True)
    published = PublicKey.objects.get(namespace=world.namespace)
    assert bytes(published.key) == signing.load(own_key).public_bytes
    assert published.seq == signed.seq == Entry.objects.filter(namespace=world.namespace).count()


def test_a_checkpoint_is_a_note_of_size_and_root_that_the_published_key_verifies() -> None:
    world = World()
    signed = checkpoint(world.namespace, make_key=True)
    parsed = note.parse(signed.note)
    store = Namespace.objects.get(pk=world.namespace)
    leaves = Entry.objects.filter(namespace=world.namespace).order_by("seq").values_list("leaf", flat=True)
    assert parsed.checkpoint == note.Checkpoint(store.origin, signed.seq, merkle.root([bytes(leaf) for leaf in leaves]))
    key = note.VerificationKey(store.origin, bytes(PublicKey.objects.get(namespace=store).key))
    assert signing.verify(parsed, [key], origin=store.origin).is_trusted


def test_two_namespaces_of_one_name_on_two_nodes_have_two_origins() -> None:
    assert len({Namespace.objects.get(pk=World(name).namespace).origin for name in ("lab", "lab2")}) == 2


def test_nothing_is_signed_twice_while_nothing_is_written() -> None:
    world = World()
    first = checkpoint(world.namespace, make_key=True)
    assert checkpoint(world.namespace) == first
    assert Checkpoint.objects.filter(namespace=world.namespace).count() == 1
    world.save("a note")
    assert checkpoint(world.namespace).seq == first.seq + 1


def test_a_node_without_the_key_neither_signs_nor_makes_one(own_key: Path) -> None:
    world = World()
    before = row_counts()
    with pytest.raises(Unavailable, match="no signing key"):
        checkpoint(world.namespace)
    assert row_counts() == before
    assert not own_key.exists()


def test_a_key_is_published_once_and_a_new_one_beside_it(own_key: Path) -> None:
    world = World()
    for _ in range(2):
        world.save("a note")
        checkpoint(world.namespace, make_key=True)
    own_key.unlink()
    world.save("a note")
    checkpoint(world.namespace, make_key=True)
    assert PublicKey.objects.filter(namespace=world.namespace).count() == 2


def test_a_log_that_no_longer_begins_with_what_was_signed_is_not_signed_again() -> None:
    store = Store()
    with lifted_triggers(connection):
        rewrite(store)
    before = row_counts()
    with pytest.raises(Conflict, match="nothing is signed"):
        checkpoint(store.namespace)
    assert row_counts() == before


def test_a_delivered_checkpoint_is_one_whole_file_that_verifies(tmp_path: Path) -> None:
    world = World()
    checkpoint(world.namespace, make_key=True)
    world.save("a note")
    target = deliver(world.namespace, tmp_path / "witness")
    assert [path.name for path in (tmp_path / "witness").iterdir()] == [target.name]
    assert target.read_text() == Checkpoint.objects.filter(namespace=world.namespace).order_by("-seq")[0].note


def test_two_sizes_of_a_log_are_proven_consistent() -> None:
    store = Store()
    found = consistency(store.now(), first=store.early.seq, second=store.size)
    assert merkle.verify_consistency(found.first, found.second, found.first_root, found.second_root, list(found.path))
    assert found.second_root == root(store.namespace, store.size)
    with pytest.raises(Invalid):
        consistency(store.now(), first=store.size, second=store.size + 1)


# Proofs of rows, checked by the script that a third party runs.

SCRIPT = Path(verifier.__file__)


def verified(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SCRIPT), str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def written(proof_: dict[str, Any], folder: Path) -> Path:
    file = folder / "proof.json"
    file.write_text(json.dumps(proof_, ensure_ascii=False), "utf-8")
    return file


@pytest.mark.parametrize("item", [0, 1, 2])
def test_the_script_accepts_the_proof_of_each_row_of_a_batch(item: int, tmp_path: Path) -> None:
    store = Store()
    kept = tmp_path / "kept.txt"
    kept.write_text(store.late.note)
    made = proof(store.now(), seq=store.batch[0].seq, item=item)
    assert made["n_items"] == 3
    done = verified(written(made, tmp_path), "--key", made["public_key"], "--checkpoint", str(kept))
    assert done.returncode == 0, done.stdout
    assert {line.split()[0] for line in done.stdout.splitlines()} == {"ok"}


def test_every_item_of_a_store_has_a_proof_that_holds() -> None:
    store = Store()
    at = store.now()
    for seq, item in store.of(Item).filter(seq__lte=store.late.seq).values_list("seq", "item"):
        made = verifier.read_proof(json.dumps(proof(at, seq=seq, item=item)).encode())
        failed = [step for step in verifier.check(made) if step.verdict == "failed"]
        assert failed == [], f"item {item} of entry {seq}"


def test_a_proof_before_and_one_after_an_erasure_are_both_accepted(tmp_path: Path) -> None:
    store = Store()
    seq, item = store.address(store.single.id)
    before = proof(store.now(), seq=seq, item=item)
    gone = store.erase(store.single.id)
    after = proof(store.now(), seq=seq, item=item)
    assert verified(written(before, tmp_path)).returncode == 0
    done = verified(written(after, tmp_path))
    assert (done.returncode, done.stdout.count("erased ")) == (0, 2)
    assert f"by entry {gone.seq}" in done.stdout
    assert "a single note" not in json.dumps(after)
    assert (before["row"], before["parts"], before["entry"]) == (after["row"], after["parts"], after["entry"])


def test_a_proof_of_another_size_or_entry_is_refused(tmp_path: Path) -> None:
    store = Store()
    made = proof(store.now(), seq=store.single.seq)
    for changes in ({"size": made["size"] - 1}, {"seq": made["seq"] + 1}):
        done = verified(written({**made, **changes}, tmp_path))
        assert (done.returncode, "inclusion_invalid" in done.stdout) == (3, True)


def test_a_forked_log_makes_no_proof_that_fits_the_checkpoint_a_reader_kept(tmp_path: Path) -> None:
    """The fork is signed again by the node's own key: all agrees with itself, and not with what was kept."""
    store = Store()
    kept = tmp_path / "kept.txt"
    kept.write_text(store.late.note)
    with lifted_triggers(connection):
        rewrite(store)
        store.of(Checkpoint).delete()
    regrow(store.namespace)
    checkpoint(store.namespace)
    made = proof(store.now(), seq=store.single.seq)
    path = consistency(store.now(), first=store.late.seq, second=made["size"])
    made["consistency"] = {"first": path.first, "second": path.second, "path": [step.hex() for step in path.path]}
    assert verified(written(made, tmp_path)).returncode == 0
    done = verified(written(made, tmp_path), "--checkpoint", str(kept))
    assert (done.returncode, "checkpoint_inconsistent" in done.stdout) == (3, True)


def test_no_proof_is_made_of_what_does_not_exist() -> None:
    store = Store()
    with pytest.raises(NotFound):
        proof(store.now(), seq=store.size + 1)
    with pytest.raises(NotFound):
        proof(store.now(), seq=store.single.seq, item=9)
    with pytest.raises(NotFound):
        proof(store.at(store.single.seq - 1), seq=store.single.seq)


def is_refused(data: bytes) -> bool:
    try:
        steps = verifier.check(verifier.read_proof(data))
    except verifier.Unreadable:
        return True
    return any(step.verdict == "failed" for step in steps)


def test_every_changed_byte_of_a_proof_is_refused(tmp_path: Path) -> None:
    store = Store()
    store.save("Grüße – 2.5 €", metadata={"n": 1e-7, "deep": [{"a": [1, None, True]}]}, summary="s", tags=("x", "y"))
    newest = Entry.objects.filter(namespace=store.namespace).count()
    checkpoint(store.namespace)
    proofs = [proof(store.now(), seq=seq, item=item) for seq, item in ((newest, 0), (store.batch[0].seq, 1))]
    files = [json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode() for made in proofs]
    assert [is_refused(data) for data in files] == [False, False]

    @hypothesis_settings(max_examples=400)
    @given(st.data())
    def any_other_byte(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(files))
        position = data.draw(st.integers(0, len(file) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda value: value != file[position]))
        assert is_refused(file[:position] + bytes([byte]) + file[position + 1 :])

    @hypothesis_settings(max_examples=100)
    @given(st.data())
    def any_lost_byte(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(files))
        position = data.draw(st.integers(0, len(file) - 1))
        assert is_refused(file[:position] + file[position + 1 :])

    any_other_byte()
    any_lost_byte()
    refused = tmp_path / "refused.json"
    refused.write_bytes(files[0].replace(b"Gr", b"gr", 1))
    assert verified(refused).returncode == 3
