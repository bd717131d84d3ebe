"""Each part of the stand-alone verifier against an oracle: JSON, trees, Ed25519, texts of keys and checkpoints."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterator

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import example, given
from hypothesis import strategies as st

from memory.base.canonical import CanonicalError, canonical
from memory.ledger import verifier
from memory.ledger.kernel import merkle, note, signing
from tests.ledger.proofs import KEY, ORIGIN, VKEY, ZEROS, changed

# RFC 8032 7.1: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        b"",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        b"\x72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        b"\xaf\x82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").digest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_signatures_of_the_rfc_are_accepted(public: str, message: bytes, signature: str) -> None:
    assert verifier.is_signature(bytes.fromhex(public), message, bytes.fromhex(signature))
    assert not verifier.is_signature(bytes.fromhex(public), message + b"\0", bytes.fromhex(signature))


def library_accepts(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(max_size=64), flip=st.integers(-1, 8 * 96 - 1))
def test_signatures_are_judged_as_the_library_judges_them(seed: bytes, message: bytes, flip: int) -> None:
    key = signing.from_seed(seed)
    blob = bytearray(key.public_bytes + key.private_key.sign(message))
    if flip >= 0:
        blob[flip // 8] ^= 1 << flip % 8
    public, signature = bytes(blob[:32]), bytes(blob[32:])
    verdict = verifier.is_signature(public, message, signature)
    assert verdict == library_accepts(public, message, signature) == (flip < 0)


def test_a_signature_with_the_group_order_added_is_refused() -> None:
    public, message, signature = RFC_8032[0]
    good = bytes.fromhex(signature)
    scalar = int.from_bytes(good[32:], "little") + verifier.ORDER
    assert not verifier.is_signature(bytes.fromhex(public), message, good[:32] + scalar.to_bytes(32, "little"))


@pytest.mark.parametrize(
    "encoding",
    [verifier.P + 1, 1 | 1 << 255, 2, verifier.P],
    ids=["above the prime", "zero with a sign", "no point", "the prime itself"],
)
def test_bytes_that_are_no_canonical_point_are_refused(encoding: int) -> None:
    assert verifier._decompressed((1).to_bytes(32, "little")) is not None
    assert verifier._decompressed(encoding.to_bytes(32, "little")) is None


@pytest.mark.parametrize("size_bytes", [0, 63, 65])
def test_a_signature_of_another_length_is_refused(size_bytes: int) -> None:
    public, message, signature = RFC_8032[0]
    assert not verifier.is_signature(bytes.fromhex(public), message, (bytes.fromhex(signature) * 2)[:size_bytes])


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10) | st.sampled_from(
    ["\ue000", "\U00010000", "\x1f", "\x7f", "\u2028", '"', "\\", "/"]
)
doubles = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 10**17), st.integers(-30, 30)),
    st.binary(min_size=8, max_size=8).map(lambda bits: struct.unpack("<d", bits)[0]).filter(math.isfinite),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | doubles | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=25,
)


@given(values)
@example([1e-6, 1e-7, 9.999999999999997e-7, -1e-7, 1e20, 1e21, 999999999999999700000.0, 2.0**53, 5e-324, -0.0])
def test_its_canonical_json_is_the_one_that_was_hashed(value: object) -> None:
    try:
        expected = canonical(value)
    except CanonicalError:
        with pytest.raises(ValueError, match="finite"):
            verifier.canonical(value)
        return
    assert verifier.canonical(value) == expected
    assert verifier.canonical(json.loads(expected)) == expected


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**60, 10**400])
def test_an_integer_whose_digits_a_double_would_lose_is_refused(value: int) -> None:
    with pytest.raises((ValueError, OverflowError)):
        verifier.canonical(value)


def test_its_trees_accept_and_refuse_what_the_kernel_does() -> None:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(40)]
    tops = [merkle.root(leaves[:size]) for size in range(41)]
    heads = [verifier.Checkpoint(ORIGIN, size, tops[size], b"", ()) for size in range(41)]

    def stored(level: int, index: int) -> bytes:
        return merkle.root(leaves[index << level : (index + 1) << level])

    def bad(path: list[str]) -> Iterator[list[str]]:
        for place, step in enumerate(path):
            yield [*path[:place], str(changed(step)), *path[place + 1 :]]
        yield [*path, ZEROS]
        yield path[:-1] if path else [ZEROS]

    for size in range(1, 41):
        for index in range(size):
            path = [step.hex() for step in merkle.inclusion_path(index, size, stored)]
            assert verifier.is_included(index, size, leaves[index], path, tops[size].hex())
            for other in bad(path):
                assert not verifier.is_included(index, size, leaves[index], other, tops[size].hex())
            assert not verifier.is_included(index + 1, size, leaves[index], path, tops[size].hex())
        for first in range(1, size):
            path = [step.hex() for step in merkle.consistency_path(first, size, stored)]
            assert verifier.is_consistent(heads[first], heads[size], path)
            for other in bad(path):
                assert not verifier.is_consistent(heads[first], heads[size], other)


@given(size=st.integers(0, 2**63 - 1), root=st.binary(min_size=32, max_size=32))
def test_it_reads_checkpoints_and_keys_as_the_kernel_writes_them(size: int, root: bytes) -> None:
    head = note.Checkpoint(ORIGIN, size, root)
    signed = signing.sign(head, KEY)
    read = verifier.parse_checkpoint(note.format_note(signed))
    assert (read.origin, read.size, read.root, read.text) == (ORIGIN, size, root, note.format_body(head))
    assert read.signatures == tuple((line.name, line.key_id, line.signature) for line in signed.signatures)
    key = KEY.verification_key(ORIGIN)
    assert verifier.parse_key(VKEY) == (key.name, key.key_id, key.public_key)
