"""The stand-alone verifier: an honest proof passes, and every edit is refused with its cause."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memory.ledger import verifier
from memory.ledger.kernel import merkle
from tests.ledger.proofs import (
    ERASED_BY,
    ITEM_BODY,
    KEY,
    LEAVES,
    N_ENTRIES,
    ORIGIN,
    OTHER_KEY,
    SEQ,
    VKEY,
    ZEROS,
    Proof,
    changed,
    encoded,
    fetch,
    honest_proof,
    signed_head,
)


def steps_of(proof: Proof, **kwargs: Any) -> dict[str, verifier.Step]:
    return {step.name: step for step in verifier.check(verifier.read_proof(encoded(proof)), **kwargs)}


def verdicts(proof: Proof, **kwargs: Any) -> dict[str, str]:
    return {name: step.code or step.verdict for name, step in steps_of(proof, **kwargs).items()}


def failures(proof: Proof, **kwargs: Any) -> list[str]:
    return [step.code for step in steps_of(proof, **kwargs).values() if step.verdict == "failed"]


HONEST = honest_proof()
ALL_OK = {
    "format": "ok",
    "content:content": "ok",
    "content:summary": "ok",
    "row": "ok",
    "item": "ok",
    "origin": "ok",
    "signature": "ok",
    "entry": "ok",
    "consistency": "not_checked",
    "key": "not_checked",
}


def test_an_honest_proof_passes_every_check_in_the_fixed_order() -> None:
    assert verdicts(HONEST) == ALL_OK
    assert list(verdicts(HONEST)) == list(ALL_OK)


def test_the_readers_own_key_and_checkpoint_leave_nothing_unchecked() -> None:
    kept = verifier.parse_checkpoint(signed_head(5))
    found = verdicts(honest_proof(consistency_from=5), own_key=verifier.parse_key(VKEY), kept=kept)
    assert set(found.values()) == {"ok"}


def test_the_trusted_key_is_named_with_whose_word_it_is() -> None:
    public = KEY.public_bytes.hex()
    by_proof, by_reader = steps_of(HONEST)["key"], steps_of(HONEST, own_key=verifier.parse_key(VKEY))["key"]
    assert public in by_proof.detail
    assert "the proof names itself" in by_proof.detail
    assert public in by_reader.detail
    assert "that you gave" in by_reader.detail


def test_an_erased_part_is_neither_ok_nor_failed_and_names_the_entry() -> None:
    step = steps_of(honest_proof(is_summary_erased=True))["content:summary"]
    assert step.verdict == "erased"
    assert f"entry {ERASED_BY}" in step.detail
    assert verdicts(honest_proof(is_summary_erased=True)) == {**ALL_OK, "content:summary": "erased"}


def test_a_part_that_is_not_shown_is_not_checked() -> None:
    proof = honest_proof()
    del proof["contents"]["summary"]
    assert verdicts(proof) == {**ALL_OK, "content:summary": "not_checked"}


def edited(*path: str | int, to: object) -> Callable[[Proof], None]:
    def edit(proof: Proof) -> None:
        holder: Any = proof
        for step in path[:-1]:
            holder = holder[step]
        assert holder[path[-1]] != to
        holder[path[-1]] = to

    return edit


def without(*path: str) -> Callable[[Proof], None]:
    def edit(proof: Proof) -> None:
        holder = proof
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]

    return edit


def swap_item_hashes(proof: Proof) -> None:
    proof["item_path"].reverse()


def take_the_path_of_another_entry(proof: Proof) -> None:
    proof["entry_path"] = [step.hex() for step in merkle.inclusion_path(0, N_ENTRIES, fetch)]


def present_another_size(proof: Proof) -> None:
    proof["size"] = 9
    proof["entry_path"] = [step.hex() for step in merkle.inclusion_path(SEQ - 1, 9, fetch)]


def sign_with_another_key(proof: Proof) -> None:
    proof["checkpoint"] = signed_head(N_ENTRIES, key=OTHER_KEY)


def change_the_size_in_the_checkpoint(proof: Proof) -> None:
    proof["checkpoint"] = proof["checkpoint"].replace(f"\n{N_ENTRIES}\n", "\n12\n")


def change_the_root_in_the_checkpoint(proof: Proof) -> None:
    other = signed_head(N_ENTRIES - 1).splitlines()[2]
    proof["checkpoint"] = "\n".join(
        other if number == 2 else line for number, line in enumerate(proof["checkpoint"].split("\n"))
    )


def take_the_signature_of_another_checkpoint(proof: Proof) -> None:
    proof["checkpoint"] = proof["checkpoint"].rpartition("\n\n")[0] + "\n\n" + signed_head(5).rpartition("\n\n")[2]


def present_the_checkpoint_of_another_namespace(proof: Proof) -> None:
    proof["checkpoint"] = signed_head(N_ENTRIES, origin="ledger.example/other")
    proof["public_key"] = str(KEY.verification_key("ledger.example/other"))


EDITS: dict[str, tuple[Callable[[Proof], None], str]] = {
    "a word of the payload": (edited("contents", "content", "payload", "text", to="Invoice 7"), "payload_mismatch"),
    "a number of the payload": (edited("contents", "content", "payload", "amounts", 1, to=2.25), "payload_mismatch"),
    "the salt": (edited("contents", "content", "salt", to=ZEROS), "payload_mismatch"),
    "a shorter salt": (edited("contents", "content", "salt", to=ZEROS[2:]), "salt_invalid"),
    "a missing salt": (without("contents", "content", "salt"), "salt_invalid"),
    "a payload gone": (edited("contents", "content", to=None), "content_missing"),
    "a payload gone, salt kept": (without("contents", "content", "payload"), "content_missing"),
    "erased before it was there": (edited("contents", "content", to={"erased_by": SEQ}), "content_missing"),
    "payload for no part": (edited("contents", to={"other": {"payload": 1, "salt": ZEROS}}), "payload_mismatch"),
    "a column": (edited("row", "valid_to", to="2026-02-01T00:00:00.000000Z"), "row_mismatch"),
    "a number in a column": (edited("row", "confidence", to=0.7500000000000001), "row_mismatch"),
    "a missing column": (without("row", "confidence"), "row_mismatch"),
    "the id of the item": (edited("item_body", "object", to="another"), "items_mismatch"),
    "the kind of the item": (edited("item_body", "kind", to="fact"), "items_mismatch"),
    "the number of the item": (edited("item", to=0), "items_mismatch"),
    "the count of items": (edited("n_items", to=4), "items_mismatch"),
    "a hash of the item path": (edited("item_path", 0, to=ZEROS), "items_mismatch"),
    "swapped item hashes": (swap_item_hashes, "items_mismatch"),
    "the items_root": (edited("entry", "items_root", to=ZEROS), "items_mismatch"),
    "an items_root that is no hash": (edited("entry", "items_root", to=None), "items_mismatch"),
    "the verb of the entry": (edited("entry", "verb", to="records.withdraw"), "leaf_mismatch"),
    "the actor of the entry": (edited("entry", "actor", "principal", to="agent:bob"), "leaf_mismatch"),
    "the instant of the entry": (edited("entry", "recorded_at", to="2026-01-01T00:00:08.000000Z"), "leaf_mismatch"),
    "the leaf": (edited("leaf", to=ZEROS), "leaf_mismatch"),
    "the seq of the proof": (edited("seq", to=SEQ - 1), "inclusion_invalid"),
    "the size of the proof": (edited("size", to=N_ENTRIES + 1), "inclusion_invalid"),
    "a hash of the entry path": (edited("entry_path", 2, to=ZEROS), "inclusion_invalid"),
    "the path of another entry": (take_the_path_of_another_entry, "inclusion_invalid"),
    "a proof for another size": (present_another_size, "inclusion_invalid"),
    "an empty entry path": (edited("entry_path", to=[]), "inclusion_invalid"),
    "the size in the checkpoint": (change_the_size_in_the_checkpoint, "signature_invalid"),
    "the root in the checkpoint": (change_the_root_in_the_checkpoint, "signature_invalid"),
    "the signature": (take_the_signature_of_another_checkpoint, "signature_invalid"),
    "a signature by another key": (sign_with_another_key, "key_unknown"),
    "another key in the proof": (edited("public_key", to=str(OTHER_KEY.verification_key(ORIGIN))), "key_unknown"),
    "a checkpoint of another namespace": (present_the_checkpoint_of_another_namespace, "origin_mismatch"),
    "the origin": (edited("origin", to="ledger.example/other"), "origin_mismatch"),
    "the namespace": (edited("namespace", to="other"), "origin_mismatch"),
}


@pytest.mark.parametrize("name", EDITS)
def test_one_edit_fails_one_check_with_its_own_code(name: str) -> None:
    edit, code = EDITS[name]
    proof = honest_proof()
    edit(proof)
    assert failures(proof) == [code]


def test_an_edited_entry_is_refused_also_where_the_proof_states_no_leaf() -> None:
    proof = honest_proof()
    del proof["leaf"]
    assert verdicts(proof) == ALL_OK
    proof["entry"]["verb"] = "records.withdraw"
    assert failures(proof) == ["inclusion_invalid"]


def test_no_check_from_the_item_on_runs_after_one_that_failed_and_the_others_still_do() -> None:
    proof = honest_proof()
    proof["entry"]["items_root"] = ZEROS
    proof["contents"]["summary"]["payload"] = "paid once"
    assert verdicts(proof) == {
        **ALL_OK,
        "content:summary": "payload_mismatch",
        "item": "items_mismatch",
        "origin": "not_checked",
        "signature": "not_checked",
        "entry": "not_checked",
    }


def leaves_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves_of(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves_of(item, (*path, index))
    else:
        yield path, value


def is_refused(data: bytes, **kwargs: Any) -> bool:
    try:
        steps = verifier.check(verifier.read_proof(data), **kwargs)
    except verifier.Unreadable:
        return True
    return any(step.verdict == "failed" for step in steps)


@pytest.mark.parametrize("path", [path for path, _ in leaves_of(HONEST)], ids=lambda path: ".".join(map(str, path)))
def test_every_value_of_a_proof_counts(path: tuple[str | int, ...]) -> None:
    proof = honest_proof()
    holder: Any = proof
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = changed(holder[path[-1]])
    assert is_refused(encoded(proof))


def same_value(data: bytes) -> bool:
    try:
        return verifier.canonical(json.loads(data)) == verifier.canonical(HONEST)
    except (ValueError, RecursionError):
        return False


@given(st.integers(0, len(encoded(HONEST)) - 1), st.integers(1, 255))
@example(encoded(HONEST).index(b"paid"), 0x20)
def test_any_changed_byte_of_the_file_is_refused_unless_it_spells_the_same_value(
    position: int, difference: int
) -> None:
    data = bytearray(encoded(HONEST))
    data[position] ^= difference
    assume(not same_value(bytes(data)))
    assert is_refused(bytes(data))


@pytest.mark.parametrize("place", range(len(honest_proof(consistency_from=5)["consistency"]["path"])))
def test_every_hash_of_a_consistency_path_counts(place: int) -> None:
    proof = honest_proof(consistency_from=5)
    kept = verifier.parse_checkpoint(signed_head(5))
    assert verdicts(proof, kept=kept)["consistency"] == "ok"
    proof["consistency"]["path"][place] = str(changed(proof["consistency"]["path"][place]))
    assert failures(proof, kept=kept) == ["checkpoint_inconsistent"]


@pytest.mark.parametrize("size", range(1, N_ENTRIES))
def test_a_checkpoint_kept_earlier_is_consistent_and_one_of_a_forked_history_is_not(size: int) -> None:
    proof = honest_proof(consistency_from=size)
    assert verdicts(proof, kept=verifier.parse_checkpoint(signed_head(size)))["consistency"] == "ok"
    forked = verifier.parse_checkpoint(signed_head(size, leaves=[*LEAVES[: size - 1], bytes(32)]))
    assert failures(proof, kept=forked) == ["checkpoint_inconsistent"]


def test_the_same_checkpoint_is_consistent_and_another_root_of_the_same_size_is_not() -> None:
    assert verdicts(HONEST, kept=verifier.parse_checkpoint(signed_head(N_ENTRIES)))["consistency"] == "ok"
    forked = verifier.parse_checkpoint(signed_head(N_ENTRIES, leaves=[*LEAVES[:-1], bytes(32)]))
    assert failures(HONEST, kept=forked) == ["checkpoint_inconsistent"]


def test_a_checkpoint_kept_later_is_compared_too() -> None:
    later = [*LEAVES, bytes(32), bytes(32)]
    path = merkle.consistency_path(N_ENTRIES, 13, lambda level, at: merkle.root(later[at << level : (at + 1) << level]))
    proof = honest_proof()
    proof["consistency"] = {"first": N_ENTRIES, "second": 13, "path": [step.hex() for step in path]}
    kept = verifier.parse_checkpoint(signed_head(13, leaves=later))
    assert verdicts(proof, kept=kept)["consistency"] == "ok"
    proof["consistency"]["path"] = proof["consistency"]["path"][1:]
    assert failures(proof, kept=kept) == ["checkpoint_inconsistent"]


def test_without_a_path_between_the_sizes_consistency_is_not_checked() -> None:
    kept = verifier.parse_checkpoint(signed_head(4))
    for proof in (HONEST, honest_proof(consistency_from=5)):
        step = steps_of(proof, kept=kept)["consistency"]
        assert step.verdict == "not_checked"
        assert f"from 4 to {N_ENTRIES}" in step.detail


def test_a_kept_checkpoint_of_another_log_is_an_origin_mismatch() -> None:
    kept = verifier.parse_checkpoint(signed_head(5, origin="ledger.example/other"))
    assert failures(honest_proof(consistency_from=5), kept=kept) == ["origin_mismatch"]


def test_a_witness_line_beside_the_signature_is_ignored() -> None:
    proof = honest_proof()
    proof["checkpoint"] += "— witness.example AAAAAAAA\n"
    assert verdicts(proof) == ALL_OK


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{",
        b"[" * 100_000,
        encoded(HONEST).replace(b'"version": 1', b'"version": 2'),
        encoded(HONEST).replace(b'"version": 1', b'"version": true'),
        encoded(HONEST).replace(b'"version": 1', b'"version": 1, "version": 1'),
        encoded(HONEST).replace(b'"version": 1', b'"version": NaN'),
        encoded(HONEST).replace(b'"version": 1', b'"version": 1, "note": ""'),
        encoded(HONEST).replace(b'"seq": 7', b'"seq": -7'),
        encoded(HONEST).replace(b'"paid twice"', b'"\\ud800"'),
        encoded({name: value for name, value in HONEST.items() if name != "entry_path"}),
        encoded({**HONEST, "leaf": LEAVES[SEQ - 1].hex().upper()}),
        encoded({**HONEST, "entry_path": "ab"}),
        encoded({**HONEST, "item_body": {**ITEM_BODY, "more": 1}}),
        encoded({**HONEST, "consistency": {"first": 1}}),
        encoded({**HONEST, "checkpoint": "no checkpoint"}),
        encoded({**HONEST, "public_key": VKEY.replace("A", "B", 1)}),
    ],
)
def test_what_is_no_proof_is_unreadable(data: bytes) -> None:
    with pytest.raises(verifier.Unreadable):
        verifier.check(verifier.read_proof(data))
