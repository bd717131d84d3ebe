"""Signing and verifying checkpoints with Ed25519, and the file that holds the private key.

Invariants
- One private key signs for many logs; for each it carries the log's origin as name, so key ids differ by log.
- A note is trusted only if a trusted key signed it. A line that names a trusted key and does not verify rejects the
  whole note, whatever other lines say.
- The origin is checked first: a genuine checkpoint of another log is `origin_mismatch`, not a signature fault.
- The key file is readable by its owner alone. An existing file is never overwritten.

Source: RFC 8032; C2SP signed-note, v1.0.0 (Ed25519, algorithm byte 01); RFC 8410 (PKCS #8).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from memory.ledger.kernel.note import Checkpoint, Signature, SignedNote, VerificationKey, format_body

PRIVATE_KEY_BYTES = 32

VerdictCode = Literal["origin_mismatch", "key_unknown", "signature_invalid"]


class KeyFileError(ValueError):
    """The key file cannot be used."""


class KeyFileExposed(KeyFileError):
    """Others than the owner may read or write the key file."""


class KeyFileMalformed(KeyFileError):
    """The file holds no Ed25519 private key."""


@dataclass(frozen=True, slots=True)
class NoteVerdict:
    """What verifying a note found. code : None where the note is trusted.   key : the key that signed it, if so."""

    code: VerdictCode | None
    detail: str
    key: VerificationKey | None = None

    @property
    def is_trusted(self) -> bool:
        return self.code is None


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private Ed25519 key. The seed is left out of its text form."""

    private_key: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"SigningKey(public {self.public_bytes.hex()})"

    @property
    def public_bytes(self) -> bytes:
        return self.private_key.public_key().public_bytes_raw()

    def verification_key(self, name: str) -> VerificationKey:
        return VerificationKey(name, self.public_bytes)


def generate() -> SigningKey:
    """A new key from the operating system's randomness."""
    return SigningKey(Ed25519PrivateKey.generate())


def from_seed(seed: bytes) -> SigningKey:
    """The key of a 32-byte seed, RFC 8032 5.1.5.   Raises KeyFileMalformed for another length."""
    if len(seed) != PRIVATE_KEY_BYTES:
        raise KeyFileMalformed(f"expected a seed of {PRIVATE_KEY_BYTES} bytes, got {len(seed)}")
    return SigningKey(Ed25519PrivateKey.from_private_bytes(seed))


def save(key: SigningKey, path: Path) -> None:
    """Write the key as PKCS #8 PEM to a new file of mode 600, on disk when this returns.   Raises FileExistsError."""
    pem = key.private_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The mode is given at creation: a later chmod would leave a moment in which others can read.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())


def load(path: Path) -> SigningKey:
    """The key of a file: PKCS #8 PEM, or the raw 32 bytes of the seed.

    Raises KeyFileExposed, KeyFileMalformed, OSError.
    """
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise KeyFileExposed(f"{path}: expected mode 600, got {mode:o}; run chmod 600 on it")
        held = file.read()
    if len(held) == PRIVATE_KEY_BYTES:
        return from_seed(held)
    try:
        private_key = serialization.load_pem_private_key(held, password=None)
    except (ValueError, TypeError) as error:
        raise KeyFileMalformed(f"{path}: expected an unencrypted PEM key or {PRIVATE_KEY_BYTES} raw bytes") from error
    if not isinstance(private_key, Ed25519PrivateKey):
        raise KeyFileMalformed(f"{path}: expected an Ed25519 key, got {type(private_key).__name__}")
    return SigningKey(private_key)


def sign(checkpoint: Checkpoint, key: SigningKey) -> SignedNote:
    """The checkpoint with one signature of the key under the checkpoint's origin as name."""
    named = key.verification_key(checkpoint.origin)
    signature = key.private_key.sign(format_body(checkpoint))
    return SignedNote(checkpoint, (Signature(named.name, named.key_id, signature),))


def verify(note: SignedNote, trusted: Sequence[VerificationKey], *, origin: str) -> NoteVerdict:
    """Whether the note is a checkpoint of `origin` signed by a trusted key.

    Source: C2SP signed-note, signatures.
    """
    if note.checkpoint.origin != origin:
        return NoteVerdict("origin_mismatch", f"expected a checkpoint of {origin}, got one of {note.checkpoint.origin}")
    body = format_body(note.checkpoint)
    named = [
        (key, line.signature)
        for line in note.signatures
        for key in trusted
        if (line.name, line.key_id) == (key.name, key.key_id)
    ]
    if not named:
        expected = ", ".join(str(key) for key in trusted) or "none"
        got = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.signatures)
        return NoteVerdict("key_unknown", f"expected a signature by one of {expected}; got {got}")
    for key, signature in named:
        if not _is_signature(key, signature, body):
            return NoteVerdict("signature_invalid", f"the signature that names {key} is not of this text")
    signer = named[0][0]
    return NoteVerdict(None, f"signed by {signer}", signer)


def _is_signature(key: VerificationKey, signature: bytes, body: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key.public_key).verify(signature, body)
    except InvalidSignature:
        return False
    return True
