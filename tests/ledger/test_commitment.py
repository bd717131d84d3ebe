"""Commitments bind every input, hide the payload behind the salt, and are recomputed by hand here."""

from __future__ import annotations

import hashlib
import hmac
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.canonical import CanonicalError
from memory.ledger.kernel import commitment

SALT = bytes(range(32))
OTHER_SALT = bytes(range(1, 33))
salts = st.binary(min_size=32, max_size=32)
hashes = st.binary(min_size=32, max_size=32)


def sha(*pieces: bytes) -> bytes:
    return hashlib.sha256(b"".join(pieces)).digest()


def test_a_part_commitment_is_the_hash_of_tag_salt_and_payload() -> None:
    expected = sha(sha(b"palimpsest/part/v1/content"), SALT, b'{"text":"hello"}')
    assert commitment.part_commitment("content", SALT, b'{"text":"hello"}') == expected


def test_an_item_commitment_is_the_hash_of_tag_and_canonical_row_and_parts() -> None:
    part = commitment.part_commitment("content", SALT, b"1")
    body = b'{"parts":{"content":"' + part.hex().encode() + b'"},"row":{"a":null,"b":[1,true]}}'
    expected = sha(sha(b"palimpsest/item/v1"), body)
    assert commitment.item_commitment({"b": [1, True], "a": None}, {"content": part}) == expected


def test_an_item_hash_is_a_leaf_hash_of_its_canonical_fields() -> None:
    body = b'{"commitment":"' + b"ab" * 32 + b'","item":3,"kind":"record","object":"r-1"}'
    assert commitment.item_hash(3, "record", "r-1", bytes.fromhex("ab" * 32)) == sha(b"\0", body)


def test_an_entry_leaf_is_a_leaf_hash_of_the_canonical_entry() -> None:
    assert commitment.entry_leaf({"verb": "save", "seq": 7}) == sha(b"\0", b'{"seq":7,"verb":"save"}')


def test_a_fingerprint_is_an_hmac_under_the_salt() -> None:
    assert commitment.fingerprint(SALT, b"request") == hmac.new(SALT, b"request", hashlib.sha256).digest()
    assert commitment.fingerprint(SALT, b"request") != commitment.fingerprint(OTHER_SALT, b"request")


def test_an_ancestry_digest_is_the_hash_of_tag_and_canonical_list() -> None:
    body = b'["r-1","' + b"01" * 32 + b'",[["evolved_from","' + b"02" * 32 + b'"]],0]'
    expected = sha(sha(b"palimpsest/ancestry/v1"), body)
    digest = commitment.ancestry_digest("r-1", b"\x01" * 32, [("evolved_from", b"\x02" * 32)], 0)
    assert digest == expected


@pytest.mark.parametrize("size_bytes", [0, 16, 31, 33, 64])
def test_a_salt_of_another_length_is_refused(size_bytes: int) -> None:
    with pytest.raises(commitment.SaltInvalid, match=f"32 bytes, got {size_bytes}"):
        commitment.part_commitment("content", bytes(size_bytes), b"1")
    with pytest.raises(commitment.SaltInvalid, match=f"32 bytes, got {size_bytes}"):
        commitment.fingerprint(bytes(size_bytes), b"1")
    assert commitment.SaltInvalid.code == "salt_invalid"


@given(
    first=st.tuples(st.text(max_size=8), salts, st.binary(max_size=40)),
    second=st.tuples(st.text(max_size=8), salts, st.binary(max_size=40)),
)
def test_two_parts_share_a_commitment_only_if_name_salt_and_payload_are_the_same(
    first: tuple[str, bytes, bytes], second: tuple[str, bytes, bytes]
) -> None:
    equal = commitment.part_commitment(*first) == commitment.part_commitment(*second)
    assert equal == (first == second)


def test_moving_bytes_between_name_salt_and_payload_changes_the_commitment() -> None:
    base = commitment.part_commitment("note", SALT, b"abc")
    assert commitment.part_commitment("not", SALT, b"eabc") != base
    assert commitment.part_commitment("note", b"\0" + SALT[:-1], SALT[-1:] + b"abc") != base


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_columns_and_parts_does_not_matter(order: list[str]) -> None:
    row = {name: f"value of {name}" for name in order}
    parts = {name: sha(name.encode()) for name in order}
    in_order = sorted(order)
    expected = commitment.item_commitment(
        {name: row[name] for name in in_order}, {name: parts[name] for name in in_order}
    )
    assert commitment.item_commitment(row, parts) == expected


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"type": "fact", "confidence": 1}, {"content": b"\x01" * 32}),
        ({"type": "note", "confidence": 2}, {"content": b"\x01" * 32}),
        ({"type": "note", "confidence": "1"}, {"content": b"\x01" * 32}),
        ({"type": "note", "confidence": None}, {"content": b"\x01" * 32}),
        ({"type": "note"}, {"content": b"\x01" * 32}),
        ({"type": "note", "confidence": 1}, {"content": b"\x02" * 32}),
        ({"type": "note", "confidence": 1}, {"summary": b"\x01" * 32}),
        ({"type": "note", "confidence": 1}, {}),
    ],
)
def test_every_change_of_a_row_or_its_parts_changes_the_item_commitment(
    row: dict[str, object], parts: dict[str, bytes]
) -> None:
    base = commitment.item_commitment({"type": "note", "confidence": 1}, {"content": b"\x01" * 32})
    assert commitment.item_commitment(row, parts) != base


def test_a_column_named_parts_is_not_taken_for_the_parts() -> None:
    inside = commitment.item_commitment({"parts": {"content": "01" * 32}}, {})
    assert inside != commitment.item_commitment({}, {"content": b"\x01" * 32})


def test_every_field_of_an_item_hash_counts() -> None:
    base = commitment.item_hash(0, "record", "a", bytes(32))
    others = [
        commitment.item_hash(1, "record", "a", bytes(32)),
        commitment.item_hash(0, "fact", "a", bytes(32)),
        commitment.item_hash(0, "record", "b", bytes(32)),
        commitment.item_hash(0, "record", "a", b"\1" + bytes(31)),
    ]
    assert len({base, *others}) == 5


def test_an_ancestry_digest_does_not_depend_on_the_order_of_parents() -> None:
    parents = [("merged_from", b"\x02" * 32), ("merged_from", b"\x01" * 32), ("evolved_from", b"\x03" * 32)]
    digests = {commitment.ancestry_digest("r", bytes(32), order, 1) for order in permutations(parents)}
    assert len(digests) == 1


@given(commit=hashes, parent=hashes)
def test_an_ancestry_digest_counts_relations_repetitions_and_quarantined_edges(commit: bytes, parent: bytes) -> None:
    digests = [
        commitment.ancestry_digest("r", commit, [("evolved_from", parent)], 0),
        commitment.ancestry_digest("r", commit, [("merged_from", parent)], 0),
        commitment.ancestry_digest("r", commit, [("evolved_from", parent)] * 2, 0),
        commitment.ancestry_digest("r", commit, [("evolved_from", parent)], 1),
        commitment.ancestry_digest("r", commit, [], 0),
        commitment.ancestry_digest("s", commit, [("evolved_from", parent)], 0),
    ]
    assert len(set(digests)) == len(digests)


def test_a_change_of_one_record_reaches_its_descendants_and_no_ancestor() -> None:
    def line(middle: bytes) -> list[bytes]:
        top = commitment.ancestry_digest("top", bytes(32), [], 0)
        between = commitment.ancestry_digest("middle", middle, [("evolved_from", top)], 0)
        return [top, between, commitment.ancestry_digest("leaf", bytes(32), [("evolved_from", between)], 0)]

    before, after = line(b"\x01" * 32), line(b"\x02" * 32)
    assert before[0] == after[0]
    assert before[1] != after[1]
    assert before[2] != after[2]


def test_a_column_without_a_canonical_form_is_named() -> None:
    with pytest.raises(CanonicalError, match=r"row\.confidence: expected a finite number, got nan"):
        commitment.item_commitment({"confidence": float("nan")}, {})
