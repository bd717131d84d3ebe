"""Signed notes against the public vectors of the format; keys, key files and every changed byte."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from hypothesis import given
from hypothesis import strategies as st

from memory.ledger.kernel import note, signing
from memory.ledger.kernel.note import Checkpoint, Signature, SignedNote, VerificationKey

# The example of the tlog-checkpoint specification.
SPECIFICATION_EXAMPLE = """\
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa \
Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""
# The example of Go's sumdb/note: public key, seed, text and signature.
PETER_NEUMANN = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_NEUMANN_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
PETER_NEUMANN_TEXT = (
    b"If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
PETER_NEUMANN_SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
GOLANG_SUM = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

ORIGIN = "ledger.example/billing"
HEAD = Checkpoint(ORIGIN, 1204, bytes(range(32)))
KEY = signing.from_seed(bytes(range(32)))
OTHER_KEY = signing.from_seed(bytes(range(1, 33)))
TRUSTED = [KEY.verification_key(ORIGIN)]
SIGNED = signing.sign(HEAD, KEY)
TEXT = note.format_note(SIGNED)

names = st.text(min_size=1, max_size=12).filter(note.is_name)
checkpoints = st.builds(Checkpoint, names, st.integers(0, 2**63 - 1), st.binary(min_size=32, max_size=32))
signatures = st.builds(Signature, names, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=80))
signed_notes = st.builds(SignedNote, checkpoints, st.lists(signatures, min_size=1, max_size=4).map(tuple))


def test_the_example_of_the_specification_is_read_and_written_again() -> None:
    parsed = note.parse(SPECIFICATION_EXAMPLE)
    root = bytes.fromhex("0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62")
    assert parsed.checkpoint == Checkpoint("example.com/behind-the-sofa", 20852163, root)
    assert [line.name for line in parsed.signatures] == ["example.com/behind-the-sofa"]
    assert len(parsed.signatures[0].signature) == 64
    assert note.format_note(parsed) == SPECIFICATION_EXAMPLE


@pytest.mark.parametrize("text", [PETER_NEUMANN, GOLANG_SUM])
def test_public_keys_in_use_are_read_and_written_again(text: str) -> None:
    key = note.parse_key(text)
    assert str(key) == text
    assert key.key_id.hex() == text.split("+")[1]


def test_the_published_seed_gives_the_published_key_and_signature() -> None:
    key = signing.from_seed(PETER_NEUMANN_SEED)
    public = key.verification_key("PeterNeumann")
    assert str(public) == PETER_NEUMANN
    blob = public.key_id + key.private_key.sign(PETER_NEUMANN_TEXT)
    assert base64.b64encode(blob).decode() == PETER_NEUMANN_SIGNATURE


def test_a_body_is_origin_size_and_root() -> None:
    assert note.format_body(HEAD) == f"{ORIGIN}\n1204\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n".encode()


@given(signed_notes)
def test_what_is_written_is_read_back(signed: SignedNote) -> None:
    assert note.parse(note.format_note(signed)) == signed


@given(names, st.binary(min_size=32, max_size=32))
def test_a_key_is_read_back_from_its_text(name: str, public_key: bytes) -> None:
    key = VerificationKey(name, public_key)
    assert note.parse_key(str(key)) == key


def test_a_signed_checkpoint_is_trusted_and_names_its_key() -> None:
    verdict = signing.verify(note.parse(TEXT), TRUSTED, origin=ORIGIN)
    assert (verdict.code, verdict.key) == (None, TRUSTED[0])
    assert verdict.is_trusted
    assert str(TRUSTED[0]) in verdict.detail


def test_a_checkpoint_of_another_log_is_an_origin_mismatch_even_when_genuine() -> None:
    other = signing.sign(Checkpoint("ledger.example/other", 3, bytes(32)), KEY)
    trusted = [*TRUSTED, KEY.verification_key("ledger.example/other")]
    verdict = signing.verify(other, trusted, origin=ORIGIN)
    assert verdict.code == "origin_mismatch"
    assert ORIGIN in verdict.detail
    assert "ledger.example/other" in verdict.detail


def test_a_signature_by_another_key_is_an_unknown_key() -> None:
    verdict = signing.verify(signing.sign(HEAD, OTHER_KEY), TRUSTED, origin=ORIGIN)
    assert (verdict.code, verdict.is_trusted, verdict.key) == ("key_unknown", False, None)


def test_no_trusted_key_is_an_unknown_key() -> None:
    assert signing.verify(SIGNED, [], origin=ORIGIN).code == "key_unknown"


def test_a_key_of_the_same_name_or_the_same_id_alone_is_not_the_trusted_key() -> None:
    line = SIGNED.signatures[0]
    same_name = SignedNote(HEAD, (Signature(line.name, b"\0\0\0\0", line.signature),))
    same_id = SignedNote(HEAD, (Signature("witness.example", line.key_id, line.signature),))
    assert signing.verify(same_name, TRUSTED, origin=ORIGIN).code == "key_unknown"
    assert signing.verify(same_id, TRUSTED, origin=ORIGIN).code == "key_unknown"


@pytest.mark.parametrize(
    "changed",
    [
        Checkpoint(ORIGIN, 1205, HEAD.root),
        Checkpoint(ORIGIN, 1203, HEAD.root),
        Checkpoint(ORIGIN, 1204, bytes(32)),
    ],
)
def test_a_changed_size_or_root_is_an_invalid_signature(changed: Checkpoint) -> None:
    verdict = signing.verify(SignedNote(changed, SIGNED.signatures), TRUSTED, origin=ORIGIN)
    assert verdict.code == "signature_invalid"


@pytest.mark.parametrize("size_bytes", [1, 63, 65])
def test_a_signature_of_another_length_is_invalid(size_bytes: int) -> None:
    line = SIGNED.signatures[0]
    changed = Signature(line.name, line.key_id, (line.signature * 2)[:size_bytes])
    assert signing.verify(SignedNote(HEAD, (changed,)), TRUSTED, origin=ORIGIN).code == "signature_invalid"


def test_lines_of_unknown_keys_are_ignored() -> None:
    witness = Signature("witness.example", b"\1\2\3\4", b"not even a signature")
    signed = SignedNote(HEAD, (witness, *SIGNED.signatures, witness))
    assert signing.verify(note.parse(note.format_note(signed)), TRUSTED, origin=ORIGIN).is_trusted


def test_one_bad_line_of_a_trusted_key_rejects_the_whole_note() -> None:
    line = SIGNED.signatures[0]
    forged = Signature(line.name, line.key_id, bytes(64))
    for lines in [(forged, line), (line, forged)]:
        assert signing.verify(SignedNote(HEAD, lines), TRUSTED, origin=ORIGIN).code == "signature_invalid"


def test_a_second_trusted_key_may_sign_alone() -> None:
    trusted = [*TRUSTED, OTHER_KEY.verification_key(ORIGIN)]
    verdict = signing.verify(signing.sign(HEAD, OTHER_KEY), trusted, origin=ORIGIN)
    assert verdict.key == trusted[1]


@given(st.integers(0, len(TEXT.encode()) - 1), st.integers(1, 255))
def test_no_changed_byte_of_a_note_is_trusted(position: int, difference: int) -> None:
    changed = bytearray(TEXT.encode())
    changed[position] ^= difference
    try:
        parsed = note.parse(changed.decode())
    except (note.NoteError, UnicodeDecodeError):
        return
    assert not signing.verify(parsed, TRUSTED, origin=ORIGIN).is_trusted


BODY = "ledger.example/billing\n7\n" + "A" * 43 + "=\n"
LINE = "— ledger.example/billing AAAAAAA=\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", note.MalformedNote),
        (BODY, note.MalformedNote),
        (f"{BODY}\n", note.MalformedNote),
        (f"{BODY}\n{LINE[:-1]}", note.MalformedNote),
        (f"{BODY}\n{LINE * 101}", note.MalformedNote),
        (f"{BODY}extension\n\n{LINE}", note.MalformedCheckpoint),
        (f"{BODY}\n\n{LINE}", note.MalformedCheckpoint),
        (f"\n{BODY}\n{LINE}", note.MalformedCheckpoint),
        (f"a\n7\n\n{LINE}", note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\n07\n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\n-7\n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\n7 \n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\n٧\n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\n9223372036854775808\n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("ledger", "led ger") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("ledger", "led+ger") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("ledger", "led\tger") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("\n7\n", "\r\n7\r\n") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("A=", "B=") + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("A" * 43 + "=", "A" * 44) + "\n" + LINE, note.MalformedCheckpoint),
        (BODY.replace("A" * 43 + "=", "Ä" + "A" * 42 + "=") + "\n" + LINE, note.MalformedCheckpoint),
        (f"{BODY}\n- ledger.example/billing AAAAAAA=\n", note.MalformedSignature),
        (f"{BODY}\n— AAAAAAA=\n", note.MalformedSignature),
        (f"{BODY}\n—  AAAAAAA=\n", note.MalformedSignature),
        (f"{BODY}\n— na+me AAAAAAA=\n", note.MalformedSignature),
        (f"{BODY}\n— name AAAAAA==\n", note.MalformedSignature),
        (f"{BODY}\n— name AAAAAAA\n", note.MalformedSignature),
        (f"{BODY}\n— name AAAAAAB=\n", note.MalformedSignature),
        (f"{BODY}\n— name AAAAAAA= \n", note.MalformedSignature),
    ],
)
def test_a_malformed_note_is_refused_by_its_faulty_part(text: str, error: type[note.NoteError]) -> None:
    with pytest.raises(note.NoteError) as refused:
        note.parse(text)
    assert type(refused.value) is error


def test_the_malformed_notes_differ_from_a_good_one() -> None:
    assert note.parse(f"{BODY}\n{LINE}").checkpoint == Checkpoint(ORIGIN, 7, bytes(32))


@pytest.mark.parametrize(
    ("origin", "size", "root"),
    [
        ("", 1, bytes(32)),
        ("a b", 1, bytes(32)),
        ("a\nb", 1, bytes(32)),
        (ORIGIN, -1, bytes(32)),
        (ORIGIN, 1, bytes(31)),
    ],
)
def test_a_checkpoint_that_would_read_back_as_another_cannot_be_made(origin: str, size: int, root: bytes) -> None:
    with pytest.raises(note.MalformedCheckpoint):
        Checkpoint(origin, size, root)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "name+c74f20a3",
        PETER_NEUMANN.replace("c74f20a3", "c74f20a4"),
        PETER_NEUMANN.replace("c74f20a3", "C74F20A3"),
        PETER_NEUMANN.replace("Peter", "Petra"),
        PETER_NEUMANN.replace("+ARpc", "+ARpd"),
        PETER_NEUMANN.replace("+ARpc", "+BBpc"),
        PETER_NEUMANN + "=",
        PETER_NEUMANN + "\n",
        PETER_NEUMANN[:-4],
        "+c74f20a3+" + PETER_NEUMANN.split("+", 2)[2],
    ],
)
def test_a_malformed_key_is_refused(text: str) -> None:
    with pytest.raises(note.MalformedKey):
        note.parse_key(text)


def test_a_saved_key_is_loaded_again_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.key"
    before = os.umask(0)
    try:
        signing.save(KEY, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().startswith("-----BEGIN PRIVATE KEY-----")
    assert signing.load(path).public_bytes == KEY.public_bytes


def test_a_raw_key_file_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "raw.key"
    path.touch(mode=0o600)
    path.write_bytes(PETER_NEUMANN_SEED)
    assert str(signing.load(path).verification_key("PeterNeumann")) == PETER_NEUMANN


def test_an_existing_key_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.key"
    signing.save(KEY, path)
    with pytest.raises(FileExistsError):
        signing.save(OTHER_KEY, path)
    assert signing.load(path).public_bytes == KEY.public_bytes


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_key_file_open_to_others_is_refused_with_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "checkpoint.key"
    signing.save(KEY, path)
    path.chmod(mode)
    with pytest.raises(signing.KeyFileExposed, match=f"expected mode 600, got {mode:o}"):
        signing.load(path)


def test_a_file_without_an_ed25519_key_is_refused(tmp_path: Path) -> None:
    other = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    encrypted = KEY.private_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    for number, held in enumerate([b"", b"short", bytes(33), other, encrypted]):
        path = tmp_path / f"{number}.key"
        path.touch(mode=0o600)
        path.write_bytes(held)
        with pytest.raises(signing.KeyFileMalformed, match="expected an"):
            signing.load(path)


def test_an_absent_key_file_is_reported_as_absent(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        signing.load(tmp_path / "absent.key")


def test_two_generated_keys_differ_and_neither_shows_its_seed() -> None:
    first, second = signing.generate(), signing.generate()
    assert first.public_bytes != second.public_bytes
    assert first.private_key.private_bytes_raw().hex() not in repr(first)


@pytest.mark.parametrize("size_bytes", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(size_bytes: int) -> None:
    with pytest.raises(signing.KeyFileMalformed, match=f"got {size_bytes}"):
        signing.from_seed(bytes(size_bytes))
